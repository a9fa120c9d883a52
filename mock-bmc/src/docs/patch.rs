//! This room changes plain resources as a `PATCH` asks: members that are there and writable, and nothing else.
//!
//! It deliberately knows which members of a resource type are writable only by type; a member's own rules go no further
//! than its JSON type and its allowable values.

use serde_json::{Map, Value};

use super::messages::Message;
use super::registry::shown;
use super::walk::{texts, type_of};

/// The members that a type of resource lets clients write; `*` stands for all that are not fixed by their nature.
const WRITABLE: &[(&str, &[&str])] = &[
    (
        "AccountService",
        &[
            "AccountLockoutCounterResetAfter",
            "AccountLockoutCounterResetEnabled",
            "AccountLockoutDuration",
            "AccountLockoutThreshold",
            "AuthFailureLoggingThreshold",
            "MinPasswordLength",
            "MaxPasswordLength",
            "ServiceEnabled",
            "LDAP",
            "ActiveDirectory",
            "Oem",
        ],
    ),
    (
        "Chassis",
        &[
            "AssetTag",
            "IndicatorLED",
            "LocationIndicatorActive",
            "Location",
            "Oem",
        ],
    ),
    (
        "ComputerSystem",
        &[
            "AssetTag",
            "Boot",
            "HostName",
            "IndicatorLED",
            "LocationIndicatorActive",
            "HostWatchdogTimer",
            "PowerRestorePolicy",
            "Oem",
        ],
    ),
    ("EthernetInterface", &["*"]),
    ("EventDestination", &["Context"]),
    (
        "EventService",
        &[
            "DeliveryRetryAttempts",
            "DeliveryRetryIntervalSeconds",
            "ServiceEnabled",
        ],
    ),
    (
        "LogService",
        &["DateTime", "DateTimeLocalOffset", "ServiceEnabled"],
    ),
    (
        "Manager",
        &[
            "CommandShell",
            "DateTime",
            "DateTimeLocalOffset",
            "GraphicalConsole",
            "LocationIndicatorActive",
            "SerialConsole",
            "ServiceIdentification",
            "Oem",
        ],
    ),
    (
        "ManagerAccount",
        &[
            "Enabled",
            "Locked",
            "Password",
            "PasswordChangeRequired",
            "RoleId",
            "UserName",
        ],
    ),
    ("ManagerNetworkProtocol", &["*"]),
    ("SecureBoot", &["SecureBootEnable"]),
    ("SerialInterface", &["*"]),
    ("SessionService", &["ServiceEnabled", "SessionTimeout"]),
    ("TaskService", &["ServiceEnabled"]),
    (
        "UpdateService",
        &[
            "HttpPushUriOptions",
            "HttpPushUriOptionsBusy",
            "HttpPushUriTargets",
            "HttpPushUriTargetsBusy",
            "ServiceEnabled",
            "Oem",
        ],
    ),
    ("VirtualMedia", &["*"]),
];

/// Members that no client writes, wherever they stand.
const FIXED: &[&str] = &[
    "Id",
    "Name",
    "Description",
    "Status",
    "Links",
    "Actions",
    "UUID",
    "PermanentMACAddress",
    "LinkStatus",
    "IPv6Addresses",
    "FQDN",
];

/// Members that are written and never read.
const SECRET: &[&str] = &[
    "Password",
    "CommunityString",
    "AuthenticationKey",
    "EncryptionKey",
    "AuthToken",
];

/// Whether clients can change resources of this document's type at all.
pub(crate) fn is_writable(document: &Value) -> bool {
    writable(document).is_some()
}

fn writable(document: &Value) -> Option<&'static [&'static str]> {
    let kind = type_of(document);
    WRITABLE
        .iter()
        .find(|(known, _)| *known == kind)
        .map(|(_, members)| *members)
}

/// Checks a change; every finding names the member that it is about.
pub(crate) fn check(document: &Value, change: &Map<String, Value>) -> Vec<Message> {
    let allowed = writable(document).unwrap_or_default();
    let mut found = Vec::new();
    for (name, wanted) in change.iter().filter(|(name, _)| !is_annotation(name)) {
        let known = document.get(name);
        let free = allowed.contains(&name.as_str())
            || (allowed == ["*"] && !FIXED.contains(&name.as_str()));
        match known {
            // A member that is written only does not show up before it was written.
            None if free && SECRET.contains(&name.as_str()) => {}
            None => found.push(about(
                Message::base("PropertyUnknown", &[name]),
                &format!("/{name}"),
            )),
            Some(_) if !free => found.push(about(
                Message::base("PropertyNotWritable", &[name]),
                &format!("/{name}"),
            )),
            Some(known) => check_member(
                document,
                name,
                known,
                wanted,
                &format!("/{name}"),
                &mut found,
            ),
        }
    }
    found
}

fn about(message: Message, pointer: &str) -> Message {
    message.about(pointer)
}

fn is_annotation(name: &str) -> bool {
    name.contains('@')
}

