//! The end of a run: what an earlier stage reached is read once more, for a later one may have undone it.
//!
//! What is found undone is applied again, once; a second loss is a failure that names both stages. A version is never
//! flashed again here: that it fell back is a person's business.

use super::deadline::{SETTINGS_VERIFY_TIMEOUT, after};
use super::pass::{Pass, fault};
use super::record::{How, Place, Record, RunPhase};
use super::stage::settings;
use super::state::{RunState, Work, WorkStatus};
use super::{hold, order};
use crate::model::{FaultKind, LookRequest, Retry, StageName, Target};
use crate::plan::{
    RunSpec, SettingsSpec, StageSpec, VersionAssessment, assess_version, guard_unmet, live_version,
    standings, superseded,
};

/// What is read before the run may end as completed; `None` where nothing was written after what is to be confirmed.
pub(super) fn needs(state: &RunState, spec: &RunSpec) -> Option<LookRequest> {
    let last_write_at = state.last_write_at?;
    let mut request = LookRequest {
        state: true,
        software: true,
        ..LookRequest::default()
    };
    let mut is_older = false;
    for (stage, target) in watched(spec) {
        let place = place(stage, target);
        let Some(Work {
            status: WorkStatus::Done { at, how, .. },
            ..
        }) = state.works.get(&place)
        else {
            continue;
        };
        if *how == How::None {
            continue;
        }
        // What is decided at one moment goes by a look from before the request that it ends with.
        is_older |= *at <= last_write_at;
        if let Some(wanted) = stage.kind.settings(target) {
            settings::read_all(&mut request, &place, wanted);
        }
    }
    is_older.then_some(request)
}

/// Every stage that stands at the end, on every target: neither transient, nor a hop with a later one behind it.
fn watched(spec: &RunSpec) -> impl Iterator<Item = (&StageSpec, &Target)> {
    spec.stages
        .iter()
        .filter(|stage| !stage.transient)
        .flat_map(|stage| {
            stage
                .kind
                .targets()
                .into_iter()
                .map(move |target| (stage, target))
        })
        .filter(|(_, target)| target.server().is_none_or(|name| !spec.gone.contains(name)))
        .filter(|(stage, target)| {
            stage
                .kind
                .version(target)
                .is_none_or(|version| version.is_last)
        })
}

fn place(stage: &StageSpec, target: &Target) -> Place {
    Place {
        stage: stage.name.clone(),
        target: target.clone(),
    }
}

/// Ends the run where nothing is left to do and all that it reached is still so.
pub(super) fn end(pass: &mut Pass<'_>) {
    if pass.state.end.is_some() || !pass.state.active().is_empty() {
        return;
    }
    if let Some((phase, reason)) = hold::ended(&pass.state) {
        return over(pass, phase, reason);
    }
    if pass.state.cancel().is_some() {
        if let Some((phase, reason)) = order::cancelled(&pass.state) {
            over(pass, phase, reason);
        }
        return;
    }
    if let Some(reason) = failures(pass) {
        return over(pass, RunPhase::Failed, reason);
    }
    if !is_confirmed(pass) {
        return;
    }
    match failures(pass) {
        Some(reason) => over(pass, RunPhase::Failed, reason),
        None => over(
            pass,
            RunPhase::Completed,
            "every stage is read back".to_owned(),
        ),
    }
}

/// Ends the run, once its servers are given back.
pub(super) fn over(pass: &mut Pass<'_>, phase: RunPhase, reason: String) {
    if hold::gave_back(pass, phase, &reason) {
        pass.record(Record::Ended { phase, reason });
    }
}

fn failures(pass: &Pass<'_>) -> Option<String> {
    let failed: Vec<String> = pass
        .state
        .works
        .iter()
        .filter_map(|(place, work)| match &work.status {
            WorkStatus::Failed { fault, .. } => Some(format!(
                "stage `{}` on {}: {fault}",
                place.stage,
                pass.name(&place.target)
            )),
            WorkStatus::Active | WorkStatus::Done { .. } | WorkStatus::Stopped { .. } => None,
        })
        .collect();
    (!failed.is_empty()).then(|| failed.join("; "))
}

/// What a last look says of one stage on one target.
enum Standing {
    /// As it was read back.
    Holds,
    /// Nothing can be said: what it wants is not shown.
    NotShown(String),
    /// Settings differ again.
    Undone(String),
    /// Another version runs.
    Fell(String),
}

/// Whether the run may end: true once nothing is undone. Undone stages are opened again, or fail.
fn is_confirmed(pass: &mut Pass<'_>) -> bool {
    let Some(needed) = needs(&pass.state, pass.spec) else {
        return true;
    };
    if !pass.request.covers(&needed) {
        return false;
    }
    let mut not_shown = Vec::new();
    let mut fell = Vec::new();
    let mut is_undone = false;
    for (place, standing) in standing_of_all(pass) {
        match standing {
            Standing::Holds => {}
            Standing::NotShown(what) => not_shown.push(format!("stage `{}`: {what}", place.stage)),
            Standing::Fell(what) => fell.push((place, what)),
            Standing::Undone(what) => {
                is_undone = true;
                undone(pass, place, what);
            }
        }
    }
    if is_undone {
        return pass.state.active().is_empty();
    }
    if !fell.is_empty() {
        return has_fallen(pass, fell);
    }
    not_shown.is_empty() || is_given_up(pass, &not_shown.join("; "))
}

