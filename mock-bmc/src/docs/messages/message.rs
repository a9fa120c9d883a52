//! This room is a message, and the bodies that carry messages.
//!
//! It deliberately takes its words from the tables.

use serde_json::{Value, json};

use super::table::{BASE, BASE_VERSION, CRITICAL, Entry, OWN, OWN_VERSION, UPDATE, UPDATE_VERSION};

/// One message with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) args: Vec<String>,
    pub(crate) severity: String,
    pub(crate) resolution: String,
    pub(crate) related: Vec<String>,
}

impl Message {
    /// A message of the registry `Base`.
    pub(crate) fn base(key: &str, args: &[&str]) -> Self {
        Self::of("Base", BASE_VERSION, BASE, key, args)
    }

    /// A message of the registry `Update`.
    pub(crate) fn update(key: &str, args: &[&str]) -> Self {
        Self::of("Update", UPDATE_VERSION, UPDATE, key, args)
    }

    /// A message of the mock's own registry.
    pub(crate) fn own(key: &str, args: &[&str]) -> Self {
        Self::of("MockBmc", OWN_VERSION, OWN, key, args)
    }

    /// Any message, as a script words it.
    pub(crate) fn worded(id: &str, text: &str, args: &[String]) -> Self {
        let known = id.rsplit('.').next().unwrap_or(id);
        let entry = [BASE, UPDATE, OWN]
            .into_iter()
            .flatten()
            .find(|entry| entry.0 == known);
        let template = entry.map_or("", |entry| entry.2);
        let text = if text.is_empty() { template } else { text };
        Self {
            id: id.to_owned(),
            text: filled(text, args),
            args: args.to_vec(),
            severity: entry.map_or(CRITICAL, |entry| entry.1).to_owned(),
            resolution: entry.map_or("None.", |entry| entry.3).to_owned(),
            related: Vec::new(),
        }
    }

    fn of(prefix: &str, version: &str, entries: &[Entry], key: &str, args: &[&str]) -> Self {
        let (major_minor, _) = version.rsplit_once('.').unwrap_or((version, ""));
        debug_assert!(
            entries.iter().any(|entry| entry.0 == key),
            "{key} is not in {prefix}"
        );
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        Self::worded(&format!("{prefix}.{major_minor}.{key}"), "", &args)
    }

    /// Adds the property that the message is about, as a JSON pointer.
    pub(crate) fn about(mut self, pointer: &str) -> Self {
        self.related.push(format!("#{pointer}"));
        self
    }

    /// The message as it stands in a body.
    pub(crate) fn to_json(&self) -> Value {
        let mut message = json!({
            "@odata.type": "#Message.v1_1_2.Message",
            "MessageId": self.id,
            "Message": self.text,
            "MessageArgs": self.args,
            "MessageSeverity": self.severity,
            "Severity": self.severity,
            "Resolution": self.resolution,
        });
        if !self.related.is_empty() {
            message["RelatedProperties"] = json!(self.related);
        }
        message
    }
}

fn filled(template: &str, args: &[String]) -> String {
    let mut text = template.to_owned();
    for (index, arg) in args.iter().enumerate() {
        text = text.replace(&format!("%{}", index + 1), arg);
    }
    text
}

/// The body of a refused request.
pub(crate) fn error_body(messages: &[Message]) -> Value {
    let general = Message::base("GeneralError", &[]);
    let head = match messages {
        [only] => only,
        [] | [_, ..] => &general,
    };
    let info: Vec<Value> = messages.iter().map(Message::to_json).collect();
    json!({ "error": { "code": head.id, "message": head.text, "@Message.ExtendedInfo": info } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_carries_its_arguments_in_its_text() {
        let message = Message::base("PropertyValueNotInList", &["5", "Mode"]);
        assert_eq!(message.id, "Base.1.18.PropertyValueNotInList");
        assert!(
            message
                .text
                .starts_with("The value '5' for the property Mode is not in")
        );
    }

    #[test]
    fn several_messages_make_a_general_error_that_keeps_each() {
        let messages = [
            Message::base("PropertyUnknown", &["A"]),
            Message::base("PropertyUnknown", &["B"]),
        ];
        let body = error_body(&messages);
        assert_eq!(body["error"]["code"], "Base.1.18.GeneralError");
        assert_eq!(
            body["error"]["@Message.ExtendedInfo"]
                .as_array()
                .map(Vec::len),
            Some(2)
        );
    }
}
