//! Which run begins when: name order, slots per pipeline, a failure budget, and one run per BMC at a time.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::task::{JoinError, JoinSet};

use super::driver::{RunEnd, drive};
use super::engine::Engine;
use super::prepare::Assignment;
use super::stop::Stop;
use crate::model::{BmcName, PipelineName};
use crate::pipeline::Pipeline;
use crate::run::RunPhase;
use crate::store::Selection;

/// Between two tries of a held run, where the operator chose to wait.
const HELD_RETRY: Duration = Duration::from_secs(30);

/// How an apply is run.
#[derive(Debug, Clone, Copy, Default)]
pub struct ApplyOptions {
    /// BMCs in progress at once over all pipelines; `None` = only the pipelines' own limits.
    pub max_concurrent: Option<usize>,
    /// Whether held runs are tried again instead of ending the apply.
    pub wait: bool,
    /// Whether only runs that have begun are driven, and none is opened.
    pub only_resume: bool,
}

/// How every assignment ended, in the order in which they were given.
#[derive(Debug, Clone, Default)]
pub struct ApplyReport {
    /// Ends by pipeline and BMC.
    pub ends: BTreeMap<(PipelineName, BmcName), RunEnd>,
    /// Assignments that never began because the failure budget of their pipeline was spent.
    pub halted: BTreeSet<(PipelineName, BmcName)>,
    /// Assignments that never began because the operator stopped.
    pub waiting: BTreeSet<(PipelineName, BmcName)>,
}

/// Runs all assignments to their end.
pub async fn apply(
    engine: &Engine,
    assignments: Vec<Assignment>,
    options: ApplyOptions,
    stop: &Stop,
) -> ApplyReport {
    let process = Arc::new(tokio::sync::Semaphore::new(
        options.max_concurrent.unwrap_or(MAX_CONCURRENT),
    ));
    let mut by_pipeline: BTreeMap<PipelineName, Vec<Assignment>> = BTreeMap::new();
    for assignment in assignments {
        by_pipeline
            .entry(assignment.pipeline.name.clone())
            .or_default()
            .push(assignment);
    }
    for (pipeline, assignments) in &by_pipeline {
        set_out(engine, pipeline, assignments);
    }
    let turns = Turns::default();
    let rollouts = by_pipeline.into_values().map(|assignments| {
        let rollout = Rollout {
            engine: engine.clone(),
            stop: stop.clone(),
            process: Arc::clone(&process),
            turns: turns.clone(),
            failed: Arc::default(),
            wait: options.wait,
            only_resume: options.only_resume,
        };
        rollout.run(assignments)
    });
    let mut report = ApplyReport::default();
    for part in futures_util::future::join_all(rollouts).await {
        report.ends.extend(part.ends);
        report.halted.extend(part.halted);
        report.waiting.extend(part.waiting);
    }
    report
}

/// Writes down what a pipeline sets out to do, so that whoever asks later counts the BMCs that wait.
fn set_out(engine: &Engine, pipeline: &PipelineName, assignments: &[Assignment]) {
    let Some(first) = assignments.first() else {
        return;
    };
    let selection = Selection {
        bmcs: assignments
            .iter()
            .map(|each| each.bmc.name.clone())
            .collect(),
        max_failures: first.pipeline.rollout.max_failures,
    };
    let store = engine.store();
    if let Err(error) = store.remember_selection(pipeline, &selection, first.limit.is_some()) {
        tracing::error!(%pipeline, %error, "the number of waiting BMCs could not be written down");
    }
}

/// BMCs driven at once where nobody sets a limit: more than any pipeline asks for, fewer than a process may have open
/// files.
const MAX_CONCURRENT: usize = 512;

/// One turn per BMC at a time, over all pipelines of this process.
#[derive(Clone, Default)]
struct Turns(Arc<std::sync::Mutex<BTreeMap<BmcName, Arc<Mutex<()>>>>>);

impl Turns {
    fn of(&self, bmc: &BmcName) -> Arc<Mutex<()>> {
        let mut turns = self
            .0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        Arc::clone(turns.entry(bmc.clone()).or_default())
    }
}

