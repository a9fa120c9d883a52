//! This room turns what a BMC is a copy of into a complete service with an identity, habits and versions of its own.
//!
//! It deliberately runs once, when the BMC is switched on.

use serde_json::{Value, json};

use super::bindings::Bindings;
use super::identity::{self, Identity};
use super::store::Store;
use super::{complete, odata, walk};
use crate::platform;
use crate::script::{Habits, RegistryForm};
use crate::tree::Tree;

/// The service of a built-in platform.
pub(crate) fn platform(
    name: &str,
    identity: &Identity,
    systems: usize,
    user: &str,
    habits: &Habits,
) -> Store {
    let mut store = Store::new(identity.salt());
    platform::build(&mut store, name, identity, systems, user, habits);
    finish(&mut store, habits);
    store
}

/// The service of a recorded tree.
pub(crate) fn tree(tree: Tree, identity: &Identity, user: &str, habits: &Habits) -> Store {
    let mut store = Store::new(identity.salt());
    for (uri, document) in tree.documents {
        store.put(&uri, document);
    }
    for (uri, text) in tree.texts {
        store.put_text(&uri, &text);
    }
    complete::complete(&mut store, habits, user);
    offer_methods(&mut store, habits);
    let bindings = Bindings::walk(&store);
    identity::replace(&mut store, &bindings, identity, habits);
    clear_reset_to_defaults(&mut store, &bindings);
    finish(&mut store, habits);
    store
}

/// Takes update methods away that the script switches off; none is added to a recorded service.
fn offer_methods(store: &mut Store, habits: &Habits) {
    let root = store.get("/redfish/v1").unwrap_or(&Value::Null);
    let Some(service) = walk::link(root, "UpdateService") else {
        return;
    };
    store.edit(&service, |document| {
        let offered = [
            ("HttpPushUri", habits.update.http_push()),
            ("MultipartHttpPushUri", habits.update.multipart()),
        ];
        for (name, _) in offered.iter().filter(|(_, offered)| !offered) {
            document
                .as_object_mut()
                .and_then(|members| members.remove(*name));
        }
        if !habits.update.simple_update() {
            let actions = document["Actions"].as_object_mut();
            actions.and_then(|actions| actions.remove("#UpdateService.SimpleUpdate"));
        }
    });
}

fn clear_reset_to_defaults(store: &mut Store, bindings: &Bindings) {
    for bios in bindings
        .systems
        .iter()
        .filter_map(|system| system.bios.as_ref())
    {
        store.reset(&bios.uri, "/ResetBiosToDefaultsPending", false.into());
    }
}

fn finish(store: &mut Store, habits: &Habits) {
    let bindings = Bindings::walk(store);
    for system in &bindings.systems {
        let Some(bios) = &system.bios else { continue };
        if !habits.bios_settings.settings_object() {
            store.edit(&bios.uri, |document| {
                document
                    .as_object_mut()
                    .and_then(|members| members.remove("@Redfish.Settings"));
            });
        }
        match habits.bios_settings.registry() {
            RegistryForm::Standard => {}
            RegistryForm::Missing => store.edit(&bios.uri, |document| {
                document
                    .as_object_mut()
                    .and_then(|members| members.remove("AttributeRegistry"));
            }),
            RegistryForm::WrongName => {
                store.set(
                    &bios.uri,
                    "/AttributeRegistry",
                    "BiosAttributeRegistryX9.v9_9_9".into(),
                );
            }
        }
    }
    for (member, value) in [
        ("Vendor", &habits.identity.vendor),
        ("Product", &habits.identity.model),
    ] {
        if let Some(value) = value {
            store.set("/redfish/v1", &format!("/{member}"), json!(value));
        }
    }
    let vendor = habits.identity.vendor.as_ref();
    let uris = bindings
        .managers
        .iter()
        .chain(bindings.systems.iter().map(|system| &system.uri));
    for uri in uris {
        if let Some(vendor) = vendor {
            store.set(uri, "/Manufacturer", json!(vendor));
        }
    }
    for system in &bindings.systems {
        if let Some(model) = &habits.identity.model {
            store.set(&system.uri, "/Model", json!(model));
        }
    }
    offer_resets(store, &bindings, habits);
    for collection in habits.collections.dangling() {
        store.add_member(&collection, &format!("{collection}/Gone"));
    }
    metadata(store);
}

/// Takes resets away that the script switches off, and narrows those that it lists.
fn offer_resets(store: &mut Store, bindings: &Bindings, habits: &Habits) {
    const SYSTEM: &str = "#ComputerSystem.Reset";
    let take_away = |store: &mut Store, uri: &str, action: &str| {
        store.edit(uri, |document| {
            let actions = document["Actions"].as_object_mut();
            actions.and_then(|actions| actions.remove(action));
        });
    };
    let types = habits.power.reset_types();
    for system in &bindings.systems {
        if !habits.power.reset() {
            take_away(store, &system.uri, SYSTEM);
        } else if !types.is_empty() {
            store.edit(&system.uri, |document| {
                document["Actions"][SYSTEM]["ResetType@Redfish.AllowableValues"] = json!(types);
            });
        }
    }
    for uri in bindings
        .managers
        .iter()
        .filter(|_| !habits.power.manager_reset())
    {
        take_away(store, uri, "#Manager.Reset");
    }
}

/// A recorded service document or metadata is kept where it is one.
fn metadata(store: &mut Store) {
    let kept = store
        .get("/redfish/v1/odata")
        .is_some_and(|document| document["value"].is_array());
    if !kept {
        let document = odata::service_document(store);
        store.put("/redfish/v1/odata", document);
    }
    if store.text("/redfish/v1/$metadata").is_none() {
        let text = odata::metadata(store);
        store.put_text("/redfish/v1/$metadata", &text);
    }
}
