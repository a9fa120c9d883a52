//! One observation against the desired end state.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::desired::{Desired, Lasting};
use crate::model::{Look, StageName, Target};
use crate::plan::secrecy::{self, Remembered};
use crate::plan::spec::{FlowItemSpec, RunSpec, StageSpec, VersionSpec};
use crate::plan::{ItemAssessment, ItemContext, VersionAssessment, assess_item, assess_version};

/// The name of the one thing that a version stage wants.
const VERSION: &str = "version";

/// Where a BMC stands to what is wanted of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DriftState {
    /// All that is watched and shown is as wanted.
    InSync,
    /// A version is past the last hop, and nothing else differs.
    Ahead,
    /// It does not answer, or is not let in: nothing is known.
    Unreachable,
    /// Something differs.
    Drifted,
}

impl DriftState {
    /// The word of JSON and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InSync => "in_sync",
            Self::Ahead => "ahead",
            Self::Unreachable => "unreachable",
            Self::Drifted => "drifted",
        }
    }
}

/// One thing that is not as wanted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DriftItem {
    /// Of which target.
    pub target: Target,
    /// The stage that wants it.
    pub stage: StageName,
    /// `version`, an attribute's name, or `URI#/pointer`.
    pub name: String,
    /// What is wanted; masked where secret.
    pub expected: Value,
    /// What was read; masked where secret.
    pub actual: Value,
    /// Whether redpipe may mend it by itself: never what leads a version down, or where versions cannot be compared.
    #[serde(skip)]
    pub is_recoverable: bool,
}

/// What one observation says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Comparison {
    /// All that differs, in stage order.
    pub items: Vec<DriftItem>,
    /// Versions past the last hop, in words.
    pub ahead: Vec<String>,
    /// What is wanted and cannot be judged now, in words: a missing key, an empty map, a value that waits for a reset.
    pub not_observable: Vec<String>,
    /// What is to run in the end on every target that has it, as the pipeline writes it.
    pub versions: BTreeMap<Target, String>,
}

impl Comparison {
    /// In one word.
    pub fn state(&self) -> DriftState {
        if !self.items.is_empty() {
            DriftState::Drifted
        } else if !self.ahead.is_empty() {
            DriftState::Ahead
        } else {
            DriftState::InSync
        }
    }
}

/// Compares what a pipeline wants in the end with a look that asked for it; see [`look_request`](super::look_request).
pub fn compare(spec: &RunSpec, look: &Look, remembered: &Remembered) -> Comparison {
    let desired = Desired::of(spec, look);
    let mut found = Comparison::default();
    for (target, (stage, version)) in &desired.versions {
        found.version(look, target, (stage, version));
    }
    for lasting in &desired.settings {
        found.settings(look, remembered, lasting);
    }
    found.items.sort_by_key(|item| spec.position(&item.stage));
    found
}

impl Comparison {
    fn version(
        &mut self,
        look: &Look,
        target: &Target,
        (stage, version): (&StageSpec, &VersionSpec),
    ) {
        let assessment = assess_version(stage, version, target, look);
        if !matches!(assessment, VersionAssessment::NoBios) {
            let wanted = version.version.as_str().to_owned();
            self.versions.insert(target.clone(), wanted);
        }
        let is_recoverable = match &assessment {
            VersionAssessment::NoBios => return,
            VersionAssessment::AtTarget { ahead, reason, .. } => {
                if *ahead {
                    self.ahead.push(format!("{target}: {reason}"));
                }
                return;
            }
            VersionAssessment::NoVersion { .. }
            | VersionAssessment::SystemMissing { .. }
            | VersionAssessment::TwoManagers { .. } => {
                let reason = assessment.reason();
                self.not_observable.push(format!("{target}: {reason}"));
                return;
            }
            VersionAssessment::Below { .. }
            | VersionAssessment::Above { .. }
            | VersionAssessment::RequirementUnmet { .. }
            | VersionAssessment::NeedsTargets { .. }
            | VersionAssessment::Unsupported { .. } => leads_up(stage, version, target, look),
            VersionAssessment::Incomparable { .. } => false,
        };
        self.items.push(DriftItem {
            target: target.clone(),
            stage: stage.name.clone(),
            name: VERSION.to_owned(),
            expected: Value::from(version.version.as_str()),
            actual: assessment.live().map_or(Value::Null, Value::from),
            is_recoverable,
        });
    }

