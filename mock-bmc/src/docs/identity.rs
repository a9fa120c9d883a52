//! This room makes up who a BMC is: UUIDs, serial numbers and MAC addresses of its own.
//!
//! It deliberately uses no randomness: the same seed and name give the same box.

use std::collections::BTreeMap;

use serde_json::Value;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::bindings::Bindings;
use super::store::Store;
use super::walk::members_of;
use crate::script::Habits;

/// Who a BMC is.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    seed: String,
    pub(crate) uuid: String,
    pub(crate) serial: String,
    pub(crate) mac: String,
    pub(crate) name: String,
}

impl Identity {
    /// What the script says, and else what follows from seed and name.
    pub(crate) fn new(name: &str, seed: u64, habits: &Habits) -> Self {
        let seed = format!("{seed}/{name}");
        let said = &habits.identity;
        let or = |said: &Option<String>, made: String| said.clone().unwrap_or(made);
        Self {
            uuid: or(&said.uuid, uuid(&seed, "root")),
            serial: or(&said.serial, serial(&seed, "manager")),
            mac: or(&said.mac, mac(&seed, "eth0")),
            name: name.to_owned(),
            seed,
        }
    }

    /// The UUID of a part.
    pub(crate) fn uuid_of(&self, part: &str) -> String {
        uuid(&self.seed, part)
    }

    /// The serial number of a part.
    pub(crate) fn serial_of(&self, part: &str) -> String {
        serial(&self.seed, part)
    }

    /// The MAC address of a part.
    pub(crate) fn mac_of(&self, part: &str) -> String {
        mac(&self.seed, part)
    }

    /// The UUID of a system.
    pub(crate) fn system_uuid(&self, id: &str, habits: &Habits) -> String {
        let single = habits.system(id, |system| system.uuid.clone());
        single
            .or_else(|| habits.identity.system_uuid.clone())
            .unwrap_or_else(|| self.uuid_of(&format!("system/{id}")))
    }

    /// The serial number of a system.
    pub(crate) fn system_serial(&self, id: &str, habits: &Habits) -> String {
        let single = habits.system(id, |system| system.serial.clone());
        single
            .or_else(|| habits.identity.system_serial.clone())
            .unwrap_or_else(|| self.serial_of(&format!("system/{id}")))
    }

    /// A number for a service's secrets and tags.
    pub(crate) fn salt(&self) -> u64 {
        let digest = Sha256::digest(format!("{}/salt", self.seed));
        digest
            .iter()
            .take(8)
            .fold(0, |salt, byte| (salt << 8) | u64::from(*byte))
    }
}

fn uuid(seed: &str, part: &str) -> String {
    Uuid::new_v5(
        &Uuid::NAMESPACE_OID,
        format!("mock-bmc/{seed}/{part}").as_bytes(),
    )
    .to_string()
}

fn digest(seed: &str, part: &str) -> String {
    hex::encode_upper(Sha256::digest(format!("{seed}/{part}")))
}

fn serial(seed: &str, part: &str) -> String {
    format!("MB{}", digest(seed, part).get(..8).unwrap_or_default())
}

/// A locally administered address, which no vendor's hardware has.
fn mac(seed: &str, part: &str) -> String {
    let digits = digest(seed, part);
    let byte = |index: usize| digits.get(index * 2..index * 2 + 2).unwrap_or("00");
    format!(
        "02:{}:{}:{}:{}:{}",
        byte(0),
        byte(1),
        byte(2),
        byte(3),
        byte(4)
    )
}

/// Gives a recorded service a self of its own, wherever its old one is mentioned by the members that hold such things.
pub(crate) fn replace(
    store: &mut Store,
    bindings: &Bindings,
    identity: &Identity,
    habits: &Habits,
) {
    let mut new: BTreeMap<(&str, String), String> = BTreeMap::new();
    let mut take = |store: &Store, uri: &str, member: &'static str, made: String| {
        let old = store
            .get(uri)
            .and_then(|document| document[member].as_str());
        if let Some(old) = old.filter(|old| !old.is_empty()) {
            new.entry((kind(member), old.to_owned())).or_insert(made);
        }
    };
    take(store, "/redfish/v1", "UUID", identity.uuid.clone());
    for (index, uri) in bindings.managers.iter().enumerate() {
        let part = format!("manager/{index}");
        take(store, uri, "UUID", identity.uuid_of(&part));
        take(store, uri, "SerialNumber", identity.serial_of(&part));
        let manager = store.get(uri).unwrap_or(&Value::Null);
        for (index, port) in members_of(store, manager, "EthernetInterfaces")
            .iter()
            .enumerate()
        {
            let made = if index == 0 {
                identity.mac.clone()
            } else {
                identity.mac_of(port)
            };
            take(store, port, "MACAddress", made.clone());
            take(store, port, "PermanentMACAddress", made);
        }
    }
    for system in &bindings.systems {
        take(
            store,
            &system.uri,
            "UUID",
            identity.system_uuid(&system.id, habits),
        );
        take(
            store,
            &system.uri,
            "SerialNumber",
            identity.system_serial(&system.id, habits),
        );
    }
    let uris: Vec<String> = store.iter().map(|(uri, _)| uri.to_owned()).collect();
    for uri in uris {
        store.edit(&uri, |document| exchange(document, &new));
    }
    // A manager or a system without a UUID of its own would be nobody in particular; the root always gets one.
    store.set("/redfish/v1", "/UUID", identity.uuid.clone().into());
}

/// Members that hold the same kind of thing.
fn kind(member: &str) -> &'static str {
    match member {
        "UUID" | "ServiceEntryPointUUID" => "uuid",
        "SerialNumber" => "serial",
        "MACAddress" | "PermanentMACAddress" => "mac",
        _ => "",
    }
}

fn exchange(value: &mut Value, new: &BTreeMap<(&str, String), String>) {
    if let Some(list) = value.as_array_mut() {
        for element in list {
            exchange(element, new);
        }
        return;
    }
    for (name, member) in value.as_object_mut().into_iter().flatten() {
        let made = member
            .as_str()
            .and_then(|old| new.get(&(kind(name), old.to_owned())));
        match made {
            Some(made) => *member = Value::String(made.clone()),
            None => exchange(member, new),
        }
    }
}
