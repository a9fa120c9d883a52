//! This room is a system's BIOS: its attributes, its settings object and the attribute registry.
//!
//! It deliberately has at least one attribute of every kind that a registry can describe, and one for each thing that a
//! registry may leave out.

use serde_json::{Value, json};

use super::Documents;
use super::attributes::{choice, entry};

/// What `AttributeRegistry` names.
pub(super) const REGISTRY: &str = "BiosAttributeRegistryG1.v1_0_0";

pub(super) fn documents(number: usize) -> Documents {
    let uri = format!("/redfish/v1/Systems/{number}/Bios");
    let settings = format!("{uri}/Settings");
    let current = json!({
        "@odata.id": uri,
        "@odata.type": "#Bios.v1_2_0.Bios",
        "Id": "Bios",
        "Name": "BIOS settings",
        "AttributeRegistry": REGISTRY,
        "Attributes": defaults(),
        "ResetBiosToDefaultsPending": false,
        "@Redfish.Settings": {
            "@odata.type": "#Settings.v1_3_5.Settings",
            "SettingsObject": { "@odata.id": settings },
            "SupportedApplyTimes": ["OnReset"],
        },
        "Actions": {
            "#Bios.ResetBios": { "target": format!("{uri}/Actions/Bios.ResetBios") },
            "#Bios.ChangePassword": { "target": format!("{uri}/Actions/Bios.ChangePassword") },
        },
    });
    let pending = json!({
        "@odata.id": settings,
        "@odata.type": "#Bios.v1_2_0.Bios",
        "Id": "Settings",
        "Name": "Pending BIOS settings",
        "AttributeRegistry": REGISTRY,
        "Attributes": {},
    });
    vec![(uri, current), (settings, pending)]
}

/// The attributes of a new system.
pub(crate) fn defaults() -> Value {
    json!({
        "AdminPassword": null,
        "AdminPhone": null,
        "AssetNote": "",
        "BootMode": "Uefi",
        "BootRetryCount": 3,
        "MemPatrolScrubHours": 24,
        "MicrocodeRevision": "0x2B000590",
        "NumaNodesPerSocket": 1,
        "PostLedEnabled": true,
        "PowerRegulator": "Dynamic",
        "ProcCoreDisable": 0,
        "ProcHyperthreading": "Disabled",
        "ProcVirtualization": "Enabled",
        "QuietBoot": true,
        "SerialConsolePort": "Com1",
        "SriovEnabled": false,
        "SystemModelCode": "G1",
        "WorkloadProfile": "Balanced",
    })
}

/// The registry.
pub(super) fn registry() -> Value {
    json!({
        "@odata.type": "#AttributeRegistry.v1_3_8.AttributeRegistry",
        "Id": REGISTRY,
        "Name": "BIOS Attribute Registry",
        "Language": "en",
        "OwningEntity": "mock-bmc",
        "RegistryVersion": "1.0.0",
        "RegistryEntries": {
            "Attributes": entries(),
            "Dependencies": [regulator_is_free_under_custom_only()],
        },
    })
}

fn entries() -> Vec<Value> {
    let mut entries = plain_entries();
    entries.extend(choices());
    let defaults = defaults();
    for entry in &mut entries {
        let name = entry["AttributeName"].as_str().unwrap_or_default();
        let value = defaults[name].clone();
        if !value.is_null() {
            entry["DefaultValue"] = value;
        }
    }
    entries
}

fn plain_entries() -> Vec<Value> {
    let text =
        |longest: u32| json!({ "MinLength": 0, "MaxLength": longest, "ResetRequired": true });
    let fixed = json!({ "ReadOnly": true, "ResetRequired": true });
    let reset = json!({ "ResetRequired": true });
    let at_once = json!({ "ResetRequired": false });
    let secret =
        json!({ "MinLength": 8, "MaxLength": 31, "WriteOnly": true, "ResetRequired": true });
    let tries =
        json!({ "LowerBound": 0, "UpperBound": 10, "ScalarIncrement": 1, "ResetRequired": false });
    let cores =
        json!({ "LowerBound": 0, "UpperBound": 62, "ScalarIncrement": 2, "ResetRequired": true });
    let nodes = json!({ "LowerBound": 1, "UpperBound": 8, "ResetRequired": true });
    // Registries need not say whether a reset is needed.
    let hours = json!({ "LowerBound": 0, "UpperBound": 24 });
    vec![
        entry("AdminPassword", "Password", &secret),
        entry("AdminPhone", "String", &text(32)),
        entry("AssetNote", "String", &text(64)),
        entry("BootRetryCount", "Integer", &tries),
        entry("MemPatrolScrubHours", "Integer", &hours),
        entry("MicrocodeRevision", "String", &fixed),
        entry("NumaNodesPerSocket", "Integer", &nodes),
        entry("PostLedEnabled", "Boolean", &at_once),
        entry("ProcCoreDisable", "Integer", &cores),
        entry("QuietBoot", "Boolean", &reset),
        entry("SriovEnabled", "Boolean", &reset),
        entry("SystemModelCode", "String", &fixed),
    ]
}

fn choices() -> Vec<Value> {
    let switch = [("Disabled", "Switched off"), ("Enabled", "Switched on")];
    let boot = [("Uefi", "UEFI"), ("LegacyBios", "Legacy BIOS")];
    let power = [
        ("Dynamic", "Dynamic savings"),
        ("StaticHigh", "Static high performance"),
        ("OsControl", "Operating system control"),
    ];
    let console = [("Com1", "COM 1"), ("Com2", "COM 2"), ("Off", "None")];
    let profile = [
        ("Balanced", "Balanced"),
        ("HighPerformance", "High performance"),
        ("Custom", "Custom"),
    ];
    let choose =
        |name: &str, values: &[(&str, &str)]| entry(name, "Enumeration", &choice(values, true));
    vec![
        choose("BootMode", &boot),
        choose("PowerRegulator", &power),
        choose("ProcHyperthreading", &switch),
        choose("ProcVirtualization", &switch),
        choose("SerialConsolePort", &console),
        choose("WorkloadProfile", &profile),
    ]
}

fn regulator_is_free_under_custom_only() -> Value {
    json!({
        "Type": "Map",
        "DependencyFor": "PowerRegulator",
        "Dependency": {
            "MapFrom": [{
                "MapFromAttribute": "WorkloadProfile",
                "MapFromProperty": "CurrentValue",
                "MapFromCondition": "NEQ",
                "MapFromValue": "Custom",
            }],
            "MapToAttribute": "PowerRegulator",
            "MapToProperty": "ReadOnly",
            "MapToValue": true,
        },
    })
}
