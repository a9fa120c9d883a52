//! Activating a staged image: down, Off seen, up. Never a restart in one request, and nothing forced once a boot of ours
//! may have begun.

use super::ready::{asked_purpose, clear, last_purpose, offered, ready, send};
use crate::model::Fault;
use crate::model::look::{Power, SystemView};
use crate::pipeline::ResetPolicy;
use crate::run::deadline::{FORCE_TIMEOUT, GRACE_TIMEOUT, POST_TIMEOUT, POWER_LAG};
use crate::run::foreign::system;
use crate::run::pass::Pass;
use crate::run::record::{Milestone, Place, Record, ResetPurpose, TaskFate};
use crate::run::refusal::Refusal;

/// First half: the look before a reset, power written down, then down until Off is seen.
pub(in crate::run::stage) fn take_down(pass: &mut Pass<'_>, place: &Place, policy: ResetPolicy) {
    let refused = match pass.refusal(place) {
        Refusal::None => None,
        Refusal::Waiting => return,
        Refusal::Final(fault) => Some(fault),
    };
    let Some(power) = ready(pass, place, policy) else {
        return;
    };
    if power == Power::Off {
        return boot(pass, place, Milestone::Off);
    }
    let may_force = matches!(policy, ResetPolicy::Force | ResetPolicy::GracefulThenForce);
    let graceful = refused.is_none()
        && policy != ResetPolicy::Force
        && (!may_force || offered(pass, place, &["GracefulShutdown"]).is_some());
    if graceful {
        send(
            pass,
            place,
            ResetPurpose::Down,
            &["GracefulShutdown"],
            false,
        );
    } else if may_force && asked_purpose(pass, place) != Some(ResetPurpose::ForceDown) {
        force_down(pass, place);
    } else if let Some(fault) = refused {
        refuses_to_go_down(pass, place, &fault);
    }
}

/// The first act on a host whose image is staged: some flashes restart it by themselves, and POST is shown late. A
/// graceful request is lost on a host in POST; this one would tear the flash.
fn force_down(pass: &mut Pass<'_>, place: &Place) {
    let until = pass.step_until(place, POWER_LAG);
    if pass.now < until {
        let reason =
            "the host is switched off once it is certain that the flash did not restart it";
        return pass.wait(place, reason, Some(until));
    }
    send(pass, place, ResetPurpose::ForceDown, &["ForceOff"], false);
}

fn refuses_to_go_down(pass: &mut Pass<'_>, place: &Place, fault: &Fault) {
    pass.hold(
        place,
        format!("blocked: the host refuses to go off, and an image waits for its boot: {fault}; switch it off, then apply again"),
    );
}

fn boot(pass: &mut Pass<'_>, place: &Place, milestone: Milestone) {
    pass.record(Record::Boot {
        at: place.clone(),
        milestone,
    });
}

/// After a shutdown request: Off, or the graceful time, or a force that the stage allows.
pub(in crate::run::stage) fn going_down(pass: &mut Pass<'_>, place: &Place, policy: ResetPolicy) {
    let Some(&SystemView { power, in_post, .. }) = system(pass.look, place) else {
        return;
    };
    if in_post == Some(true) {
        // It restarted instead, and POST may be flashing the image while power stays on.
        return boot(pass, place, Milestone::Booting);
    }
    if power == Power::Off {
        return boot(pass, place, Milestone::Off);
    }
    if is_running(pass, place) {
        return pass.wait_or_hold(
            place,
            "the update task runs again; nothing is forced meanwhile",
            POST_TIMEOUT,
            "the update task runs and the host does not go off; it may be flashing, so nothing is forced",
        );
    }
    let forced = last_purpose(pass, place) == Some(ResetPurpose::ForceDown);
    let until = pass.step_until(place, if forced { FORCE_TIMEOUT } else { GRACE_TIMEOUT });
    if pass.now < until {
        return pass.wait(place, "waiting for the host to go off", Some(until));
    }
    if forced || pass.work(place).boot_began || policy == ResetPolicy::Graceful {
        return pass.hold(place, "the host does not go off, and an image waits for its boot; switch it off, then apply again");
    }
    match pass.refusal(place) {
        Refusal::None => {}
        Refusal::Waiting => return,
        Refusal::Final(fault) => return refuses_to_go_down(pass, place, &fault),
    }
    if clear(pass, place) {
        send(pass, place, ResetPurpose::ForceDown, &["ForceOff"], false);
    }
}

/// The host is off: where flashing runs while it is off, its end comes first; then on.
pub(in crate::run::stage) fn off(pass: &mut Pass<'_>, place: &Place) {
    let Some(system) = system(pass.look, place) else {
        return;
    };
    if system.power == Power::On || system.in_post == Some(true) {
        // Somebody, or the BMC, switched it on.
        return boot(pass, place, Milestone::Booting);
    }
    if system.power == Power::Changing {
        return pass.wait_or_hold(
            place,
            "the host is changing its power state",
            GRACE_TIMEOUT,
            "the host is neither on nor off; look at it, then apply again",
        );
    }
    if is_running(pass, place) {
        return pass.wait_or_hold(
            place,
            "the image is flashed while the host is off",
            POST_TIMEOUT,
            "the update task does not end while the host is off; nothing is switched on",
        );
    }
    match pass.refusal(place) {
        Refusal::None => {}
        Refusal::Waiting => return,
        Refusal::Final(fault) => {
            let reason = format!(
                "blocked: the host is off for its update and refuses to be switched on: {fault}; switch it on, then apply again"
            );
            return pass.hold(place, reason);
        }
    }
    if clear(pass, place) {
        send(pass, place, ResetPurpose::Up, &["On"], false);
    }
}

/// Whether the followed task says that it is at work.
fn is_running(pass: &Pass<'_>, place: &Place) -> bool {
    pass.work(place)
        .task
        .as_ref()
        .is_some_and(|track| track.seen.fate == TaskFate::Running && track.handle.is_some())
}
