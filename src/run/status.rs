//! How a run stands, as `status` prints it: derived from the journal alone.

use jiff::Timestamp;
use serde::{Serialize, Serializer};

use super::conditions::{Condition, conditions};
use super::record::{Place, RunPhase, StageHead};
use super::state::{REMOVED, RunState, Work, WorkStatus};
use super::waiting::{WaitStatus, waits};
use crate::model::{RunKey, Target};

/// One run in `status` JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunStatus {
    /// `PIPELINE/BMC`, older ones with `#n`.
    pub id: String,
    /// Pipeline name.
    pub pipeline: String,
    /// BMC name.
    pub bmc: String,
    /// Server names.
    pub servers: Vec<String>,
    /// The run's phase.
    pub phase: RunPhase,
    /// Why it stands there.
    pub reason: String,
    /// Number of stages.
    pub total_stages: usize,
    /// Not begun.
    pub pending_stages: usize,
    /// Begun and not over.
    pub active_stages: usize,
    /// Over, read back.
    pub completed_stages: usize,
    /// Failed on at least one target.
    pub failed_stages: usize,
    /// In authored order.
    pub stages: Vec<StageStatus>,
    /// When the run began.
    #[serde(serialize_with = "to_milliseconds")]
    pub since: Option<Timestamp>,
    /// What it waits for, in stage order: for people. In JSON the stages say it, and `deadline`.
    #[serde(skip)]
    pub waits: Vec<WaitStatus>,
    /// When the nearest wait runs out.
    #[serde(serialize_with = "to_milliseconds")]
    pub deadline: Option<Timestamp>,
    /// When it is looked at again, where a process is at it.
    #[serde(serialize_with = "to_milliseconds")]
    pub next_wake: Option<Timestamp>,
    /// Summaries for machines.
    pub conditions: Vec<Condition>,
}

/// One stage in `status` JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StageStatus {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: &'static str,
    /// Aggregate over its targets.
    pub phase: RunPhase,
    /// How it came to be completed.
    pub how: Option<&'static str>,
    /// Why it stands there.
    pub reason: String,
    /// The task followed, if any.
    pub task: Option<String>,
    /// The task's percent, if it says.
    pub percent: Option<u8>,
    /// Per server; empty for BMC stages.
    pub servers: Vec<ServerStatus>,
}

/// One server in one stage.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ServerStatus {
    /// Its name.
    pub server: String,
    /// Its phase.
    pub phase: RunPhase,
    /// How it came to be completed.
    pub how: Option<&'static str>,
    /// Why it stands there.
    pub reason: String,
    /// Percent of its own task, if that says; for displays, JSON has the stage's.
    #[serde(skip)]
    pub percent: Option<u8>,
}

/// Nobody reads more of a time than its milliseconds.
#[expect(clippy::ref_option, reason = "the form that serde calls")]
fn to_milliseconds<S: Serializer>(
    at: &Option<Timestamp>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    at.map(whole_milliseconds).serialize(serializer)
}

/// A time without what is below a millisecond.
pub fn whole_milliseconds(at: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(at.as_millisecond()).unwrap_or(at)
}

/// One target in one stage, before aggregation.
struct TargetView {
    phase: RunPhase,
    how: Option<&'static str>,
    reason: String,
    task: Option<String>,
    percent: Option<u8>,
}

/// The status of a run.
pub fn status(key: &RunKey, state: &RunState, latest: bool) -> RunStatus {
    let heads = state
        .start
        .as_ref()
        .map(|start| start.stages.clone())
        .unwrap_or_default();
    let stages: Vec<StageStatus> = heads.iter().map(|head| stage_status(state, head)).collect();
    let count = |phases: &[RunPhase]| {
        stages
            .iter()
            .filter(|stage| phases.contains(&stage.phase))
            .count()
    };
    let phase = state.phase();
    let id = if latest {
        format!("{}/{}", key.pipeline, key.bmc)
    } else {
        key.to_string()
    };
    RunStatus {
        id,
        pipeline: key.pipeline.to_string(),
        bmc: key.bmc.to_string(),
        servers: state
            .start
            .as_ref()
            .map(|start| start.servers.iter().map(ToString::to_string).collect())
            .unwrap_or_default(),
        phase,
        reason: run_reason(state, phase),
        total_stages: stages.len(),
        pending_stages: count(&[RunPhase::Pending]),
        active_stages: count(&[RunPhase::InProgress, RunPhase::Held]),
        completed_stages: count(&[RunPhase::Completed]),
        failed_stages: count(&[RunPhase::Failed, RunPhase::Cancelled]),
        stages,
        since: state.start.as_ref().map(|start| start.at),
        waits: waits(state),
        deadline: active_waits(state)
            .filter_map(|(_, work)| work.wait.as_ref()?.0.until)
            .chain(state.wait.as_ref().and_then(|(wait, _)| wait.until))
            .min(),
        next_wake: None,
        conditions: conditions(state, phase, &run_reason(state, phase)),
    }
}

pub(super) fn active_waits(state: &RunState) -> impl Iterator<Item = (Place, &Work)> {
    state.active().into_iter().filter_map(|place| {
        let work = state.works.get(&place)?;
        work.wait.is_some().then_some((place, work))
    })
}

