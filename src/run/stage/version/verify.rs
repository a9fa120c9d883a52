//! The verdict: only the running version is one.

use super::hop::Hop;
use super::sibling;
use crate::model::look::Power;
use crate::model::{FaultKind, Retry};
use crate::run::deadline::{POST_TIMEOUT, STALL_TIMEOUT, VERIFY_TIMEOUT, after};
use crate::run::foreign::system;
use crate::run::pass::{Pass, fault};
use crate::run::record::{Milestone, Place, Record, TaskFate, TaskSeen};

impl Hop<'_> {
    pub(super) fn verify(&self, pass: &mut Pass<'_>, place: &Place) {
        if self.is_at_target(pass, place) {
            self.settle(pass, place);
        } else {
            pass.agrees(place, false);
            self.wait_for_version(pass, place, "waiting for the new version to be shown");
        }
    }

    /// A task that ended in failure: time for the BMC to come to rest, then the version decides, but for a task that
    /// calls its own completion critical.
    pub(super) fn ended_badly(&self, pass: &mut Pass<'_>, place: &Place) {
        let until = pass.step_until(place, pass.spec.pace.settle_for);
        if pass.now < until {
            let reason = "the task ended in failure; the version is read once more";
            return pass.wait(place, reason, Some(until));
        }
        let seen = seen(pass, place);
        if self.is_at_target(pass, place) && seen.state.as_deref() != Some("Completed") {
            return self.settle(pass, place);
        }
        let state = seen.state.as_deref().unwrap_or("?");
        let status = seen.status.as_deref().unwrap_or("no status");
        let message = format!(
            "update to `{}` failed: the task ended {state} ({status}), and `{}` runs",
            self.spec.version,
            self.live(pass, place)
        );
        let fault = fault(FaultKind::UpdateFailed, Retry::Transient, message);
        pass.fail(place, fault.with_messages(seen.messages));
    }

    /// Waits for the version; in the end an unchanged version is a failure with the task's own words.
    pub(super) fn wait_for_version(&self, pass: &mut Pass<'_>, place: &Place, reason: &str) {
        let work = pass.work(place);
        let from = pass
            .state
            .answered_at
            .map_or(work.step_since, |at| at.max(work.step_since));
        let mut until = after(from, VERIFY_TIMEOUT.max(pass.spec.pace.lost_update));
        let fate = work.task.as_ref().map(|track| track.seen.fate);
        if fate == Some(TaskFate::Gone)
            && let Some(update) = work.update()
        {
            // Nobody said that the flash is over: it gets the time that a flash may take.
            until = until.max(after(update.at, self.timeout(&place.target)));
        }
        if pass.now < until {
            return pass.wait(place, reason, Some(until));
        }
        if !pass.task_is_over(place) {
            let state = seen(pass, place).state.unwrap_or_default();
            return pass.hold(
                place,
                format!("the version has not changed and the task is still `{state}`; it may be flashing, so nothing is reset"),
            );
        }
        let off = system(pass.look, place).is_some_and(|system| system.power == Power::Off);
        let message = format!(
            "version did not change: wanted `{}`, running `{}`{}",
            self.spec.version,
            self.live_or_none(pass, place),
            if off { ", and the host is off" } else { "" }
        );
        let fault = fault(FaultKind::VersionUnchanged, Retry::Transient, message);
        pass.fail(place, fault.with_messages(seen(pass, place).messages));
    }

    fn live_or_none(&self, pass: &Pass<'_>, place: &Place) -> String {
        self.assess(pass, place)
            .live()
            .unwrap_or("(none shown)")
            .to_owned()
    }

    /// The version is there: POST over, task over, enough agreeing reads, siblings unchanged, power as before, done.
    pub(super) fn settle(&self, pass: &mut Pass<'_>, place: &Place) {
        if system(pass.look, place).is_some_and(|system| system.in_post == Some(true)) {
            return pass.wait_or_hold(
                place,
                "the new version is shown, and POST is not over yet",
                POST_TIMEOUT,
                "the new version is shown, and the host stays in POST; look at its console",
            );
        }
        if !pass.task_is_over(place) {
            let state = seen(pass, place).state.unwrap_or_default();
            return pass.wait_or_hold(
                place,
                format!("the new version is shown, and its task is still `{state}`"),
                STALL_TIMEOUT,
                format!("the new version is shown, and its task stays `{state}`; nothing further is asked of this target before it ends"),
            );
        }
        if !pass.agrees(place, true) {
            let until = after(pass.now, pass.spec.pace.settle_for);
            let reason = "reading the new version again until it stays";
            return pass.wait(place, reason, Some(until));
        }
        if let Some(message) = sibling::changed(pass, place) {
            let fault = fault(FaultKind::SideEffect, Retry::Operator, message);
            return pass.fail(place, fault);
        }
        if pass.work(place).power_changed {
            return pass.record(Record::Boot {
                at: place.clone(),
                milestone: Milestone::Reached,
            });
        }
        let live = self.live(pass, place);
        let seen = seen(pass, place);
        let reason = if seen.fate == TaskFate::Bad {
            let state = seen.state.unwrap_or_default();
            format!("`{live}` is running, though the task ended {state}")
        } else {
            format!("`{live}` is running")
        };
        pass.done(place, reason);
    }
}

/// What the task of a place last said.
fn seen(pass: &Pass<'_>, place: &Place) -> TaskSeen {
    pass.work(place)
        .task
        .as_ref()
        .map(|track| track.seen.clone())
        .unwrap_or_default()
}
