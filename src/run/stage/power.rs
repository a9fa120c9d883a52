//! Resetting hosts and BMCs: graceful first, forced only where nothing of ours has begun to boot, and power as before
//! at the end.

use crate::model::look::Power;
use crate::model::{Action, FaultKind, Retry};
use crate::pipeline::ResetPolicy;
use crate::run::deadline::{FORCE_TIMEOUT, GRACE_TIMEOUT, POST_TIMEOUT, after};
use crate::run::foreign::{foreign_work, system, system_in_post};
use crate::run::pass::{Pass, Refusal, fault};
use crate::run::record::{Intent, Milestone, Place, Record, ResetPurpose, TaskFate};

/// First half of an activation: the look before a reset, power written down, then down until Off is seen.
pub(super) fn take_down(pass: &mut Pass<'_>, place: &Place, policy: ResetPolicy) {
    let Some(power) = ready_to_reset(pass, place, policy) else {
        return;
    };
    match power {
        Power::Off => pass.record(Record::Boot {
            at: place.clone(),
            milestone: Milestone::Off,
        }),
        Power::On | Power::Unknown => match policy {
            ResetPolicy::Force => reset(pass, place, ResetPurpose::ForceDown, &["ForceOff"]),
            ResetPolicy::GracefulThenForce | ResetPolicy::Graceful | ResetPolicy::None => {
                reset(pass, place, ResetPurpose::Down, &["GracefulShutdown"]);
            }
        },
        Power::Changing => pass.wait(place, "the host is changing its power state", None),
    }
}

/// A restart in one request, where no image is staged; a host that is off is switched on instead.
pub(super) fn restart(pass: &mut Pass<'_>, place: &Place, policy: ResetPolicy) {
    let Some(power) = ready_to_reset(pass, place, policy) else {
        return;
    };
    match power {
        Power::Off => reset(pass, place, ResetPurpose::Up, &["On"]),
        Power::On | Power::Unknown => match policy {
            ResetPolicy::Force => reset(
                pass,
                place,
                ResetPurpose::ForceRestart,
                &["ForceRestart", "PowerCycle"],
            ),
            ResetPolicy::GracefulThenForce => {
                reset(
                    pass,
                    place,
                    ResetPurpose::Restart,
                    &["GracefulRestart", "ForceRestart"],
                );
            }
            ResetPolicy::Graceful | ResetPolicy::None => {
                reset(pass, place, ResetPurpose::Restart, &["GracefulRestart"]);
            }
        },
        Power::Changing => pass.wait(place, "the host is changing its power state", None),
    }
}

