//! This room is the registries: where each is, and the registries themselves.
//!
//! It deliberately makes each registry once for all BMCs of a process.

use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};

use super::{Documents, attributes, bios, collection};
use crate::docs::messages::{self, BASE, BASE_VERSION, OWN, OWN_VERSION, UPDATE, UPDATE_VERSION};

const REGISTRIES: &str = "/redfish/v1/Registries";

/// Id of the file, name of the registry, last segment of the registry's own URI.
const FILES: &[(&str, &str, &str)] = &[
    ("Base", "Base.1.18", "Base.json"),
    ("Update", "Update.1.0", "Update.json"),
    ("MockBmc", "MockBmc.1.0", "MockBmc.json"),
    (
        "BiosAttributeRegistryG1",
        bios::REGISTRY,
        "BiosAttributeRegistryG1.json",
    ),
    (
        "MockBmcManagerAttributeRegistry",
        attributes::REGISTRY,
        "MockBmcManagerAttributeRegistry.json",
    ),
];

/// The collection and the files that say where the registries are.
pub(super) fn files() -> Documents {
    let uris: Vec<String> = FILES
        .iter()
        .map(|(id, ..)| format!("{REGISTRIES}/{id}"))
        .collect();
    let mut documents = vec![collection(
        REGISTRIES,
        "MessageRegistryFileCollection",
        "Registries",
        &uris,
    )];
    for (id, registry, file) in FILES {
        let uri = format!("{REGISTRIES}/{id}");
        let document = json!({
            "@odata.id": uri,
            "@odata.type": "#MessageRegistryFile.v1_1_3.MessageRegistryFile",
            "Id": id,
            "Name": format!("{id} registry file"),
            "Registry": registry,
            "Languages": ["en"],
            "Location": [{ "Language": "en", "Uri": format!("{uri}/{file}") }],
        });
        documents.push((uri, document));
    }
    documents
}

/// The registries, made once.
pub(super) fn shared() -> &'static [(String, Arc<Value>)] {
    static SHARED: OnceLock<Vec<(String, Arc<Value>)>> = OnceLock::new();
    SHARED.get_or_init(|| {
        let made = [
            messages::registry("Base", BASE_VERSION, "Base Message Registry", BASE),
            messages::registry("Update", UPDATE_VERSION, "Update Message Registry", UPDATE),
            messages::registry("MockBmc", OWN_VERSION, "Messages of the mock's own", OWN),
            bios::registry(),
            attributes::registry(),
        ];
        let uris = FILES
            .iter()
            .map(|(id, _, file)| format!("{REGISTRIES}/{id}/{file}"));
        uris.zip(made.map(Arc::new)).collect()
    })
}
