//! A restart in one request, where no image is staged.

use std::time::Duration;

use super::ready::{clear, last_reset, offered, ready, send};
use crate::model::look::Power;
use crate::model::{Fault, FaultKind, Retry};
use crate::pipeline::ResetPolicy;
use crate::run::deadline::{FORCE_TIMEOUT, GRACE_TIMEOUT, POST_TIMEOUT, UNSEEN_BOOT};
use crate::run::foreign::system;
use crate::run::pass::{Pass, fault};
use crate::run::record::{Intent, Milestone, Place, Record, ResetPurpose};
use crate::run::refusal::Refusal;

/// Restarts the host; one that is off is switched on instead. `shown` = the BMC shows the wanted values already.
pub(in crate::run::stage) fn restart(
    pass: &mut Pass<'_>,
    place: &Place,
    policy: ResetPolicy,
    shown: bool,
) {
    let refused = match pass.refusal(place) {
        Refusal::None => None,
        Refusal::Waiting => return,
        Refusal::Final(fault) => Some(fault),
    };
    let Some(power) = ready(pass, place, policy) else {
        return;
    };
    let may_force = matches!(policy, ResetPolicy::Force | ResetPolicy::GracefulThenForce);
    let graceful = refused.is_none()
        && policy != ResetPolicy::Force
        && (!may_force || offered(pass, place, &["GracefulRestart"]).is_some());
    match refused {
        None if power == Power::Off => send(pass, place, ResetPurpose::Up, &["On"], shown),
        None if graceful => {
            let purpose = ResetPurpose::Restart;
            send(pass, place, purpose, &["GracefulRestart"], shown);
        }
        None => force(pass, place, shown),
        Some(_) if may_force && power != Power::Off => force(pass, place, shown),
        Some(fault) => refuses(pass, place, fault),
    }
}

fn force(pass: &mut Pass<'_>, place: &Place, shown: bool) {
    let types = ["ForceRestart", "PowerCycle"];
    send(pass, place, ResetPurpose::ForceRestart, &types, shown);
}

fn refuses(pass: &mut Pass<'_>, place: &Place, fault: Fault) {
    pass.fail(
        place,
        Fault {
            message: format!("the host refuses the restart: {}", fault.message),
            ..fault
        },
    );
}

/// What the BMC shows of the values that a restart is to bring into effect.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::run::stage) enum Effect {
    /// All of them as current: proof of a restart where they were not shown before it.
    Current,
    /// Some of them still wait for a restart.
    Waiting,
    /// They neither count nor wait, or are not shown.
    Nothing,
}

/// After a restart request: a boot, or the graceful time, then force where allowed.
pub(in crate::run::stage) fn restarting(
    pass: &mut Pass<'_>,
    place: &Place,
    policy: ResetPolicy,
    effect: Effect,
) {
    let Some(system) = system(pass.look, place) else {
        return;
    };
    let (power, in_post) = (system.power, system.in_post);
    let (purpose, shown) = match last_reset(pass, place).map(|act| &act.intent) {
        Some(Intent::ResetSystem { purpose, shown, .. }) => (Some(*purpose), *shown),
        Some(_) | None => (None, false),
    };
    let booted = || Record::Boot {
        at: place.clone(),
        milestone: Milestone::Booting,
    };
    let boots = in_post == Some(true) || matches!(power, Power::Off | Power::Changing);
    if boots || (effect == Effect::Current && !shown) {
        return pass.record(booted());
    }
    let forced = purpose == Some(ResetPurpose::ForceRestart);
    let until = pass.step_until(place, if forced { FORCE_TIMEOUT } else { GRACE_TIMEOUT });
    if pass.now < until {
        return pass.wait(place, "waiting for the host to restart", Some(until));
    }
    let may_be_unseen = effect == Effect::Nothing && slept(pass, place) >= UNSEEN_BOOT;
    if in_post.is_none() || may_be_unseen {
        // Nobody saw whether it restarted, and nothing waits for that: time has passed, the read-back decides.
        return pass.record(booted());
    }
    if forced || policy == ResetPolicy::Graceful {
        let message = "the host ignores the restart";
        return pass.fail(place, fault(FaultKind::ResetFailed, Retry::Never, message));
    }
    match pass.refusal(place) {
        Refusal::None => {}
        Refusal::Waiting => return,
        Refusal::Final(fault) => return refuses(pass, place, fault),
    }
    if clear(pass, place) {
        force(pass, place, shown);
    }
}

/// Time in which no process lived since the last reset was asked for.
fn slept(pass: &Pass<'_>, place: &Place) -> Duration {
    let since = last_reset(pass, place).map_or(Duration::MAX, |act| act.slept);
    pass.work(place).slept.saturating_sub(since)
}

/// A boot of ours where nothing is flashed: POST has to end.
pub(in crate::run::stage) fn booting(pass: &mut Pass<'_>, place: &Place) {
    let Some(system) = system(pass.look, place) else {
        return;
    };
    let (power, in_post) = (system.power, system.in_post);
    let until = pass.step_until(place, POST_TIMEOUT);
    let over = match (power, in_post) {
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
    } else if power == Power::Off {
        pass.hold(
            place,
            "the host went off and stays off; switch it on, then apply again",
        );
    } else {
        pass.hold(
            place,
            "the host does not finish POST; look at its console, then apply again",
        );
    }
}