/// Everything that must be true before a host reset; writes the power state down first.
fn ready_to_reset(pass: &mut Pass<'_>, place: &Place, policy: ResetPolicy) -> Option<Power> {
    if !pass.request.work || !pass.request.software {
        return None;
    }
    let power = system(pass.look, place)?.power;
    if policy == ResetPolicy::None {
        pass.hold(place, "blocked: a restart of the host is needed and `reset = \"none\"`; restart it, then apply again");
        return None;
    }
    if pass.after_refusal(place) == Refusal::Ended {
        return None;
    }
    if let Some(found) = foreign_work(&pass.state, pass.look) {
        pass.hold(place, format!("deferred: {found}"));
        return None;
    }
    if let Some(other) = bmc_flash(pass, place) {
        pass.wait(place, format!("{other}; nothing is reset meanwhile"), None);
        return None;
    }
    if system(pass.look, place)?.in_post == Some(true) {
        let until = pass.step_until(place, POST_TIMEOUT);
        if pass.now < until {
            pass.wait(
                place,
                "the host is in POST; nothing is reset before it is over",
                Some(until),
            );
        } else {
            pass.hold(place, "the host stays in POST; nothing is reset");
        }
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

/// A flash of the BMC, or of a system that shares this one's chassis.
fn bmc_flash(pass: &Pass<'_>, place: &Place) -> Option<String> {
    let own = system(pass.look, place)?;
    let other = pass.flashing(place)?;
    match other.target.server() {
        None => Some("the BMC is being updated".to_owned()),
        Some(name) => {
            let system = pass.look.systems.get(name)?;
            let shares = system
                .chassis
                .iter()
                .any(|chassis| own.chassis.contains(chassis));
            let only = pass.look.systems.len() + pass.look.other_systems.len() > 1;
            (shares && only && pass.work(other).boot_began)
                .then(|| format!("`{name}` shares the chassis and is flashing"))
        }
    }
}

/// Sends the first of the reset types that the system allows.
fn reset(pass: &mut Pass<'_>, place: &Place, purpose: ResetPurpose, types: &[&str]) {
    let Some(server) = place.target.server().cloned() else {
        return;
    };
    let Some(system) = system(pass.look, place) else {
        return;
    };
    let allowed = |kind: &&&str| {
        system.reset_types.is_empty() || system.reset_types.iter().any(|t| t == **kind)
    };
    let Some(reset_type) = types.iter().find(allowed).map(|kind| (*kind).to_owned()) else {
        let offered = system.reset_types.join(", ");
        return pass.hold(
            place,
            format!("blocked: the host offers none of {types:?}, only {offered}"),
        );
    };
    let intent = Intent::ResetSystem {
        reset_type: reset_type.clone(),
        purpose,
    };
    pass.intend(place, intent, Action::ResetSystem { server, reset_type });
}

/// After a shutdown request: Off, or the graceful time, or a force that the stage allows.
pub(super) fn going_down(pass: &mut Pass<'_>, place: &Place, policy: ResetPolicy) {
    let Some(power) = system(pass.look, place).map(|system| system.power) else {
        return;
    };
    if power == Power::Off {
        return pass.record(Record::Boot {
            at: place.clone(),
            milestone: Milestone::Off,
        });
    }
    let forced = last_purpose(pass, place) == Some(ResetPurpose::ForceDown);
    let until = pass.step_until(place, if forced { FORCE_TIMEOUT } else { GRACE_TIMEOUT });
    if pass.now < until {
        return pass.wait(place, "waiting for the host to go off", Some(until));
    }
    if forced || pass.work(place).boot_began || policy == ResetPolicy::Graceful {
        return pass.hold(place, "the host does not go off and an image waits for its boot; switch it off, then apply again");
    }
    reset(pass, place, ResetPurpose::ForceDown, &["ForceOff"]);
}

/// The host is off: where flashing runs while it is off, its end comes first; then on.
pub(super) fn off(pass: &mut Pass<'_>, place: &Place) {
    if pass.after_refusal(place) == Refusal::Ended {
        return;
    }
    let running = pass
        .work(place)
        .task
        .as_ref()
        .is_some_and(|track| track.seen.fate == TaskFate::Running && track.handle.is_some());
    if running {
        let until = pass.step_until(place, POST_TIMEOUT);
        return if pass.now < until {
            pass.wait(
                place,
                "the image is flashed while the host is off",
                Some(until),
            );
        } else {
            pass.hold(
                place,
                "the task does not end while the host is off; nothing is switched on",
            );
        };
    }
    reset(pass, place, ResetPurpose::Up, &["On"]);
}

/// After a restart request without a staged image: a boot, or the graceful time, then force where allowed.
pub(super) fn restarting(
    pass: &mut Pass<'_>,
    place: &Place,
    policy: ResetPolicy,
    took_effect: bool,
) {
    let Some(system) = system(pass.look, place) else {
        return;
    };
    if took_effect
        || system.in_post == Some(true)
        || system.power == Power::Off
        || system.power == Power::Changing
    {
        return pass.record(Record::Boot {
            at: place.clone(),
            milestone: Milestone::Booting,
        });
    }
    let forced = last_purpose(pass, place) == Some(ResetPurpose::ForceRestart);
    let until = pass.step_until(place, if forced { FORCE_TIMEOUT } else { GRACE_TIMEOUT });
    if pass.now < until {
        return pass.wait(place, "waiting for the host to restart", Some(until));
    }
    if system.in_post.is_none() {
        // A BMC that never speaks of POST: time has passed, the read-back decides.
        return pass.record(Record::Boot {
            at: place.clone(),
            milestone: Milestone::Booting,
        });
    }
    if forced || policy == ResetPolicy::Graceful {
        let message = "the host ignores the restart";
        return pass.fail(place, fault(FaultKind::ResetFailed, Retry::Never, message));
    }
    reset(
        pass,
        place,
        ResetPurpose::ForceRestart,
        &["ForceRestart", "PowerCycle"],
    );
}

/// A boot of ours: POST has to end.
pub(super) fn booting(pass: &mut Pass<'_>, place: &Place) {
    let Some(system) = system(pass.look, place) else {
        return;
    };
    let until = pass.step_until(place, POST_TIMEOUT);
    let over = match (system.power, system.in_post) {
        (Power::On, Some(false)) => true,
        (Power::On, None) => pass.in_step(place) >= pass.spec.pace.settle_for,
        (Power::On | Power::Off | Power::Changing | Power::Unknown, _) => false,
    };
    if over {
        pass.record(Record::Boot {
            at: place.clone(),
            milestone: Milestone::PostOver,
        });
    } else if pass.now < until {
        pass.wait(place, "the host boots", Some(until));
    } else {
        pass.hold(place, "the host does not finish POST; look at its console");
    }
}

/// Power as it was before; true once it is.
pub(super) fn restore(pass: &mut Pass<'_>, place: &Place) -> bool {
    let work = pass.work(place);
    let Some(before) = work.power_before.filter(|_| work.power_changed) else {
        return true;
    };
    let Some(system) = system(pass.look, place) else {
        return false;
    };
    let asked = last_purpose(pass, place) == Some(ResetPurpose::Restore);
    match (before, system.power) {
        (Power::Off, Power::Off) | (Power::On, Power::On) => {
            pass.record(Record::Boot {
                at: place.clone(),
                milestone: Milestone::Restored,
            });
            true
        }
        (Power::Off | Power::On, _)
            if system.in_post == Some(true) || system.power == Power::Changing =>
        {
            pass.wait(place, "the host changes its power state", None);
            false
        }
        (Power::Off, _) if asked => {
            let until = after(pass.work(place).step_since, GRACE_TIMEOUT);
            if pass.now < until {
                pass.wait(
                    place,
                    "the host goes off again, as it was before",
                    Some(until),
                );
                return false;
            }
            let text = "the host was off before and ignores the shutdown; it is left on".to_owned();
            pass.record(Record::Notice {
                at: Some(place.clone()),
                text,
            });
            true
        }
        (Power::Off, _) => {
            if pass.after_refusal(place) == Refusal::None {
                reset(pass, place, ResetPurpose::Restore, &["GracefulShutdown"]);
            }
            false
        }
        (Power::On, _) if asked => {
            let until = after(pass.work(place).step_since, GRACE_TIMEOUT);
            if pass.now < until {
                pass.wait(place, "the host is switched on again", Some(until));
            } else {
                pass.hold(
                    place,
                    "the host was on before and does not come up; switch it on, then apply again",
                );
            }
            false
        }
        (Power::On, _) => {
            if pass.after_refusal(place) == Refusal::None {
                reset(pass, place, ResetPurpose::Restore, &["On"]);
            }
            false
        }
        (Power::Changing | Power::Unknown, _) => true,
    }
}

/// Resets the BMC, after the look that every reset needs.
pub(super) fn reset_manager(pass: &mut Pass<'_>, place: &Place, policy: ResetPolicy) {
    if !pass.request.work || !pass.request.software || pass.after_refusal(place) == Refusal::Ended {
        return;
    }
    if policy == ResetPolicy::None {
        return pass.hold(
            place,
            "blocked: the BMC must be reset and `reset = \"none\"`; reset it, then apply again",
        );
    }
    if let Some(found) = foreign_work(&pass.state, pass.look) {
        return pass.hold(place, format!("deferred: {found}"));
    }
    if let Some(name) = system_in_post(pass.look) {
        return pass.wait(
            place,
            format!("`{name}` is in POST; the BMC is not reset before it is over"),
            None,
        );
    }
    let offered = &pass.look.capability.manager_reset_types;
    let kinds: &[&str] = match policy {
        ResetPolicy::Force => &["ForceRestart", "GracefulRestart"],
        ResetPolicy::GracefulThenForce | ResetPolicy::Graceful | ResetPolicy::None => {
            &["GracefulRestart", "ForceRestart"]
        }
    };
    let allowed = |kind: &&&str| offered.is_empty() || offered.iter().any(|t| t == **kind);
    let Some(reset_type) = kinds.iter().find(allowed).map(|kind| (*kind).to_owned()) else {
        return pass.hold(
            place,
            format!(
                "blocked: the BMC offers no restart, only {}",
                offered.join(", ")
            ),
        );
    };
    let intent = Intent::ResetManager {
        reset_type: reset_type.clone(),
    };
    pass.intend(place, intent, Action::ResetManager { reset_type });
}

fn last_purpose(pass: &Pass<'_>, place: &Place) -> Option<ResetPurpose> {
    pass.work(place)
        .acts
        .iter()
        .rev()
        .find_map(|act| match act.intent {
            Intent::ResetSystem { purpose, .. } => Some(purpose),
            Intent::Update { .. }
            | Intent::ResetManager { .. }
            | Intent::Attributes { .. }
            | Intent::Resource { .. } => None,
        })
}