fn check_member(
    parent: &Value,
    name: &str,
    known: &Value,
    wanted: &Value,
    pointer: &str,
    found: &mut Vec<Message>,
) {
    if let (Some(_), Some(members)) = (known.as_object(), wanted.as_object()) {
        check_object(known, members, pointer, found);
        return;
    }
    let both = |test: fn(&Value) -> bool| test(known) && test(wanted);
    let fits = (known.is_null() && !wanted.is_object())
        || wanted.is_null()
        || both(Value::is_string)
        || both(Value::is_boolean)
        || both(Value::is_number)
        || both(Value::is_array);
    if !fits {
        found.push(about(
            Message::base("PropertyValueTypeError", &[&shown(wanted), name]),
            pointer,
        ));
        return;
    }
    let allowed = parent.get(format!("{name}@Redfish.AllowableValues").as_str());
    let listed = allowed.map(texts).zip(wanted.as_str());
    if listed.is_some_and(|(allowed, wanted)| !allowed.iter().any(|known| known == wanted)) {
        found.push(about(
            Message::base("PropertyValueNotInList", &[&shown(wanted), name]),
            pointer,
        ));
    }
}

fn check_object(
    known: &Value,
    members: &Map<String, Value>,
    pointer: &str,
    found: &mut Vec<Message>,
) {
    for (name, wanted) in members.iter().filter(|(name, _)| !is_annotation(name)) {
        let pointer = format!("{pointer}/{name}");
        match known.get(name) {
            None if SECRET.contains(&name.as_str()) => {}
            None => found.push(about(Message::base("PropertyUnknown", &[name]), &pointer)),
            Some(_) if FIXED.contains(&name.as_str()) => {
                found.push(about(
                    Message::base("PropertyNotWritable", &[name]),
                    &pointer,
                ));
            }
            Some(inner) => check_member(known, name, inner, wanted, &pointer, found),
        }
    }
}

/// Makes a checked change.
pub(crate) fn apply(document: &mut Value, change: &Map<String, Value>) {
    for (name, wanted) in change.iter().filter(|(name, _)| !is_annotation(name)) {
        if SECRET.contains(&name.as_str()) {
            document[name.as_str()] = Value::Null;
            continue;
        }
        let known = &mut document[name.as_str()];
        match (known.is_object(), wanted.as_object()) {
            (true, Some(members)) => apply(known, members),
            (true | false, _) if wanted.is_array() => apply_list(known, wanted),
            (true | false, _) => *known = wanted.clone(),
        }
    }
}

/// An empty object leaves an element as it is, null takes it out; elements past the end of the request go.
fn apply_list(known: &mut Value, wanted: &Value) {
    let old = known.as_array().cloned().unwrap_or_default();
    let wanted = wanted.as_array().cloned().unwrap_or_default();
    let mut list = Vec::new();
    for (index, element) in wanted.into_iter().enumerate() {
        let before = old.get(index).cloned();
        match (element, before) {
            (Value::Null, _) => {}
            (Value::Object(members), Some(mut before)) if before.is_object() => {
                apply(&mut before, &members);
                list.push(before);
            }
            (Value::Object(members), Some(before)) if members.is_empty() => list.push(before),
            (element, _) => list.push(element),
        }
    }
    *known = Value::Array(list);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn protocol() -> Value {
        json!({"@odata.type": "#ManagerNetworkProtocol.v1_10_0.ManagerNetworkProtocol", "Id": "NetworkProtocol",
            "NTP": {"ProtocolEnabled": false, "NTPServers": ["a", "b"]}, "HostName": null,
            "SNMP": {"CommunityStrings": [{"Name": "x", "CommunityString": null}]}})
    }

    fn refusals(change: &Value) -> Vec<String> {
        let change = change.as_object().cloned().unwrap_or_default();
        check(&protocol(), &change)
            .iter()
            .map(|message| {
                format!(
                    "{} {}",
                    message.id.rsplit('.').next().unwrap_or_default(),
                    message.related.join(",")
                )
            })
            .collect()
    }

    #[test]
    fn every_wrong_member_is_named_where_it_stands() {
        let found =
            refusals(&json!({"Id": "x", "Nope": 1, "NTP": {"ProtocolEnabled": "yes", "Extra": 1}}));
        assert_eq!(
            found,
            [
                "PropertyNotWritable #/Id",
                "PropertyUnknown #/NTP/Extra",
                "PropertyValueTypeError #/NTP/ProtocolEnabled",
                "PropertyUnknown #/Nope",
            ]
        );
    }

    #[test]
    fn objects_are_merged_and_lists_replaced() {
        let mut document = protocol();
        let change = json!({"NTP": {"NTPServers": ["c"]}, "HostName": "h"});
        assert!(refusals(&change).is_empty());
        apply(&mut document, change.as_object().expect("an object"));
        assert_eq!(
            document["NTP"],
            json!({"ProtocolEnabled": false, "NTPServers": ["c"]})
        );
        assert_eq!(document["HostName"], "h");
    }

    #[test]
    fn list_elements_can_be_kept_and_taken_out() {
        let mut document =
            json!({"List": ["a", "b", "c"], "Objects": [{"x": 1, "y": 2}, {"x": 3}]});
        let change = json!({"List": [{}, null, "d"], "Objects": [{"y": 5}, {}]});
        apply(&mut document, change.as_object().expect("an object"));
        assert_eq!(
            document,
            json!({"List": ["a", "d"], "Objects": [{"x": 1, "y": 5}, {"x": 3}]})
        );
    }

    #[test]
    fn a_secret_reads_back_as_null() {
        let mut document = protocol();
        let change = json!({"SNMP": {"CommunityStrings": [{"CommunityString": "public"}]}});
        assert!(refusals(&change).is_empty());
        apply(&mut document, change.as_object().expect("an object"));
        assert_eq!(document, protocol());
    }

    #[test]
    fn a_type_that_nobody_writes_is_known_as_such() {
        assert!(!is_writable(&json!({"@odata.type": "#Task.v1_7_3.Task"})));
        assert!(is_writable(&protocol()));
    }
}
