//! One flow item of a settings stage, attributes and resources together.

use std::collections::BTreeMap;

use serde_json::Value;

use super::resources::{ResourceAssessment, assess_resource};
use super::secrecy::Written;
use super::settings::{AttributeItem, SettingsAssessment, assess_settings};
use super::spec::{FlowItemSpec, ResourceSpec};
use crate::model::{Look, SettingChange, SettingsView, Target};

/// What stands between a target and one flow item.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ItemAssessment {
    /// Its attributes.
    pub attributes: SettingsAssessment,
    /// Its resources, in authored order.
    pub resources: Vec<ResourceAssessment>,
    /// What its actions lead to, in authored order.
    pub actions: Vec<ResourceAssessment>,
}

impl ItemAssessment {
    /// Resources, then what actions lead to, as [`FlowItemSpec::shown`] has them.
    pub fn shown(&self) -> impl Iterator<Item = &ResourceAssessment> {
        self.resources.iter().chain(&self.actions)
    }

    /// Whether all that is wanted is in effect.
    pub fn is_satisfied(&self) -> bool {
        self.attributes.satisfied && self.shown().all(|resource| resource.satisfied)
    }

    /// Whether something would be sent.
    pub fn has_changes(&self) -> bool {
        !self.attributes.changes.is_empty()
            || self.shown().any(|resource| !resource.changes.is_empty())
    }

    /// All that differs, attributes first. Secret values are masked.
    pub fn changes(&self) -> Vec<SettingChange> {
        let resources = self.shown().flat_map(|resource| &resource.changes);
        self.attributes
            .changes
            .iter()
            .chain(resources)
            .cloned()
            .collect()
    }

    /// What is wanted and not shown: nothing can be said of it, and it may not be written. Empty = all is shown.
    pub fn not_shown(&self, item: &FlowItemSpec) -> Vec<String> {
        let attributes = self
            .attributes
            .not_observable
            .then(|| "attributes".to_owned());
        let resources = self
            .shown()
            .zip(item.shown())
            .flat_map(|(assessment, resource)| {
                assessment.not_shown.iter().map(|pointer| {
                    if pointer.is_empty() {
                        resource.uri.clone()
                    } else {
                        format!("{}#{pointer}", resource.uri)
                    }
                })
            });
        attributes.into_iter().chain(resources).collect()
    }
}

/// What is known besides the look.
#[derive(Debug, Clone, Copy)]
pub struct ItemContext<'a> {
    /// Write-only values known to have been written on this target.
    pub written: Written<'a>,
    /// Attribute values taken as current although they were not read.
    pub assumed: &'a BTreeMap<String, Value>,
    /// Attribute values of other items of this run that may still wait for a reset.
    pub ours: &'a BTreeMap<String, Value>,
}

/// Compares one flow item with a look that asked for all of its parts; see
/// [`look_request`](super::look_request).
pub fn assess_item(
    item: &FlowItemSpec,
    target: &Target,
    look: &Look,
    context: ItemContext<'_>,
) -> ItemAssessment {
    let ItemContext {
        written,
        assumed,
        ours,
    } = context;
    let attributes = AttributeItem {
        target,
        wanted: &item.settings,
        written,
        assumed,
        ours,
    };
    // Not read and not there are one: nothing can be said.
    let nothing = SettingsView::default();
    let attributes = assess_settings(&attributes, look.settings.get(target).unwrap_or(&nothing));
    let shown = |resource: &ResourceSpec| {
        let found = look.resources.get(&(target.clone(), resource.uri.clone()));
        assess_resource(resource, found.and_then(Option::as_ref), written)
    };
    let probes = item.actions.iter().map(|action| &action.satisfied_when);
    ItemAssessment {
        attributes,
        resources: item.resources.iter().map(shown).collect(),
        actions: probes.map(shown).collect(),
    }
}