/// One pipeline over its BMCs.
struct Rollout {
    engine: Engine,
    stop: Stop,
    process: Arc<tokio::sync::Semaphore>,
    turns: Turns,
    failed: Arc<AtomicUsize>,
    wait: bool,
    only_resume: bool,
}

impl Rollout {
    async fn run(self, assignments: Vec<Assignment>) -> ApplyReport {
        let mut report = ApplyReport::default();
        let Some(first) = assignments.first() else {
            return report;
        };
        let pipeline = Arc::clone(&first.pipeline);
        let slots = usize::try_from(pipeline.rollout.max_concurrent.max(1)).unwrap_or(usize::MAX);
        let mut queue: VecDeque<Assignment> = assignments.into();
        let mut running: JoinSet<(Assignment, RunEnd)> = JoinSet::new();
        let mut resting: JoinSet<Assignment> = JoinSet::new();
        loop {
            while running.len() < slots && !self.stop.is_asked() && !self.budget_spent(&pipeline) {
                let Some(next) = queue.pop_front() else { break };
                self.start(&mut running, next, &pipeline);
            }
            let (assignment, end) = tokio::select! {
                Some(joined) = running.join_next() => unwound(joined),
                Some(joined) = resting.join_next() => {
                    queue.push_back(unwound(joined));
                    continue;
                }
                else => break,
            };
            self.note(&assignment, &end);
            if self.wait && matches!(end, RunEnd::Held(_)) {
                self.rest(&mut resting, assignment.clone());
            }
            report.ends.insert(
                (
                    assignment.pipeline.name.clone(),
                    assignment.bmc.name.clone(),
                ),
                end,
            );
        }
        for left in queue {
            let name = (left.pipeline.name.clone(), left.bmc.name.clone());
            if report.ends.contains_key(&name) {
                continue;
            }
            if self.stop.is_asked() {
                report.waiting.insert(name)
            } else {
                report.halted.insert(name)
            };
        }
        report
    }

    fn start(
        &self,
        running: &mut JoinSet<(Assignment, RunEnd)>,
        next: Assignment,
        pipeline: &Arc<Pipeline>,
    ) {
        let (engine, stop) = (self.engine.clone(), self.stop.clone());
        let (turn, process) = (self.turns.of(&next.bmc.name), Arc::clone(&self.process));
        let (failed, limit) = (Arc::clone(&self.failed), budget(pipeline));
        let only_resume = self.only_resume;
        running.spawn(async move {
            let _turn = turn.lock_owned().await;
            let _place = process.acquire_owned().await;
            let within_budget =
                move || limit.is_none_or(|limit| failed.load(Ordering::SeqCst) < limit);
            let end = Box::pin(drive(&engine, &next, &stop, &within_budget, only_resume)).await;
            (next, end)
        });
    }

    /// A held run waits for its next try beside the others, and its slot is theirs meanwhile.
    fn rest(&self, resting: &mut JoinSet<Assignment>, held: Assignment) {
        let stop = self.stop.clone();
        resting.spawn(async move {
            tokio::select! {
                () = tokio::time::sleep(HELD_RETRY) => {}
                () = stop.asked() => {}
            }
            held
        });
    }

    fn note(&self, assignment: &Assignment, end: &RunEnd) {
        match end {
            RunEnd::Over(status) if status.phase == RunPhase::Failed => {
                self.failed.fetch_add(1, Ordering::SeqCst);
            }
            RunEnd::NotStarted(fault) => {
                self.engine.board().update(
                    &assignment.pipeline.name,
                    &assignment.bmc.name,
                    |row| {
                        row.not_started = Some(fault.clone());
                    },
                );
            }
            RunEnd::Over(_) | RunEnd::Held(_) | RunEnd::Interrupted(_) => {}
        }
    }

    fn budget_spent(&self, pipeline: &Pipeline) -> bool {
        budget(pipeline).is_some_and(|limit| self.failed.load(Ordering::SeqCst) >= limit)
    }
}

/// What a task ended with; a panic goes on here.
fn unwound<T>(joined: Result<T, JoinError>) -> T {
    joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
}

/// Failed runs after which no other begins; `None` = no limit.
fn budget(pipeline: &Pipeline) -> Option<usize> {
    let limit = usize::try_from(pipeline.rollout.max_failures).unwrap_or(usize::MAX);
    (limit > 0).then_some(limit)
}
