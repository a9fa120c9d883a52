//! This room is the hosts as they are when the BMC is switched on.
//!
//! It deliberately believes the documents, and the script more.

use serde_json::{Map, Value};

use super::super::core::Bmc;
use super::{Host, Phase, Power, Staged};
use crate::script::PendingStyle;

impl Bmc {
    pub(in super::super) fn start_hosts(&mut self) {
        for index in 0..self.bindings.systems.len() {
            let host = self.recorded_host(index);
            self.hosts.push(host);
            self.start_host(index);
        }
    }

    fn recorded_host(&self, index: usize) -> Host {
        let binding = self
            .bindings
            .systems
            .get(index)
            .cloned()
            .unwrap_or_default();
        let habits = &self.habits;
        let document = self.store.get(&binding.uri).unwrap_or(&Value::Null);
        let said = habits
            .system(&binding.id, |system| system.power.clone())
            .or_else(|| habits.power.state.clone());
        let state = said.as_deref().or_else(|| document["PowerState"].as_str());
        let off = matches!(state, Some("Off" | "PoweringOff"));
        let inventory = binding
            .inventory
            .as_ref()
            .and_then(|uri| self.store.get(uri));
        let recorded = document["BiosVersion"].as_str();
        let recorded = recorded.or_else(|| inventory.and_then(|member| member["Version"].as_str()));
        let version = habits
            .system(&binding.id, |system| system.bios.clone())
            .or_else(|| habits.versions.bios.clone());
        let bios = binding
            .bios
            .as_ref()
            .and_then(|bios| self.store.get(&bios.uri));
        let attributes = bios.and_then(|bios| bios["Attributes"].as_object());
        Host {
            power: if off { Power::Off } else { Power::On },
            phase: if off { Phase::Off } else { Phase::Os },
            act: 0,
            boot: 0,
            off_at: None,
            bios_version: version.or_else(|| recorded.map(str::to_owned)),
            bricked: false,
            staged: None,
            current: attributes.cloned().unwrap_or_default(),
            pending: Map::new(),
            blank: false,
            ignored_graceful: habits.power.ignored_graceful()
                || habits
                    .system(&binding.id, |system| system.ignored_graceful.then_some(()))
                    .is_some(),
        }
    }

    fn start_host(&mut self, index: usize) {
        let id = self.system_id(index);
        let of_it: Vec<_> = self
            .habits
            .system
            .iter()
            .filter(|system| system.id == id)
            .cloned()
            .collect();
        self.learn_pending_style(index);
        let returns = self.manager.returns;
        for said in of_it {
            if let Some(host) = self.hosts.get_mut(index) {
                host.current.extend(values(&said.attributes));
                host.pending.extend(values(&said.pending));
                if let Some(version) = said.staged {
                    let saw_off = host.power == Power::Off;
                    host.staged = Some(Staged {
                        version,
                        task: None,
                        saw_off,
                        returns,
                        wipes_settings: false,
                        member: None,
                    });
                }
            }
            if said.in_post {
                self.begin_boot(index);
            }
        }
        self.show_staged(index);
        self.show_power(index);
        self.show_bios_version(index);
        self.show_attributes(index);
    }

    /// A recorded settings object says by its look which style the service has. What it held is not taken over: nobody
    /// waits for anything on a box that was just switched on.
    fn learn_pending_style(&mut self, index: usize) {
        if self.habits.bios_settings.pending_style.is_some() || !self.any_case {
            return;
        }
        let settings = self.settings_uri(index);
        let recorded =
            settings.and_then(|uri| self.store.get(uri).map(|found| found["Attributes"].clone()));
        if recorded.is_some_and(|found| found.as_object().is_some_and(|found| !found.is_empty())) {
            self.habits.bios_settings.pending_style = Some(PendingStyle::Everything);
        }
    }

    /// A system's id.
    pub(in super::super) fn system_id(&self, index: usize) -> String {
        self.bindings
            .systems
            .get(index)
            .map(|system| system.id.clone())
            .unwrap_or_default()
    }
}

/// Values of a script as JSON.
pub(in super::super) fn values(
    table: &std::collections::BTreeMap<String, toml::Value>,
) -> Map<String, Value> {
    let json = |value: &toml::Value| serde_json::to_value(value).unwrap_or(Value::Null);
    table
        .iter()
        .map(|(name, value)| (name.clone(), json(value)))
        .collect()
}
