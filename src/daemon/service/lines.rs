//! The pipelines' lines of a daemon: each runs whatever comes, and all of them are renewed when files change.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

use crate::daemon::engine::Engine;
use crate::daemon::line::{Inbox, Job, Line, Told, Word};
use crate::daemon::scheduler::{ApplyOptions, MAX_CONCURRENT, Turns};
use crate::daemon::stop::Stop;
use crate::model::{Fault, PipelineName};
use crate::pipeline::Pipeline;

/// All lines.
pub(super) struct Lines {
    stop: Stop,
    now: Stop,
    inboxes: BTreeMap<PipelineName, UnboundedSender<Word>>,
    tasks: JoinSet<()>,
    ends: UnboundedReceiver<Told>,
    told: UnboundedSender<Told>,
    prepared: JoinSet<Box<Prepared>>,
    process: Arc<Semaphore>,
    /// The lines are ending, so that others take their place.
    is_ending: bool,
}

/// A job whose images are there, or why they are not.
pub(super) struct Prepared {
    pub(super) job: Job,
    pub(super) fault: Option<Fault>,
}

/// What happened to the lines.
pub(super) enum Moved {
    /// Something became of a job.
    Told(Box<Told>),
    /// The images of a job are there, or are not.
    Prepared(Box<Prepared>),
    /// All lines have ended, as they were told to.
    AllEnded,
}

impl Lines {
    pub(super) fn new(stop: &Stop, max_concurrent: Option<usize>) -> Self {
        let (told, ends) = unbounded_channel();
        Self {
            stop: stop.clone(),
            now: stop.child(),
            inboxes: BTreeMap::new(),
            tasks: JoinSet::new(),
            ends,
            told,
            prepared: JoinSet::new(),
            process: Arc::new(Semaphore::new(max_concurrent.unwrap_or(MAX_CONCURRENT))),
            is_ending: false,
        }
    }

    /// Begins one line for each pipeline.
    pub(super) fn begin<'p>(
        &mut self,
        engine: &Engine,
        turns: &Turns,
        pipelines: impl Iterator<Item = &'p Arc<Pipeline>>,
    ) {
        (self.now, self.is_ending) = (self.stop.child(), false);
        for pipeline in pipelines {
            let line = Line {
                engine: engine.clone(),
                stop: self.now.clone(),
                process: Arc::clone(&self.process),
                turns: turns.clone(),
                options: ApplyOptions {
                    wait: true,
                    serves: true,
                    ..ApplyOptions::default()
                },
            };
            let (says, words) = unbounded_channel();
            let inbox = Inbox {
                words,
                ends: self.told.clone(),
            };
            self.inboxes.insert(pipeline.name.clone(), says);
            self.tasks.spawn(line.serve(Arc::clone(pipeline), inbox));
        }
    }

    /// Tells all lines to end at the next safe point of their runs; [`Moved::AllEnded`] comes of it.
    pub(super) fn retire(&mut self) {
        self.inboxes.clear();
        self.is_ending = true;
        self.now.ask();
    }

    /// Whether there is none left to end.
    pub(super) fn have_ended(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Whether nothing is taken up before other lines have begun.
    pub(super) fn is_ending(&self) -> bool {
        self.is_ending
    }

    /// A job whose images are on their way.
    pub(super) fn prepare(
        &mut self,
        preparing: impl Future<Output = Box<Prepared>> + Send + 'static,
    ) {
        self.prepared.spawn(preparing);
    }

    /// Says something to a pipeline's line; false where there is none.
    pub(super) fn say(&self, pipeline: &PipelineName, word: Word) -> bool {
        let line = self.inboxes.get(pipeline);
        line.is_some_and(|line| line.send(word).is_ok())
    }

    /// The next thing that happens.
    pub(super) async fn next(&mut self) -> Moved {
        loop {
            tokio::select! {
                Some(told) = self.ends.recv() => return Moved::Told(Box::new(told)),
                Some(joined) = self.prepared.join_next() => {
                    let prepared = joined
                        .unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
                    return Moved::Prepared(prepared);
                }
                Some(joined) = self.tasks.join_next() => {
                    joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
                    if self.tasks.is_empty() && self.is_ending {
                        return Moved::AllEnded;
                    }
                }
                else => std::future::pending().await,
            }
        }
    }

    /// Waits until every run has come to a safe point; the process is stopping.
    pub(super) async fn end(&mut self) {
        self.prepared.abort_all();
        while let Some(joined) = self.tasks.join_next().await {
            joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
        }
    }
}
