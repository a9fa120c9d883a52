//! A hop whose try is lost ends only when nothing of it is left on the BMC: what has not begun is taken back by its
//! handle, and what cannot be is a person's business.

use super::doubt::has_restarted;
use super::follow;
use super::hop::Hop;
use crate::model::{Action, Fault, FaultKind, Outcome, Target};
use crate::run::foreign::system;
use crate::run::pass::Pass;
use crate::run::record::{Intent, Milestone, Place, Record};
use crate::run::stage::cancel;
use crate::run::state::{Act, Work};

/// Requests to delete one thing: a lost or late answer is no reason to give up, a refusal is.
const WITHDRAWALS_MAX: usize = 3;

impl Hop<'_> {
    /// Looks for what is left; the hop fails, ends as cancelled, or is tried again, once nothing is.
    pub(super) fn failing(&self, pass: &mut Pass<'_>, place: &Place, fault: Fault) {
        if !pass.request.work || !pass.request.software {
            return;
        }
        let is_cancelled = fault.kind == FaultKind::Cancelled;
        let may_show = is_cancelled || fault.kind == FaultKind::VersionUnchanged;
        if may_show && self.is_at_target(pass, place) {
            // It came after all.
            return boot(pass, place, Milestone::PostOver);
        }
        if is_cancelled && system(pass.look, place).is_some_and(|s| s.in_post == Some(true)) {
            // Somebody restarted the host, and its POST may be flashing the image.
            return boot(pass, place, Milestone::Booting);
        }
        let unseen = || is_cancelled.then(|| waits_unseen(pass, place)).flatten();
        if let Some(left) = follow::left_behind(pass, place).or_else(unseen) {
            return take_back(pass, place, &fault, left);
        }
        if is_cancelled {
            cancel::stop(pass, place, self.stage);
        } else {
            pass.fail_now(place, fault);
        }
    }
}

fn boot(pass: &mut Pass<'_>, place: &Place, milestone: Milestone) {
    pass.record(Record::Boot {
        at: place.clone(),
        milestone,
    });
}

/// Deletes what has not begun, and holds what cannot be deleted.
fn take_back(pass: &mut Pass<'_>, place: &Place, fault: &Fault, left: follow::Left) {
    if let Some(uri) = left.uri.filter(|uri| may_withdraw(pass.work(place), uri)) {
        let intent = Intent::Withdraw { uri: uri.clone() };
        return pass.intend(place, intent, Action::Withdraw { uri });
    }
    let how = if fault.kind == FaultKind::Cancelled {
        format!("the hop is given up ({})", fault.message)
    } else {
        format!("the hop has failed ({})", fault.message)
    };
    let run = format!("{}/{}", pass.spec.pipeline, pass.spec.bmc);
    let reason = format!(
        "left behind: {}; {how}, and ends when that is gone: remove it, then apply again, or leave it there by `redpipe release {run} --leave`",
        left.what
    );
    if withdrawals(pass.work(place)).next().is_none() {
        return pass.hold(place, reason);
    }
    let meanwhile = "what is left is deleted; looking whether it is gone";
    pass.wait_or_hold(place, meanwhile, pass.spec.pace.settle_for, reason);
}

/// Whether a deletion may be asked for: not after a yes or a no.
fn may_withdraw(work: &Work, uri: &str) -> bool {
    let mut asked = 0;
    for act in withdrawals(work).filter(|act| is_about(act, uri)) {
        let is_answered = matches!(
            act.outcome,
            Some(Outcome::Accepted { .. } | Outcome::Refused { later: false, .. })
        );
        if is_answered {
            return false;
        }
        asked += 1;
    }
    asked < WITHDRAWALS_MAX
}

fn is_about(act: &Act, uri: &str) -> bool {
    matches!(&act.intent, Intent::Withdraw { uri: of } if of == uri)
}

/// Deletions asked for in this try.
fn withdrawals(work: &Work) -> impl Iterator<Item = &Act> {
    let of_this_try = work.acts.iter().filter(|act| act.attempt == work.attempt);
    of_this_try.filter(|act| matches!(act.intent, Intent::Withdraw { .. }))
}

/// An image that a host accepted waits for its next boot, whether or not the BMC shows it.
pub(super) fn waits_unseen(pass: &Pass<'_>, place: &Place) -> Option<follow::Left> {
    let work = pass.work(place);
    let is_accepted = matches!(
        work.update().and_then(|act| act.outcome.as_ref()),
        Some(Outcome::Accepted { .. })
    );
    let is_deleted = withdrawals(work).any(|act| match &act.outcome {
        Some(Outcome::Accepted { .. }) => true,
        // It stood there when this was asked, and is gone now: only a restart of the BMC, which may forget tasks and keep
        // images, says less than an answer would.
        Some(Outcome::Lost { .. }) => work
            .update()
            .is_some_and(|update| !has_restarted(pass, &update.intent, act.at)),
        Some(Outcome::NotSent { .. } | Outcome::Refused { .. }) | None => false,
    });
    let is_host = matches!(place.target, Target::Server(_));
    (is_host && is_accepted && !is_deleted && !work.boot_began).then(|| follow::Left {
        what: "the image was accepted, and the host flashes it at its next boot".to_owned(),
        uri: None,
    })
}
