//! One file per way of doing a stage, and the steps they share.

mod doubt;
mod follow;
mod power;
mod settings;
pub(super) mod version;

use jiff::Timestamp;

use super::pass::Pass;
use super::record::Place;
use super::state::{RunState, Work};
use crate::model::{LookRequest, Target};
use crate::plan::{RunSpec, StageSpec};

/// Moves one place a step further.
pub(super) fn step(pass: &mut Pass<'_>, place: &Place) {
    let spec = pass.spec;
    let Some(stage) = spec.stage(&place.stage) else {
        return;
    };
    if stage.kind.is_version() {
        version::step(pass, place, stage);
    } else {
        settings::step(pass, place, stage);
    }
}

/// What one place needs to see next.
pub(super) fn needs(state: &RunState, spec: &RunSpec, place: &Place) -> LookRequest {
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
pub(super) fn outage_until(work: &Work, stage: &StageSpec, target: &Target) -> Option<Timestamp> {
    version::outage_until(work, stage, target)
}
