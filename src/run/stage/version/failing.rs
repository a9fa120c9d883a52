//! A hop whose try is lost ends only when nothing of it is left on the BMC.

use super::follow;
use super::hop::Hop;
use crate::model::{Fault, FaultKind};
use crate::run::pass::Pass;
use crate::run::record::{Milestone, Place, Record};

impl Hop<'_> {
    /// Looks for what is left; the hop fails, or is tried again, once nothing is.
    pub(super) fn failing(&self, pass: &mut Pass<'_>, place: &Place, fault: Fault) {
        if !pass.request.work || !pass.request.software {
            return;
        }
        if fault.kind == FaultKind::VersionUnchanged && self.is_at_target(pass, place) {
            // It came after all.
            return pass.record(Record::Boot {
                at: place.clone(),
                milestone: Milestone::PostOver,
            });
        }
        if let Some(left) = follow::left_behind(pass, place) {
            let reason = format!(
                "left behind: {left}; the hop has failed ({}), and ends when that is gone: remove it, then apply again",
                fault.message
            );
            return pass.hold(place, reason);
        }
        pass.fail_now(place, fault);
    }
}
