//! This room finds out, by following links from the service root, which documents are the manager, the systems, their
//! BIOS, the services, and which URIs are actions.
//!
//! It deliberately guesses no path, so that a recorded service comes alive by its own links.

use std::collections::BTreeMap;

use serde_json::Value;

use super::store::{Store, normal};
use super::walk::{action, last_segment, link, links, members_of};

/// Where everything is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bindings {
    pub(crate) managers: Vec<String>,
    /// The manager of type BMC that manages the systems.
    pub(crate) bmc: Option<String>,
    /// The software inventory that shows the manager's own version.
    pub(crate) bmc_inventory: Option<String>,
    pub(crate) systems: Vec<SystemBinding>,
    /// Resources with attributes of the manager.
    pub(crate) attributes: Vec<String>,
    pub(crate) update: Option<UpdateBinding>,
    pub(crate) sessions: CollectionBinding,
    pub(crate) tasks: CollectionBinding,
    pub(crate) jobs: Option<CollectionBinding>,
    pub(crate) accounts: CollectionBinding,
    /// What a `POST` on a URI does.
    pub(crate) actions: BTreeMap<String, Action>,
}

/// One system.
#[derive(Clone, Debug, Default)]
pub(crate) struct SystemBinding {
    pub(crate) uri: String,
    /// The last segment of its URI.
    pub(crate) id: String,
    pub(crate) bios: Option<BiosBinding>,
    /// The software inventory that shows the BIOS version.
    pub(crate) inventory: Option<String>,
    pub(crate) chassis: Vec<String>,
}

/// One system's BIOS.
#[derive(Clone, Debug, Default)]
pub(crate) struct BiosBinding {
    pub(crate) uri: String,
    pub(crate) settings: Option<String>,
}

/// A service and its collection.
#[derive(Clone, Debug, Default)]
pub(crate) struct CollectionBinding {
    pub(crate) service: String,
    pub(crate) collection: String,
}

/// The update service.
#[derive(Clone, Debug, Default)]
pub(crate) struct UpdateBinding {
    pub(crate) service: String,
    pub(crate) multipart: Option<String>,
    pub(crate) push: Option<String>,
    pub(crate) inventory: Option<String>,
}

/// What a `POST` on a URI does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Resets the system with this index.
    SystemReset(usize),
    /// Resets the manager with this URI.
    ManagerReset(String),
    /// Resets the systems in the chassis with this URI.
    ChassisReset(String),
    /// Sets the BIOS attributes of the system with this index back.
    ResetBios(usize),
    /// Changes a BIOS password.
    BiosPassword(usize),
    /// Pulls an image.
    SimpleUpdate,
    /// Writes an image that was only verified so far.
    StartUpdate,
    /// Takes an image with parameters.
    MultipartPush,
    /// Takes a bare image.
    Push,
    /// Puts a medium into the slot with this URI.
    InsertMedia(String),
    /// Takes it out again.
    EjectMedia(String),
}

impl Bindings {
    /// Walks the links of a complete service.
    pub(crate) fn walk(store: &Store) -> Self {
        let mut found = Self::default();
        let root = store.get("/redfish/v1").unwrap_or(&Value::Null);
        found.services(store, root);
        found.managers = members_of(store, root, "Managers");
        for uri in members_of(store, root, "Systems") {
            found.system(store, &uri);
        }
        found.bmc = found.find_bmc(store);
        found.attributes = found
            .bmc
            .iter()
            .flat_map(|uri| attribute_resources(store, uri))
            .collect();
        found.inventory(store);
        found.reset_actions(store, root);
        found
    }

    fn services(&mut self, store: &Store, root: &Value) {
        let service = |name: &str, collection: &str| {
            let service = link(root, name)?;
            let collection = link(store.get(&service)?, collection)?;
            Some(CollectionBinding {
                service,
                collection,
            })
        };
        self.sessions = service("SessionService", "Sessions").unwrap_or_default();
        if let Some(collection) = link(&root["Links"], "Sessions") {
            self.sessions.collection = collection;
        }
        self.tasks = service("Tasks", "Tasks").unwrap_or_default();
        self.jobs = service("JobService", "Jobs");
        self.accounts = service("AccountService", "Accounts").unwrap_or_default();
        self.update = link(root, "UpdateService").and_then(|uri| self.update_service(store, &uri));
    }

