//! One pipeline over its BMCs: which run begins when. Name order, slots, canaries, and a failure budget.

mod work;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::time::Instant;

use self::work::{Queued, Work};
use super::driver::{Drive, Later, RunEnd, drive};
use super::engine::Engine;
use super::prepare::Assignment;
use super::rollout::Rollout;
use super::scheduler::{ApplyOptions, ApplyReport, Turns};
use super::stop::Stop;
use crate::model::{BmcName, Fault, FaultKind, PipelineName, Retry};
use crate::pipeline::Pipeline;
use crate::run::record::Recovering;
use crate::run::status::RunStatus;
use crate::store::Selection;

/// Between two tries of what only a person or another process can end, where the operator chose to wait.
const WAIT_RETRY: Duration = Duration::from_secs(30);

/// One pipeline over its BMCs.
pub(super) struct Line {
    pub(super) engine: Engine,
    pub(super) stop: Stop,
    pub(super) process: Arc<tokio::sync::Semaphore>,
    pub(super) turns: Turns,
    pub(super) options: ApplyOptions,
}

/// One BMC that is to be driven, and why.
#[derive(Debug, Clone)]
pub(super) struct Job {
    pub(super) assignment: Assignment,
    pub(super) cause: Cause,
    /// Orders that wait for what comes of it.
    pub(super) orders: Vec<u64>,
}

/// Why a BMC is to be driven.
#[derive(Debug, Clone)]
pub(super) enum Cause {
    /// A person wants it to be as the pipeline says.
    Apply,
    /// Only the run that it has is to go on.
    Resume,
    /// It has drifted.
    Recovery(Recovering),
}

impl Cause {
    pub(super) fn only_resumes(&self) -> bool {
        matches!(self, Self::Resume)
    }

    /// What had drifted.
    pub(super) fn recovering(&self) -> Option<&Recovering> {
        match self {
            Self::Recovery(recovering) => Some(recovering),
            Self::Apply | Self::Resume => None,
        }
    }
}

/// What a line that outlives its first jobs is told.
#[derive(Debug)]
pub(super) enum Word {
    /// One more is to be driven.
    Job(Box<Job>),
    /// A run on this BMC has begun, and its job is still being prepared: its slot is taken already.
    Owed(BmcName),
    /// That job does not come.
    NotOwed(BmcName),
}

/// How a line that outlives its first jobs hears of more, and tells what became of them.
pub(super) struct Inbox {
    pub(super) words: UnboundedReceiver<Word>,
    pub(super) ends: UnboundedSender<Told>,
}

/// What became of a job.
#[derive(Debug)]
pub(super) struct Told {
    /// Of which pipeline, on which BMC.
    pub(super) name: (PipelineName, BmcName),
    /// What.
    pub(super) ending: Ending,
    /// Orders that waited for it.
    pub(super) orders: Vec<u64>,
}

/// How far a job came.
#[derive(Debug)]
pub(super) enum Ending {
    /// The drive is over.
    End(RunEnd),
    /// It is tried again later, for as long as the process lives.
    Later(Fault),
    /// It does not begin before others are mended: those that have spent the budget.
    Halted(BTreeSet<BmcName>),
}

impl Line {
    /// Runs these to their end.
    pub(super) async fn run(self, assignments: Vec<Assignment>) -> ApplyReport {
        let Some(first) = assignments.first() else {
            return ApplyReport::default();
        };
        let pipeline = Arc::clone(&first.pipeline);
        let Some(mut work) = self.begin(&pipeline) else {
            return ApplyReport::default();
        };
        self.set_out(&work.rollout, &assignments);
        let cause = if self.options.only_resume {
            Cause::Resume
        } else {
            Cause::Apply
        };
        let now = Instant::now();
        for assignment in assignments {
            let has_begun = self.has_begun(&assignment);
            let job = Job {
                assignment,
                cause: cause.clone(),
                orders: Vec::new(),
            };
            work.take(job, has_begun, now);
        }
        loop {
            self.start_ready(&mut work);
            let next = self.next_start(&work);
            if work.running.is_empty() && next.is_none() {
                return self.rest(work);
            }
            tokio::select! {
                Some(joined) = work.running.join_next() => self.joined(&mut work, joined),
                () = until(next) => {}
                () = self.stop.asked(), if !self.stop.is_asked() => {}
            }
        }
    }

