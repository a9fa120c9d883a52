//! Power as it was before a stage, where the last change of it was ours.

use super::ready::{clear, last_purpose, send};
use crate::model::look::Power;
use crate::run::deadline::{GRACE_TIMEOUT, POST_TIMEOUT};
use crate::run::foreign::system;
use crate::run::pass::Pass;
use crate::run::record::{Milestone, Place, Record, ResetPurpose};
use crate::run::refusal::Refusal;

/// Power as it was before; true once it is, or once it is certain that it cannot be.
pub(in crate::run::stage) fn restore(pass: &mut Pass<'_>, place: &Place) -> bool {
    let work = pass.work(place);
    let Some(before) = work.power_before.filter(|_| work.power_changed) else {
        return true;
    };
    let Some(system) = system(pass.look, place) else {
        return false;
    };
    if system.in_post == Some(true) || system.power == Power::Changing {
        pass.wait_or_hold(
            place,
            "power goes back to what it was once the host is at rest",
            POST_TIMEOUT,
            "the host does not come to rest, so its power is not set back; look at its console, then apply again",
        );
        return false;
    }
    match (before, system.power) {
        (Power::Off, Power::Off) | (Power::On, Power::On) => {
            pass.record(Record::Boot {
                at: place.clone(),
                milestone: Milestone::Restored,
            });
            true
        }
        (Power::Off, Power::On) => go_off(pass, place),
        (Power::On, Power::Off) => go_on(pass, place),
        (Power::Changing | Power::Unknown, _) | (_, Power::Changing | Power::Unknown) => give_up(
            pass,
            place,
            "what its power was before, or is now, is not shown; it is left as it is",
        ),
    }
}

fn go_off(pass: &mut Pass<'_>, place: &Place) -> bool {
    if last_purpose(pass, place) == Some(ResetPurpose::Restore) {
        let until = pass.step_until(place, GRACE_TIMEOUT);
        if pass.now < until {
            let reason = "the host goes off again, as it was before";
            pass.wait(place, reason, Some(until));
            return false;
        }
        let text = "the host was off before and ignores the shutdown; it is left on";
        return give_up(pass, place, text);
    }
    set_back(
        pass,
        place,
        "GracefulShutdown",
        "the host was off before and refuses the shutdown; it is left on",
    )
}

fn go_on(pass: &mut Pass<'_>, place: &Place) -> bool {
    match last_purpose(pass, place) {
        Some(ResetPurpose::Down | ResetPurpose::ForceDown) => set_back(
            pass,
            place,
            "On",
            "the host was on before and refuses to be switched on; it is left off",
        ),
        Some(ResetPurpose::Restore) => {
            let until = pass.step_until(place, GRACE_TIMEOUT);
            if pass.now < until {
                pass.wait(place, "the host is switched on again", Some(until));
            } else {
                let reason =
                    "the host was on before and does not come up; switch it on, then apply again";
                pass.hold(place, reason);
            }
            false
        }
        Some(ResetPurpose::Up | ResetPurpose::Restart | ResetPurpose::ForceRestart) | None => {
            let text = "the host was on before, and somebody else has switched it off since; it is left off";
            give_up(pass, place, text)
        }
    }
}

fn set_back(pass: &mut Pass<'_>, place: &Place, reset_type: &str, refused: &str) -> bool {
    match pass.refusal(place) {
        Refusal::None => {}
        Refusal::Waiting => return false,
        Refusal::Final(fault) => return give_up(pass, place, &format!("{refused}: {fault}")),
    }
    if clear(pass, place) {
        send(pass, place, ResetPurpose::Restore, &[reset_type], false);
    }
    false
}

fn give_up(pass: &mut Pass<'_>, place: &Place, text: &str) -> bool {
    pass.record(Record::Notice {
        at: Some(place.clone()),
        text: format!("{}: {text}", pass.name(&place.target)),
    });
    true
}