fn standing_of_all(pass: &Pass<'_>) -> Vec<(Place, Standing)> {
    let mut superseded = superseded(pass.spec, &standings(pass.spec, pass.look));
    let mut all = Vec::new();
    for (stage, target) in watched(pass.spec) {
        let place = place(stage, target);
        let work = pass.state.works.get(&place);
        let is_there = work.is_some_and(
            |work| matches!(work.status, WorkStatus::Done { how, .. } if how != How::None),
        );
        if !is_there {
            continue;
        }
        let standing = if let Some(wanted) = stage.kind.settings(target) {
            let index = pass.spec.position(&stage.name).unwrap_or_default();
            let rest = superseded
                .remove(&(index, target.clone()))
                .map(|found| found.rest(wanted));
            settings_standing(pass, &place, rest.as_ref().unwrap_or(wanted))
        } else {
            version_standing(pass, stage, target)
        };
        all.push((place, standing));
    }
    all
}

fn settings_standing(pass: &Pass<'_>, place: &Place, wanted: &SettingsSpec) -> Standing {
    let live = live_version(pass.look, &place.target);
    if guard_unmet(wanted.guard.as_ref(), live, &place.target, pass.look).is_some() {
        return Standing::Holds;
    }
    match settings::difference(pass, place, wanted) {
        settings::Difference::None => Standing::Holds,
        settings::Difference::NotShown(what) => Standing::NotShown(what),
        settings::Difference::Values(what) => Standing::Undone(what),
    }
}

fn version_standing(pass: &Pass<'_>, stage: &StageSpec, target: &Target) -> Standing {
    let Some(version) = stage.kind.version(target) else {
        return Standing::Holds;
    };
    match assess_version(stage, version, target, pass.look) {
        VersionAssessment::AtTarget { .. } | VersionAssessment::NoBios => Standing::Holds,
        VersionAssessment::NoVersion { reason } => Standing::NotShown(reason),
        VersionAssessment::SystemMissing { server } => {
            Standing::NotShown(format!("the system of `{server}`"))
        }
        other @ (VersionAssessment::Below { .. }
        | VersionAssessment::Above { .. }
        | VersionAssessment::Incomparable { .. }
        | VersionAssessment::RequirementUnmet { .. }
        | VersionAssessment::TwoManagers { .. }
        | VersionAssessment::NeedsTargets { .. }
        | VersionAssessment::Unsupported { .. }) => Standing::Fell(format!(
            "`{}` was reached, and `{}` runs now",
            version.version,
            other.live().unwrap_or("(no version)")
        )),
    }
}

/// The first time a stage is opened again; the second time it has failed.
fn undone(pass: &mut Pass<'_>, place: Place, what: String) {
    let culprit = culprit(pass, &place);
    if !pass.work(&place).reopened {
        let reason = what;
        return pass.record(Record::Reopened {
            at: place,
            after: culprit,
            reason,
        });
    }
    let by = culprit.map_or_else(
        || "by nobody of this run".to_owned(),
        |stage| format!("after stage `{stage}`"),
    );
    let message = format!(
        "what stage `{}` had set was undone {by}, was applied again, and is undone once more: {what}",
        place.stage
    );
    pass.record(Record::Failed {
        at: place,
        fault: fault(FaultKind::SideEffect, Retry::Operator, message),
    });
}

/// The stage that most likely undid another: of those that wrote something and were over after it, the last one; a hop
/// before any settings.
fn culprit(pass: &Pass<'_>, place: &Place) -> Option<StageName> {
    let over_at = |work: &Work| match &work.status {
        WorkStatus::Done { at, .. } => Some(*at),
        WorkStatus::Active | WorkStatus::Failed { .. } | WorkStatus::Stopped { .. } => None,
    };
    let own = over_at(pass.work(place))?;
    pass.state
        .works
        .iter()
        .filter(|(other, work)| other.stage != place.stage && work.written)
        .filter_map(|(other, work)| {
            let at = over_at(work).filter(|at| *at >= own)?;
            let is_hop = pass
                .spec
                .stage(&other.stage)
                .is_some_and(|stage| stage.kind.is_version());
            Some((is_hop, at, other.stage.clone()))
        })
        .max()
        .map(|(_, _, stage)| stage)
}

/// A version that is no longer there is read again before it counts; then its stage has failed.
fn has_fallen(pass: &mut Pass<'_>, fell: Vec<(Place, String)>) -> bool {
    let all: Vec<&str> = fell.iter().map(|(_, what)| what.as_str()).collect();
    let reason = format!("{}; read again until it is certain", all.join("; "));
    if !has_waited(pass, &reason, pass.spec.pace.settle_for) {
        return false;
    }
    for (place, what) in fell {
        let message = match culprit(pass, &place) {
            Some(stage) => format!("{what}, since stage `{stage}`"),
            None => what,
        };
        pass.record(Record::Failed {
            at: place,
            fault: fault(FaultKind::SideEffect, Retry::Operator, message),
        });
    }
    true
}

/// What is not shown any more is waited for, then told: it was read back once, and proves nothing now.
fn is_given_up(pass: &mut Pass<'_>, what: &str) -> bool {
    let reason = format!("not observable: {what}");
    if !has_waited(pass, &reason, SETTINGS_VERIFY_TIMEOUT) {
        return false;
    }
    pass.record(Record::Notice {
        at: None,
        text: format!("not observable any more, though it was read back before: {what}"),
    });
    true
}

fn has_waited(pass: &mut Pass<'_>, reason: &str, timeout: std::time::Duration) -> bool {
    let since = match &pass.state.wait {
        Some((wait, at)) if wait.reason == reason => *at,
        Some(_) | None => pass.now,
    };
    let until = after(since, timeout);
    if pass.now >= until {
        return true;
    }
    pass.run_wait(reason, Some(until), false);
    false
}
