//! What a run is known by: one hash over everything that an approval or a journal speaks about.

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::secrecy;
use super::spec::{
    ActionSpec, FlowItemSpec, RunSpec, SettingsSpec, StageKindSpec, StageSpec, VersionSpec,
};
use crate::model::{ServerName, Target};

/// SHA-256, as lower-case hex, over stages, image hashes and servers.
///
/// Values of secret attributes and user info in URIs are left out, so that nothing can be learned about them. Lines,
/// pace and rollout are left out too: they do not change what happens to the hardware.
pub(super) fn digest(spec: &RunSpec) -> String {
    let servers: Vec<Value> = spec
        .servers
        .iter()
        .map(|server| json!([server.name, server.system]))
        .collect();
    let stages: Vec<Value> = spec.stages.iter().map(stage).collect();
    let whole =
        json!({ "bmc": spec.bmc, "pipeline": spec.pipeline, "servers": servers, "stages": stages });
    let mut text = String::new();
    canonical(&whole, &mut text);
    hex::encode(Sha256::digest(text.as_bytes()))
}

/// What an approval is for: a run's [digest](RunSpec::digest) together with the servers that it may disturb.
pub fn approval_digest<'s>(run: &str, servers: impl IntoIterator<Item = &'s ServerName>) -> String {
    let servers: Vec<&ServerName> = servers.into_iter().collect();
    hex::encode(Sha256::digest(json!([run, servers]).to_string()))
}

/// Hexadecimal digits that tell two states of one stage apart.
const PLACE_DIGITS: usize = 16;

/// What one stage wants of one target, as a hash: another one means that the file was edited there.
pub fn place_digest(of: &StageSpec, target: &Target) -> String {
    let mut whole = stage(of);
    if let Some(targets) = whole.get_mut("targets") {
        *targets = targets.get(target.to_string()).cloned().unwrap_or_default();
    }
    let mut text = String::new();
    canonical(&whole, &mut text);
    let mut hex = hex::encode(Sha256::digest(text.as_bytes()));
    hex.truncate(PLACE_DIGITS);
    hex
}

fn stage(stage: &StageSpec) -> Value {
    let options = &stage.options;
    let targets: Map<String, Value> = match &stage.kind {
        StageKindSpec::BmcSettings(by) | StageKindSpec::BiosSettings(by) => {
            by.iter().map(settings).collect()
        }
        StageKindSpec::BmcVersion(by) | StageKindSpec::BiosVersion(by) => {
            by.iter().map(version).collect()
        }
    };
    let mut whole = json!({
        "name": stage.name,
        "kind": stage.kind.as_str(),
        "transient": stage.transient,
        "reset": options.reset.as_str(),
        "method": options.method.as_str(),
        "update_targets": options.targets,
        "apply_time": options.apply_time,
        "attempts": options.attempts,
        "targets": targets,
    });
    // Only where less than everything is kept, so that what was approved before there was a choice stays approved.
    if let Some(keep) = options.preserve.only() {
        whole["preserve"] = json!(keep);
    }
    whole
}

fn settings((target, spec): (&Target, &SettingsSpec)) -> (String, Value) {
    let guard = spec
        .guard
        .as_ref()
        .map(|guard| json!([guard.version, guard.exact]));
    let flow: Vec<Value> = spec.flow.iter().map(flow_item).collect();
    (target.to_string(), json!({ "guard": guard, "flow": flow }))
}

fn flow_item(item: &FlowItemSpec) -> Value {
    let settings: Map<String, Value> = item
        .settings
        .iter()
        .map(|(name, value)| (name.clone(), secrecy::masked(name, value)))
        .collect();
    let resources: Vec<Value> = item
        .resources
        .iter()
        .map(|resource| json!([resource.uri, secrecy::masked("", &resource.set)]))
        .collect();
    let mut whole = json!({ "name": item.name, "settings": settings, "resources": resources });
    // Only where there are some, so that what was approved before there were any stays approved.
    if !item.actions.is_empty() {
        whole["actions"] = item.actions.iter().map(action).collect();
    }
    whole
}

fn action(action: &ActionSpec) -> Value {
    let probe = &action.satisfied_when;
    json!([
        action.uri,
        secrecy::masked("", &action.body),
        probe.uri,
        secrecy::masked("", &probe.set)
    ])
}

fn version((target, spec): (&Target, &VersionSpec)) -> (String, Value) {
    // The bytes are what matters; only where nobody has hashed them does the place stand for them.
    let image = spec
        .image
        .sha256
        .clone()
        .unwrap_or_else(|| spec.image.origin.to_string());
    let value = json!({
        "version": spec.version,
        "requires": spec.requires.as_ref().map(|requires| json!([requires.op.as_str(), requires.version])),
        "image": image,
        "exact": spec.exact,
        "allow_downgrade": spec.allow_downgrade,
    });
    (target.to_string(), value)
}

/// JSON with the members of every object in name order, whatever order the library keeps.
fn canonical(value: &Value, text: &mut String) {
    match value {
        Value::Object(members) => {
            let mut names: Vec<&String> = members.keys().collect();
            names.sort();
            text.push('{');
            for name in names {
                text.push_str(&Value::from(name.as_str()).to_string());
                text.push(':');
                canonical(members.get(name).unwrap_or(&Value::Null), text);
                text.push(',');
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for item in items {
                canonical(item, text);
                text.push(',');
            }
            text.push(']');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            text.push_str(&value.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::testing::{bios_settings, bmc_hop, run};

    fn of(setting: &Value, version: &str) -> String {
        run(
            &["s"],
            vec![
                bmc_hop("hop", version),
                bios_settings("set", setting, &["s"]),
            ],
        )
        .digest
    }

    #[test]
    fn what_changes_the_hardware_changes_the_digest_and_a_secret_does_not() {
        let one = of(&json!({"BootMode": "Uefi"}), "1.60");
        assert_eq!(one, of(&json!({"BootMode": "Uefi"}), "1.60"));
        assert_ne!(one, of(&json!({"BootMode": "Legacy"}), "1.60"));
        assert_ne!(one, of(&json!({"BootMode": "Uefi"}), "1.70"));
        assert_eq!(
            of(&json!({"AdminPassword": "a"}), "1"),
            of(&json!({"AdminPassword": "b"}), "1")
        );
    }

    #[test]
    fn lines_do_not_matter() {
        let mut spec = run(&["s"], vec![bmc_hop("hop", "1")]);
        for stage in &mut spec.stages {
            stage.line += 7;
        }
        assert_eq!(digest(&spec), spec.digest);
    }
}