    /// Runs whatever comes, until it is stopped.
    pub(super) async fn serve(self, pipeline: Arc<Pipeline>, mut inbox: Inbox) {
        let Some(mut work) = self.begin(&pipeline) else {
            return;
        };
        work.ends = Some(inbox.ends);
        loop {
            self.start_ready(&mut work);
            let next = self.next_start(&work);
            if work.running.is_empty() && self.stop.is_asked() {
                return;
            }
            if work.running.is_empty() && next.is_none() {
                work.tell_halted();
            }
            tokio::select! {
                Some(joined) = work.running.join_next() => self.joined(&mut work, joined),
                Some(word) = inbox.words.recv(), if !self.stop.is_asked() => self.hear(&mut work, word),
                () = until(next) => {}
                // What others do may have given the budget back, or shown what a canary is for.
                () = tokio::time::sleep(WAIT_RETRY), if !work.queue.is_empty() => work.look_again(),
                () = self.stop.asked(), if !self.stop.is_asked() => {}
            }
        }
    }

    fn hear(&self, work: &mut Work, word: Word) {
        match word {
            Word::Job(job) => {
                self.set_out(&work.rollout, std::slice::from_ref(&job.assignment));
                let has_begun = self.has_begun(&job.assignment);
                work.take(*job, has_begun, Instant::now());
            }
            Word::Owed(bmc) => drop(work.owed.insert(bmc)),
            Word::NotOwed(bmc) => drop(work.owed.remove(&bmc)),
        }
    }

    fn joined(&self, work: &mut Work, joined: Result<(Queued, Drive), tokio::task::JoinError>) {
        let (queued, drive) =
            joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
        let came = work.driven.remove(&queued.assignment.bmc.name);
        self.ended(work, queued, drive, came.unwrap_or_default());
    }

    fn begin(&self, pipeline: &Arc<Pipeline>) -> Option<Work> {
        let rollout = match Rollout::new(&self.engine, pipeline) {
            Ok(rollout) => Arc::new(rollout),
            Err(fault) => {
                tracing::error!(pipeline = %pipeline.name, %fault, "the state could not be read");
                return None;
            }
        };
        let slots = pipeline.rollout.max_concurrent.max(1);
        Some(Work::new(
            rollout,
            usize::try_from(slots).unwrap_or(usize::MAX),
        ))
    }

    /// Writes down what the pipeline sets out to do, so that whoever asks later counts the BMCs that wait.
    fn set_out(&self, rollout: &Rollout, assignments: &[Assignment]) {
        let Some(first) = assignments.first() else {
            return;
        };
        let bmcs = assignments.iter().map(|each| each.bmc.name.clone());
        let selection = Selection {
            bmcs: bmcs.collect(),
            max_failures: first.pipeline.rollout.max_failures,
            generation: rollout.generation().to_owned(),
        };
        let pipeline = &first.pipeline.name;
        let more = first.limit.is_some() || self.options.only_resume || self.options.serves;
        let store = self.engine.store();
        if let Err(error) = store.remember_selection(pipeline, &selection, more) {
            tracing::error!(%pipeline, %error, "the number of waiting BMCs could not be written down");
        }
    }

    /// When something that may begin is due; `None` where nothing may, or where there is no slot for it.
    fn next_start(&self, work: &Work) -> Option<Instant> {
        let may = work.queue.iter().filter(|queued| self.may(work, queued));
        may.filter_map(|queued| queued.at).min()
    }

    /// Whether it may begin once it is due: there is a slot, and the budget is not spent. What a run has under way is
    /// followed, whatever the budget says.
    fn may(&self, work: &Work, queued: &Queued) -> bool {
        let bmc = &queued.assignment.bmc.name;
        let has_slot = work.has_slot(queued) && !self.stop.is_asked();
        has_slot && (work.rollout.allows(bmc) || self.has_begun(&queued.assignment))
    }

    /// Whether a run has begun that is not over.
    fn has_begun(&self, assignment: &Assignment) -> bool {
        let (pipeline, bmc) = (&assignment.pipeline.name, &assignment.bmc.name);
        self.engine.has_open_run(pipeline, bmc)
    }

    /// Starts what may begin as far as there are slots: first what has begun already, then in name order.
    fn start_ready(&self, work: &mut Work) {
        let now = Instant::now();
        loop {
            let is_due = |queued: &Queued| queued.at.is_some_and(|at| at <= now);
            let ready = work.queue.iter().enumerate();
            let ready = ready.filter(|(_, queued)| is_due(queued) && self.may(work, queued));
            let Some((index, _)) = ready.min_by_key(|(_, queued)| queued.turn()) else {
                return;
            };
            let next = work.queue.remove(index);
            self.start(work, next);
        }
    }

