//! The flow items of one settings stage, added up.

use serde_json::Value;

use crate::model::{SettingChange, StageName};
use crate::plan::item::ItemAssessment;
use crate::plan::secrecy;
use crate::plan::spec::FlowItemSpec;

/// What the flow items of one stage come to.
#[derive(Default)]
pub(super) struct Sum {
    /// All that differs.
    pub(super) changes: Vec<SettingChange>,
    /// What a person must change first.
    pub(super) obstacles: Vec<String>,
    /// What else is worth saying.
    pub(super) remarks: Vec<String>,
    /// Whether anything is to be written or waited for.
    pub(super) is_due: bool,
    /// Whether that needs a reset.
    pub(super) reset_required: bool,
}

impl Sum {
    /// Adds one flow item; `flashed` is the last hop that will have been made before it.
    pub(super) fn add(
        &mut self,
        item: &FlowItemSpec,
        assessment: &ItemAssessment,
        flashed: Option<&StageName>,
    ) {
        self.changes.extend(assessment.changes());
        self.is_due |= !assessment.is_satisfied();
        self.reset_required |= assessment.attributes.reset_required;
        let actions = item.actions.iter().zip(&assessment.actions);
        let sent = actions.filter(|(_, probe)| !probe.changes.is_empty());
        self.remarks
            .extend(sent.map(|(action, _)| format!("`{}` is called", action.uri)));
        if item.severs && !assessment.is_satisfied() {
            self.remarks
                .push("may cut redpipe's own connection, so one BMC at a time".to_owned());
        }
        let attributes = &assessment.attributes;
        if attributes.is_due() && !attributes.foreign_pending.is_empty() {
            self.obstacles.push(format!(
                "{} waits on the BMC and is not this run's",
                listed(&attributes.foreign_pending)
            ));
        }
        if !attributes.pending_ours.is_empty() {
            self.remarks.push(format!(
                "{} waits for a reset",
                listed(&attributes.pending_ours)
            ));
        }
        if !attributes.unconfirmed.is_empty() {
            self.remarks.push(format!(
                "a configuration job is open for {}",
                listed(&attributes.unconfirmed)
            ));
        }
        let mut unknown: Vec<String> = attributes
            .findings
            .iter()
            .map(ToString::to_string)
            .collect();
        let not_shown = assessment.not_shown(item);
        if !not_shown.is_empty() {
            unknown.push(format!("the BMC does not show {}", listed(&not_shown)));
        }
        match flashed {
            // New firmware may bring the attribute, its values or the resource.
            Some(hop) if !unknown.is_empty() => {
                let names = attributes.findings.iter().map(|finding| &finding.name);
                self.changes.extend(names.filter_map(|name| {
                    let to = secrecy::masked(name, item.settings.get(name)?);
                    Some(SettingChange {
                        name: name.clone(),
                        from: Value::Null,
                        to,
                    })
                }));
                self.remarks.push(format!(
                    "{}, which is judged again after `{hop}`",
                    unknown.join("; ")
                ));
            }
            Some(_) | None => self.obstacles.extend(unknown),
        }
    }
}

fn listed(names: &[String]) -> String {
    names
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}
