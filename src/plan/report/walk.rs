//! The walk over all stages and targets that fills a report.

use std::collections::BTreeMap;

use serde_json::Value;

use super::problems::{unusual_order, wrong_boxes};
use super::shape::{PlanAction, RunReport, StageReport, TargetReport};
use super::sum::Sum;
use crate::model::{Look, ServerName, StageName, Target};
use crate::pipeline::ResetPolicy;
use crate::plan::conflict::keys;
use crate::plan::firmware::{VersionAssessment, assess_version_from};
use crate::plan::item::{ItemAssessment, ItemContext, assess_item};
use crate::plan::method::choose_method;
use crate::plan::outage::{Outage, disturbed};
use crate::plan::reset::reset_obstacle;
use crate::plan::running::{Relation, guard_unmet, live_version, relation};
use crate::plan::secrecy::Remembered;
use crate::plan::settings::group_patches;
use crate::plan::spec::{FlowItemSpec, RunSpec, SettingsSpec, StageSpec, VersionSpec};
use crate::plan::superseded::{StageTarget, Superseded, standings, superseded};

/// Said where a stage resets nothing by itself.
const RESET_BY_A_PERSON: &str = "somebody must reset it, since `reset` is `none`";

/// What a run would do to every target of every stage, as far as one look can tell.
///
/// Every stage is planned as if the ones before it had succeeded: a second hop starts from where the first one ends.
/// The look must answer [`look_request`](super::look_request).
pub fn report(spec: &RunSpec, look: &Look, remembered: &Remembered) -> RunReport {
    let mut walk = Walk::new(spec, look, remembered);
    let stages = spec
        .stages
        .iter()
        .enumerate()
        .map(|(index, stage)| StageReport {
            name: stage.name.clone(),
            kind: stage.kind.as_str(),
            targets: stage
                .kind
                .targets()
                .into_iter()
                .map(|target| walk.target(index, stage, target))
                .collect(),
        });
    RunReport {
        pipeline: spec.pipeline.clone(),
        bmc: spec.bmc.clone(),
        stages: stages.collect(),
        holds: Vec::new(),
        servers: spec
            .servers
            .iter()
            .map(|server| server.name.clone())
            .collect(),
    }
}

struct Walk<'a> {
    spec: &'a RunSpec,
    remembered: &'a Remembered,
    superseded: BTreeMap<StageTarget, Superseded>,
    wrong: BTreeMap<ServerName, String>,
    /// What is unusual about the place of a hop; told once, where it is due.
    unusual: BTreeMap<StageName, Vec<String>>,
    /// The BMC as the stages so far will have left it.
    after: Look,
    /// What will run.
    running: BTreeMap<Target, Option<String>>,
    /// The last hop that will have been made: what was read of settings before it may not be true behind it.
    flashed: BTreeMap<Target, StageName>,
    /// Attribute values that will have been set.
    assumed: BTreeMap<Target, BTreeMap<String, Value>>,
}

impl<'a> Walk<'a> {
    fn new(spec: &'a RunSpec, look: &Look, remembered: &'a Remembered) -> Self {
        Self {
            spec,
            remembered,
            superseded: superseded(spec, &standings(spec, look)),
            wrong: wrong_boxes(spec, look),
            unusual: unusual_order(spec),
            after: look.clone(),
            running: BTreeMap::new(),
            flashed: BTreeMap::new(),
            assumed: BTreeMap::new(),
        }
    }

    fn target(&mut self, index: usize, stage: &StageSpec, target: &Target) -> TargetReport {
        let live = self
            .running
            .entry(target.clone())
            .or_insert_with(|| live_version(&self.after, target).map(ToOwned::to_owned))
            .clone();
        let mut report = match (stage.kind.version(target), stage.kind.settings(target)) {
            (Some(version), _) => self.hop(stage, version, target, live.as_deref()),
            (None, Some(settings)) => {
                let superseded = self
                    .superseded
                    .remove(&(index, target.clone()))
                    .unwrap_or_default();
                self.settings(stage, settings, &superseded, target, live.as_deref())
            }
            (None, None) => empty(target),
        };
        if let Some(reason) = self
            .wrong_box(target)
            .filter(|_| report.action != PlanAction::None)
        {
            report = TargetReport {
                reason: Some(reason),
                ..blocked(report)
            };
        }
        report
    }

