//! A run that has written something is not held for ever.

use super::deadline::after;
use super::pass::{Pass, fault};
use super::record::RunPhase;
use super::state::{HoldPhase, Step};
use crate::model::{FaultKind, Retry};

/// Fails whatever has been held for `held_for` since anything moved. A hop ends only once nothing of it is left on the
/// BMC, and what waits for its owner or its window has an end of its own.
pub(super) fn expire(pass: &mut Pass<'_>) {
    let held_for = pass.spec.maintenance.held_for;
    let is_over = pass
        .state
        .held_since
        .is_some_and(|since| pass.now >= after(since, held_for));
    if !is_over || !pass.state.has_written || pass.state.phase() != RunPhase::Held {
        return;
    }
    let waits_for_owner = pass
        .state
        .hold
        .as_ref()
        .is_some_and(|hold| match hold.phase {
            HoldPhase::Asked | HoldPhase::Approved(_) => hold.hooks_done == 0,
            HoldPhase::Granted | HoldPhase::Releasing(_) => false,
        });
    if waits_for_owner {
        return;
    }
    let hours = held_for.as_secs() / 3600;
    for place in pass.state.active() {
        let work = pass.work(&place);
        if matches!(work.step, Step::Failing(_)) {
            continue;
        }
        let reason = work
            .wait
            .as_ref()
            .map(|(wait, _)| wait.reason.clone())
            .unwrap_or_default();
        let message = format!("held for {hours} h: {reason}");
        pass.fail(&place, fault(FaultKind::Deadline, Retry::Operator, message));
    }
}
