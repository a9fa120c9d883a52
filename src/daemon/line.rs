//! One pipeline over its BMCs: which run begins when. Name order, slots, canaries, and a failure budget.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::Instant;

use super::driver::{Drive, Later, RunEnd, drive};
use super::engine::Engine;
use super::prepare::Assignment;
use super::rollout::Rollout;
use super::scheduler::{ApplyOptions, ApplyReport, Turns};
use super::stop::Stop;
use crate::model::{BmcName, Fault, PipelineName};
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

/// One BMC that is to be driven.
struct Queued {
    assignment: Assignment,
    /// Its turn: name order, and behind all others for what has had one.
    place: usize,
    /// Not before; `None` = not before another run has ended.
    at: Option<Instant>,
    /// Whether only the run that it had is to go on.
    only_resume: bool,
}

/// What a pipeline is about while it is applied.
struct Work {
    rollout: Arc<Rollout>,
    slots: usize,
    queue: Vec<Queued>,
    /// The next place behind all others.
    last: usize,
    running: JoinSet<(Queued, Drive)>,
    report: ApplyReport,
}

impl Work {
    /// A place behind all others: nobody waits for what is tried again.
    fn behind(&mut self) -> usize {
        self.last += 1;
        self.last
    }
}

impl Line {
    pub(super) async fn run(self, assignments: Vec<Assignment>) -> ApplyReport {
        let Some(mut work) = self.begin(assignments) else {
            return ApplyReport::default();
        };
        loop {
            self.start_ready(&mut work);
            let next = self.next_start(&work);
            if work.running.is_empty() && next.is_none() {
                return self.rest(work);
            }
            tokio::select! {
                Some(joined) = work.running.join_next() => {
                    let (queued, drive) = joined
                        .unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
                    self.ended(&mut work, queued, drive);
                }
                () = until(next) => {}
                () = self.stop.asked(), if !self.stop.is_asked() => {}
            }
        }
    }

    fn begin(&self, assignments: Vec<Assignment>) -> Option<Work> {
        let pipeline = Arc::clone(&assignments.first()?.pipeline);
        let rollout = match Rollout::new(&self.engine, &pipeline) {
            Ok(rollout) => Arc::new(rollout),
            Err(fault) => {
                tracing::error!(pipeline = %pipeline.name, %fault, "the state could not be read");
                return None;
            }
        };
        self.set_out(&rollout, &assignments);
        let (now, last) = (Instant::now(), assignments.len());
        let queue = assignments
            .into_iter()
            .enumerate()
            .map(|(place, assignment)| Queued {
                assignment,
                place,
                at: Some(now),
                only_resume: self.options.only_resume,
            });
        Some(Work {
            rollout,
            slots: usize::try_from(pipeline.rollout.max_concurrent.max(1)).unwrap_or(usize::MAX),
            queue: queue.collect(),
            last,
            running: JoinSet::new(),
            report: ApplyReport::default(),
        })
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
        let more = first.limit.is_some() || self.options.only_resume;
        let store = self.engine.store();
        if let Err(error) = store.remember_selection(pipeline, &selection, more) {
            tracing::error!(%pipeline, %error, "the number of waiting BMCs could not be written down");
        }
    }

    /// When something that may begin is due; `None` where nothing may, or where there is no slot for it.
    fn next_start(&self, work: &Work) -> Option<Instant> {
        if self.stop.is_asked() || work.running.len() >= work.slots {
            return None;
        }
        let may = work
            .queue
            .iter()
            .filter(|queued| self.may_begin(work, queued));
        may.filter_map(|queued| queued.at).min()
    }

    fn may_begin(&self, work: &Work, queued: &Queued) -> bool {
        let bmc = &queued.assignment.bmc.name;
        work.rollout.allows(bmc) || self.has_begun(&queued.assignment)
    }

    /// Whether a run has begun that is not over: what it has under way is followed, whatever the budget says.
    fn has_begun(&self, assignment: &Assignment) -> bool {
        let open = self.engine.store().unfinished_run(&assignment.bmc.name);
        matches!(open, Ok(Some(row)) if row.key.pipeline == assignment.pipeline.name)
    }

    /// Starts what may begin, in name order, as far as there are slots.
    fn start_ready(&self, work: &mut Work) {
        let now = Instant::now();
        while work.running.len() < work.slots && !self.stop.is_asked() {
            let is_due = |queued: &Queued| queued.at.is_some_and(|at| at <= now);
            let ready = work.queue.iter().enumerate();
            let ready = ready.filter(|(_, queued)| is_due(queued) && self.may_begin(work, queued));
            let Some((index, _)) = ready.min_by_key(|(_, queued)| queued.place) else {
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
        work.running.spawn(async move {
            let _turn = turn.lock_owned().await;
            let _place = process.acquire_owned().await;
            rollout.begins(&bmc);
            let only_resume = next.only_resume;
            let end = Box::pin(drive(
                &engine,
                &next.assignment,
                &stop,
                &rollout,
                only_resume,
            ))
            .await;
            rollout.ends(&bmc);
            (next, end)
        });
    }

    /// Notes an end; what can go on later is queued again.
    fn ended(&self, work: &mut Work, mut queued: Queued, drive: Drive) {
        let now = Instant::now();
        if !matches!(drive, Drive::Later(Later::Canary)) {
            // Whatever ended may be what others wait for.
            for waiting in work.queue.iter_mut().filter(|queued| queued.at.is_none()) {
                waiting.at = Some(now);
            }
        }
        let may_wait = self.options.wait && !self.stop.is_asked();
        let again = Some(now + WAIT_RETRY);
        let end = match drive {
            Drive::Later(Later::Canary) => {
                queued.at = None;
                work.queue.push(queued);
                return;
            }
            Drive::Later(Later::Waits(fault)) => {
                self.show(&queued.assignment, &fault);
                if may_wait {
                    (queued.at, queued.place) = (again, work.behind());
                    work.queue.push(queued);
                    return;
                }
                RunEnd::NotStarted(fault)
            }
            Drive::End(RunEnd::Held(status)) if may_wait => {
                let (assignment, place) = (queued.assignment.clone(), work.behind());
                work.queue.push(Queued {
                    assignment,
                    place,
                    at: again,
                    only_resume: true,
                });
                RunEnd::Held(status)
            }
            Drive::End(RunEnd::NotStarted(fault)) => {
                self.show(&queued.assignment, &fault);
                RunEnd::NotStarted(fault)
            }
            Drive::End(end) => end,
        };
        work.report.ends.insert(name(&queued.assignment), end);
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
