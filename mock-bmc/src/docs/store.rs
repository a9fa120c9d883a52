//! This room keeps the documents of one service by their URIs.
//!
//! It deliberately gives them no meaning. A document counts its revisions, from which its entity tag is made.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use sha2::{Digest, Sha256};

/// The documents of one service.
#[derive(Clone, Debug, Default)]
pub(crate) struct Store {
    documents: BTreeMap<String, Document>,
    texts: BTreeMap<String, Arc<str>>,
    revision: u64,
    salt: u64,
}

/// One document; big ones that never change are shared between BMCs.
#[derive(Clone, Debug)]
struct Document {
    value: Arc<Value>,
    revision: u64,
}

/// A URI as it is kept: without fragment and without a slash at its end.
pub(crate) fn normal(uri: &str) -> &str {
    let path = uri.split('#').next().unwrap_or_default();
    let trimmed = path.trim_end_matches('/');
    if trimmed.is_empty() { "/" } else { trimmed }
}

impl Store {
    /// An empty store; `salt` makes the tags of two services differ.
    pub(crate) fn new(salt: u64) -> Self {
        Self {
            salt,
            ..Self::default()
        }
    }

    /// Reads a document.
    pub(crate) fn get(&self, uri: &str) -> Option<&Value> {
        self.documents
            .get(normal(uri))
            .map(|document| document.value.as_ref())
    }

    /// Reads what is not JSON.
    pub(crate) fn text(&self, uri: &str) -> Option<&str> {
        self.texts.get(normal(uri)).map(AsRef::as_ref)
    }

    /// Every document with its URI.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.documents
            .iter()
            .map(|(uri, document)| (uri.as_str(), document.value.as_ref()))
    }

    /// The URI that is spelt like this but for letter case.
    pub(crate) fn respelt(&self, uri: &str) -> Option<&str> {
        let wanted = normal(uri);
        let mut uris = self.documents.keys();
        uris.find(|known| known.eq_ignore_ascii_case(wanted))
            .map(String::as_str)
    }

    /// Adds or replaces a document.
    pub(crate) fn put(&mut self, uri: &str, value: impl Into<Arc<Value>>) {
        let value = value.into();
        self.revision += 1;
        let revision = self.revision;
        self.documents
            .insert(normal(uri).to_owned(), Document { value, revision });
    }

    /// Adds or replaces what is not JSON.
    pub(crate) fn put_text(&mut self, uri: &str, text: &str) {
        self.texts.insert(normal(uri).to_owned(), text.into());
    }

    /// Takes a document away.
    pub(crate) fn remove(&mut self, uri: &str) {
        self.documents.remove(normal(uri));
    }

    /// Changes a document if it is there; it counts as changed only if it really is.
    pub(crate) fn edit(&mut self, uri: &str, change: impl FnOnce(&mut Value)) {
        let Some(document) = self.documents.get_mut(normal(uri)) else {
            return;
        };
        let mut value = Value::clone(&document.value);
        change(&mut value);
        if value != *document.value {
            self.revision += 1;
            document.revision = self.revision;
            document.value = Arc::new(value);
        }
    }

    /// Sets one member, which may be missing so far; `pointer` names it as RFC 6901 does.
    pub(crate) fn set(&mut self, uri: &str, pointer: &str, value: Value) {
        self.edit(uri, |document| set(document, pointer, value));
    }

    /// Sets one member only where it is there already.
    pub(crate) fn reset(&mut self, uri: &str, pointer: &str, value: Value) {
        self.edit(uri, |document| {
            if let Some(member) = document.pointer_mut(pointer) {
                *member = value;
            }
        });
    }

    /// Adds a member to a collection.
    pub(crate) fn add_member(&mut self, collection: &str, member: &str) {
        self.edit_members(collection, |members| {
            if !members.iter().any(|known| is_link_to(known, member)) {
                members.push(serde_json::json!({ "@odata.id": member }));
            }
        });
    }

    /// Takes a member out of a collection, and its document away.
    pub(crate) fn remove_member(&mut self, collection: &str, member: &str) {
        self.edit_members(collection, |members| {
            members.retain(|known| !is_link_to(known, member));
        });
        self.remove(member);
    }

    fn edit_members(&mut self, collection: &str, change: impl FnOnce(&mut Vec<Value>)) {
        self.edit(collection, |document| {
            if !document["Members"].is_array() {
                document["Members"] = Value::Array(Vec::new());
            }
            if let Some(members) = document["Members"].as_array_mut() {
                change(members);
                let count = members.len();
                document["Members@odata.count"] = count.into();
            }
        });
    }

    /// What an entity tag of the document is made of: another text for each revision.
    pub(crate) fn tag(&self, uri: &str) -> Option<String> {
        let uri = normal(uri);
        let document = self.documents.get(uri)?;
        let mut hash = Sha256::new();
        hash.update(self.salt.to_le_bytes());
        hash.update(document.revision.to_le_bytes());
        hash.update(uri.as_bytes());
        hash.finalize().get(..6).map(hex::encode)
    }
}

/// Sets a member of a document, making the objects on the way.
pub(crate) fn set(document: &mut Value, pointer: &str, value: Value) {
    let mut place = document;
    for name in pointer.split('/').skip(1) {
        if !place.is_object() {
            *place = Value::Object(serde_json::Map::new());
        }
        place = &mut place[name.replace("~1", "/").replace("~0", "~").as_str()];
    }
    *place = value;
}

/// Whether a value is a link to the resource.
pub(crate) fn is_link_to(value: &Value, uri: &str) -> bool {
    let target = value["@odata.id"].as_str();
    target.is_some_and(|target| normal(target) == normal(uri))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tag_changes_with_the_document_and_only_then() {
        let mut store = Store::new(1);
        store.put("/a/", json!({"x": 1}));
        let first = store.tag("/a");
        store.set("/a", "/x", json!(1));
        assert_eq!(store.tag("/a"), first);
        store.set("/a", "/x", json!(2));
        assert_ne!(store.tag("/a"), first);
    }

    #[test]
    fn members_are_counted_and_never_doubled() {
        let mut store = Store::new(1);
        store.put("/a", json!({"Members": null}));
        store.add_member("/a", "/a/1");
        store.add_member("/a", "/a/1");
        store.put("/a/1", json!({}));
        assert_eq!(
            store.get("/a").map(|value| &value["Members@odata.count"]),
            Some(&json!(1))
        );
        store.remove_member("/a", "/a/1");
        assert_eq!(
            store.get("/a").map(|value| &value["Members@odata.count"]),
            Some(&json!(0))
        );
        assert!(store.get("/a/1").is_none());
    }
}
