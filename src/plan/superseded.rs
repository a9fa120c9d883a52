//! Which stages, and which settings of a stage, are no longer wanted because of what follows them.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::conflict::keys;
use super::resources;
use super::running::{Relation, guard_unmet, live_version, relation};
use super::spec::{FlowItemSpec, ResourceSpec, RunSpec, SettingsSpec, StageSpec};
use crate::model::{Look, StageName, Target};

/// A stage by its index, on a target.
pub type StageTarget = (usize, Target);

/// What the due rule needs to know of one stage on one target.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Standing {
    /// A version stage: whether its hop is still to be made. False for settings stages.
    pub is_hop_due: bool,
    /// A settings stage: whether its guard will let it through when it is reached. True for version stages.
    pub is_applicable: bool,
}

/// What of a settings stage is not wanted on a target.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Superseded {
    /// Why nothing of the stage is wanted; `None` = the rest is.
    pub whole: Option<String>,
    /// Settings that a later stage sets again, attributes by name and members of resources as `URI#/pointer`, with
    /// that stage.
    pub keys: BTreeMap<String, StageName>,
}

impl Superseded {
    /// The settings that are still wanted. Flow items keep their places, if only as empty ones.
    pub fn rest(&self, settings: &SettingsSpec) -> SettingsSpec {
        let is_wanted = |key: &str| self.whole.is_none() && !self.keys.contains_key(key);
        let flow = settings.flow.iter().map(|item| FlowItemSpec {
            name: item.name.clone(),
            severs: item.severs,
            settings: item
                .settings
                .iter()
                .filter(|(name, _)| is_wanted(name))
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
            resources: item
                .resources
                .iter()
                .filter_map(|resource| rest_of_resource(resource, &is_wanted))
                .collect(),
            // An action is whole or not at all: what shows its success would be set otherwise later.
            actions: item
                .actions
                .iter()
                .filter(|action| {
                    let probed = resources::leaves(&action.satisfied_when);
                    probed.iter().all(|(key, _)| is_wanted(key))
                })
                .cloned()
                .collect(),
        });
        SettingsSpec {
            guard: settings.guard.clone(),
            flow: flow.collect(),
        }
    }
}

/// Where every stage stands on every target, by the versions that a look shows. Hops still to be made count as made
/// for the guards behind them.
pub fn standings(spec: &RunSpec, look: &Look) -> BTreeMap<StageTarget, Standing> {
    let mut running: BTreeMap<Target, Option<String>> = BTreeMap::new();
    let mut standings = BTreeMap::new();
    for (index, stage) in spec.stages.iter().enumerate() {
        for target in stage.kind.targets() {
            let live = running
                .entry(target.clone())
                .or_insert_with(|| live_version(look, target).map(ToOwned::to_owned));
            let mut standing = Standing {
                is_hop_due: false,
                is_applicable: true,
            };
            if let Some(version) = stage.kind.version(target) {
                let related = live
                    .as_deref()
                    .map(|live| relation(version, live, target, look));
                if matches!(related, Some(Relation::Up(_) | Relation::Down(_))) {
                    standing.is_hop_due = true;
                    *live = Some(version.version.clone());
                }
            } else if let Some(settings) = stage.kind.settings(target) {
                let is_there = target
                    .server()
                    .is_none_or(|server| look.systems.contains_key(server));
                let unmet = guard_unmet(settings.guard.as_ref(), live.as_deref(), target, look);
                standing.is_applicable = is_there && unmet.is_none();
            }
            standings.insert((index, target.clone()), standing);
        }
    }
    standings
}

/// What of the settings stages is not wanted on which target; a stage and target that are absent are wanted whole.
///
/// A setting is wanted now only if it stays, or if a hop that needs it is still to be made before it ends. It ends
/// where a later applicable stage that is not transient sets it again; all of a transient stage ends at the next
/// version stage. Hops of the BMC count for its servers and the other way round: nobody but the author knows for which
/// of them a setting was meant. A transient stage with no version stage behind it has no end, and is wanted, but for
/// what an earlier stage sets for good, or a later one sets again: two such values would take turns for ever.
pub fn superseded(
    spec: &RunSpec,
    standings: &BTreeMap<StageTarget, Standing>,
) -> BTreeMap<StageTarget, Superseded> {
    let rule = Rule { spec, standings };
    let mut found = BTreeMap::new();
    for (index, stage) in spec.stages.iter().enumerate() {
        for target in stage.kind.targets() {
            let Some(settings) = stage.kind.settings(target) else {
                continue;
            };
            let superseded = rule.superseded(index, stage, target, settings);
            if superseded != Superseded::default() {
                found.insert((index, target.clone()), superseded);
            }
        }
    }
    found
}

struct Rule<'a> {
    spec: &'a RunSpec,
    standings: &'a BTreeMap<StageTarget, Standing>,
}

