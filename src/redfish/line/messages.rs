//! The BMC's own words, wherever a body carries them.
//!
//! Tolerant of wrong types, wrong places and missing members; it never judges what a message means.

use serde_json::{Map, Value};

use crate::model::BmcMessage;

const EXTENDED_INFO: &str = "@Message.ExtendedInfo";

/// Most characters kept of a page that is not JSON.
const PAGE_CHARS_MAX: usize = 200;

/// All messages of a body: the error envelope's, those beside the resource, and those on single properties (DSP0266,
/// "Error responses"; "Extended information").
pub fn bmc_messages(body: &Value) -> Vec<BmcMessage> {
    let Value::Object(top) = body else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (key, value) in top {
        if let Some(property) = key.strip_suffix(EXTENDED_INFO) {
            found.extend(listed(value).map(|one| related_to(one, property)));
        } else if let Some(envelope) = value.as_object().filter(|_| is_envelope(key)) {
            found.extend(enveloped(envelope));
        }
    }
    found
}

/// One Redfish Message object, or a bare text.
pub fn bmc_message(value: &Value) -> BmcMessage {
    let Value::Object(object) = value else {
        return BmcMessage {
            message: value.as_str().map(str::to_owned),
            ..BmcMessage::default()
        };
    };
    let text = |names: &[&str]| {
        names
            .iter()
            .find_map(|name| object.get(*name))
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    BmcMessage {
        message_id: text(&["MessageId", "MessageID"]),
        message: text(&["Message"]),
        severity: text(&["MessageSeverity", "Severity"]),
        args: texts(object.get("MessageArgs")),
        resolution: text(&["Resolution"]),
        related: texts(object.get("RelatedProperties")),
    }
}

/// What a body that is not JSON says: the title of a page, or its first words.
pub(super) fn page_message(body: &[u8]) -> BmcMessage {
    let text = String::from_utf8_lossy(body);
    let title = text
        .split_once("<title>")
        .and_then(|(_, rest)| rest.split_once("</title>"))
        .map_or(text.as_ref(), |(title, _)| title);
    let words: Vec<&str> = title.split_whitespace().collect();
    let short: String = words
        .join(" ")
        .chars()
        .filter(|c| !c.is_control())
        .take(PAGE_CHARS_MAX)
        .collect();
    BmcMessage {
        message: Some(short),
        ..BmcMessage::default()
    }
}

/// Takes every occurrence of secrets out of messages: a BMC may echo what it refuses.
pub(in crate::redfish) fn scrub(messages: &mut [BmcMessage], secrets: &[String]) {
    let clean = |text: &mut String| scrub_text(text, secrets);
    for message in messages {
        message.message.iter_mut().for_each(clean);
        message.resolution.iter_mut().for_each(clean);
        message.args.iter_mut().for_each(clean);
    }
}

/// Takes every occurrence of secrets out of the texts of a document.
pub(in crate::redfish) fn scrub_json(json: &mut Value, secrets: &[String]) {
    match json {
        Value::String(text) => scrub_text(text, secrets),
        Value::Array(items) => items.iter_mut().for_each(|item| scrub_json(item, secrets)),
        Value::Object(object) => object
            .values_mut()
            .for_each(|item| scrub_json(item, secrets)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn scrub_text(text: &mut String, secrets: &[String]) {
    for secret in secrets.iter().filter(|secret| !secret.is_empty()) {
        if text.contains(secret.as_str()) {
            *text = text.replace(secret.as_str(), "***");
        }
    }
}

/// Values of members whose name speaks of a secret, at any depth.
pub(in crate::redfish) fn secrets_in(body: &Value) -> Vec<String> {
    fn walk(value: &Value, secret: bool, found: &mut Vec<String>) {
        match value {
            Value::Object(object) => {
                for (key, value) in object {
                    walk(value, secret || is_secret_name(key), found);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| walk(item, secret, found)),
            Value::String(text) if secret => found.push(text.clone()),
            Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let mut found = Vec::new();
    walk(body, false, &mut found);
    found
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["password", "passphrase", "secret"]
        .iter()
        .any(|word| name.contains(word))
}

/// `error` is the standard's; `Accepted` and `Success` are what some services wrap a 202 or 200 in.
fn is_envelope(key: &str) -> bool {
    matches!(key, "error" | "Error" | "Accepted" | "Success")
}

fn enveloped(envelope: &Map<String, Value>) -> Vec<BmcMessage> {
    let listed: Vec<BmcMessage> = envelope
        .get(EXTENDED_INFO)
        .into_iter()
        .flat_map(listed)
        .collect();
    if !listed.is_empty() {
        return listed;
    }
    let text = |name: &str| {
        envelope
            .get(name)
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    let bare = BmcMessage {
        message_id: text("code"),
        message: text("message"),
        ..BmcMessage::default()
    };
    if bare == BmcMessage::default() {
        Vec::new()
    } else {
        vec![bare]
    }
}

fn listed(value: &Value) -> impl Iterator<Item = BmcMessage> {
    let items = match value {
        Value::Array(items) => items.as_slice(),
        Value::Null => &[],
        Value::Object(_) | Value::String(_) | Value::Bool(_) | Value::Number(_) => {
            std::slice::from_ref(value)
        }
    };
    items.iter().filter(|item| !item.is_null()).map(bmc_message)
}

fn related_to(mut message: BmcMessage, property: &str) -> BmcMessage {
    if !property.is_empty() && message.related.is_empty() {
        message.related.push(format!("#/{property}"));
    }
    message
}

fn texts(value: Option<&Value>) -> Vec<String> {
    let plain = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    match value {
        Some(Value::Array(items)) => items.iter().map(plain).collect(),
        None | Some(Value::Null) => Vec::new(),
        Some(one @ (Value::String(_) | Value::Bool(_) | Value::Number(_) | Value::Object(_))) => {
            vec![plain(one)]
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_error_envelope_is_kept_whole() {
        let body = json!({"error": {"code": "Base.1.0.GeneralError", "message": "see below", "@Message.ExtendedInfo": [
            {"MessageId": "Base.1.8.PropertyUnknown", "Message": "no", "MessageArgs": ["A", 3], "MessageSeverity": "Warning",
             "Resolution": "drop it", "RelatedProperties": ["#/A"]},
            null,
            {"MessageID": "IDRAC.2.7.SYS410", "Severity": "Critical"},
        ]}});
        let found = bmc_messages(&body);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].key(), Some("PropertyUnknown"));
        assert_eq!(found[0].args, ["A", "3"]);
        assert_eq!(found[0].related, ["#/A"]);
        assert_eq!(found[1].severity.as_deref(), Some("Critical"));
    }

    #[test]
    fn an_envelope_without_extended_info_still_speaks() {
        let found =
            bmc_messages(&json!({"error": {"code": "Base.1.0.GeneralError", "message": "no"}}));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].message.as_deref(), Some("no"));
    }

    #[test]
    fn messages_in_odd_places_and_types_are_found() {
        let one =
            bmc_messages(&json!({"@Message.ExtendedInfo": {"MessageId": "Base.1.4.Success"}}));
        assert_eq!(one[0].key(), Some("Success"));
        let accepted = bmc_messages(
            &json!({"Accepted": {"@Message.ExtendedInfo": [{"MessageArgs": "/redfish/v1/T/1"}]}}),
        );
        assert_eq!(accepted[0].args, ["/redfish/v1/T/1"]);
        let property = bmc_messages(
            &json!({"Speed@Message.ExtendedInfo": [{"MessageId": "Base.1.0.PropertyNotWritable"}]}),
        );
        assert_eq!(property[0].related, ["#/Speed"]);
        assert!(bmc_messages(&json!(["not", "an", "object"])).is_empty());
        assert!(bmc_messages(&json!({"error": 7, "@Message.ExtendedInfo": null})).is_empty());
    }

    #[test]
    fn a_page_is_told_by_its_title() {
        let page = b"<html><head><title> Please\n log in </title></head>";
        assert_eq!(page_message(page).message.as_deref(), Some("Please log in"));
    }

    #[test]
    fn secrets_are_found_by_name_and_scrubbed() {
        let secrets =
            secrets_in(&json!({"Attributes": {"AdminPassword": "hunter2", "Boot": "Uefi"}}));
        assert_eq!(secrets, ["hunter2"]);
        let mut messages = vec![BmcMessage {
            message: Some("the value hunter2 is too short".to_owned()),
            args: vec!["hunter2".to_owned()],
            ..BmcMessage::default()
        }];
        scrub(&mut messages, &secrets);
        assert!(!format!("{messages:?}").contains("hunter2"));
    }
}
