//! This room is what a write of attributes comes to: what is taken, and what is refused with which words.
//!
//! It deliberately changes nothing.

use serde_json::{Map, Value, json};

use crate::docs::messages::Message;

/// A write of attributes, judged.
#[derive(Clone, Debug, Default)]
pub(super) struct Judged {
    pub(super) good: Map<String, Value>,
    pub(super) refused: Vec<Message>,
}

impl Judged {
    /// The names in it, for the ledger.
    pub(super) fn names(wanted: &Map<String, Value>) -> String {
        let names: Vec<&str> = wanted.keys().map(String::as_str).collect();
        names.join(",")
    }
}

/// The attributes of a request's body, and what of the body is none.
pub(super) fn attributes_of(body: &Map<String, Value>) -> (Map<String, Value>, Vec<Message>) {
    let mut refused = Vec::new();
    let mut attributes = Map::new();
    for (name, value) in body {
        match (name.as_str(), value.as_object()) {
            ("Attributes", Some(members)) => attributes.clone_from(members),
            ("Attributes", None) => refused.push(Message::base(
                "PropertyValueTypeError",
                &[&value.to_string(), name],
            )),
            _ if name.contains('@') => {}
            _ => refused.push(Message::base("PropertyUnknown", &[name]).about(&format!("/{name}"))),
        }
    }
    if attributes.is_empty() && refused.is_empty() {
        refused.push(Message::base("PropertyMissing", &["Attributes"]));
    }
    (attributes, refused)
}

/// The body of an answer that took something: the resource with messages.
pub(super) fn taken(resource: Option<Value>, messages: &[Message]) -> Value {
    let mut body = resource.unwrap_or_else(|| json!({}));
    let info: Vec<Value> = messages.iter().map(Message::to_json).collect();
    body["@Message.ExtendedInfo"] = Value::Array(info);
    body
}
