//! From an accepted image to one that is about to run: the BMC by itself or by a reset, a host by a boot.

use super::failing::waits_unseen;
use super::follow;
use super::hop::Hop;
use crate::model::IntentId;
use crate::plan::is_version_of;
use crate::run::deadline::{BMC_RESET_TIMEOUT, POST_TIMEOUT};
use crate::run::foreign::system;
use crate::run::pass::Pass;
use crate::run::record::{Milestone, Place, Record, TaskFate};
use crate::run::stage::power;

impl Hop<'_> {
    /// A BMC shows its new version by itself, after its own restart; or it says that it waits for a reset.
    pub(super) fn wait_for_bmc(&self, pass: &mut Pass<'_>, place: &Place, fate: TaskFate) {
        let work = pass.work(place);
        let asks = fate == TaskFate::AwaitsReset || follow::asks_for_reset(work);
        // A task that still says so has not seen a reset; otherwise one that was seen since the request is enough.
        let since = match (fate, work.update()) {
            (TaskFate::AwaitsReset, _) | (_, None) => work.step_since,
            (_, Some(update)) => update.at,
        };
        let was_away = pass.state.answered_at.is_some_and(|at| at >= since);
        let settled = pass.in_step(place) >= pass.spec.pace.settle_for;
        if asks && settled && !work.reset_made && !was_away {
            return power::reset_manager(pass, place, self.stage.options.reset, false);
        }
        self.wait_for_version(pass, place, "waiting for the BMC to show the new version");
    }

    /// The image waits for a boot: evidence that it is staged, then down, Off seen, up.
    pub(super) fn activate(
        &self,
        pass: &mut Pass<'_>,
        place: &Place,
        id: &IntentId,
        fate: TaskFate,
    ) {
        if !pass.request.work || !pass.request.software {
            return;
        }
        let Some(system) = system(pass.look, place) else {
            return;
        };
        if system.in_post == Some(true) {
            // The flash restarted its host by itself: from here on it is as if we had.
            return pass.record(Record::Boot {
                at: place.clone(),
                milestone: Milestone::Booting,
            });
        }
        if pass.work(place).step_since >= pass.now {
            // Parts of a look are older than others: power and POST may be from before the image was staged, and the
            // flash may have restarted the host since. Only a look that began after that decides.
            return;
        }
        let staged = follow::staged_for(pass, place);
        if let Some(other) = staged.iter().find(|software| {
            let version = software.version.as_deref();
            version.is_some_and(|v| !is_version_of(self.spec, v, &place.target, pass.look))
        }) {
            let reason = format!(
                "blocked: {} shows `{}` as staged, and the hop is `{}`; nothing is activated",
                other.uri,
                other.version.as_deref().unwrap_or_default(),
                self.spec.version
            );
            return pass.hold(place, reason);
        }
        let is_evident = !staged.is_empty()
            || matches!(fate, TaskFate::Good | TaskFate::AwaitsReset)
            || follow::asks_for_reset(pass.work(place));
        if is_evident && self.would_lower(pass, place) {
            return;
        }
        if is_evident {
            return power::take_down(pass, place, self.stage.options.reset);
        }
        if let Some((task, tie)) = follow::another(pass, place, id) {
            return pass.record(Record::Adopted {
                at: place.clone(),
                id: id.clone(),
                task,
                tie,
            });
        }
        let reason = "neither a task nor a staged image is shown, so the host is not restarted; waiting for either, or for the new version";
        self.wait_for_version(pass, place, reason);
    }

    /// Whether somebody has taken the host past the hop while its image waits, so that a boot would take it down again;
    /// says so.
    pub(super) fn would_lower(&self, pass: &mut Pass<'_>, place: &Place) -> bool {
        let live = self.live(pass, place);
        let is_past = self.is_at_target(pass, place)
            && !is_version_of(self.spec, &live, &place.target, pass.look);
        let left = || follow::left_behind(pass, place).or_else(|| waits_unseen(pass, place));
        let Some(left) = left().filter(|_| is_past) else {
            return false;
        };
        let reason = format!(
            "blocked: `{live}` runs by now, past `{}`, and a boot would take it down again: {}; remove it, then apply again, or leave it there by `redpipe release {}/{} --leave`",
            self.spec.version, left.what, pass.spec.pipeline, pass.spec.bmc
        );
        pass.hold(place, reason);
        true
    }

    /// A boot of ours, or of the flash itself: no power request until the version is there.
    pub(super) fn booting(&self, pass: &mut Pass<'_>, place: &Place) {
        let Some(system) = system(pass.look, place) else {
            return;
        };
        let in_post = system.in_post;
        if in_post != Some(true) && self.is_at_target(pass, place) && pass.task_is_over(place) {
            return self.settle(pass, place);
        }
        pass.agrees(place, false);
        let until = pass.step_until(place, POST_TIMEOUT);
        let is_over = match in_post {
            Some(true) => false,
            Some(false) => pass.in_step(place) >= pass.spec.pace.settle_for,
            None => pass.now >= until,
        };
        if is_over {
            pass.record(Record::Boot {
                at: place.clone(),
                milestone: Milestone::PostOver,
            });
        } else if pass.now < until {
            pass.wait(place, "the host boots and may be flashing", Some(until));
        } else {
            pass.hold(
                place,
                "the host is still in POST and may be flashing, so nothing is reset; look at its console",
            );
        }
    }

    pub(super) fn bmc_reset(&self, pass: &mut Pass<'_>, place: &Place) {
        if self.is_at_target(pass, place) && pass.task_is_over(place) {
            return self.settle(pass, place);
        }
        pass.agrees(place, false);
        let until = pass.step_until(place, BMC_RESET_TIMEOUT);
        if pass.now < until {
            pass.wait(place, "the BMC resets to activate the image", Some(until));
        } else {
            self.wait_for_version(pass, place, "waiting for the BMC to show the new version");
        }
    }
}
