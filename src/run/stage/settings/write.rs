//! Exactly one thing at a time: a write that is still missing, a reset that the writes need, or the item's end.

use std::collections::BTreeMap;

use super::difference::fingerprints;
use super::flow::{Flow, severed_at};
use crate::model::{Action, SettingsView, Target};
use crate::pipeline::ResetPolicy;
use crate::plan::{FlowItemSpec, ItemAssessment, Outage, SettingsAssessment, group_patches};
use crate::run::hold::may_disturb;
use crate::run::pass::Pass;
use crate::run::record::{Intent, Milestone, Place, Record};
use crate::run::stage::power;
use crate::run::state::{Act, Work};

impl Flow<'_> {
    pub(super) fn write_or_reset(
        &self,
        pass: &mut Pass<'_>,
        place: &Place,
        item: &FlowItemSpec,
        seen: &ItemAssessment,
    ) {
        if self.has_sent(pass, place, item, seen) || remember(pass, place, seen) {
            return;
        }
        let owes_reset = self.owes_reset(pass, place, seen);
        if seen.is_satisfied()
            && !owes_reset
            && severed_at(pass.work(place), self.stage, &place.target).is_none()
        {
            let work = pass.work(place);
            let (item, written) = (work.items_done, item_acts(work).next().is_some());
            return pass.record(Record::ItemDone {
                at: place.clone(),
                item,
                written,
            });
        }
        if owes_reset {
            return self.reset(pass, place, seen);
        }
        // Everything was accepted and nothing is owed: the read-back decides, not a second write.
        pass.record(Record::Boot {
            at: place.clone(),
            milestone: Milestone::PostOver,
        });
    }

    /// Sends the first difference that this try has not sent yet; true where there was one.
    fn has_sent(
        &self,
        pass: &mut Pass<'_>,
        place: &Place,
        item: &FlowItemSpec,
        seen: &ItemAssessment,
    ) -> bool {
        let unsent = seen.resources.iter().enumerate().find(|(index, resource)| {
            let was_it =
                |intent: &Intent| matches!(intent, Intent::Resource { index: i, .. } if i == index);
            !resource.satisfied && !is_sent(pass, place, was_it)
        });
        if let Some((index, _)) = unsent {
            if self.may_write(pass, place, seen) {
                patch_resource(pass, place, item, seen, index);
            }
            return true;
        }
        if let Some(index) = unsent_call(pass, place, seen) {
            if self.may_write(pass, place, seen) {
                call(pass, place, item, index);
            }
            return true;
        }
        let changes = &seen.attributes.changes;
        let covers = |intent: &Intent| match intent {
            Intent::Attributes { names, .. } => changes.iter().all(|c| names.contains(&c.name)),
            Intent::Update { .. }
            | Intent::ResetSystem { .. }
            | Intent::ResetManager { .. }
            | Intent::Withdraw { .. }
            | Intent::Resource { .. }
            | Intent::Call { .. } => false,
        };
        if changes.is_empty() || is_sent(pass, place, covers) {
            return false;
        }
        if self.may_write(pass, place, seen) {
            self.patch_attributes(pass, place, &seen.attributes);
        }
        true
    }

    /// Whether what is about to be written needs a reset by us, and may have it.
    fn may_write(&self, pass: &mut Pass<'_>, place: &Place, seen: &ItemAssessment) -> bool {
        let disturbs =
            seen.attributes.reset_required && self.stage.options.reset != ResetPolicy::None;
        let takes = Outage::of_settings(&place.target).expected;
        !disturbs || may_disturb(pass, place, Some(takes))
    }

    /// Whether what was written, or waits already, comes into effect by a reset only. That the BMC shows a value is no
    /// proof: some show it before anything has read it.
    fn owes_reset(&self, pass: &Pass<'_>, place: &Place, seen: &ItemAssessment) -> bool {
        let work = pass.work(place);
        let waits = seen.attributes.waits();
        let needs_one = |act: &Act| {
            matches!(
                act.intent,
                Intent::Attributes {
                    reset_required: true,
                    ..
                }
            )
        };
        // Where a person has to reset, what is shown is all that there is to go by.
        let stated = item_acts(work).any(needs_one)
            && !(self.stage.options.reset == ResetPolicy::None && seen.is_satisfied());
        (waits || stated || work.reset_asked) && !work.reset_made
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
        let uris = parts.iter().map(|part| part.uri.clone()).collect();
        let apply_time = self.apply_time(view, attributes);
        let action = Action::PatchAttributes {
            target: place.target.clone(),
            parts,
            apply_time,
        };
        let intent = Intent::Attributes {
            item: pass.work(place).items_done,
            names,
            reset_required: attributes.reset_required,
            uris,
            known_jobs: pass.look.jobs.iter().map(|job| job.uri.clone()).collect(),
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

    fn reset(&self, pass: &mut Pass<'_>, place: &Place, seen: &ItemAssessment) {
        let ours = seen
            .attributes
            .pending_ours
            .iter()
            .chain(&seen.attributes.unconfirmed)
            .cloned();
        pass.adopted
            .entry(place.target.clone())
            .or_default()
            .extend(ours);
        let (policy, shown) = (self.stage.options.reset, seen.is_satisfied());
        let is_begun = item_acts(pass.work(place)).next().is_some();
        let takes = Outage::of_settings(&place.target).expected;
        if policy != ResetPolicy::None && !may_disturb(pass, place, (!is_begun).then_some(takes)) {
            return;
        }
        match place.target {
            Target::Bmc => power::reset_manager(pass, place, policy, shown),
            Target::Server(_) => power::restart(pass, place, policy, shown),
        }
    }
}

/// Whether such a request of this item and try was accepted, or may have been.
fn is_sent(pass: &Pass<'_>, place: &Place, is_it: impl Fn(&Intent) -> bool) -> bool {
    let work = pass.work(place);
    item_acts(work).any(|act| act.attempt == work.attempt && is_it(&act.intent))
}

/// Writes of the current item that were not refused, of all tries since the stage was opened.
fn item_acts(work: &Work) -> impl Iterator<Item = &Act> {
    work.acts.iter().filter(|act| {
        act.intent.item() == Some(work.items_done)
            && act.attempt >= work.first_attempt
            && act.may_have_happened()
    })
}

fn patch_resource(
    pass: &mut Pass<'_>,
    place: &Place,
    item: &FlowItemSpec,
    seen: &ItemAssessment,
    index: usize,
) {
    let (Some(resource), Some(body)) = (
        item.resources.get(index),
        seen.resources.get(index).and_then(|r| r.body()),
    ) else {
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

/// The first action of the item whose probe does not hold, and that this try has not sent.
fn unsent_call(pass: &Pass<'_>, place: &Place, seen: &ItemAssessment) -> Option<usize> {
    let mut probes = seen.actions.iter().enumerate();
    let unsent = probes.find(|(index, probe)| {
        let was_it =
            |intent: &Intent| matches!(intent, Intent::Call { index: i, .. } if i == index);
        !probe.satisfied && !is_sent(pass, place, was_it)
    });
    unsent.map(|(index, _)| index)
}

fn call(pass: &mut Pass<'_>, place: &Place, item: &FlowItemSpec, index: usize) {
    let Some(action) = item.actions.get(index) else {
        return;
    };
    let intent = Intent::Call {
        item: pass.work(place).items_done,
        index,
        uri: action.uri.clone(),
    };
    let action = Action::Call {
        uri: action.uri.clone(),
        body: action.body.clone(),
    };
    pass.intend(place, intent, action);
}

/// Write-only values cannot be read back: that they were accepted is written down. True where that was news.
fn remember(pass: &mut Pass<'_>, place: &Place, seen: &ItemAssessment) -> bool {
    let known = fingerprints(pass, place);
    let resources = seen.resources.iter().flat_map(|r| &r.fingerprints);
    let news: BTreeMap<String, String> = seen
        .attributes
        .fingerprints
        .iter()
        .chain(resources)
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