    /// A BMC before one wrong box is as wrong as the box.
    fn wrong_box(&self, target: &Target) -> Option<String> {
        match target {
            Target::Bmc => self
                .wrong
                .iter()
                .next()
                .map(|(server, why)| format!("server `{server}`: {why}")),
            Target::Server(server) => self.wrong.get(server).cloned(),
        }
    }

    fn hop(
        &mut self,
        stage: &StageSpec,
        version: &VersionSpec,
        target: &Target,
        live: Option<&str>,
    ) -> TargetReport {
        let assessment = assess_version_from(stage, version, target, &self.after, live);
        let mut report = TargetReport {
            from: live.map(ToOwned::to_owned),
            to: Some(version.version.clone()),
            reason: Some(assessment.reason()),
            ..empty(target)
        };
        // A hop that somebody must unblock first is planned past like one that is due.
        let leads_on = live.map(|live| relation(version, live, target, &self.after));
        if matches!(leads_on, Some(Relation::Up(_) | Relation::Down(_))) {
            self.running
                .insert(target.clone(), Some(version.version.clone()));
            self.flashed.insert(target.clone(), stage.name.clone());
        }
        match assessment {
            VersionAssessment::AtTarget { .. } => {}
            VersionAssessment::NoBios => report.to = None,
            VersionAssessment::Below { .. } | VersionAssessment::Above { .. } => {
                report.action = PlanAction::Update;
                report.method = choose_method(stage, version, &self.after.capability).ok();
                report.outage = Some(Outage::of_hop(target).words.to_owned());
                report.disturbs = disturbed(self.spec, &self.after, target);
                let mut reasons = vec![assessment.reason()];
                if target.server().is_some() && stage.options.reset == ResetPolicy::None {
                    reasons.push(RESET_BY_A_PERSON.to_owned());
                }
                reasons.extend(wiped(stage));
                reasons.extend(self.unusual.remove(&stage.name).into_iter().flatten());
                report.reason = Some(reasons.join("; "));
            }
            VersionAssessment::NoVersion { .. }
            | VersionAssessment::Incomparable { .. }
            | VersionAssessment::RequirementUnmet { .. }
            | VersionAssessment::SystemMissing { .. }
            | VersionAssessment::TwoManagers { .. }
            | VersionAssessment::NeedsTargets { .. }
            | VersionAssessment::Unsupported { .. } => report.action = PlanAction::Blocked,
        }
        report
    }

    fn settings(
        &mut self,
        stage: &StageSpec,
        settings: &SettingsSpec,
        superseded: &Superseded,
        target: &Target,
        live: Option<&str>,
    ) -> TargetReport {
        let none = |reason: &str| TargetReport {
            reason: Some(reason.to_owned()),
            ..empty(target)
        };
        if let Some(server) = target.server() {
            match self.after.systems.get(server) {
                None => {
                    return blocked(none(&format!(
                        "the BMC does not show the system of `{server}` now"
                    )));
                }
                Some(system) if system.bios_uri.is_none() => return none("no bios"),
                Some(_) => {}
            }
        }
        if let Some(reason) = &superseded.whole {
            return none(reason);
        }
        if let Some(reason) = guard_unmet(settings.guard.as_ref(), live, target, &self.after) {
            return blocked(none(&reason));
        }
        let mut sum = Sum::default();
        for item in &superseded.rest(settings).flow {
            let assessment = self.assess(item, target);
            sum.add(item, &assessment, self.flashed.get(target));
            self.assume(item, &assessment, target);
        }
        self.summed(stage, sum, target)
    }

    fn assess(&self, item: &FlowItemSpec, target: &Target) -> ItemAssessment {
        let nothing = BTreeMap::new();
        let context = ItemContext {
            written: self.remembered.on(target),
            assumed: self.assumed.get(target).unwrap_or(&nothing),
            ours: &self.wanted_anywhere(target),
        };
        assess_item(item, target, &self.after, context)
    }

