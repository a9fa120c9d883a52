//! How pipelines stand over all their BMCs: as an apply ended, or as the state alone tells it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::driver::RunEnd;
use super::folds::{Fold, Folds};
use super::orders;
use super::scheduler::ApplyReport;
use crate::model::{BmcName, Fault, Order, PipelineName};
use crate::plan::PlanProblem;
use crate::run::status::RunStatus;
use crate::run::{RunPhase, Standing};
use crate::store::Store;

/// The document of `status`, `apply` and `demo`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Every run.
    pub runs: Vec<RunStatus>,
    /// Every pipeline.
    pub pipelines: Vec<PipelineStatus>,
    /// Why BMCs have no run, as far as this process knows.
    pub problems: Vec<PlanProblem>,
}

/// One pipeline over its BMCs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PipelineStatus {
    /// Its name.
    pub pipeline: String,
    /// Where it stands.
    pub phase: PipelinePhase,
    /// BMCs with a run.
    pub runs: usize,
    /// Selected BMCs without a run yet.
    pub waiting: usize,
    /// Why it stands there, where its runs do not say it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// Where a pipeline stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum PipelinePhase {
    /// A run is at work, or BMCs wait for theirs.
    Active,
    /// Every selected BMC has a completed run.
    Completed,
    /// A run failed.
    Failed,
    /// BMCs wait, and none of them begins: the failure budget is spent.
    Halted,
    /// Only a person, or another tool, can end what a run waits for.
    Held,
    /// A person ended a run.
    Cancelled,
}

impl PipelinePhase {
    /// From the latest run of every BMC that has one, and from whether others wait or are kept from beginning.
    fn of(latest: &[&RunStatus], waiting: bool, halted: bool) -> Self {
        let any = |phase: RunPhase| latest.iter().any(|run| run.phase == phase);
        if any(RunPhase::InProgress) {
            Self::Active
        } else if halted {
            Self::Halted
        } else if any(RunPhase::Failed) {
            Self::Failed
        } else if any(RunPhase::Held) {
            Self::Held
        } else if waiting || any(RunPhase::Pending) {
            Self::Active
        } else if any(RunPhase::Cancelled) {
            Self::Cancelled
        } else {
            Self::Completed
        }
    }
}

/// As the state alone tells it: every run ever made, and what each pipeline last set out to do.
pub fn of_store(store: &dyn Store) -> Result<Summary, Fault> {
    of_folds(store, &mut Folds::default())
}

/// The same, where most runs are folded already.
pub(super) fn of_folds(store: &dyn Store, folds: &mut Folds) -> Result<Summary, Fault> {
    let folds = folds.all(store)?;
    let runs: Vec<RunStatus> = folds.iter().map(|fold| fold.status.clone()).collect();
    let selections = store.selections().map_err(|error| error.fault())?;
    let mut names: BTreeSet<PipelineName> = selections.keys().cloned().collect();
    names.extend(runs.iter().map(|run| run.pipeline.as_str().into()));
    let mut pipelines = Vec::new();
    for name in &names {
        let pause = orders::pause_of(store, name)?;
        let latest = latest(&runs, name);
        let selection = selections.get(name).cloned().unwrap_or_default();
        let begun = |bmc: &BmcName| latest.iter().any(|run| run.bmc == bmc.as_str());
        let waiting = selection.bmcs.iter().filter(|bmc| !begun(bmc)).count();
        let limit = usize::try_from(selection.max_failures).unwrap_or(usize::MAX);
        let failed = failed(&folds, name, &selection.generation);
        let is_spent = limit > 0 && failed.len() >= limit && waiting > 0;
        let spent = is_spent.then_some(&failed);
        pipelines.push(pipeline(name, &latest, waiting, spent, pause.as_ref()));
    }
    Ok(Summary {
        pipelines,
        runs,
        problems: Vec::new(),
    })
}

