//! What must be true before something is written.

use std::collections::BTreeMap;

use serde_json::Value;

use super::difference::fingerprints;
use super::flow::Flow;
use crate::model::{FaultKind, Retry, Target};
use crate::plan::{
    AttributeItem, ItemAssessment, SettingsAssessment, Written, assess_settings, guard_unmet,
    live_version, reset_obstacle,
};
use crate::run::deadline::{POST_TIMEOUT, SETTINGS_TIMEOUT, SETTINGS_VERIFY_TIMEOUT, elapsed};
use crate::run::foreign::system_in_post;
use crate::run::pass::{Pass, fault};
use crate::run::record::Place;

impl Flow<'_> {
    pub(super) fn check(&self, pass: &mut Pass<'_>, place: &Place) {
        if !pass.request.work || pass.is_refused(place) {
            return;
        }
        let Some(item) = self.item(pass, place) else {
            return self.end(pass, place);
        };
        let Some(seen) = self.assess(pass, place, item) else {
            return;
        };
        if pass.work(place).acts.is_empty() && !self.may_begin(pass, place) {
            return;
        }
        if let Some(what) = seen.not_shown(item).first() {
            return not_observable(pass, place, what);
        }
        let attributes = &seen.attributes;
        if !attributes.findings.is_empty() {
            let findings = attributes.findings.iter().map(ToString::to_string);
            return invalid(pass, place, &findings.collect::<Vec<_>>());
        }
        if !attributes.foreign_pending.is_empty() && is_due(&seen) {
            let names = attributes.foreign_pending.join(", ");
            return pass.hold(
                place,
                format!("deferred: settings of somebody else are pending and would take effect with ours: {names}"),
            );
        }
        if attributes.is_due() && attributes.reset_required && self.cannot_reset(pass, place) {
            return;
        }
        if self.is_late(pass, place) {
            return;
        }
        self.write_or_reset(pass, place, item, &seen);
    }

    /// Guard, POST and registry are asked once, before the first write of the stage.
    fn may_begin(&self, pass: &mut Pass<'_>, place: &Place) -> bool {
        let live = live_version(pass.look, &place.target);
        if let Some(reason) = guard_unmet(self.spec.guard.as_ref(), live, &place.target, pass.look)
        {
            pass.hold(place, format!("blocked: {reason}"));
            return false;
        }
        let all = self.assess_all(pass, place);
        let findings: Vec<String> = all
            .iter()
            .flat_map(|item| item.findings.iter().map(ToString::to_string))
            .collect();
        if !findings.is_empty() {
            invalid(pass, place, &findings);
            return false;
        }
        let resets = all.iter().any(|item| item.is_due() && item.reset_required);
        if resets && self.cannot_reset(pass, place) {
            return false;
        }
        // A barrier opens only once every server is off or out of POST.
        if place.target == Target::Bmc
            && let Some(name) = system_in_post(pass.look)
        {
            pass.wait_or_hold(
                place,
                format!("`{name}` is in POST; nothing is written before it is over"),
                POST_TIMEOUT,
                format!("deferred: `{name}` stays in POST; look at its console, then apply again"),
            );
            return false;
        }
        true
    }

    /// Attributes of every item, each judged as if the items before it were in effect.
    fn assess_all(&self, pass: &Pass<'_>, place: &Place) -> Vec<SettingsAssessment> {
        let Some(view) = Self::view(pass, place) else {
            return Vec::new();
        };
        let fingerprints = fingerprints(pass, place);
        let written = Written {
            salt: &pass.context.salt,
            fingerprints: &fingerprints,
        };
        let mut assumed: BTreeMap<String, Value> = BTreeMap::new();
        let mut found = Vec::new();
        for item in &self.spec.flow {
            let asked = AttributeItem {
                assumed: &assumed,
                ..AttributeItem::new(&place.target, &item.settings, written)
            };
            found.push(assess_settings(&asked, view));
            assumed.extend(item.settings.clone());
        }
        found
    }

    /// Whether what is written would wait for a reset that cannot be made; says so.
    fn cannot_reset(&self, pass: &mut Pass<'_>, place: &Place) -> bool {
        let obstacle = reset_obstacle(&place.target, self.stage.options.reset, pass.look);
        if let Some(obstacle) = &obstacle {
            pass.hold(place, format!("blocked: {obstacle}"));
        }
        obstacle.is_some()
    }

    fn is_late(&self, pass: &mut Pass<'_>, place: &Place) -> bool {
        let work = pass.work(place);
        let (since, timeout) = match self.stage.options.timeout {
            Some(timeout) => (work.flow_since, timeout),
            None => (work.item_since, SETTINGS_TIMEOUT),
        };
        let wrote = work.acts.iter().any(|act| act.attempt == work.attempt);
        if !wrote || elapsed(since, pass.now) <= timeout {
            return false;
        }
        let message = format!(
            "settings were not in effect after {} min",
            timeout.as_secs() / 60
        );
        pass.fail(place, fault(FaultKind::Deadline, Retry::Transient, message));
        true
    }
}

/// Whether something is to be written or waited for.
fn is_due(seen: &ItemAssessment) -> bool {
    seen.attributes.is_due() || seen.has_changes()
}

pub(super) fn not_observable(pass: &mut Pass<'_>, place: &Place, what: &str) {
    pass.wait_or_hold(
        place,
        format!("not observable: the BMC shows no {what}"),
        SETTINGS_VERIFY_TIMEOUT,
        format!("blocked: not observable: the BMC shows no {what}"),
    );
}

fn invalid(pass: &mut Pass<'_>, place: &Place, findings: &[String]) {
    let message = format!(
        "settings of {} are not possible: {}",
        pass.name(&place.target),
        findings.join("; ")
    );
    pass.fail(
        place,
        fault(FaultKind::SettingsInvalid, Retry::Never, message),
    );
}
