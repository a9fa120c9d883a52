//! Settings: typed diff, one write per difference, a reset where one is needed, and a read-back per attribute.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{doubt, power};
use crate::model::{
    Action, FaultKind, IntentId, LookRequest, Outcome, Retry, SettingsView, Target,
};
use crate::plan::{
    AttributeItem, FlowItemSpec, ItemAssessment, ItemContext, SettingsAssessment, SettingsSpec,
    StageSpec, Superseded, Written, assess_item, assess_settings, group_patches, guard_unmet,
    live_version, standings, superseded,
};
use crate::run::deadline::{
    BMC_RESET_TIMEOUT, SETTINGS_TIMEOUT, SETTINGS_VERIFY_TIMEOUT, after, elapsed,
};
use crate::run::pass::{Pass, Refusal, fault};
use crate::run::record::{How, Intent, Milestone, Place, Record};
use crate::run::state::{Act, Step, Work};

/// What a settings stage needs to see in its current step.
pub(in crate::run) fn needs(work: &Work, place: &Place, stage: &StageSpec) -> LookRequest {
    let mut request = LookRequest {
        state: true,
        ..LookRequest::default()
    };
    let Some(spec) = stage.kind.settings(&place.target) else {
        return request;
    };
    let item = spec.flow.get(work.items_done);
    match &work.step {
        Step::Acting(_) => return LookRequest::default(),
        Step::Check | Step::Doubt(_) | Step::Verify | Step::Restarting | Step::BmcReset => {
            request.work = work.step == Step::Check;
            request.software = work.step == Step::Check;
            if work.step == Step::Check && work.acts.is_empty() {
                // All findings of a stage are told before its first write, so all of it is read.
                spec.flow
                    .iter()
                    .for_each(|item| read_item(&mut request, place, item));
            } else if let Some(item) = item {
                read_item(&mut request, place, item);
            }
        }
        Step::Follow(_)
        | Step::Ended(_)
        | Step::GoingDown
        | Step::Off
        | Step::Booting
        | Step::Restoring => {}
    }
    request
}

fn read_item(request: &mut LookRequest, place: &Place, item: &FlowItemSpec) {
    if !item.settings.is_empty() {
        request.settings.insert(place.target.clone());
    }
    for resource in &item.resources {
        request
            .resources
            .insert((place.target.clone(), resource.uri.clone()));
    }
}

/// Moves a settings stage one step further, as far as this look allows.
pub(in crate::run) fn step(pass: &mut Pass<'_>, place: &Place, stage: &StageSpec) {
    let Some(spec) = stage.kind.settings(&place.target) else {
        let how = How::None;
        return pass.record(Record::Done {
            at: place.clone(),
            how,
            reason: "nothing is wanted here".to_owned(),
        });
    };
    if !pass.request.state {
        return;
    }
    let rest = wanted_now(pass, place, spec);
    let spec = match &rest {
        Ok(spec) => spec,
        Err(reason) => return pass.done(place, reason.clone()),
    };
    let flow = Flow { stage, spec };
    match pass.step(place) {
        Step::Check => flow.check(pass, place),
        Step::Acting(_) | Step::Follow(_) | Step::Ended(_) => {}
        Step::Doubt(id) => flow.doubt(pass, place, &id),
        Step::GoingDown => power::going_down(pass, place, stage.options.reset),
        Step::Off => power::off(pass, place),
        Step::Restarting => {
            let took_effect = flow
                .item(pass, place)
                .is_some_and(|item| Flow::is_applied(pass, place, item));
            power::restarting(pass, place, stage.options.reset, took_effect);
        }
        Step::Booting => power::booting(pass, place),
        Step::BmcReset => flow.bmc_reset(pass, place),
        Step::Verify => flow.verify(pass, place),
        Step::Restoring => {
            if power::restore(pass, place) {
                Flow::finish(pass, place);
            }
        }
    }
}

