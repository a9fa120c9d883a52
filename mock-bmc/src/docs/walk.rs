//! This room follows links in documents.
//!
//! It deliberately guesses no path: what is not linked is not found.

use serde_json::Value;

use super::store::{Store, normal};

/// The URI that a member links to.
pub(crate) fn link(document: &Value, name: &str) -> Option<String> {
    target(&document[name])
}

/// The URI that a value links to.
pub(crate) fn target(value: &Value) -> Option<String> {
    value["@odata.id"]
        .as_str()
        .map(|uri| normal(uri).to_owned())
}

/// The URIs in an array of links.
pub(crate) fn links(value: &Value) -> Vec<String> {
    let entries = value.as_array().map(Vec::as_slice).unwrap_or_default();
    entries.iter().filter_map(target).collect()
}

/// The members of a collection.
pub(crate) fn members(store: &Store, collection: &str) -> Vec<String> {
    let document = store.get(collection);
    document
        .map(|document| links(&document["Members"]))
        .unwrap_or_default()
}

/// The members of the collection that a document links to by `name`.
pub(crate) fn members_of(store: &Store, document: &Value, name: &str) -> Vec<String> {
    link(document, name)
        .map(|collection| members(store, &collection))
        .unwrap_or_default()
}

/// The name of a document's type without version: `ComputerSystem`.
pub(crate) fn type_of(document: &Value) -> &str {
    let full = document["@odata.type"].as_str().unwrap_or_default();
    full.trim_start_matches('#')
        .split('.')
        .next()
        .unwrap_or_default()
}

/// The last segment of a URI.
pub(crate) fn last_segment(uri: &str) -> &str {
    normal(uri).rsplit('/').next().unwrap_or_default()
}

/// A member's name in the spelling that the object uses.
pub(crate) fn any_case<'a>(object: &'a Value, name: &str) -> Option<&'a Value> {
    let object = object.as_object()?;
    object.get(name).or_else(|| {
        let mut members = object.iter();
        members
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    })
}

/// Every target of an action of this name that a document offers, with the action's object.
pub(crate) fn action<'a>(document: &'a Value, name: &str) -> Option<(String, &'a Value)> {
    let action = document["Actions"].get(name)?;
    let target = action["target"].as_str()?;
    Some((normal(target).to_owned(), action))
}

/// The values that an action's parameter may have: from the action itself, else from its `ActionInfo`.
pub(crate) fn allowable(store: &Store, action: &Value, parameter: &str) -> Option<Vec<String>> {
    let inline = action.get(format!("{parameter}@Redfish.AllowableValues").as_str());
    if let Some(values) = inline {
        return Some(texts(values));
    }
    let info = store.get(action["@Redfish.ActionInfo"].as_str()?)?;
    let parameters = info["Parameters"].as_array()?;
    let found = parameters.iter().find(|entry| entry["Name"] == parameter)?;
    found.get("AllowableValues").map(texts)
}

/// The texts in an array.
pub(crate) fn texts(value: &Value) -> Vec<String> {
    let entries = value.as_array().map(Vec::as_slice).unwrap_or_default();
    entries
        .iter()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}
