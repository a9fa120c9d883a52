//! Claims about the typed diff.

mod difference;
mod findings;
mod properties;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::model::setting::{
    AttributeDefinition, AttributeRegistry, AttributeResource, AttributeType, Dependency,
    DependencyTerm, EnumValue,
};
use crate::model::{SettingsView, Target};
use crate::plan::secrecy::{MASK, Written, fingerprint};

type Values = BTreeMap<String, Value>;

fn values(json: &Value) -> Values {
    json.as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

fn server() -> Target {
    Target::Server("s".into())
}

fn kind(kind: AttributeType) -> AttributeDefinition {
    AttributeDefinition {
        kind: Some(kind),
        ..AttributeDefinition::default()
    }
}

fn word(name: &str, display_name: &str) -> EnumValue {
    EnumValue {
        name: name.into(),
        display_name: Some(display_name.into()),
    }
}

fn term(attribute: &str, value: &str) -> DependencyTerm {
    DependencyTerm {
        attribute: attribute.into(),
        property: "CurrentValue".into(),
        condition: "EQU".into(),
        value: json!(value),
    }
}

fn lock(attribute: &str, property: &str, on: bool, term: DependencyTerm) -> Dependency {
    Dependency {
        from: vec![term],
        joined_by_or: false,
        to_attribute: attribute.into(),
        to_property: property.into(),
        to_value: json!(on),
    }
}

/// A BIOS with one attribute of each type.
#[expect(clippy::too_many_lines, reason = "a table")]
fn view() -> SettingsView {
    let attributes = BTreeMap::from([
        (
            "BootMode".to_owned(),
            AttributeDefinition {
                values: vec![word("Uefi", "UEFI Mode"), word("Legacy", "Legacy Mode")],
                ..kind(AttributeType::Enumeration)
            },
        ),
        (
            "Nodes".to_owned(),
            AttributeDefinition {
                lower: Some(2),
                upper: Some(10),
                increment: Some(4),
                reset_required: Some(false),
                ..kind(AttributeType::Integer)
            },
        ),
        (
            "Note".to_owned(),
            AttributeDefinition {
                min_length: Some(2),
                max_length: Some(5),
                ..kind(AttributeType::String)
            },
        ),
        ("Quiet".to_owned(), kind(AttributeType::Boolean)),
        ("AdminPassword".to_owned(), kind(AttributeType::Password)),
        (
            "Serial".to_owned(),
            AttributeDefinition {
                read_only: true,
                ..kind(AttributeType::String)
            },
        ),
        (
            "Turbo".to_owned(),
            AttributeDefinition {
                read_only: true,
                ..kind(AttributeType::Boolean)
            },
        ),
        ("Gone".to_owned(), kind(AttributeType::String)),
        ("Empty".to_owned(), kind(AttributeType::Boolean)),
        (
            "Profile".to_owned(),
            AttributeDefinition {
                values: vec![word("Max", "Maximum"), word("Custom", "Custom")],
                ..kind(AttributeType::Enumeration)
            },
        ),
    ]);
    let dependencies = vec![
        lock("Turbo", "Readonly", false, term("Profile", "Custom")),
        lock("Quiet", "GrayOut", true, term("BootMode", "Legacy")),
    ];
    let current = values(&json!({
        "BootMode": "Uefi", "Nodes": 6, "Note": "abc", "Quiet": false, "AdminPassword": null, "Serial": "X1",
        "Turbo": false, "Profile": "Max", "Empty": null,
    }));
    SettingsView {
        resources: vec![AttributeResource {
            uri: "/bios".into(),
            write_uri: "/bios/settings".into(),
            current,
            ..AttributeResource::default()
        }],
        registry: Some(Arc::new(AttributeRegistry {
            id: "r".into(),
            attributes,
            dependencies,
        })),
        config_jobs: Vec::new(),
    }
}

fn assess(wanted: &Value, view: &SettingsView) -> SettingsAssessment {
    assess_with(wanted, view, &BTreeMap::new())
}

fn assess_with(
    wanted: &Value,
    view: &SettingsView,
    fingerprints: &BTreeMap<String, String>,
) -> SettingsAssessment {
    let (wanted, target) = (values(wanted), server());
    assess_settings(
        &AttributeItem::new(
            &target,
            &wanted,
            Written {
                salt: "s",
                fingerprints,
            },
        ),
        view,
    )
}

fn pending(json: &Value) -> SettingsView {
    let mut view = view();
    for resource in &mut view.resources {
        resource.pending = values(json);
    }
    view
}

type Row = (Value, FindingKind, &'static str, &'static str);

fn each_is_one_finding(rows: &[Row]) {
    for (wanted, kind, message, hint) in rows {
        let assessment = assess(wanted, &view());
        let [finding] = assessment.findings.as_slice() else {
            panic!("{wanted}: {assessment:?}")
        };
        assert_eq!(finding.kind, *kind, "{wanted}");
        assert!(
            finding.message.contains(message),
            "{wanted}: {}",
            finding.message
        );
        let found_hint = finding.hint.as_deref().unwrap_or_default();
        assert!(found_hint.contains(hint), "{wanted}: {found_hint}");
        assert!(
            !assessment.satisfied && group_patches(&assessment, &view()).is_empty(),
            "{wanted}"
        );
    }
}