    fn update_service(&mut self, store: &Store, uri: &str) -> Option<UpdateBinding> {
        let document = store.get(uri)?;
        let push = |name: &str| document[name].as_str().map(|uri| normal(uri).to_owned());
        let update = UpdateBinding {
            service: uri.to_owned(),
            multipart: push("MultipartHttpPushUri"),
            push: push("HttpPushUri"),
            inventory: link(document, "FirmwareInventory"),
        };
        // Where both are one URI, the form of the request decides; the multipart one is tried first.
        if let Some(uri) = &update.push {
            self.actions.insert(uri.clone(), Action::Push);
        }
        if let Some(uri) = &update.multipart {
            self.actions.insert(uri.clone(), Action::MultipartPush);
        }
        if let Some((target, _)) = action(document, "#UpdateService.SimpleUpdate") {
            self.actions.insert(target, Action::SimpleUpdate);
        }
        if let Some((target, _)) = action(document, "#UpdateService.StartUpdate") {
            self.actions.insert(target, Action::StartUpdate);
        }
        Some(update)
    }

    fn system(&mut self, store: &Store, uri: &str) {
        let Some(document) = store.get(uri) else {
            return;
        };
        let bios = link(document, "Bios").filter(|uri| store.get(uri).is_some());
        let bios = bios.map(|uri| {
            let settings = store
                .get(&uri)
                .and_then(|bios| link(&bios["@Redfish.Settings"], "SettingsObject"));
            // Some services have a settings object that nothing links to.
            let unlinked = || Some(format!("{uri}/SD"));
            let settings = settings
                .or_else(unlinked)
                .filter(|uri| store.get(uri).is_some());
            BiosBinding { uri, settings }
        });
        self.systems.push(SystemBinding {
            uri: uri.to_owned(),
            id: last_segment(uri).to_owned(),
            bios,
            inventory: None,
            chassis: links(&document["Links"]["Chassis"]),
        });
    }

    fn find_bmc(&self, store: &Store) -> Option<String> {
        let is_bmc = |uri: &&String| {
            store
                .get(uri)
                .is_some_and(|manager| manager["ManagerType"] == "BMC")
        };
        let systems = self
            .systems
            .iter()
            .filter_map(|system| store.get(&system.uri));
        let managers: Vec<String> = systems
            .flat_map(|system| links(&system["Links"]["ManagedBy"]))
            .collect();
        let of_systems = managers.iter().find(is_bmc);
        let any = || {
            self.managers
                .iter()
                .find(is_bmc)
                .or_else(|| managers.first())
                .or_else(|| self.managers.first())
        };
        of_systems.or_else(any).cloned()
    }

    /// Which inventory member shows which component's version.
    fn inventory(&mut self, store: &Store) {
        let collection = self
            .update
            .as_ref()
            .and_then(|update| update.inventory.clone());
        let Some(collection) = collection else {
            return;
        };
        let members = super::walk::members(store, &collection);
        if let Some(bmc) = &self.bmc {
            self.bmc_inventory = manager_inventory(store, bmc, &members);
        }
        for index in 0..self.systems.len() {
            let found = self
                .systems
                .get(index)
                .and_then(|system| system_inventory(store, system, &members));
            if let Some(system) = self.systems.get_mut(index) {
                system.inventory = found;
            }
        }
    }

    fn reset_actions(&mut self, store: &Store, root: &Value) {
        for (index, system) in self.systems.iter().enumerate() {
            let document = store.get(&system.uri).unwrap_or(&Value::Null);
            if let Some((target, _)) = action(document, "#ComputerSystem.Reset") {
                self.actions.insert(target, Action::SystemReset(index));
            }
            let bios = system.bios.as_ref().and_then(|bios| store.get(&bios.uri));
            for (name, act) in [
                ("#Bios.ResetBios", Action::ResetBios(index)),
                ("#Bios.ChangePassword", Action::BiosPassword(index)),
            ] {
                if let Some((target, _)) = bios.and_then(|bios| action(bios, name)) {
                    self.actions.insert(target, act);
                }
            }
        }
        for uri in &self.managers {
            let target = store
                .get(uri)
                .and_then(|manager| action(manager, "#Manager.Reset"));
            if let Some((target, _)) = target {
                self.actions
                    .insert(target, Action::ManagerReset(uri.clone()));
            }
        }
        self.media_actions(store);
        for uri in members_of(store, root, "Chassis") {
            let target = store
                .get(&uri)
                .and_then(|chassis| action(chassis, "#Chassis.Reset"));
            if let Some((target, _)) = target {
                self.actions.insert(target, Action::ChassisReset(uri));
            }
        }
    }

