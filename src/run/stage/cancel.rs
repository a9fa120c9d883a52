//! A run that a person cancelled, or a server that left the inventory: no further step begins, and what is under way
//! goes to its end.

use super::version;
use crate::plan::StageSpec;
use crate::run::order::stopped;
use crate::run::pass::Pass;
use crate::run::record::{Milestone, Place, Record, StageWord};
use crate::run::state::Step;

/// Ends a place at which nothing is under way; false where what is under way goes on as if nobody had cancelled.
pub(super) fn step(pass: &mut Pass<'_>, place: &Place, stage: &StageSpec) -> bool {
    let work = pass.work(place);
    if work.is_at_rest() {
        stop(pass, place, stage);
        return true;
    }
    if stage.kind.is_version() {
        return version::cancel(pass, place, stage);
    }
    if matches!(work.step, Step::Check | Step::Verify) {
        // The host was switched on or off for this stage: power goes back first.
        pass.record(Record::Boot {
            at: place.clone(),
            milestone: Milestone::Reached,
        });
        return true;
    }
    false
}

/// Ends a stage on a target as cancelled.
pub(super) fn stop(pass: &mut Pass<'_>, place: &Place, stage: &StageSpec) {
    let kind = match (stage.kind.is_version(), stage.kind.is_bmc()) {
        (false, true) => StageWord::BmcSettings,
        (false, false) => StageWord::BiosSettings,
        (true, true) => StageWord::BmcVersion,
        (true, false) => StageWord::BiosVersion,
    };
    let reason = stopped(&pass.state, &place.target, pass.work(place), Some(kind));
    pass.record(Record::Stopped {
        at: place.clone(),
        reason,
    });
}
