//! This room is the documents that every service has outside its tree: versions, service document, metadata.
//!
//! It deliberately derives them from the tree, so that they never list what is not there.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::store::Store;
use super::walk::{link, type_of};

const TAKES: &str = "a String takes every write";

/// The body of `/redfish`.
pub(crate) fn versions() -> Value {
    json!({ "v1": "/redfish/v1/" })
}

/// The OData service document.
pub(crate) fn service_document(store: &Store) -> Value {
    let root = store.get("/redfish/v1").unwrap_or(&Value::Null);
    let entry = |name: &str, url: &str| json!({ "name": name, "kind": "Singleton", "url": url });
    let mut value = vec![entry("Service", "/redfish/v1/")];
    for name in root.as_object().into_iter().flatten().map(|(name, _)| name) {
        if let Some(uri) = link(root, name) {
            value.push(entry(name, &uri));
        }
    }
    if let Some(uri) = link(&root["Links"], "Sessions") {
        value.push(entry("Sessions", &uri));
    }
    json!({ "@odata.context": "/redfish/v1/$metadata", "value": value })
}

/// The metadata document: a reference to the schema of every type in use.
pub(crate) fn metadata(store: &Store) -> String {
    let mut namespaces: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let root = store.get("/redfish/v1").unwrap_or(&Value::Null);
    let types = store.iter().map(|(_, document)| document);
    for document in types {
        collect_types(document, &mut namespaces);
    }
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<edmx:Edmx xmlns:edmx=\"http://docs.oasis-open.org/odata/ns/edmx\" Version=\"4.0\">\n",
    );
    for (name, versions) in &namespaces {
        writeln!(
            text,
            "  <edmx:Reference Uri=\"http://redfish.dmtf.org/schemas/v1/{name}_v1.xml\">"
        )
        .expect(TAKES);
        writeln!(text, "    <edmx:Include Namespace=\"{name}\"/>").expect(TAKES);
        for version in versions {
            writeln!(text, "    <edmx:Include Namespace=\"{name}.{version}\"/>").expect(TAKES);
        }
        text.push_str("  </edmx:Reference>\n");
    }
    for (name, alias) in [("RedfishExtensions", "Redfish"), ("RedfishError", "")] {
        writeln!(
            text,
            "  <edmx:Reference Uri=\"http://redfish.dmtf.org/schemas/v1/{name}_v1.xml\">"
        )
        .expect(TAKES);
        let alias = if alias.is_empty() {
            String::new()
        } else {
            format!(" Alias=\"{alias}\"")
        };
        writeln!(
            text,
            "    <edmx:Include Namespace=\"{name}.v1_0_0\"{alias}/>\n  </edmx:Reference>"
        )
        .expect(TAKES);
    }
    let version = root["@odata.type"]
        .as_str()
        .and_then(|full| full.split('.').nth(1))
        .unwrap_or("v1_0_0");
    write!(
        text,
        "  <edmx:DataServices>\n    <Schema xmlns=\"http://docs.oasis-open.org/odata/ns/edm\" Namespace=\"Service\">\n      <EntityContainer Name=\"Service\" Extends=\"ServiceRoot.{version}.ServiceContainer\"/>\n    </Schema>\n  </edmx:DataServices>\n</edmx:Edmx>\n"
    )
    .expect(TAKES);
    text
}

fn collect_types(document: &Value, namespaces: &mut BTreeMap<String, Vec<String>>) {
    let full = document["@odata.type"].as_str().unwrap_or_default();
    let parts: Vec<&str> = full.trim_start_matches('#').split('.').collect();
    let (Some(name), Some(version)) = (parts.first(), parts.get(1)) else {
        return;
    };
    let versions = namespaces.entry((*name).to_owned()).or_default();
    let versioned = parts.len() > 2 && !versions.iter().any(|known| known == version);
    if versioned {
        versions.push((*version).to_owned());
    }
}

/// The headers that describe a document: its type's schema.
pub(crate) fn described_by(document: &Value) -> Option<String> {
    let name = type_of(document);
    (!name.is_empty())
        .then(|| format!("<http://redfish.dmtf.org/schemas/v1/{name}.json>; rel=describedby"))
}

/// What a service says of the queries that it understands.
pub(crate) fn features(expand: bool) -> Value {
    let mut features = Map::new();
    if expand {
        let query = json!({ "ExpandAll": true, "Levels": true, "MaxLevels": super::query::LEVELS_MAX, "Links": true, "NoLinks": true });
        features.insert("ExpandQuery".into(), query);
    }
    for name in ["SelectQuery", "FilterQuery", "ExcerptQuery"] {
        features.insert(name.into(), false.into());
    }
    features.insert("OnlyMemberQuery".into(), true.into());
    Value::Object(features)
}