    fn media_actions(&mut self, store: &Store) {
        let managers = self.managers.iter().filter_map(|uri| store.get(uri));
        let slots: Vec<String> = managers
            .flat_map(|manager| members_of(store, manager, "VirtualMedia"))
            .collect();
        for uri in slots {
            let slot = store.get(&uri).unwrap_or(&Value::Null);
            if let Some((target, _)) = action(slot, "#VirtualMedia.InsertMedia") {
                self.actions
                    .insert(target, Action::InsertMedia(uri.clone()));
            }
            if let Some((target, _)) = action(slot, "#VirtualMedia.EjectMedia") {
                self.actions.insert(target, Action::EjectMedia(uri));
            }
        }
    }

    /// The system that a URI belongs to: itself, its BIOS, the BIOS's settings or its inventory member.
    pub(crate) fn system_of(&self, uri: &str) -> Option<usize> {
        let uri = normal(uri);
        self.systems.iter().position(|system| {
            let bios = system.bios.as_ref();
            system.uri == uri
                || bios.is_some_and(|bios| bios.uri == uri || bios.settings.as_deref() == Some(uri))
                || system.inventory.as_deref() == Some(uri)
        })
    }

    /// Whether a URI stands for the manager: itself or its inventory member.
    pub(crate) fn is_bmc(&self, uri: &str) -> bool {
        let uri = normal(uri);
        self.bmc.as_deref() == Some(uri) || self.bmc_inventory.as_deref() == Some(uri)
    }
}

/// The resources that a manager links to as holders of its attributes, whatever the vendor calls the link.
fn attribute_resources(store: &Store, manager: &str) -> Vec<String> {
    let document = store.get(manager).unwrap_or(&Value::Null);
    let vendors = document["Links"]["Oem"].as_object().into_iter().flatten();
    let arrays = vendors
        .filter_map(|(_, vendor)| vendor.as_object())
        .flatten();
    let uris = arrays.flat_map(|(_, value)| links(value));
    uris.filter(|uri| {
        store
            .get(uri)
            .is_some_and(|found| found["Attributes"].is_object())
    })
    .collect()
}

fn version_of<'a>(store: &'a Store, uri: &str) -> Option<&'a str> {
    store.get(uri)?["Version"].as_str()
}

fn manager_inventory(store: &Store, bmc: &str, members: &[String]) -> Option<String> {
    let manager = store.get(bmc)?;
    if let Some(active) = link(&manager["Links"], "ActiveSoftwareImage") {
        return Some(active);
    }
    let running = manager["FirmwareVersion"].as_str();
    let related: Vec<&String> = members
        .iter()
        .filter(|uri| is_related(store, uri, &[bmc]))
        .collect();
    let same = |uri: &&&String| running.is_some() && version_of(store, uri) == running;
    let found = related
        .iter()
        .find(same)
        .or_else(|| related.first())
        .copied();
    found
        .or_else(|| {
            members
                .iter()
                .find(|uri| running.is_some() && version_of(store, uri) == running)
        })
        .cloned()
}

fn system_inventory(store: &Store, system: &SystemBinding, members: &[String]) -> Option<String> {
    let document = store.get(&system.uri)?;
    let running = document["BiosVersion"].as_str();
    let bios = system.bios.as_ref().map_or("", |bios| bios.uri.as_str());
    let related: Vec<&String> = members
        .iter()
        .filter(|uri| is_related(store, uri, &[&system.uri, bios]))
        .collect();
    // A system shows more than the inventory at times: `P79 v1.45 (12/06/2017)` for `P79 v1.45`.
    let same = |uri: &&&String| {
        running
            .zip(version_of(store, uri))
            .is_some_and(|(running, shown)| running.starts_with(shown))
    };
    let named = |uri: &&&String| {
        let name = format!(
            "{uri} {}",
            store
                .get(uri)
                .and_then(|found| found["Name"].as_str())
                .unwrap_or_default()
        );
        let name = name.to_ascii_uppercase();
        name.contains("BIOS/") || name.contains("BIOS ") || name.contains("UEFI")
    };
    let found = related
        .iter()
        .find(same)
        .or_else(|| related.iter().find(named));
    let found = found
        .or_else(|| related.first().filter(|_| related.len() == 1))
        .copied();
    found
        .or_else(|| {
            members
                .iter()
                .find(|uri| running.is_some() && version_of(store, uri) == running)
        })
        .cloned()
}

fn is_related(store: &Store, member: &str, uris: &[&str]) -> bool {
    let related = store
        .get(member)
        .map(|found| links(&found["RelatedItem"]))
        .unwrap_or_default();
    related.iter().any(|uri| uris.contains(&uri.as_str()))
}
