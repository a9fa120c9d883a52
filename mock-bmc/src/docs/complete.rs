//! This room adds what a recorded service lacks and every client needs: sessions, tasks, an account.
//!
//! It deliberately adds nothing that would change what the recorded hardware is: no system, no update method, no
//! version.

use serde_json::{Value, json};

use super::odata;
use super::store::Store;
use super::walk::{link, members};
use crate::platform::generic;
use crate::script::{Expand, Habits};

/// Completes a service; what is there already stays as it is.
pub(crate) fn complete(store: &mut Store, habits: &Habits, user: &str) {
    let expand = habits.collections.expand() == Expand::Supported;
    store.set(
        "/redfish/v1",
        "/ProtocolFeaturesSupported",
        odata::features(expand),
    );
    sessions(store, habits);
    tasks(store);
    accounts(store, habits, user);
    let jobs = !habits.foreign_job.is_empty() || habits.bios_settings.job();
    if jobs && child(store, "JobService").is_none() {
        add(
            store,
            generic::task::job_documents(),
            "/JobService",
            "/redfish/v1/JobService",
        );
    }
}

fn child(store: &Store, name: &str) -> Option<String> {
    let uri = link(store.get("/redfish/v1")?, name)?;
    store.get(&uri)?;
    Some(uri)
}

fn add(store: &mut Store, documents: Vec<(String, Value)>, pointer: &str, service: &str) {
    for (uri, document) in documents {
        if store.get(&uri).is_none() {
            store.put(&uri, document);
        }
    }
    store.set("/redfish/v1", pointer, json!({ "@odata.id": service }));
}

fn sessions(store: &mut Store, habits: &Habits) {
    const SERVICE: &str = "/redfish/v1/SessionService";
    if child(store, "SessionService").is_none() {
        add(
            store,
            generic::session::documents(habits),
            "/SessionService",
            SERVICE,
        );
    }
    let collection = store
        .get("/redfish/v1")
        .and_then(|root| link(&root["Links"], "Sessions"));
    let collection = collection.filter(|uri| store.get(uri).is_some());
    let service = child(store, "SessionService").unwrap_or_else(|| SERVICE.to_owned());
    let of_service = store
        .get(&service)
        .and_then(|service| link(service, "Sessions"));
    let collection = collection
        .or(of_service)
        .unwrap_or_else(|| format!("{service}/Sessions"));
    if store.get(&collection).is_none() {
        store.put(&collection, generic::session::collection(&collection));
    }
    store.set(&service, "/Sessions", json!({ "@odata.id": collection }));
    store.set(
        "/redfish/v1",
        "/Links/Sessions",
        json!({ "@odata.id": collection }),
    );
    // The sessions of the time of the recording are long over.
    for member in members(store, &collection) {
        store.remove_member(&collection, &member);
    }
    let timeout = habits.sessions.timeout().as_secs();
    store.set(&service, "/SessionTimeout", timeout.into());
    store.set(&service, "/ServiceEnabled", true.into());
}

fn tasks(store: &mut Store) {
    const SERVICE: &str = "/redfish/v1/TaskService";
    if child(store, "Tasks").is_none() {
        add(store, generic::task::documents(), "/Tasks", SERVICE);
    }
    let service = child(store, "Tasks").unwrap_or_else(|| SERVICE.to_owned());
    let collection = store
        .get(&service)
        .and_then(|service| link(service, "Tasks"));
    let collection = collection.unwrap_or_else(|| format!("{service}/Tasks"));
    if store.get(&collection).is_none() {
        store.put(&collection, generic::task::collection(&collection));
    }
    store.set(&service, "/Tasks", json!({ "@odata.id": collection }));
}

fn accounts(store: &mut Store, habits: &Habits, user: &str) {
    if child(store, "AccountService").is_none() {
        let documents = generic::account::documents(habits, user);
        add(
            store,
            documents,
            "/AccountService",
            "/redfish/v1/AccountService",
        );
        return;
    }
    let service = child(store, "AccountService").unwrap_or_default();
    let collection = store
        .get(&service)
        .and_then(|service| link(service, "Accounts"));
    let collection = collection.unwrap_or_else(|| format!("{service}/Accounts"));
    if store.get(&collection).is_none() {
        store.put(&collection, generic::account::collection(&collection));
    }
    store.set(&service, "/Accounts", json!({ "@odata.id": collection }));
    let is_ours = |uri: &String| {
        store
            .get(uri)
            .is_some_and(|account| account["UserName"] == user)
    };
    if !members(store, &collection).iter().any(is_ours) {
        let uri = format!("{collection}/mock");
        store.put(
            &uri,
            generic::account::account(&uri, "mock", user, "Administrator"),
        );
        store.add_member(&collection, &uri);
    }
    if habits.sessions.lockout_threshold() > 0 {
        store.set(
            &service,
            "/AccountLockoutThreshold",
            habits.sessions.lockout_threshold().into(),
        );
        store.set(
            &service,
            "/AccountLockoutDuration",
            habits.sessions.lockout().as_secs().into(),
        );
    }
}