    fn settings(&mut self, look: &Look, remembered: &Remembered, lasting: &Lasting<'_>) {
        let nothing = BTreeMap::new();
        for item in &lasting.settings.flow {
            let context = ItemContext {
                written: remembered.on(lasting.target),
                assumed: &nothing,
                ours: &item.settings,
            };
            let assessment = assess_item(item, lasting.target, look, context);
            self.item(look, lasting, item, &assessment);
        }
    }

    fn item(
        &mut self,
        look: &Look,
        lasting: &Lasting<'_>,
        item: &FlowItemSpec,
        assessment: &ItemAssessment,
    ) {
        let target = lasting.target;
        for name in assessment.not_shown(item) {
            self.not_observable
                .push(format!("{target}: `{name}` is not shown"));
        }
        let mut differs = |name: &str, expected: Value, actual: Value| {
            self.items.push(DriftItem {
                target: target.clone(),
                stage: lasting.stage.clone(),
                name: name.to_owned(),
                expected,
                actual,
                is_recoverable: true,
            });
        };
        // What cannot be read back contradicts nothing.
        let readable = |name: &str| {
            !assessment.attributes.fingerprints.contains_key(name)
                && !assessment
                    .shown()
                    .any(|resource| resource.fingerprints.contains_key(name))
        };
        let mut waits: Vec<String> = assessment.attributes.unconfirmed.clone();
        for change in assessment.changes().iter().filter(|c| readable(&c.name)) {
            // As wanted now, and another value waits for a reset.
            if change.from == change.to {
                waits.push(change.name.clone());
            } else {
                differs(&change.name, change.to.clone(), change.from.clone());
            }
        }
        let view = look.settings.get(target);
        let current = |name: &str| view.and_then(|view| view.current(name));
        let findings = assessment.attributes.findings.iter();
        let unwritable = findings.map(|finding| &finding.name);
        let mut hidden = Vec::new();
        for name in unwritable.chain(&assessment.attributes.pending_ours) {
            let wanted = item.settings.get(name).unwrap_or(&Value::Null);
            match current(name) {
                Some(actual) => differs(
                    name,
                    secrecy::masked(name, wanted),
                    secrecy::masked(name, actual),
                ),
                None => hidden.push(format!("{target}: `{name}` is not shown")),
            }
        }
        let waiting = |name: &String| {
            format!(
                "{target}: `{name}` is as wanted, and something waits for a reset that may change it"
            )
        };
        self.not_observable.extend(hidden);
        self.not_observable.extend(waits.iter().map(waiting));
    }
}

/// Whether a hop that is due leads up: a lower version is wanted only where the author allows one.
fn leads_up(stage: &StageSpec, version: &VersionSpec, target: &Target, look: &Look) -> bool {
    let only_up = VersionSpec {
        allow_downgrade: false,
        ..version.clone()
    };
    match assess_version(stage, &only_up, target, look) {
        VersionAssessment::AtTarget { .. } | VersionAssessment::Incomparable { .. } => false,
        VersionAssessment::Below { .. }
        | VersionAssessment::Above { .. }
        | VersionAssessment::NoVersion { .. }
        | VersionAssessment::RequirementUnmet { .. }
        | VersionAssessment::NoBios
        | VersionAssessment::SystemMissing { .. }
        | VersionAssessment::TwoManagers { .. }
        | VersionAssessment::NeedsTargets { .. }
        | VersionAssessment::Unsupported { .. } => true,
    }
}
