//! A hop that a person cancelled: an update under way is followed to its end, one that waits for a restart is taken back.

use super::follow;
use super::hop::Hop;
use crate::model::{Fault, FaultKind, Retry, Target};
use crate::plan::StageSpec;
use crate::run::foreign::system;
use crate::run::pass::Pass;
use crate::run::record::{Place, Record, TaskFate};
use crate::run::state::Step;

/// Gives an update up that has not begun to be flashed; false where the hop goes on as if nobody had cancelled.
pub(in crate::run) fn cancel(pass: &mut Pass<'_>, place: &Place, stage: &StageSpec) -> bool {
    let Some(spec) = stage.kind.version(&place.target) else {
        return false;
    };
    let hop = Hop { stage, spec };
    follow::note_task(pass, place);
    let waits = match pass.step(place) {
        // A try before this one may have left something on the BMC.
        Step::Check => true,
        Step::Ended(_) => waits_for_a_restart(pass, place),
        Step::Acting(_)
        | Step::Doubt(_)
        | Step::Follow(_)
        | Step::GoingDown
        | Step::Off
        | Step::Restarting
        | Step::Booting
        | Step::BmcReset
        | Step::Verify
        | Step::Restoring
        | Step::Failing(_) => false,
    };
    if !waits {
        return false;
    }
    if !pass.request.work || !pass.request.software {
        return true;
    }
    if hop.is_at_target(pass, place) {
        return false;
    }
    let message = pass.state.given_up(&place.target).unwrap_or_default();
    pass.record(Record::Failing {
        at: place.clone(),
        fault: Fault::new(FaultKind::Cancelled, Retry::Never, message),
    });
    true
}

/// Whether nothing but a restart, which nobody has begun, lies between an accepted image and its flash.
fn waits_for_a_restart(pass: &Pass<'_>, place: &Place) -> bool {
    let work = pass.work(place);
    let fate = work.task.as_ref().map_or(TaskFate::Gone, |t| t.seen.fate);
    let asks = fate == TaskFate::AwaitsReset || follow::asks_for_reset(work);
    match place.target {
        Target::Bmc => {
            let was_away = pass
                .state
                .answered_at
                .is_some_and(|at| at >= work.step_since);
            asks && fate != TaskFate::Bad && !work.reset_made && !was_away
        }
        Target::Server(_) => {
            let boots = system(pass.look, place).is_none_or(|system| system.in_post == Some(true));
            let is_evident =
                asks || fate == TaskFate::Good || !follow::staged_for(pass, place).is_empty();
            !boots && is_evident && fate != TaskFate::Bad
        }
    }
}
