//! This room is the platform `generic`: one manager, N systems, and every standard service that firmware and settings
//! need, without any vendor's habits.
//!
//! It deliberately only makes documents; what they do is found by their links, as with a recorded tree.

pub(crate) mod account;
mod attributes;
mod bios;
mod chassis;
mod manager;
mod media;
mod registries;
mod root;
pub(crate) mod session;
mod system;
pub(crate) mod task;
mod update;

pub(crate) use bios::defaults as bios_defaults;
use serde_json::Value;

use crate::docs::identity::Identity;
use crate::docs::store::Store;
use crate::script::Habits;

/// The manager's version when nothing else is said.
pub(crate) const BMC_VERSION: &str = "1.50";
/// The systems' BIOS version when nothing else is said.
pub(crate) const BIOS_VERSION: &str = "2.10";

/// Documents with their URIs.
pub(crate) type Documents = Vec<(String, Value)>;

/// All documents but the registries, which are the same for all BMCs.
pub(crate) fn documents(
    identity: &Identity,
    systems: usize,
    user: &str,
    habits: &Habits,
) -> Documents {
    let mut documents = root::documents(identity, habits);
    documents.extend(manager::documents(identity, systems));
    documents.extend(media::documents());
    documents.extend(attributes::documents(habits));
    documents.extend(system::collection(systems));
    for number in 1..=systems {
        documents.extend(system::documents(identity, number, habits));
        documents.extend(bios::documents(number));
    }
    documents.extend(chassis::documents(identity, systems));
    documents.extend(update::documents(systems, habits));
    documents.extend(task::documents());
    documents.extend(task::job_documents());
    documents.extend(session::documents(habits));
    documents.extend(account::documents(habits, user));
    documents.extend(registries::files());
    documents
}

/// Puts them into a service, and the registries beside them.
pub(crate) fn put(store: &mut Store, documents: Documents) {
    for (uri, document) in documents {
        store.put(&uri, document);
    }
    for (uri, document) in registries::shared() {
        store.put(uri, std::sync::Arc::clone(document));
    }
}

/// A collection of the type's members.
fn collection(uri: &str, kind: &str, name: &str, members: &[String]) -> (String, Value) {
    let links: Vec<Value> = members
        .iter()
        .map(|member| serde_json::json!({ "@odata.id": member }))
        .collect();
    let document = serde_json::json!({
        "@odata.id": uri,
        "@odata.type": format!("#{kind}.{kind}"),
        "Name": name,
        "Members": links,
        "Members@odata.count": links.len(),
    });
    (uri.to_owned(), document)
}
