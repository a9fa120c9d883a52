//! This room is attributes of the manager: shown by display name, applied at once or by a reset of the manager.
//!
//! It deliberately covers every resource that the manager links to as a holder of its attributes.

use http::StatusCode;
use serde_json::{Map, Value};

use super::super::answer::Answer;
use super::super::core::Bmc;
use super::super::host::values;
use super::outcome::{Judged, attributes_of, taken};
use crate::docs::messages::Message;
use crate::docs::registry::{self, Registry};
use crate::docs::walk::{action, link};

/// One resource with attributes of the manager.
#[derive(Clone, Debug)]
pub(in super::super) struct AttributeSet {
    pub(in super::super) uri: String,
    pub(in super::super) settings: Option<String>,
    /// What counts; enumerations by name.
    pub(in super::super) current: Map<String, Value>,
    /// What waits for a reset of the manager.
    pub(in super::super) pending: Map<String, Value>,
    registry: Registry,
}

impl Bmc {
    pub(in super::super) fn start_attributes(&mut self) {
        let said = values(&self.habits.bmc_settings.attributes());
        for uri in self.bindings.attributes.clone() {
            let document = self.store.get(&uri).unwrap_or(&Value::Null);
            let name = document["AttributeRegistry"].as_str();
            let registry = registry::find(&self.store, name, "ManagerAttributeRegistry");
            let registry = registry.map(Registry::read).unwrap_or_default();
            let settings = link(&document["@Redfish.Settings"], "SettingsObject");
            let recorded = document["Attributes"]
                .as_object()
                .cloned()
                .unwrap_or_default();
            // A recorded service shows display names; what counts is kept by name.
            let named =
                |(name, value): (String, Value)| (name.clone(), registry.named(&name, &value));
            let mut current: Map<String, Value> = recorded.into_iter().map(named).collect();
            let ours = said.iter().filter(|(name, _)| current.contains_key(*name));
            let ours: Vec<(String, Value)> = ours
                .map(|(name, value)| named((name.clone(), value.clone())))
                .collect();
            current.extend(ours);
            let settings = settings.filter(|uri| self.store.get(uri).is_some());
            self.sets.push(AttributeSet {
                uri,
                settings,
                current,
                pending: Map::new(),
                registry,
            });
        }
        (0..self.sets.len()).for_each(|set| self.show_set(set));
    }

    /// The set that is written at a URI.
    pub(in super::super) fn set_written_at(&self, uri: &str) -> Option<usize> {
        self.sets
            .iter()
            .position(|set| set.settings.as_deref().unwrap_or(&set.uri) == uri)
    }

    /// Answers a write of the manager's attributes.
    pub(in super::super) fn write_set(
        &mut self,
        index: usize,
        uri: &str,
        body: &Map<String, Value>,
    ) -> Answer {
        let (wanted, mut refused) = attributes_of(body);
        let names = Judged::names(&wanted);
        let judged = self.judge_set(index, &wanted);
        refused.extend(judged.refused);
        if !refused.is_empty() {
            self.ledger.cause(format!("settings refused {uri} {names}"));
            return Answer::refused(StatusCode::BAD_REQUEST, &refused);
        }
        self.ledger
            .cause(format!("settings accepted {uri} {names}"));
        let waits = self.take_set(index, judged.good);
        let mut messages = vec![Message::base("Success", &[])];
        messages.extend(waits.then(|| self.reset_required()).flatten());
        let resource = self.view(uri);
        let answer = Answer::json(StatusCode::OK, taken(resource, &messages));
        self.with_tag(answer, uri)
    }

    /// The message that says that the manager must be reset.
    pub(in super::super) fn reset_required(&self) -> Option<Message> {
        let manager = self
            .bindings
            .bmc
            .as_ref()
            .and_then(|uri| self.store.get(uri))?;
        let (target, _) = action(manager, "#Manager.Reset")?;
        Some(Message::base(
            "ResetRequired",
            &[&target, "GracefulRestart"],
        ))
    }

    fn judge_set(&self, index: usize, wanted: &Map<String, Value>) -> Judged {
        let mut judged = Judged::default();
        let Some(set) = self.sets.get(index) else {
            return judged;
        };
        for (name, value) in wanted {
            let value = set.registry.named(name, value);
            let checked = if set.current.contains_key(name) {
                set.registry.check(name, &value, &set.current)
            } else {
                Err(Message::base("PropertyUnknown", &[name]).about(&format!("/Attributes/{name}")))
            };
            match checked {
                Ok(value) => {
                    judged.good.insert(name.clone(), value);
                }
                Err(message) => judged.refused.push(message),
            }
        }
        judged
    }

    fn take_set(&mut self, index: usize, good: Map<String, Value>) -> bool {
        let kept = self.habits.bmc_settings.silently_kept();
        let Some(set) = self.sets.get_mut(index) else {
            return false;
        };
        let mut waits = false;
        for (name, value) in good.into_iter().filter(|(name, _)| !kept.contains(name)) {
            let attribute = set.registry.attribute(&name);
            let secret = attribute.is_some_and(registry::Attribute::is_password);
            let value = if secret { Value::Null } else { value };
            let needs_reset =
                attribute.is_some_and(|attribute| attribute.reset_required == Some(true));
            if set.current.get(&name) == Some(&value) {
                set.pending.remove(&name);
            } else if needs_reset {
                set.pending.insert(name, value);
                waits = true;
            } else {
                set.pending.remove(&name);
                set.current.insert(name, value);
            }
        }
        self.show_set(index);
        waits
    }

    /// What waited for a reset of the manager counts now.
    pub(in super::super) fn apply_waiting(&mut self) {
        let mut names = Vec::new();
        for index in 0..self.sets.len() {
            if let Some(set) = self.sets.get_mut(index) {
                let pending = std::mem::take(&mut set.pending);
                names.extend(pending.keys().cloned());
                set.current.extend(pending);
            }
            self.show_set(index);
        }
        for (uri, change) in std::mem::take(&mut self.waiting_changes) {
            names.extend(change.keys().cloned());
            self.store.edit(&uri, |document| {
                crate::docs::patch::apply(document, &change);
            });
        }
        if !names.is_empty() {
            self.note(format!("settings manager applied {}", names.join(",")));
        }
    }

    pub(in super::super) fn show_set(&mut self, index: usize) {
        let Some(set) = self.sets.get(index) else {
            return;
        };
        let displayed = |values: &Map<String, Value>| -> Map<String, Value> {
            let shown = values
                .iter()
                .map(|(name, value)| (name.clone(), set.registry.displayed(name, value)));
            shown.collect()
        };
        let (current, pending) = (displayed(&set.current), displayed(&set.pending));
        let (uri, settings) = (set.uri.clone(), set.settings.clone());
        self.store.set(&uri, "/Attributes", Value::Object(current));
        if let Some(settings) = settings {
            self.store
                .set(&settings, "/Attributes", Value::Object(pending));
        }
    }
}
