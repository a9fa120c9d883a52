//! The look before every reset, and the reset itself.

use crate::model::Action;
use crate::model::look::Power;
use crate::pipeline::ResetPolicy;
use crate::plan::offered_type;
use crate::run::deadline::{GRACE_TIMEOUT, POST_TIMEOUT};
use crate::run::foreign::{foreign_work, system};
use crate::run::pass::Pass;
use crate::run::record::{Intent, Place, Record, ResetPurpose};
use crate::run::stage::busy;
use crate::run::state::Act;

/// Everything that must be true before the first reset of a host in a stage; writes the power state down.
pub(super) fn ready(pass: &mut Pass<'_>, place: &Place, policy: ResetPolicy) -> Option<Power> {
    let power = system(pass.look, place)?.power;
    if policy == ResetPolicy::None {
        pass.hold(place, "blocked: the host must be restarted and `reset = \"none\"`; restart it, then apply again");
        return None;
    }
    if !clear(pass, place) {
        return None;
    }
    if system(pass.look, place)?.in_post == Some(true) {
        pass.wait_or_hold(
            place,
            "the host is in POST; nothing is reset before it is over",
            POST_TIMEOUT,
            "the host stays in POST, so nothing is reset; look at its console, then apply again",
        );
        return None;
    }
    if power == Power::Changing {
        pass.wait_or_hold(
            place,
            "the host is changing its power state",
            GRACE_TIMEOUT,
            "the host keeps changing its power state; look at it, then apply again",
        );
        return None;
    }
    if !pass.may_act(place) {
        return None;
    }
    if pass.work(place).power_before.is_none() {
        pass.record(Record::PowerBefore {
            at: place.clone(),
            power,
        });
    }
    Some(power)
}

/// The look before every power request: nobody else is at work, and no flash would be cut off.
pub(super) fn clear(pass: &mut Pass<'_>, place: &Place) -> bool {
    if !pass.request.work || !pass.request.software {
        return false;
    }
    if let Some(found) = foreign_work(pass) {
        pass.hold(
            place,
            format!("deferred: {found}; nothing is reset meanwhile"),
        );
        return false;
    }
    if let Some(other) = busy::flash_that_a_reset_would_cut(pass, place) {
        busy::wait_for(pass, place, &other, "nothing is reset meanwhile");
        return false;
    }
    true
}

/// Sends the first of the reset types that the system allows.
pub(super) fn send(
    pass: &mut Pass<'_>,
    place: &Place,
    purpose: ResetPurpose,
    types: &[&str],
    shown: bool,
) {
    let Some(server) = place.target.server().cloned() else {
        return;
    };
    let Some(reset_type) = offered(pass, place, types) else {
        let all = system(pass.look, place).map(|system| system.reset_types.join(", "));
        let all = all.filter(|all| !all.is_empty());
        return pass.hold(
            place,
            format!(
                "blocked: the host must be reset by {}, and its BMC offers {}; do it by hand, then apply again",
                types.join(" or "),
                all.as_deref().unwrap_or("none")
            ),
        );
    };
    let intent = Intent::ResetSystem {
        reset_type: reset_type.clone(),
        purpose,
        shown,
    };
    pass.intend(place, intent, Action::ResetSystem { server, reset_type });
}

/// The first of these reset types that the system allows.
pub(super) fn offered(pass: &Pass<'_>, place: &Place, types: &[&str]) -> Option<String> {
    let system = system(pass.look, place)?;
    let kind = offered_type(&system.reset_types, types).filter(|_| !system.no_reset)?;
    Some(kind.to_owned())
}

/// The last reset of this place's host that the BMC may have acted on, of all tries.
pub(super) fn last_reset<'p>(pass: &'p Pass<'_>, place: &Place) -> Option<&'p Act> {
    let acts = pass.work(place).acts.iter().rev();
    acts.filter(|act| act.may_have_happened())
        .find(|act| matches!(act.intent, Intent::ResetSystem { .. }))
}

/// What that reset was for.
pub(super) fn last_purpose(pass: &Pass<'_>, place: &Place) -> Option<ResetPurpose> {
    match last_reset(pass, place)?.intent {
        Intent::ResetSystem { purpose, .. } => Some(purpose),
        Intent::Update { .. }
        | Intent::ResetManager { .. }
        | Intent::Withdraw { .. }
        | Intent::Attributes { .. }
        | Intent::Resource { .. }
        | Intent::Call { .. } => None,
    }
}

/// What the last reset that was asked for was meant for, be it refused.
pub(super) fn asked_purpose(pass: &Pass<'_>, place: &Place) -> Option<ResetPurpose> {
    match pass.work(place).acts.last()?.intent {
        Intent::ResetSystem { purpose, .. } => Some(purpose),
        Intent::Update { .. }
        | Intent::ResetManager { .. }
        | Intent::Withdraw { .. }
        | Intent::Attributes { .. }
        | Intent::Resource { .. }
        | Intent::Call { .. } => None,
    }
}