fn run_reason(state: &RunState, phase: RunPhase) -> String {
    if let Some((_, reason, _)) = &state.end {
        return reason.clone();
    }
    let wanted = |work: &Work| {
        work.wait.as_ref().is_some_and(|(wait, _)| wait.held) == (phase == RunPhase::Held)
    };
    active_waits(state)
        .find(|(_, work)| wanted(work))
        .and_then(|(place, work)| {
            let (wait, _) = work.wait.as_ref()?;
            Some(format!(
                "stage `{}` on {}: {}",
                place.stage,
                place.target.words(),
                wait.reason
            ))
        })
        .or_else(|| {
            let (wait, _) = state.wait.as_ref()?;
            Some(wait.reason.clone())
        })
        .unwrap_or_default()
}

fn stage_status(state: &RunState, head: &StageHead) -> StageStatus {
    let start = state.start.as_ref();
    let targets = start.map_or_else(Vec::new, |start| head.targets(&start.servers));
    let views: Vec<(Target, TargetView)> = targets
        .into_iter()
        .map(|target| {
            let view = target_view(
                state,
                &Place {
                    stage: head.name.clone(),
                    target: target.clone(),
                },
            );
            (target, view)
        })
        .collect();
    let phases: Vec<RunPhase> = views
        .iter()
        .filter(|(target, _)| !state.is_removed(target))
        .map(|(_, view)| view.phase)
        .collect();
    let phase = aggregate(&phases);
    let telling = views
        .iter()
        .find(|(_, view)| view.phase == phase)
        .or_else(|| views.first());
    let how = (phase == RunPhase::Completed)
        .then(|| {
            views
                .iter()
                .filter_map(|(_, view)| view.how)
                .max_by_key(|how| rank(how))
        })
        .flatten();
    StageStatus {
        name: head.name.to_string(),
        kind: head.kind.as_str(),
        phase,
        how,
        reason: telling
            .map(|(_, view)| view.reason.clone())
            .unwrap_or_default(),
        task: views.iter().find_map(|(_, view)| view.task.clone()),
        percent: views.iter().find_map(|(_, view)| view.percent),
        servers: views
            .into_iter()
            .filter_map(|(target, view)| {
                let server = target.server()?.to_string();
                Some(ServerStatus {
                    server,
                    phase: view.phase,
                    how: view.how,
                    reason: view.reason,
                    percent: view.percent,
                })
            })
            .collect(),
    }
}

fn rank(how: &str) -> u8 {
    match how {
        "applied" => 3,
        "adopted" => 2,
        "already-there" => 1,
        _ => 0,
    }
}

/// Failed if any failed, else in progress if any progresses or some are done and some not, else pending if none began,
/// completed only if all are; held where nothing but holds is left to progress, and
/// cancelled where nothing is left to progress because a person ended it.
pub fn aggregate(phases: &[RunPhase]) -> RunPhase {
    let all = |phase: RunPhase| phases.iter().all(|p| *p == phase);
    let any = |phase: RunPhase| phases.contains(&phase);
    if any(RunPhase::Failed) {
        RunPhase::Failed
    } else if all(RunPhase::Completed) {
        RunPhase::Completed
    } else if any(RunPhase::InProgress) {
        RunPhase::InProgress
    } else if any(RunPhase::Held) {
        RunPhase::Held
    } else if any(RunPhase::Cancelled) {
        RunPhase::Cancelled
    } else if all(RunPhase::Pending) {
        RunPhase::Pending
    } else {
        RunPhase::InProgress
    }
}

fn target_view(state: &RunState, place: &Place) -> TargetView {
    let mut view = TargetView {
        phase: RunPhase::Pending,
        how: None,
        reason: String::new(),
        task: None,
        percent: None,
    };
    let Some(work) = state.works.get(place) else {
        if state.is_removed(&place.target) {
            view.phase = RunPhase::Cancelled;
            REMOVED.clone_into(&mut view.reason);
        }
        return view;
    };
    match &work.status {
        WorkStatus::Done { how, reason, .. } => {
            view.phase = RunPhase::Completed;
            view.how = Some(how.as_str());
            view.reason.clone_from(reason);
        }
        WorkStatus::Failed { fault, .. } => {
            view.phase = RunPhase::Failed;
            view.reason = fault.to_string();
        }
        WorkStatus::Stopped { reason, .. } => {
            view.phase = RunPhase::Cancelled;
            view.reason.clone_from(reason);
        }
        WorkStatus::Active => {
            let held = state.is_held(place);
            view.phase = if held {
                RunPhase::Held
            } else {
                RunPhase::InProgress
            };
            view.reason = work
                .wait
                .as_ref()
                .map(|(wait, _)| wait.reason.clone())
                .unwrap_or_default();
            if let Some(track) = &work.task {
                view.task = track
                    .handle
                    .as_ref()
                    .and_then(|handle| handle.task.clone().or(handle.monitor.clone()));
                view.percent = track.seen.percent;
            }
        }
    }
    view
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_told_to_the_millisecond_and_to_a_person_to_the_second() {
        let at: Timestamp = "2026-03-01T10:00:00.123456789Z".parse().unwrap_or_default();
        let told = whole_milliseconds(at).to_string();
        assert_eq!(told, "2026-03-01T10:00:00.123Z");
        assert_eq!(format!("{at:.0}"), "2026-03-01T10:00:00Z");
    }
}