impl Rule<'_> {
    fn superseded(
        &self,
        index: usize,
        stage: &StageSpec,
        target: &Target,
        settings: &SettingsSpec,
    ) -> Superseded {
        if stage.transient
            && let Some((end, hop)) = self.next_version(index, target)
            && !self.is_hop_due(end, target)
        {
            let whole = Some(format!(
                "superseded: it is wanted only for `{}`, which is not due",
                hop.name
            ));
            return Superseded {
                whole,
                keys: BTreeMap::new(),
            };
        }
        let all = keys(settings);
        let is_last_word = stage.transient && self.next_version(index, target).is_none();
        let mut keys = BTreeMap::new();
        for (key, _) in &all {
            let other = || {
                let for_good = self.set_for_good(index, target, key);
                for_good.or_else(|| self.set_later(index, target, key))
            };
            if is_last_word && let Some(by) = other() {
                keys.insert(key.clone(), by.name.clone());
                continue;
            }
            let Some((end, by)) = self.set_again(index, target, key) else {
                continue;
            };
            if !(index + 1..end).any(|between| self.is_hop_due(between, target)) {
                keys.insert(key.clone(), by.name.clone());
            }
        }
        let whole = (!all.is_empty() && keys.len() == all.len()).then(|| {
            let mut names: Vec<String> = keys.values().map(|name| format!("`{name}`")).collect();
            names.sort();
            names.dedup();
            format!("superseded by {}", names.join(", "))
        });
        Superseded { whole, keys }
    }

    /// The next version stage that counts for the target. A computed hop may be one of other servers alone.
    fn next_version(&self, index: usize, target: &Target) -> Option<(usize, &StageSpec)> {
        let counts = |stage: &StageSpec| match target {
            Target::Bmc => true,
            Target::Server(_) => stage.kind.is_bmc() || stage.kind.version(target).is_some(),
        };
        let stages = self.spec.stages.iter().enumerate().skip(index + 1);
        let mut versions = stages.filter(|(_, stage)| stage.kind.is_version());
        versions.find(|(_, stage)| counts(stage))
    }

    /// The next stage that is not transient, applies on the target, and sets the key.
    fn set_again(&self, index: usize, target: &Target, key: &str) -> Option<(usize, &StageSpec)> {
        let stages = self.spec.stages.iter().enumerate();
        stages
            .skip(index + 1)
            .find(|(later, stage)| !stage.transient && self.sets(*later, stage, target, key))
    }

    /// The next stage that applies on the target and sets the key, be it for a while.
    fn set_later(&self, index: usize, target: &Target, key: &str) -> Option<&StageSpec> {
        let mut stages = self.spec.stages.iter().enumerate().skip(index + 1);
        stages
            .find(|(later, stage)| self.sets(*later, stage, target, key))
            .map(|(_, stage)| stage)
    }

    /// The last stage before that is not transient, applies on the target, and sets the key.
    fn set_for_good(&self, index: usize, target: &Target, key: &str) -> Option<&StageSpec> {
        let mut stages = self.spec.stages.iter().enumerate().take(index);
        stages
            .rfind(|(earlier, stage)| !stage.transient && self.sets(*earlier, stage, target, key))
            .map(|(_, stage)| stage)
    }

    fn sets(&self, index: usize, stage: &StageSpec, target: &Target, key: &str) -> bool {
        let applies = self
            .standings
            .get(&(index, target.clone()))
            .is_some_and(|s| s.is_applicable);
        let settings = stage.kind.settings(target).filter(|_| applies);
        settings.is_some_and(|settings| keys(settings).iter().any(|(set, _)| set == key))
    }

    fn is_hop_due(&self, index: usize, target: &Target) -> bool {
        let is_due = |other: &Target| {
            self.standings
                .get(&(index, other.clone()))
                .is_some_and(|s| s.is_hop_due)
        };
        let Some(stage) = self.spec.stages.get(index) else {
            return false;
        };
        match target {
            Target::Bmc => stage.kind.targets().into_iter().any(is_due),
            Target::Server(_) => is_due(target) || is_due(&Target::Bmc),
        }
    }
}

fn rest_of_resource(
    resource: &ResourceSpec,
    is_wanted: &impl Fn(&str) -> bool,
) -> Option<ResourceSpec> {
    let set = rest_of_value(&resource.uri, "", &resource.set, is_wanted)?;
    Some(ResourceSpec {
        uri: resource.uri.clone(),
        set,
    })
}

fn rest_of_value(
    uri: &str,
    pointer: &str,
    value: &Value,
    is_wanted: &impl Fn(&str) -> bool,
) -> Option<Value> {
    match value {
        Value::Object(members) if !members.is_empty() => {
            let rest: Map<String, Value> = members
                .iter()
                .filter_map(|(member, inner)| {
                    let pointer = resources::child(pointer, member);
                    Some((
                        member.clone(),
                        rest_of_value(uri, &pointer, inner, is_wanted)?,
                    ))
                })
                .collect();
            (!rest.is_empty()).then_some(Value::Object(rest))
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => is_wanted(&resources::key(uri, pointer)).then(|| value.clone()),
    }
}

#[cfg(test)]
mod tests;
