//! Pipelines that want different things of one BMC.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use super::resources::{self, equal};
use super::secrecy;
use super::spec::{FlowItemSpec, RunSpec, SettingsSpec, StageSpec};
use crate::model::{BmcName, PipelineName, Target};

/// One thing of which two pipelines want different values in the end.
#[derive(Debug, Clone, PartialEq)]
pub struct Conflict {
    /// On which BMC.
    pub bmc: BmcName,
    /// Of what.
    pub target: Target,
    /// Attribute name, `URI#/pointer`, or `version`.
    pub thing: String,
    /// What one wants.
    pub one: Claim,
    /// What the other wants.
    pub other: Claim,
}

/// What one pipeline wants, and where it says so.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// Which pipeline.
    pub pipeline: PipelineName,
    /// Its file.
    pub source: String,
    /// The stage's line, from 1.
    pub line: usize,
    /// The value wanted; masked where secret.
    pub value: Value,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "two pipelines disagree on `{}` of {} on bmc `{}`: ",
            self.thing, self.target, self.bmc
        )?;
        write!(f, "{}; {}", self.one, self.other)
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self
            .value
            .as_str()
            .map_or_else(|| self.value.to_string(), ToOwned::to_owned);
        write!(
            f,
            "`{}` ({}:{}) wants `{value}`",
            self.pipeline, self.source, self.line
        )
    }
}

/// Every thing of which two pipelines want different values in the end on the same BMC.
///
/// What a later stage of the same pipeline replaces, and what is only transient, is not wanted in the end.
pub fn conflicts(specs: &[&RunSpec]) -> Vec<Conflict> {
    let wanted: Vec<(&RunSpec, BTreeMap<Thing, End<'_>>)> =
        specs.iter().map(|spec| (*spec, ends(spec))).collect();
    let mut found = Vec::new();
    for (index, (one, ends)) in wanted.iter().enumerate() {
        for (other, others) in wanted
            .iter()
            .skip(index + 1)
            .filter(|(other, _)| other.bmc == one.bmc)
        {
            for (thing, end) in ends {
                let Some(other_end) = others
                    .get(thing)
                    .filter(|other| !agree(&end.value, &other.value))
                else {
                    continue;
                };
                found.push(Conflict {
                    bmc: one.bmc.clone(),
                    target: thing.0.clone(),
                    thing: thing.1.clone(),
                    one: end.claim(one, &thing.1),
                    other: other_end.claim(other, &thing.1),
                });
            }
        }
    }
    found
}

type Thing = (Target, String);

/// What a pipeline wants in the end, and by which stage.
struct End<'a> {
    stage: &'a StageSpec,
    value: Value,
}

impl End<'_> {
    fn claim(&self, spec: &RunSpec, thing: &str) -> Claim {
        Claim {
            pipeline: spec.pipeline.clone(),
            source: spec.source.clone(),
            line: self.stage.line,
            value: secrecy::masked(thing, &self.value),
        }
    }
}

fn ends(spec: &RunSpec) -> BTreeMap<Thing, End<'_>> {
    let mut ends = BTreeMap::new();
    for stage in spec.stages.iter().filter(|stage| !stage.transient) {
        for target in stage.kind.targets() {
            if let Some(version) = stage.kind.version(target) {
                let value = Value::from(version.version.as_str());
                ends.insert((target.clone(), "version".to_owned()), End { stage, value });
            }
            for (key, value) in stage
                .kind
                .settings(target)
                .iter()
                .flat_map(|settings| keys(settings))
            {
                ends.insert(
                    (target.clone(), key),
                    End {
                        stage,
                        value: value.clone(),
                    },
                );
            }
        }
    }
    ends
}

/// Everything that settings set: attributes by name, members of resources as `URI#/pointer`.
pub(super) fn keys(settings: &SettingsSpec) -> Vec<(String, &Value)> {
    let attributes = settings
        .flow
        .iter()
        .flat_map(|item| &item.settings)
        .map(|(name, value)| (name.clone(), value));
    let members = settings
        .flow
        .iter()
        .flat_map(FlowItemSpec::shown)
        .flat_map(resources::leaves);
    attributes.chain(members).collect()
}

/// A number may be authored as text.
fn agree(one: &Value, other: &Value) -> bool {
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), ToOwned::to_owned)
    };
    equal(one, other) || text(one) == text(other)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::plan::testing::{bios_settings, bmc_hop, bmc_settings, run};

    fn found(one: Vec<StageSpec>, other: Vec<StageSpec>) -> Vec<String> {
        let (one, mut other) = (run(&["s"], one), run(&["s"], other));
        other.pipeline = "q".into();
        other.source = "q.toml".into();
        conflicts(&[&one, &other])
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn two_pipelines_that_disagree_are_named_with_both_lines() {
        let legacy = json!({"BootMode": "Legacy", "N": 1});
        let messages = found(
            vec![
                bmc_hop("a", "1.60"),
                bios_settings("b", &json!({"BootMode": "Uefi", "N": "1"}), &["s"]),
            ],
            vec![bios_settings("c", &legacy, &["s"])],
        );
        assert_eq!(
            messages,
            [
                "two pipelines disagree on `BootMode` of server:s on bmc `b`: `p` (p.toml:2) wants `Uefi`; `q` (q.toml:1) \
              wants `Legacy`"
            ]
        );
        assert_eq!(
            found(vec![bmc_hop("a", "1.60")], vec![bmc_hop("a", "1.80")]).len(),
            1
        );
    }

    #[test]
    fn what_is_replaced_or_transient_or_elsewhere_is_no_conflict() {
        let set = |value: &str| bmc_settings("x", &json!({"K": value}));
        let mut transient = set("b");
        transient.transient = true;
        assert!(found(vec![set("a")], vec![transient]).is_empty());
        assert!(
            found(
                vec![set("a")],
                vec![set("b"), bmc_settings("y", &json!({"K": "a"}))]
            )
            .is_empty()
        );
        assert!(
            found(
                vec![set("a")],
                vec![bios_settings("y", &json!({"K": "b"}), &["s"])]
            )
            .is_empty()
        );
        let (one, mut other) = (run(&[], vec![set("a")]), run(&[], vec![set("b")]));
        other.bmc = "elsewhere".into();
        assert!(conflicts(&[&one, &other]).is_empty());
    }

    #[test]
    fn a_conflict_of_secrets_shows_none() {
        let set = |value: &str| bmc_settings("x", &json!({"AdminPassword": value}));
        let messages = found(vec![set("hunter1")], vec![set("hunter2")]).join(" ");
        assert!(
            messages.contains("AdminPassword") && !messages.contains("hunter"),
            "{messages}"
        );
    }
}
