//! This room is the manager's attributes and their registry.
//!
//! It deliberately shows enumerations by display name and has no settings object, as one big vendor does: a client that
//! copes with that copes with the plain way too.

use serde_json::{Value, json};

use super::Documents;
use crate::script::Habits;

/// Where the attributes are.
pub(super) const URI: &str = "/redfish/v1/Managers/BMC/Oem/MockBmc/Attributes";
/// What `AttributeRegistry` names.
pub(super) const REGISTRY: &str = "MockBmcAttributeRegistry.v1_0_0";

pub(super) fn documents(habits: &Habits) -> Documents {
    let settings = format!("{URI}/Settings");
    let own = habits.bmc_settings.settings_object();
    let object = if own {
        json!({ "@odata.id": settings })
    } else {
        Value::Null
    };
    let document = |uri: &str, id: &str, name: &str, attributes: Value| {
        json!({
            "@odata.id": uri,
            "@odata.type": "#MockBmcAttributes.v1_0_0.MockBmcAttributes",
            "Id": id,
            "Name": name,
            "AttributeRegistry": REGISTRY,
            "Attributes": attributes,
        })
    };
    let mut current = document(URI, "Attributes", "Manager attributes", values());
    current["@Redfish.Settings"] = json!({
        "@odata.type": "#Settings.v1_3_5.Settings",
        "SettingsObject": object,
        "SupportedApplyTimes": ["Immediate", "OnReset"],
    });
    let mut documents = vec![(URI.into(), current)];
    if own {
        let pending = document(
            &settings,
            "Settings",
            "Pending manager attributes",
            json!({}),
        );
        documents.push((settings, pending));
    }
    documents
}

/// The values at start, by name and not by display name.
fn values() -> Value {
    json!({
        "ProductName": "generic BMC",
        "IpmiOverLan": false,
        "DnsName": "generic",
        "NtpServer1": "",
        "NtpServer2": null,
        "NtpEnable": "Disabled",
        "NtpMaxDistance": 16,
        "SshMaxSessions": 2,
        "SyslogPort": 514,
        "SyslogServer": "",
        "SyslogEnable": "Disabled",
        "OperatorPassword": null,
        "WebTlsProtocol": "TLS12",
        "WebTimeout": 1800,
    })
}

/// The registry.
pub(super) fn registry() -> Value {
    json!({
        "@odata.type": "#AttributeRegistry.v1_3_8.AttributeRegistry",
        "Id": "MockBmcAttributeRegistry.v1_0_0",
        "Name": "Manager Attribute Registry",
        "Language": "en",
        "OwningEntity": "mock-bmc",
        "RegistryVersion": "1.0.0",
        "RegistryEntries": { "Attributes": entries() },
    })
}

fn entries() -> Vec<Value> {
    let switch = [("Disabled", "Off"), ("Enabled", "On")];
    let tls = [("TLS12", "TLS 1.2 and Higher"), ("TLS13", "TLS 1.3 Only")];
    vec![
        entry(
            "ProductName",
            "String",
            &json!({ "ReadOnly": true, "ResetRequired": false }),
        ),
        entry("IpmiOverLan", "Boolean", &json!({})),
        entry(
            "DnsName",
            "String",
            &json!({ "MinLength": 1, "MaxLength": 63, "ResetRequired": false }),
        ),
        entry(
            "NtpServer1",
            "String",
            &json!({ "MinLength": 0, "MaxLength": 254, "ResetRequired": false }),
        ),
        entry(
            "NtpServer2",
            "String",
            &json!({ "MinLength": 0, "MaxLength": 254, "ResetRequired": false }),
        ),
        entry("NtpEnable", "Enumeration", &choice(&switch, false)),
        entry(
            "NtpMaxDistance",
            "Integer",
            &json!({ "LowerBound": 1, "UpperBound": 128, "ResetRequired": false }),
        ),
        entry(
            "SshMaxSessions",
            "Integer",
            &json!({ "LowerBound": 1, "UpperBound": 8, "ResetRequired": true }),
        ),
        entry(
            "SyslogPort",
            "Integer",
            &json!({ "LowerBound": 1, "UpperBound": 65535, "ResetRequired": false }),
        ),
        entry(
            "SyslogServer",
            "String",
            &json!({ "MinLength": 0, "MaxLength": 254, "ResetRequired": false }),
        ),
        entry("SyslogEnable", "Enumeration", &choice(&switch, false)),
        entry(
            "OperatorPassword",
            "Password",
            &json!({ "MinLength": 8, "MaxLength": 40, "WriteOnly": true, "ResetRequired": false }),
        ),
        entry("WebTlsProtocol", "Enumeration", &choice(&tls, true)),
        entry(
            "WebTimeout",
            "Integer",
            &json!({ "LowerBound": 60, "UpperBound": 10800, "ScalarIncrement": 60, "ResetRequired": false }),
        ),
    ]
}

/// An attribute's entry with what all of them have.
pub(super) fn entry(name: &str, kind: &str, more: &Value) -> Value {
    let mut entry = json!({
        "AttributeName": name,
        "DisplayName": name,
        "Type": kind,
        "ReadOnly": false,
        "WriteOnly": false,
        "Hidden": false,
    });
    let extra = more.as_object().cloned().unwrap_or_default();
    for (key, value) in extra {
        entry[key.as_str()] = value;
    }
    entry
}

/// The choices of an enumeration: name and display name.
pub(super) fn choice(values: &[(&str, &str)], reset_required: bool) -> Value {
    let values: Vec<Value> = values
        .iter()
        .map(|(name, display)| json!({ "ValueName": name, "ValueDisplayName": display }))
        .collect();
    json!({ "Value": values, "ResetRequired": reset_required })
}