/// What of a stage is still wanted: a later stage may set a key again, and a transient stage ends at the next hop. The
/// error says why nothing is.
fn wanted_now(pass: &Pass<'_>, place: &Place, spec: &SettingsSpec) -> Result<SettingsSpec, String> {
    let standings = standings(pass.spec, pass.look);
    let position = pass.spec.position(&place.stage).unwrap_or_default();
    match superseded(pass.spec, &standings).remove(&(position, place.target.clone())) {
        None => Ok(spec.clone()),
        // What has begun is brought to its end.
        Some(found) if pass.work(place).acts.is_empty() => match &found.whole {
            Some(reason) => Err(reason.clone()),
            None => Ok(found.rest(spec)),
        },
        Some(found) => Ok(Superseded {
            whole: None,
            ..found
        }
        .rest(spec)),
    }
}

struct Flow<'a> {
    stage: &'a StageSpec,
    spec: &'a SettingsSpec,
}

impl<'a> Flow<'a> {
    fn item(&self, pass: &Pass<'_>, place: &Place) -> Option<&'a FlowItemSpec> {
        self.spec.flow.get(pass.work(place).items_done)
    }

    fn view<'p>(pass: &'p Pass<'_>, place: &Place) -> Option<&'p SettingsView> {
        pass.look.settings.get(&place.target)
    }

    /// `None` where this look did not read what the item needs.
    fn assess(pass: &Pass<'_>, place: &Place, item: &FlowItemSpec) -> Option<ItemAssessment> {
        let asked = pass.request;
        let read = (item.settings.is_empty() || asked.settings.contains(&place.target))
            && item.resources.iter().all(|r| {
                asked
                    .resources
                    .contains(&(place.target.clone(), r.uri.clone()))
            });
        read.then(|| {
            let fingerprints = fingerprints(pass, place);
            let written = Written {
                salt: &pass.context.salt,
                fingerprints: &fingerprints,
            };
            let context = ItemContext {
                written,
                assumed: &NOTHING,
                ours: &NOTHING,
            };
            assess_item(item, &place.target, pass.look, context)
        })
    }

    fn is_applied(pass: &Pass<'_>, place: &Place, item: &FlowItemSpec) -> bool {
        Self::assess(pass, place, item)
            .is_some_and(|seen| seen.is_satisfied() && seen.not_shown(item).is_empty())
    }

    fn check(&self, pass: &mut Pass<'_>, place: &Place) {
        if !pass.request.work || pass.after_refusal(place) == Refusal::Ended {
            return;
        }
        let Some(item) = self.item(pass, place) else {
            return Self::end(pass, place);
        };
        let Some(seen) = Self::assess(pass, place, item) else {
            return;
        };
        if pass.work(place).acts.is_empty() && !self.may_begin(pass, place) {
            return;
        }
        if let Some(what) = seen.not_shown(item).first() {
            return Self::not_observable(pass, place, what);
        }
        {
            let attributes = &seen.attributes;
            if !attributes.findings.is_empty() {
                let findings: Vec<String> = attributes
                    .findings
                    .iter()
                    .map(ToString::to_string)
                    .collect();
                return invalid(pass, place, &findings);
            }
            if !attributes.foreign_pending.is_empty() {
                let names = attributes.foreign_pending.join(", ");
                return pass.hold(
                    place,
                    format!("settings of somebody else are pending: {names}"),
                );
            }
        }
        if self.is_late(pass, place) {
            return;
        }
        self.write_or_reset(pass, place, item, &seen);
    }

    /// Guard and registry are asked once, before the first write of the stage.
    fn may_begin(&self, pass: &mut Pass<'_>, place: &Place) -> bool {
        let live = live_version(pass.look, &place.target);
        if let Some(reason) = guard_unmet(self.spec.guard.as_ref(), live, &place.target, pass.look)
        {
            pass.hold(place, format!("blocked: {reason}"));
            return false;
        }
        let findings = self.all_findings(pass, place);
        if findings.is_empty() {
            return true;
        }
        invalid(pass, place, &findings);
        false
    }

    /// Findings of every item, each judged as if the items before it were in effect.
    fn all_findings(&self, pass: &Pass<'_>, place: &Place) -> Vec<String> {
        let Some(view) = Self::view(pass, place) else {
            return Vec::new();
        };
        let fingerprints = fingerprints(pass, place);
        let written = Written {
            salt: &pass.context.salt,
            fingerprints: &fingerprints,
        };
        let mut assumed: BTreeMap<String, Value> = BTreeMap::new();
        let mut findings = Vec::new();
        for item in &self.spec.flow {
            let asked = AttributeItem {
                assumed: &assumed,
                ..AttributeItem::new(&place.target, &item.settings, written)
            };
            findings.extend(
                assess_settings(&asked, view)
                    .findings
                    .iter()
                    .map(ToString::to_string),
            );
            assumed.extend(item.settings.clone());
        }
        findings
    }

    fn not_observable(pass: &mut Pass<'_>, place: &Place, what: &str) {
        let until = after(pass.work(place).step_since, SETTINGS_VERIFY_TIMEOUT);
        if pass.now < until {
            pass.wait(place, format!("not observable: {what}"), Some(until));
        } else {
            pass.hold(place, format!("blocked: not observable: {what}"));
        }
    }

    fn is_late(&self, pass: &mut Pass<'_>, place: &Place) -> bool {
        let timeout = self.stage.options.timeout.unwrap_or(SETTINGS_TIMEOUT);
        let work = pass.work(place);
        if work.acts.is_empty() || elapsed(work.since, pass.now) <= timeout {
            return false;
        }
        let message = format!("settings were not in effect after {} s", timeout.as_secs());
        pass.fail(place, fault(FaultKind::Deadline, Retry::Transient, message));
        true
    }

    /// Exactly one thing: a write that is still missing, a reset that the writes need, or the item's end.
    fn write_or_reset(
        &self,
        pass: &mut Pass<'_>,
        place: &Place,
        item: &FlowItemSpec,
        seen: &ItemAssessment,
    ) {
        if let Some(other) = pass.flashing(place)
            && (other.target == Target::Bmc || other.target == place.target)
        {
            return pass.wait(
                place,
                "an update is under way; no setting is written meanwhile",
                None,
            );
        }
        if seen.is_satisfied() && !Self::owes_reset(pass, place, seen) {
            let (item, written) = (pass.work(place).items_done, Self::wrote_item(pass, place));
            return pass.record(Record::ItemDone {
                at: place.clone(),
                item,
                written,
            });
        }
        if let Some(index) = seen
            .resources
            .iter()
            .position(|resource| !resource.satisfied)
        {
            if !Self::is_sent(
                pass,
                place,
                |intent| matches!(intent, Intent::Resource { index: i, .. } if *i == index),
            ) {
                return Self::patch_resource(pass, place, item, seen, index);
            }
            if Self::remember(pass, place, &seen.resources[index].fingerprints) {
                return;
            }
        }
        let attributes = &seen.attributes;
        if !attributes.changes.is_empty() {
            let covers = |intent: &Intent| match intent {
                Intent::Attributes { names, .. } => {
                    attributes.changes.iter().all(|c| names.contains(&c.name))
                }
                Intent::Update { .. }
                | Intent::ResetSystem { .. }
                | Intent::ResetManager { .. }
                | Intent::Resource { .. } => false,
            };
            if !Self::is_sent(pass, place, covers) {
                return self.patch_attributes(pass, place, attributes);
            }
            if Self::remember(pass, place, &attributes.fingerprints) {
                return;
            }
        }
        if Self::owes_reset(pass, place, seen) {
            return self.reset(pass, place);
        }
        // Everything was accepted and nothing is owed: the read-back decides, not a second write.
        pass.record(Record::Boot {
            at: place.clone(),
            milestone: Milestone::PostOver,
        });
    }

    fn owes_reset(pass: &Pass<'_>, place: &Place, seen: &ItemAssessment) -> bool {
        let work = pass.work(place);
        let attributes = &seen.attributes;
        let waiting = !attributes.pending_ours.is_empty() || !attributes.unconfirmed.is_empty();
        let stated =
            attributes.reset_required && !attributes.satisfied && Self::wrote_item(pass, place);
        (waiting || stated || work.reset_asked) && !work.reset_made
    }

    /// Whether such a request of this item and try was accepted, or may have been.
    fn is_sent(pass: &Pass<'_>, place: &Place, is_it: impl Fn(&Intent) -> bool) -> bool {
        let work = pass.work(place);
        Self::item_acts(work).any(|act| act.attempt == work.attempt && is_it(&act.intent))
    }

    fn wrote_item(pass: &Pass<'_>, place: &Place) -> bool {
        Self::item_acts(pass.work(place)).next().is_some()
    }

    /// Writes of the current item that were not refused.
    fn item_acts(work: &Work) -> impl Iterator<Item = &Act> {
        work.acts.iter().filter(|act| match &act.intent {
            Intent::Attributes { item, .. } | Intent::Resource { item, .. } => {
                *item == work.items_done
                    && !matches!(
                        act.outcome,
                        Some(Outcome::NotSent { .. } | Outcome::Refused { .. })
                    )
            }
            Intent::Update { .. } | Intent::ResetSystem { .. } | Intent::ResetManager { .. } => {
                false
            }
        })
    }

    fn patch_resource(
        pass: &mut Pass<'_>,
        place: &Place,
        item: &FlowItemSpec,
        seen: &ItemAssessment,
        index: usize,
    ) {
        let (Some(resource), Some(body)) =
            (item.resources.get(index), seen.resources[index].body())
        else {
            return;
        };
        let intent = Intent::Resource {
            item: pass.work(place).items_done,
            index,
            uri: resource.uri.clone(),
        };
        let action = Action::PatchResource {
            target: place.target.clone(),
            uri: resource.uri.clone(),
            body: body.clone(),
        };
        pass.intend(place, intent, action);
    }

    fn patch_attributes(
        &self,
        pass: &mut Pass<'_>,
        place: &Place,
        attributes: &SettingsAssessment,
    ) {
        let Some(view) = Self::view(pass, place) else {
            return;
        };
        let names = attributes
            .changes
            .iter()
            .map(|change| change.name.clone())
            .collect();
        let parts = group_patches(attributes, view);
        let apply_time = self.apply_time(view, attributes);
        let action = Action::PatchAttributes {
            target: place.target.clone(),
            parts,
            apply_time,
        };
        let intent = Intent::Attributes {
            item: pass.work(place).items_done,
            names,
        };
        pass.intend(place, intent, action);
    }

    /// `OnReset` where the resource supports apply times and a reset follows anyway, unless the stage says otherwise.
    fn apply_time(&self, view: &SettingsView, attributes: &SettingsAssessment) -> Option<String> {
        if let Some(wanted) = &self.stage.options.apply_time {
            return Some(wanted.clone());
        }
        let supported = view
            .resources
            .iter()
            .any(|resource| resource.apply_times.iter().any(|time| time == "OnReset"));
        (supported && attributes.reset_required).then(|| "OnReset".to_owned())
    }

    /// Write-only values cannot be read back: that they were accepted is written down. True where that was news.
    fn remember(pass: &mut Pass<'_>, place: &Place, accepted: &BTreeMap<String, String>) -> bool {
        let known = fingerprints(pass, place);
        let news: BTreeMap<String, String> = accepted
            .iter()
            .filter(|(key, print)| known.get(*key) != Some(*print))
            .map(|(key, print)| (key.clone(), print.clone()))
            .collect();
        let is_news = !news.is_empty();
        if is_news {
            pass.record(Record::WriteOnly {
                at: place.clone(),
                hashes: news,
            });
        }
        is_news
    }

    fn reset(&self, pass: &mut Pass<'_>, place: &Place) {
        match place.target {
            Target::Bmc => power::reset_manager(pass, place, self.stage.options.reset),
            Target::Server(_) => power::restart(pass, place, self.stage.options.reset),
        }
    }

    fn doubt(&self, pass: &mut Pass<'_>, place: &Place, id: &IntentId) {
        let Some(act) = pass.work(place).act(id).cloned() else {
            return;
        };
        let (Intent::Attributes { .. } | Intent::Resource { .. }) = &act.intent else {
            return doubt::step(pass, place, id);
        };
        let Some(item) = self.item(pass, place) else {
            return;
        };
        let Some(seen) = Self::assess(pass, place, item) else {
            return;
        };
        let shown = match &act.intent {
            Intent::Resource { index, .. } => seen
                .resources
                .get(*index)
                .is_some_and(|resource| resource.satisfied),
            Intent::Attributes { .. } => seen.attributes.changes.is_empty(),
            Intent::Update { .. } | Intent::ResetSystem { .. } | Intent::ResetManager { .. } => {
                false
            }
        };
        doubt::by_effect(
            pass,
            place,
            id,
            shown.then(|| "the values are shown as current or pending".to_owned()),
        );
    }

    fn bmc_reset(&self, pass: &mut Pass<'_>, place: &Place) {
        let gone = pass
            .state
            .back_at
            .is_some_and(|at| at >= pass.work(place).step_since);
        let Some(item) = self.item(pass, place) else {
            return;
        };
        if gone || Self::is_applied(pass, place, item) {
            return pass.record(Record::Boot {
                at: place.clone(),
                milestone: Milestone::PostOver,
            });
        }
        let until = pass.step_until(place, BMC_RESET_TIMEOUT);
        if pass.now < until {
            pass.wait(place, "the BMC resets to take the settings up", Some(until));
        } else {
            pass.record(Record::Boot {
                at: place.clone(),
                milestone: Milestone::PostOver,
            });
        }
    }

    fn verify(&self, pass: &mut Pass<'_>, place: &Place) {
        let Some(item) = self.item(pass, place) else {
            return;
        };
        let Some(seen) = Self::assess(pass, place, item) else {
            return;
        };
        if seen.is_satisfied() {
            return pass.record(Record::ItemDone {
                at: place.clone(),
                item: pass.work(place).items_done,
                written: true,
            });
        }
        let until = pass.step_until(place, SETTINGS_VERIFY_TIMEOUT);
        if pass.now < until {
            return pass.wait(place, "waiting for the values to be read back", Some(until));
        }
        let message = format!(
            "settings were accepted and are not in effect: {}",
            missing(&seen, item)
        );
        pass.fail(
            place,
            fault(FaultKind::SettingsNotApplied, Retry::Transient, message),
        );
    }

    /// All items are read back: power as before, then done.
    fn end(pass: &mut Pass<'_>, place: &Place) {
        if pass.work(place).power_changed {
            pass.record(Record::Boot {
                at: place.clone(),
                milestone: Milestone::Reached,
            });
        } else {
            Self::finish(pass, place);
        }
    }

    fn finish(pass: &mut Pass<'_>, place: &Place) {
        let reason = if pass.work(place).written {
            "every value was read back"
        } else {
            "nothing differs"
        };
        pass.done(place, reason);
    }
}

/// What is known of write-only values: by this run, and by those before it.
fn fingerprints(pass: &Pass<'_>, place: &Place) -> BTreeMap<String, String> {
    let mut all = pass
        .context
        .fingerprints
        .get(&place.target)
        .cloned()
        .unwrap_or_default();
    for (other, work) in &pass.state.works {
        if other.target == place.target {
            all.extend(work.write_only.clone());
        }
    }
    all
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

fn missing(seen: &ItemAssessment, item: &FlowItemSpec) -> String {
    let changes = seen.changes();
    let differing = changes.iter().map(|change| {
        format!(
            "`{}` is {} instead of {}",
            change.name, change.from, change.to
        )
    });
    let waiting = seen
        .attributes
        .pending_ours
        .iter()
        .chain(&seen.attributes.unconfirmed);
    let waiting = waiting.map(|name| format!("`{name}` still waits for a reset or a job"));
    let unseen = seen
        .not_shown(item)
        .into_iter()
        .map(|what| format!("{what} not shown"));
    differing
        .chain(waiting)
        .chain(unseen)
        .collect::<Vec<_>>()
        .join("; ")
}

static NOTHING: BTreeMap<String, Value> = BTreeMap::new();
