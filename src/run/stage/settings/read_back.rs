//! What was written is read back per attribute, then the next item, then the end.

use super::begin::not_observable;
use super::difference::missing;
use super::flow::{Flow, severed_at};
use crate::model::{FaultKind, IntentId, Retry};
use crate::run::deadline::{GRACE_TIMEOUT, SETTINGS_VERIFY_TIMEOUT, after};
use crate::run::pass::{Pass, fault};
use crate::run::record::{How, Intent, Milestone, Place, Record};
use crate::run::stage::doubt;

impl Flow<'_> {
    pub(super) fn doubt(&self, pass: &mut Pass<'_>, place: &Place, id: &IntentId) {
        let Some(act) = pass.work(place).act(id).cloned() else {
            return;
        };
        let item = self.item(pass, place);
        let shown_before = match &act.intent {
            Intent::ResetSystem { shown, .. } | Intent::ResetManager { shown, .. } => Some(*shown),
            Intent::Update { .. }
            | Intent::Withdraw { .. }
            | Intent::Attributes { .. }
            | Intent::Resource { .. }
            | Intent::Call { .. } => None,
        };
        if let Some(shown_before) = shown_before {
            let applied = item.is_some_and(|item| self.is_applied(pass, place, item));
            let shown = (applied && !shown_before).then(|| "the values are in effect".to_owned());
            return doubt::reset(pass, place, &act, shown);
        }
        let Some(item) = item else {
            // Nothing of it is wanted any more.
            return pass.record(Record::Happened {
                at: place.clone(),
                id: id.clone(),
                reason: "the stage no longer sets what it was about".to_owned(),
            });
        };
        let Some(seen) = self.assess(pass, place, item) else {
            return;
        };
        if let Some(what) = seen.not_shown(item).first() {
            return not_observable(pass, place, what);
        }
        let shown = match &act.intent {
            Intent::Resource { index, .. } => seen
                .resources
                .get(*index)
                .is_some_and(|resource| resource.satisfied),
            Intent::Call { index, .. } => {
                let probe = seen.actions.get(*index);
                probe.is_some_and(|probe| probe.satisfied)
            }
            Intent::Attributes { names, .. } => {
                let mut changes = seen.attributes.changes.iter();
                !changes.any(|change| names.contains(&change.name))
            }
            Intent::Update { .. }
            | Intent::ResetSystem { .. }
            | Intent::ResetManager { .. }
            | Intent::Withdraw { .. } => false,
        };
        let shown = shown.then(|| "the values are shown as current or pending".to_owned());
        doubt::by_effect(pass, place, &act, shown);
    }

    /// The BMC has restarted where it was away, says another start, or shows what it had not shown before; one that was
    /// seen to do none of it is believed after a while, and the read-back decides.
    pub(super) fn bmc_reset(&self, pass: &mut Pass<'_>, place: &Place) {
        let work = pass.work(place);
        let was_away = pass
            .state
            .answered_at
            .is_some_and(|at| at >= work.step_since);
        let (before, shown) = work
            .acts
            .iter()
            .rev()
            .find_map(|act| match &act.intent {
                Intent::ResetManager {
                    manager_started,
                    shown,
                    ..
                } => Some((manager_started.clone(), *shown)),
                Intent::Update { .. }
                | Intent::ResetSystem { .. }
                | Intent::Withdraw { .. }
                | Intent::Attributes { .. }
                | Intent::Resource { .. }
                | Intent::Call { .. } => None,
            })
            .unwrap_or_default();
        let started_anew = matches!(
            (&before, &pass.look.manager_started),
            (Some(before), Some(now)) if before != now
        );
        let item = self.item(pass, place);
        let took_effect = !shown && item.is_some_and(|item| self.is_applied(pass, place, item));
        let until = pass.step_until(place, GRACE_TIMEOUT);
        if was_away || started_anew || took_effect || pass.now >= until {
            return pass.record(Record::Boot {
                at: place.clone(),
                milestone: Milestone::PostOver,
            });
        }
        pass.wait(place, "the BMC resets to take the settings up", Some(until));
    }

    /// One read is enough where nothing was reset: the answer to the write and the read agree. After a reset services
    /// come up one by one, and some BMCs show a value before anything has taken it up or fall back to an older one; so
    /// there it takes as many agreeing reads as a version does.
    pub(super) fn verify(&self, pass: &mut Pass<'_>, place: &Place) {
        let Some(item) = self.item(pass, place) else {
            return self.end(pass, place);
        };
        let Some(seen) = self.assess(pass, place, item) else {
            return;
        };
        if seen.is_satisfied() {
            let work = pass.work(place);
            let came_back =
                work.reset_made || severed_at(work, self.stage, &place.target).is_some();
            if came_back && !pass.agrees(place, true) {
                let until = after(pass.now, pass.spec.pace.settle_for);
                let reason = "reading the values again until they stay";
                return pass.wait(place, reason, Some(until));
            }
            return pass.record(Record::ItemDone {
                at: place.clone(),
                item: pass.work(place).items_done,
                written: true,
            });
        }
        pass.agrees(place, false);
        let until = pass.step_until(place, SETTINGS_VERIFY_TIMEOUT);
        if pass.now < until {
            return pass.wait(place, "waiting for the values to be read back", Some(until));
        }
        if let Some(what) = seen.not_shown(item).first() {
            return not_observable(pass, place, what);
        }
        let message = format!(
            "settings were accepted and are not in effect: {}",
            missing(&seen)
        );
        pass.fail(
            place,
            fault(FaultKind::SettingsNotApplied, Retry::Transient, message),
        );
    }

    /// All items are read back: power as before, then done.
    pub(super) fn end(&self, pass: &mut Pass<'_>, place: &Place) {
        if pass.work(place).power_changed {
            pass.record(Record::Boot {
                at: place.clone(),
                milestone: Milestone::Reached,
            });
        } else {
            self.finish(pass, place);
        }
    }

    pub(super) fn finish(&self, pass: &mut Pass<'_>, place: &Place) {
        let is_written = pass.work(place).written;
        if is_written && self.spec.flow.is_empty() {
            // An edit took the values away: what was sent is at its end, and what became of it is nobody's claim.
            let reason = "nothing is wanted here any more; what was sent before was not read back";
            return pass.record(Record::Done {
                at: place.clone(),
                how: How::None,
                reason: reason.to_owned(),
            });
        }
        let reason = if is_written {
            "every value was read back"
        } else {
            "nothing differs"
        };
        pass.done(place, reason);
    }
}
