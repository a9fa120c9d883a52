//! Resetting the BMC.

use super::super::busy;
use crate::model::Action;
use crate::pipeline::ResetPolicy;
use crate::plan::{offered_type, reset_obstacle};
use crate::run::deadline::POST_TIMEOUT;
use crate::run::foreign::{foreign_work, system_in_post};
use crate::run::pass::Pass;
use crate::run::record::{Intent, Place};

/// Resets the BMC, after the look that every reset needs. `shown` = the BMC shows what is wanted already.
pub(in crate::run::stage) fn reset_manager(
    pass: &mut Pass<'_>,
    place: &Place,
    policy: ResetPolicy,
    shown: bool,
) {
    if !pass.request.work || !pass.request.software || pass.is_refused(place) {
        return;
    }
    if policy == ResetPolicy::None {
        return pass.hold(
            place,
            "blocked: the BMC must be reset and `reset = \"none\"`; reset it, then apply again",
        );
    }
    if let Some(found) = foreign_work(pass) {
        return pass.hold(
            place,
            format!("deferred: {found}; nothing is reset meanwhile"),
        );
    }
    if let Some(other) = busy::other_update(pass, place) {
        return busy::wait_for(pass, place, &other, "the BMC is not reset meanwhile");
    }
    if let Some(name) = system_in_post(pass.look) {
        return pass.wait_or_hold(
            place,
            format!("`{name}` is in POST; the BMC is not reset before it is over"),
            POST_TIMEOUT,
            format!("`{name}` stays in POST, so the BMC is not reset; look at its console, then apply again"),
        );
    }
    let kinds: &[&str] = match policy {
        ResetPolicy::Force => &["ForceRestart", "GracefulRestart"],
        ResetPolicy::GracefulThenForce | ResetPolicy::Graceful | ResetPolicy::None => {
            &["GracefulRestart", "ForceRestart"]
        }
    };
    let capability = &pass.look.capability;
    let offered = offered_type(&capability.manager_reset_types, kinds);
    let Some(reset_type) = offered.filter(|_| !capability.no_manager_reset) else {
        let obstacle = reset_obstacle(&place.target, policy, pass.look).unwrap_or_default();
        return pass.hold(place, format!("blocked: {obstacle}"));
    };
    let reset_type = reset_type.to_owned();
    let intent = Intent::ResetManager {
        reset_type: reset_type.clone(),
        manager_started: pass.look.manager_started.clone(),
        shown,
    };
    pass.intend(place, intent, Action::ResetManager { reset_type });
}
