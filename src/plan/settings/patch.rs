//! Grouping of changes into requests.

use std::collections::BTreeMap;

use super::assess::SettingsAssessment;
use crate::model::SettingsView;
use crate::model::action::AttributePatch;

/// One PATCH per resource that holds some of the changed attributes, in the order in which the view lists them.
///
/// Values are in the registry's form and type. An assessment with findings gives nothing: no part of an impossible
/// stage is written.
pub fn group_patches(assessment: &SettingsAssessment, view: &SettingsView) -> Vec<AttributePatch> {
    if !assessment.findings.is_empty() {
        return Vec::new();
    }
    let mut patches: Vec<AttributePatch> = Vec::new();
    for resource in &view.resources {
        let attributes: BTreeMap<_, _> = assessment
            .writes()
            .iter()
            .filter(|(name, _)| match view.holder(name) {
                Some(holder) => holder.uri == resource.uri,
                // A write-only attribute may not be shown at all; the assessment let it pass only where one resource
                // is there to take it.
                None => view.resources.len() == 1,
            })
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        if attributes.is_empty() {
            continue;
        }
        match patches
            .iter_mut()
            .find(|patch| patch.uri == resource.write_uri)
        {
            Some(patch) => patch.attributes.extend(attributes),
            None => patches.push(AttributePatch {
                uri: resource.write_uri.clone(),
                attributes,
            }),
        }
    }
    patches
}