/// BMCs that have failed a generation of a pipeline.
fn failed(folds: &[&Fold], pipeline: &PipelineName, generation: &str) -> BTreeSet<BmcName> {
    let of_it = folds.iter().filter(|fold| {
        fold.key.pipeline == *pipeline && fold.generation.as_deref() == Some(generation)
    });
    let mut failed = BTreeSet::new();
    for fold in of_it {
        match fold.standing {
            Standing::Completed => drop(failed.remove(&fold.key.bmc)),
            Standing::Failed => drop(failed.insert(fold.key.bmc.clone())),
            Standing::Open => {}
        }
    }
    failed
}

/// As an apply ended.
pub fn of_report(report: &ApplyReport) -> Summary {
    let runs: Vec<RunStatus> = report.ends.values().filter_map(status_of).collect();
    let mut waiting: BTreeMap<&PipelineName, usize> = BTreeMap::new();
    for ((name, _), end) in &report.ends {
        *waiting.entry(name).or_default() += usize::from(status_of(end).is_none());
    }
    for (name, _) in report.waiting.iter().chain(&report.halted) {
        *waiting.entry(name).or_default() += 1;
    }
    let pipelines = waiting.into_iter().map(|(name, waiting)| {
        let spent = report.spent.get(name);
        pipeline(name, &latest(&runs, name), waiting, spent, None)
    });
    Summary {
        pipelines: pipelines.collect(),
        runs,
        problems: report.ends.iter().filter_map(problem).collect(),
    }
}

/// Why no further run of a pipeline begins, and what goes on.
pub fn halted(pipeline: &PipelineName, spent: &BTreeSet<BmcName>) -> String {
    let retries: Vec<String> = spent
        .iter()
        .map(|bmc| format!("`redpipe retry {pipeline}/{bmc}`"))
        .collect();
    format!(
        "the failure budget is spent; mend what failed, then {}: only a completed run clears it",
        retries.join(", ")
    )
}

fn problem(((_, bmc), end): (&(PipelineName, BmcName), &RunEnd)) -> Option<PlanProblem> {
    let RunEnd::NotStarted(fault) = end else {
        return None;
    };
    Some(PlanProblem {
        bmc: bmc.clone(),
        kind: fault.kind.as_str().to_owned(),
        message: fault.to_string(),
    })
}

/// The latest run of every BMC of a pipeline.
fn latest<'a>(runs: &'a [RunStatus], name: &PipelineName) -> Vec<&'a RunStatus> {
    let of_it = runs.iter().filter(|run| run.pipeline == name.as_str());
    of_it
        .filter(|run| run.id == format!("{}/{}", run.pipeline, run.bmc))
        .collect()
}

fn pipeline(
    name: &PipelineName,
    latest: &[&RunStatus],
    waiting: usize,
    spent: Option<&BTreeSet<BmcName>>,
    pause: Option<&Order>,
) -> PipelineStatus {
    let phase = PipelinePhase::of(latest, waiting > 0, spent.is_some());
    let is_open = matches!(phase, PipelinePhase::Active | PipelinePhase::Held);
    let is_at_work = latest.iter().any(|run| run.phase == RunPhase::InProgress);
    PipelineStatus {
        pipeline: name.to_string(),
        phase: match pause {
            Some(_) if is_open && !is_at_work => PipelinePhase::Held,
            Some(_) | None => phase,
        },
        runs: latest.len(),
        waiting,
        reason: match (pause, spent) {
            (Some(order), _) => format!("paused {}", order.said()),
            (None, Some(spent)) if phase == PipelinePhase::Halted => halted(name, spent),
            (None, _) => String::new(),
        },
    }
}

fn status_of(end: &RunEnd) -> Option<RunStatus> {
    match end {
        RunEnd::Over(status) | RunEnd::Held(status) | RunEnd::Interrupted(Some(status)) => {
            Some(status.as_ref().clone())
        }
        RunEnd::NotStarted(_) | RunEnd::Interrupted(None) => None,
    }
}