    fn start(&self, work: &mut Work, next: Queued) {
        let (engine, stop) = (self.engine.clone(), self.stop.clone());
        let bmc = next.assignment.bmc.name.clone();
        let (turn, process) = (self.turns.of(&bmc), Arc::clone(&self.process));
        let rollout = Arc::clone(&work.rollout);
        work.driven.insert(bmc.clone(), Vec::new());
        work.running.spawn(async move {
            let _turn = turn.lock_owned().await;
            let _place = process.acquire_owned().await;
            rollout.begins(&bmc);
            let end = Box::pin(drive(
                &engine,
                &next.assignment,
                &stop,
                &rollout,
                &next.cause,
            ))
            .await;
            rollout.ends(&bmc);
            (next, end)
        });
    }

    /// Notes an end; what can go on later is queued again.
    fn ended(&self, work: &mut Work, mut queued: Queued, drive: Drive, came: Vec<u64>) {
        if !matches!(drive, Drive::Later(Later::Canary)) {
            // Whatever ended may be what others wait for.
            work.look_again();
        }
        queued.has_begun = self.has_begun(&queued.assignment);
        let may_wait = self.options.wait && !self.stop.is_asked();
        let is_overtaken = !came.is_empty();
        queued.orders.extend(came);
        let end = match drive {
            Drive::Later(Later::Canary) => {
                queued.at = None;
                work.queue.push(queued);
                return;
            }
            Drive::Later(Later::Waits(fault)) => {
                self.show(&queued.assignment, &fault);
                if may_wait {
                    // Whoever drives it carries out what was ordered of it.
                    if self.options.serves && fault.kind == FaultKind::LeaseHeld {
                        queued.cause = Cause::Resume;
                    }
                    work.tell(&queued, Ending::Later(fault));
                    work.again(queued, WAIT_RETRY);
                    return;
                }
                RunEnd::NotStarted(fault)
            }
            Drive::End(RunEnd::Held(_)) if may_wait && is_overtaken => {
                // It may have come to rest just before it could hear of what was ordered.
                queued.cause = Cause::Resume;
                work.again(queued, Duration::ZERO);
                return;
            }
            Drive::End(RunEnd::Held(status)) if may_wait => {
                let rest = self.rest_of(&queued, &status);
                let end = RunEnd::Held(status);
                work.tell(&queued, Ending::End(end.clone()));
                work.report.ends.insert(name(&queued.assignment), end);
                queued.cause = Cause::Resume;
                work.again(queued, rest);
                return;
            }
            Drive::End(RunEnd::NotStarted(fault)) => {
                self.show(&queued.assignment, &fault);
                let will_pass = fault.retry == Retry::Transient && self.options.serves;
                if will_pass && may_wait && matches!(queued.cause, Cause::Apply) {
                    let rest = queued.assignment.bmc.poll_interval.max(WAIT_RETRY);
                    work.tell(&queued, Ending::Later(fault));
                    work.again(queued, rest);
                    return;
                }
                RunEnd::NotStarted(fault)
            }
            Drive::End(end) => end,
        };
        work.tell(&queued, Ending::End(end.clone()));
        work.report.ends.insert(name(&queued.assignment), end);
    }

    /// How long a held run rests before the BMC is looked at again. One that serves hears of orders at once, and need not
    /// ask more often than it observes, but where it is known that something comes to be earlier.
    fn rest_of(&self, queued: &Queued, status: &RunStatus) -> Duration {
        if !self.options.serves {
            return WAIT_RETRY;
        }
        let longest = queued.assignment.bmc.poll_interval.max(WAIT_RETRY);
        let now = self.engine.clock().now();
        let next = status.next_wake.or(status.deadline);
        let known = next.and_then(|next| Duration::try_from(next.duration_since(now)).ok());
        known.map_or(longest, |known| known.clamp(WAIT_RETRY, longest))
    }

    fn show(&self, assignment: &Assignment, fault: &Fault) {
        let (pipeline, bmc) = name(assignment);
        self.engine.board().update(&pipeline, &bmc, |row| {
            row.not_started = Some(fault.clone());
        });
    }

    /// What never began.
    fn rest(&self, work: Work) -> ApplyReport {
        let mut report = work.report;
        let spent = work.rollout.spent();
        for left in work.queue {
            let name = name(&left.assignment);
            if report.ends.contains_key(&name) {
                continue;
            }
            if self.stop.is_asked() {
                report.waiting.insert(name);
            } else {
                report.spent.insert(name.0.clone(), spent.clone());
                report.halted.insert(name);
            }
        }
        report
    }
}

fn name(assignment: &Assignment) -> (PipelineName, BmcName) {
    (
        assignment.pipeline.name.clone(),
        assignment.bmc.name.clone(),
    )
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
