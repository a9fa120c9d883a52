//! What of a golden machine's attributes is worth asking of others: what somebody chose, and what fits another machine too.

mod own;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

pub use own::OwnTexts;
use serde_json::Value;

use super::secrecy::{NOTHING_WRITTEN, is_secret};
use super::settings::{AttributeItem, is_locked, locks, same_value_of, written_form};
use crate::model::setting::{FactoryAttribute, FactoryAttributes};
use crate::model::{SettingsView, Target};

/// Longest chain of attributes that unlock one another that is told apart: each link costs a restart of the host, and
/// vendors' registries have chains of two or three.
const ORDER_MAX: usize = 5;

/// Attributes of one target of a golden machine, as a pipeline may ask them of others.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Golden {
    /// Groups of attributes, each of which must be in effect before the next can be written.
    pub flow: Vec<BTreeMap<String, Value>>,
    /// Those that are asked of nobody, by the reason.
    pub left_out: BTreeMap<LeftOut, BTreeSet<String>>,
    /// Those asked although nobody says what they are by default.
    pub without_default: usize,
}

/// Why an attribute is asked of nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftOut {
    /// As it comes from the factory.
    Default,
    /// It cannot be written, or not while others are as they are.
    ReadOnly,
    /// It cannot be read back, or must not be shown.
    Secret,
    /// It names this one machine.
    ThisMachine,
    /// It has no value, or none that its registry allows.
    NoValue,
}

/// Sorts the attributes that a look shows.
pub fn golden(view: &SettingsView, factory: &FactoryAttributes, own: &OwnTexts) -> Golden {
    let (target, nothing) = (Target::Bmc, BTreeMap::new());
    let item = AttributeItem::new(&target, &nothing, NOTHING_WRITTEN);
    let mut golden = Golden::default();
    let mut chosen = BTreeMap::new();
    let shown = view.resources.iter().flat_map(|resource| &resource.current);
    for (name, value) in shown {
        let known = factory.get(name);
        match worth(name, value, &item, view, known, own) {
            Ok(value) => {
                let default = known.and_then(|known| known.default.as_ref());
                golden.without_default += usize::from(default.is_none());
                chosen.insert(name.clone(), value);
            }
            Err(why) => {
                let names = golden.left_out.entry(why).or_default();
                names.insert(name.clone());
            }
        }
    }
    golden.flow = in_order(chosen, view, factory);
    golden
}

/// The value to ask of others, in the registry's form.
fn worth(
    name: &str,
    value: &Value,
    item: &AttributeItem<'_>,
    view: &SettingsView,
    factory: Option<&FactoryAttribute>,
    own: &OwnTexts,
) -> Result<Value, LeftOut> {
    let definition = view.definition(name);
    if is_secret(name) || definition.is_some_and(|known| known.write_only) {
        return Err(LeftOut::Secret);
    }
    if !(value.is_string() || value.is_number() || value.is_boolean()) {
        return Err(LeftOut::NoValue);
    }
    if is_locked(name, item, view) {
        return Err(LeftOut::ReadOnly);
    }
    let display_name = factory.and_then(|known| known.display_name.as_deref());
    if own.names_one_machine(name, display_name) || own.is_of_one_machine(value) {
        return Err(LeftOut::ThisMachine);
    }
    let default = factory.and_then(|known| known.default.as_ref());
    if default.is_some_and(|default| same_value_of(default, value, definition)) {
        return Err(LeftOut::Default);
    }
    written_form(value, definition).ok_or(LeftOut::NoValue)
}

/// Groups, so that what unlocks an attribute on a machine as it comes from the factory stands before it.
fn in_order(
    chosen: BTreeMap<String, Value>,
    view: &SettingsView,
    factory: &FactoryAttributes,
) -> Vec<BTreeMap<String, Value>> {
    let before = unlocked_by(&chosen, view, factory);
    let mut ranks: BTreeMap<&String, usize> = chosen.keys().map(|name| (name, 0)).collect();
    for _ in 1..ORDER_MAX {
        let known = ranks.clone();
        for (name, others) in &before {
            let least = others.iter().filter_map(|other| known.get(other));
            let least = least.max().map_or(0, |rank| rank + 1);
            if let Some(rank) = ranks.get_mut(name) {
                *rank = (*rank).max(least).min(ORDER_MAX - 1);
            }
        }
    }
    let ranks: Vec<usize> = ranks.into_values().collect();
    let mut groups: BTreeMap<usize, BTreeMap<String, Value>> = BTreeMap::new();
    for (rank, (name, value)) in ranks.into_iter().zip(chosen) {
        groups.entry(rank).or_default().insert(name, value);
    }
    groups.into_values().collect()
}

/// For each chosen attribute the chosen ones that lock it where they are as they come from the factory. One without a
/// known default may: it counts.
fn unlocked_by(
    chosen: &BTreeMap<String, Value>,
    view: &SettingsView,
    factory: &FactoryAttributes,
) -> BTreeMap<String, BTreeSet<String>> {
    let defaults: BTreeMap<String, Value> = chosen
        .keys()
        .filter_map(|name| Some((name.clone(), factory.get(name)?.default.clone()?)))
        .collect();
    let (target, nothing) = (Target::Bmc, BTreeMap::new());
    let item = AttributeItem {
        assumed: &defaults,
        ..AttributeItem::new(&target, &nothing, NOTHING_WRITTEN)
    };
    let mut before: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, others) in locks(view) {
        let mut others: BTreeSet<String> = others
            .into_iter()
            .filter(|other| *other != name && chosen.contains_key(*other))
            .map(str::to_owned)
            .collect();
        if !chosen.contains_key(name) {
            continue;
        }
        if !is_locked(name, &item, view) {
            others.retain(|other| !defaults.contains_key(other));
        }
        if !others.is_empty() {
            before.entry(name.to_owned()).or_default().extend(others);
        }
    }
    before
}
