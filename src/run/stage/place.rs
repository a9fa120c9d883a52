//! A stage on a target, whatever its kind.

use jiff::Timestamp;

use super::{cancel, settings, version};
use crate::model::inventory::Pace;
use crate::model::{LookRequest, Target};
use crate::plan::{RunSpec, StageSpec};
use crate::run::deadline::{BMC_RESET_TIMEOUT, UNREACHABLE_TIMEOUT, after};
use crate::run::pass::Pass;
use crate::run::record::Place;
use crate::run::state::{RunState, Step, Work};

/// Moves one place a step further.
pub(in crate::run) fn step(pass: &mut Pass<'_>, place: &Place) {
    let spec = pass.spec;
    let Some(stage) = spec.stage(&place.stage) else {
        return;
    };
    if !pass.request.state || matches!(pass.step(place), Step::Acting(_)) {
        return;
    }
    if let Some(server) = place.target.server()
        && !pass.look.systems.contains_key(server)
    {
        return pass.wait_or_hold(
            place,
            format!("the BMC does not show the system of `{server}` now"),
            UNREACHABLE_TIMEOUT,
            format!(
                "the BMC does not show the system of `{server}` any more; when it does, apply again"
            ),
        );
    }
    if pass.state.given_up(&place.target).is_some() && cancel::step(pass, place, stage) {
        return;
    }
    if stage.kind.is_version() {
        version::step(pass, place, stage);
    } else {
        settings::step(pass, place, stage);
    }
}

/// What one place needs to see next.
pub(in crate::run) fn needs(state: &RunState, spec: &RunSpec, place: &Place) -> LookRequest {
    let Some(stage) = spec.stage(&place.stage) else {
        return LookRequest::default();
    };
    let fresh = Work::fresh();
    let work = state.works.get(place).unwrap_or(&fresh);
    if stage.kind.is_version() {
        version::needs(work)
    } else {
        settings::needs(work, place, stage)
    }
}

/// The end of the outage that a place has declared.
pub(in crate::run) fn outage_until(
    work: &Work,
    stage: &StageSpec,
    target: &Target,
    pace: &Pace,
) -> Option<Timestamp> {
    match settings::severed_at(work, stage, target) {
        Some(at) => Some(after(at, BMC_RESET_TIMEOUT)),
        None => version::outage_until(work, stage, target, pace),
    }
}
