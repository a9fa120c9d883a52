//! All pipelines of one apply: each goes its own line, and no two of them are at one BMC at once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::sync::Mutex;

use super::driver::RunEnd;
use super::engine::Engine;
use super::line::Line;
use super::prepare::Assignment;
use super::stop::Stop;
use crate::model::{BmcName, PipelineName};

/// How an apply is run.
#[derive(Debug, Clone, Copy, Default)]
pub struct ApplyOptions {
    /// BMCs in progress at once over all pipelines; `None` = only the pipelines' own limits.
    pub max_concurrent: Option<usize>,
    /// Whether held runs are tried again instead of ending the apply.
    pub wait: bool,
    /// Whether only runs that have begun are driven, and none is opened.
    pub only_resume: bool,
    /// Whether more is to come for as long as the process lives.
    pub serves: bool,
}

/// How every assignment ended, in the order in which they were given.
#[derive(Debug, Clone, Default)]
pub struct ApplyReport {
    /// Ends by pipeline and BMC.
    pub ends: BTreeMap<(PipelineName, BmcName), RunEnd>,
    /// Assignments that never began because the failure budget of their pipeline was spent.
    pub halted: BTreeSet<(PipelineName, BmcName)>,
    /// The BMCs that have spent the budget of a pipeline.
    pub spent: BTreeMap<PipelineName, BTreeSet<BmcName>>,
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
    let turns = Turns::default();
    let rollouts = by_pipeline.into_values().map(|assignments| {
        let line = Line {
            engine: engine.clone(),
            stop: stop.clone(),
            process: Arc::clone(&process),
            turns: turns.clone(),
            options,
        };
        line.run(assignments)
    });
    let mut report = ApplyReport::default();
    for part in futures_util::future::join_all(rollouts).await {
        report.ends.extend(part.ends);
        report.halted.extend(part.halted);
        report.spent.extend(part.spent);
        report.waiting.extend(part.waiting);
    }
    report
}

/// BMCs driven at once where nobody sets a limit: more than any pipeline asks for, fewer than a process may have open
/// files.
pub(super) const MAX_CONCURRENT: usize = 512;

/// One turn per BMC at a time, over all pipelines of this process.
#[derive(Clone, Default)]
pub(super) struct Turns(Arc<std::sync::Mutex<BTreeMap<BmcName, Arc<Mutex<()>>>>>);

impl Turns {
    pub(super) fn of(&self, bmc: &BmcName) -> Arc<Mutex<()>> {
        let mut turns = self
            .0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        Arc::clone(turns.entry(bmc.clone()).or_default())
    }
}
