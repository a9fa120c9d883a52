//! What is under way while servers are asked for, or given back.

use crate::run::record::{Intent, Place};
use crate::run::state::{RunState, Step, Work, WorkStatus};

/// A place, but for one, that is in the middle of a step: it can neither be left alone nor given back.
pub(super) fn mid_step<'s>(state: &'s RunState, but: Option<&Place>) -> Option<&'s Place> {
    state
        .works
        .iter()
        .find(|(place, work)| Some(*place) != but && is_mid_step(work))
        .map(|(place, _)| place)
}

/// Whether something that was sent for a place is not read back yet, or its host is not as it was.
pub(in crate::run) fn is_mid_step(work: &Work) -> bool {
    let wrote_item = || {
        work.acts.iter().any(|act| {
            let item = match &act.intent {
                Intent::Attributes { item, .. }
                | Intent::Resource { item, .. }
                | Intent::Call { item, .. } => Some(*item),
                Intent::Update { .. }
                | Intent::ResetSystem { .. }
                | Intent::ResetManager { .. }
                | Intent::Withdraw { .. } => None,
            };
            // What was sent before the stage was opened again was read back then.
            act.attempt >= work.first_attempt
                && act.may_have_happened()
                && item == Some(work.items_done)
        })
    };
    work.status == WorkStatus::Active
        && (work.step != Step::Check || work.is_flashing() || work.power_changed || wrote_item())
}