    /// Every attribute value that some stage wants on a target. Of several, the one that waits on the BMC is taken: it
    /// may be what an interrupted run left.
    fn wanted_anywhere(&self, target: &Target) -> BTreeMap<String, Value> {
        let view = self.after.settings.get(target);
        let mut wanted = BTreeMap::new();
        let settings = self
            .spec
            .stages
            .iter()
            .filter_map(|stage| stage.kind.settings(target));
        for (name, value) in settings.flat_map(keys) {
            if view.and_then(|view| view.pending(&name)) == Some(value) {
                wanted.insert(name, value.clone());
            } else {
                wanted.entry(name).or_insert_with(|| value.clone());
            }
        }
        wanted
    }

    fn assume(&mut self, item: &FlowItemSpec, assessment: &ItemAssessment, target: &Target) {
        let assumed = self.assumed.entry(target.clone()).or_default();
        if let Some(view) = self.after.settings.get(target) {
            for patch in group_patches(&assessment.attributes, view) {
                assumed.extend(patch.attributes);
            }
        }
        for name in &assessment.attributes.pending_ours {
            assumed.extend(
                item.settings
                    .get(name)
                    .map(|value| (name.clone(), value.clone())),
            );
        }
        for (resource, assessment) in item.shown().zip(assessment.shown()) {
            let found = self
                .after
                .resources
                .get_mut(&(target.clone(), resource.uri.clone()));
            if let (Some(Some(found)), Some(body)) = (found, assessment.body()) {
                merge(found, body);
            }
        }
    }

    fn summed(&self, stage: &StageSpec, sum: Sum, target: &Target) -> TargetReport {
        let mut report = TargetReport {
            changes: sum.changes,
            ..empty(target)
        };
        if !sum.obstacles.is_empty() {
            report.reason = Some(sum.obstacles.join("; "));
            return blocked(report);
        }
        if !sum.is_due {
            report.reason = Some("already as wanted".to_owned());
            return report;
        }
        let policy = stage.options.reset;
        if let Some(obstacle) = sum
            .reset_required
            .then(|| reset_obstacle(target, policy, &self.after))
            .flatten()
        {
            report.reason = Some(obstacle);
            return blocked(report);
        }
        let mut reasons = vec![match report.changes.len() {
            0 => "nothing is written".to_owned(),
            1 => "1 setting differs".to_owned(),
            count => format!("{count} settings differ"),
        }];
        reasons.extend(sum.remarks);
        report.action = PlanAction::Apply;
        if sum.reset_required && policy == ResetPolicy::None {
            reasons.push(RESET_BY_A_PERSON.to_owned());
        } else if sum.reset_required {
            report.outage = Some(Outage::of_settings(target).words.to_owned());
            report.disturbs = disturbed(self.spec, &self.after, target);
        }
        report.reason = Some(reasons.join("; "));
        report
    }
}

/// What of the configuration a hop is told to wipe.
fn wiped(stage: &StageSpec) -> Option<String> {
    let keep = stage.options.preserve.only()?;
    let what = if stage.kind.is_bmc() { "BMC" } else { "BIOS" };
    let kept = if keep.is_empty() {
        String::new()
    } else {
        format!(", but for {}", keep.join(", "))
    };
    Some(format!("wipes {what} configuration{kept}"))
}

fn empty(target: &Target) -> TargetReport {
    TargetReport {
        target: target.clone(),
        action: PlanAction::None,
        from: None,
        to: None,
        changes: Vec::new(),
        method: None,
        outage: None,
        disturbs: Vec::new(),
        reason: None,
    }
}

fn blocked(report: TargetReport) -> TargetReport {
    TargetReport {
        action: PlanAction::Blocked,
        method: None,
        outage: None,
        disturbs: Vec::new(),
        ..report
    }
}

/// What a resource holds after it has taken a PATCH (RFC 7396, but that null stays a value).
fn merge(found: &mut Value, patch: &Value) {
    match (found, patch) {
        (Value::Object(found), Value::Object(patch)) => {
            for (member, value) in patch {
                merge(found.entry(member.clone()).or_insert(Value::Null), value);
            }
        }
        (found, patch) => *found = patch.clone(),
    }
}
