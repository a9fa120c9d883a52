//! Claims about the typed diff.

use std::collections::BTreeMap;

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
        registry: Some(AttributeRegistry {
            id: "r".into(),
            attributes,
            dependencies,
        }),
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

#[test]
fn a_name_that_cannot_be_written_is_a_finding() {
    use FindingKind::{DependencyLocked, NotShown, ReadOnly, Unknown};
    each_is_one_finding(&[
        (
            json!({"BootMod": "Uefi"}),
            Unknown,
            "no attribute of this BIOS",
            "`BootMode`",
        ),
        (json!({"Gone": "x"}), NotShown, "shows no value", ""),
        (
            json!({"Serial": "X2"}),
            ReadOnly,
            "is read-only, and is `X1` now",
            "",
        ),
        (
            json!({"Turbo": true}),
            DependencyLocked,
            "until `Profile` is `Custom`",
            "",
        ),
    ]);
}

#[test]
fn a_value_that_the_registry_does_not_allow_is_a_finding() {
    use FindingKind::{Length, NotInEnumeration, OutOfBounds, Step, WrongType};
    each_is_one_finding(&[
        (
            json!({"BootMode": "Uefl"}),
            NotInEnumeration,
            "has no value `Uefl`",
            "mean `Uefi`",
        ),
        (json!({"BootMode": ["Uefi"]}), WrongType, "one word", ""),
        (json!({"Nodes": 11}), OutOfBounds, "at most 10", ""),
        (json!({"Nodes": -3}), OutOfBounds, "at least 2", ""),
        (json!({"Nodes": 8}), Step, "steps of 4 from 2", ""),
        (json!({"Nodes": "many"}), WrongType, "whole number", ""),
        (
            json!({"Nodes": 6.5}),
            WrongType,
            "whole number, not a fraction",
            "",
        ),
        (json!({"Note": 7}), WrongType, "takes text", "quotes"),
        (json!({"Note": "toolong"}), Length, "at most 5", ""),
        (json!({"Note": "x"}), Length, "at least 2", ""),
        (
            json!({"Quiet": "yes"}),
            WrongType,
            "true or false, not text",
            "",
        ),
    ]);
}

#[test]
fn all_findings_come_at_once_and_no_part_is_written() {
    let assessment = assess(
        &json!({"BootMod": "Uefi", "Nodes": 99, "Quiet": true}),
        &view(),
    );
    assert_eq!(assessment.findings.len(), 2);
    assert!(group_patches(&assessment, &view()).is_empty());
}

#[test]
fn what_means_the_same_is_no_difference() {
    let same = [
        json!({"BootMode": "Uefi"}),
        json!({"BootMode": "UEFI Mode"}),
        json!({"Nodes": 6}),
        json!({"Nodes": "6"}),
        json!({"Nodes": 6.0}),
        json!({"Quiet": "False"}),
        json!({"Serial": "X1"}),
        json!({"Turbo": false}),
        json!({"Empty": null}),
        json!({}),
    ];
    for wanted in same {
        let assessment = assess(&wanted, &view());
        assert!(assessment.satisfied, "{wanted}: {assessment:?}");
        assert!(
            !assessment.reset_required && group_patches(&assessment, &view()).is_empty(),
            "{wanted}"
        );
    }
}

#[test]
fn a_bmc_that_reports_display_names_is_understood_both_ways() {
    let mut view = view();
    for resource in &mut view.resources {
        resource
            .current
            .insert("BootMode".into(), json!("Legacy Mode"));
    }
    assert!(assess(&json!({"BootMode": "Legacy"}), &view).satisfied);
    assert!(assess(&json!({"BootMode": "Legacy Mode"}), &view).satisfied);
    let assessment = assess(&json!({"BootMode": "UEFI Mode"}), &view);
    let patches = group_patches(&assessment, &view);
    assert_eq!(
        patches.first().and_then(|p| p.attributes.get("BootMode")),
        Some(&json!("Uefi"))
    );
}

#[test]
fn what_is_written_has_the_registrys_type() {
    let rows = [
        (json!({"Nodes": "10"}), json!({"Nodes": 10})),
        (json!({"Quiet": "true"}), json!({"Quiet": true})),
        (json!({"Empty": false}), json!({"Empty": false})),
        (
            json!({"BootMode": "Legacy Mode"}),
            json!({"BootMode": "Legacy"}),
        ),
    ];
    for (wanted, written) in rows {
        let patches = group_patches(&assess(&wanted, &view()), &view());
        let [patch] = patches.as_slice() else {
            panic!("{wanted}: {patches:?}")
        };
        assert_eq!(
            (patch.uri.as_str(), &patch.attributes),
            ("/bios/settings", &values(&written))
        );
    }
}

#[test]
fn a_silent_registry_means_reset_for_a_bios_and_none_for_a_bmc() {
    assert!(assess(&json!({"Quiet": true}), &view()).reset_required);
    assert!(!assess(&json!({"Nodes": 10}), &view()).reset_required);
    let wanted = values(&json!({"Quiet": true}));
    let none = BTreeMap::new();
    let item = AttributeItem::new(
        &Target::Bmc,
        &wanted,
        Written {
            salt: "s",
            fingerprints: &none,
        },
    );
    assert!(!assess_settings(&item, &view()).reset_required);
}

#[test]
fn a_wanted_value_that_waits_is_ours_and_any_other_is_foreign() {
    let ours = assess(&json!({"Nodes": "10"}), &pending(&json!({"Nodes": 10})));
    assert_eq!(
        (ours.pending_ours.as_slice(), ours.foreign_pending.len()),
        (["Nodes".to_owned()].as_slice(), 0)
    );
    assert!(!ours.satisfied && ours.changes.is_empty());

    let other = assess(&json!({"Nodes": 10}), &pending(&json!({"Quiet": true})));
    assert_eq!(other.foreign_pending, ["Quiet"]);

    let undone = assess(&json!({"Nodes": 6}), &pending(&json!({"Nodes": 10})));
    assert!(
        !undone.satisfied,
        "current is as wanted, and something else waits to replace it"
    );
    assert_eq!(
        (undone.foreign_pending.as_slice(), undone.changes.len()),
        (["Nodes".to_owned()].as_slice(), 1)
    );
}

#[test]
fn what_another_step_of_this_run_left_waiting_is_not_foreign() {
    let (wanted, ours, none) = (
        values(&json!({"Nodes": 10})),
        values(&json!({"Quiet": true})),
        BTreeMap::new(),
    );
    let target = server();
    let item = AttributeItem {
        ours: &ours,
        ..AttributeItem::new(
            &target,
            &wanted,
            Written {
                salt: "s",
                fingerprints: &none,
            },
        )
    };
    assert!(
        assess_settings(&item, &pending(&json!({"Quiet": true})))
            .foreign_pending
            .is_empty()
    );
}

#[test]
fn an_open_configuration_job_leaves_equality_unconfirmed() {
    let mut view = view();
    view.config_jobs.push("/jobs/1".into());
    let assessment = assess(&json!({"BootMode": "Uefi", "Quiet": false}), &view);
    assert_eq!(assessment.unconfirmed, ["BootMode", "Quiet"]);
    assert!(!assessment.satisfied && assessment.changes.is_empty() && assessment.reset_required);
}

#[test]
fn a_password_is_written_once_and_again_when_the_author_changes_it() {
    let first = assess(&json!({"AdminPassword": "one"}), &view());
    assert_eq!(
        first.changes.first().map(|c| (&c.from, &c.to)),
        Some((&Value::Null, &json!(MASK)))
    );
    let known = first.fingerprints.clone();
    assert_eq!(
        known.get("AdminPassword"),
        Some(&fingerprint("s", "AdminPassword", &json!("one")))
    );
    let patches = group_patches(&first, &view());
    assert_eq!(
        patches
            .first()
            .and_then(|p| p.attributes.get("AdminPassword")),
        Some(&json!("one"))
    );
    assert!(!format!("{first:?}{patches:?}").contains("one"));

    assert!(assess_with(&json!({"AdminPassword": "one"}), &view(), &known).satisfied);
    assert_eq!(
        assess_with(&json!({"AdminPassword": "two"}), &view(), &known)
            .changes
            .len(),
        1
    );
    let waiting = assess_with(
        &json!({"AdminPassword": "one"}),
        &pending(&json!({"AdminPassword": "***"})),
        &known,
    );
    assert_eq!(
        (waiting.pending_ours.len(), waiting.foreign_pending.len()),
        (1, 0)
    );
}

#[test]
fn without_a_registry_a_secret_is_known_by_its_name_and_by_reading_hidden() {
    let resource = AttributeResource {
        uri: "/a".into(),
        write_uri: "/a".into(),
        current: values(&json!({"Users.2.Password": "****", "Web.Token": "readable"})),
        ..AttributeResource::default()
    };
    let view = SettingsView {
        resources: vec![resource],
        ..SettingsView::default()
    };
    let assessment = assess(
        &json!({"Users.2.Password": "one", "Web.Token": "two"}),
        &view,
    );
    assert_eq!(assessment.changes.len(), 2);
    assert_eq!(
        assessment.fingerprints.keys().collect::<Vec<_>>(),
        ["Users.2.Password"]
    );
    assert!(!format!("{assessment:?}").contains("readable"));
    let known = assessment.fingerprints;
    assert!(assess_with(&json!({"Users.2.Password": "one"}), &view, &known).satisfied);
}

#[test]
fn an_earlier_step_unlocks_what_a_dependency_locks() {
    let (wanted, assumed, none) = (
        values(&json!({"Turbo": true})),
        values(&json!({"Profile": "Custom"})),
        BTreeMap::new(),
    );
    let target = server();
    let item = AttributeItem {
        assumed: &assumed,
        ..AttributeItem::new(
            &target,
            &wanted,
            Written {
                salt: "s",
                fingerprints: &none,
            },
        )
    };
    assert_eq!(assess_settings(&item, &view()).changes.len(), 1);

    let together = assess(&json!({"Turbo": true, "Profile": "Custom"}), &view());
    let hint = together
        .findings
        .first()
        .and_then(|f| f.hint.as_deref())
        .unwrap_or_default();
    assert!(
        hint.contains("`Profile`") && hint.contains("lower `priority`"),
        "{together:?}"
    );
}

#[test]
fn a_dependency_that_holds_locks() {
    let mut view = view();
    for resource in &mut view.resources {
        resource
            .current
            .insert("BootMode".into(), json!("Legacy Mode"));
    }
    let assessment = assess(&json!({"Quiet": true}), &view);
    let finding = assessment
        .findings
        .first()
        .map(|f| (f.kind, f.message.as_str()));
    assert_eq!(
        finding,
        Some((
            FindingKind::DependencyLocked,
            "`Quiet` is hidden or locked while `BootMode` is `Legacy`"
        ))
    );
}

#[test]
fn an_empty_map_is_not_observable_and_nothing_is_written() {
    for resources in [Vec::new(), vec![AttributeResource::default()]] {
        let empty = SettingsView {
            resources,
            ..view()
        };
        let assessment = assess(&json!({"Quiet": true}), &empty);
        assert!(
            assessment.not_observable && !assessment.satisfied && assessment.findings.is_empty()
        );
        assert!(group_patches(&assessment, &empty).is_empty());
    }
}

#[test]
fn one_key_in_two_resources_is_an_error() {
    let mut view = view();
    view.resources.push(AttributeResource {
        uri: "/other".into(),
        current: values(&json!({"Quiet": false})),
        ..AttributeResource::default()
    });
    let kinds: Vec<FindingKind> = assess(&json!({"Quiet": true}), &view)
        .findings
        .iter()
        .map(|f| f.kind)
        .collect();
    assert_eq!(kinds, [FindingKind::Ambiguous]);
}

#[test]
fn changes_go_to_the_resource_that_holds_them() {
    let mut view = view();
    view.resources.push(AttributeResource {
        uri: "/lc".into(),
        write_uri: "/lc".into(),
        current: values(&json!({"Lc.1.Wipe": "No", "Lc.1.Count": 1})),
        ..AttributeResource::default()
    });
    let assessment = assess(
        &json!({"Quiet": true, "Lc.1.Wipe": "Yes", "Lc.1.Count": "2"}),
        &view,
    );
    let patches = group_patches(&assessment, &view);
    let sent: Vec<(&str, Values)> = patches
        .iter()
        .map(|p| (p.uri.as_str(), p.attributes.clone()))
        .collect();
    assert_eq!(
        sent,
        [
            ("/bios/settings", values(&json!({"Quiet": true}))),
            ("/lc", values(&json!({"Lc.1.Wipe": "Yes", "Lc.1.Count": 2})))
        ]
    );
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    fn scalar() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-3i64..14).prop_map(Value::from),
            (-3i64..14).prop_map(|n| Value::from(n.to_string())),
            (-3.0f64..14.0).prop_map(Value::from),
            prop::sample::select(vec![
                "Uefi",
                "UEFI Mode",
                "Legacy",
                "Max",
                "Custom",
                "true",
                "abc",
                ""
            ])
            .prop_map(Value::from),
        ]
    }

    fn some_values() -> impl Strategy<Value = Values> {
        let names = vec![
            "BootMode",
            "Nodes",
            "Note",
            "Quiet",
            "AdminPassword",
            "Serial",
            "Turbo",
            "Profile",
            "Nope",
        ];
        prop::collection::btree_map(
            prop::sample::select(names).prop_map(str::to_owned),
            scalar(),
            0..6,
        )
    }

    proptest! {
        #[test]
        fn no_difference_is_satisfied_and_nothing_else_is(wanted in some_values(), waiting in some_values()) {
            let mut view = view();
            for resource in &mut view.resources {
                resource.pending = waiting.clone();
            }
            let none = BTreeMap::new();
            let target = server();
            let item = AttributeItem::new(&target, &wanted, Written { salt: "s", fingerprints: &none });
            let assessment = assess_settings(&item, &view);
            let nothing = assessment.findings.is_empty() && assessment.changes.is_empty()
                && assessment.pending_ours.is_empty() && assessment.unconfirmed.is_empty();
            prop_assert_eq!(assessment.satisfied, nothing);
            let wants = assessment.changes.len() + assessment.findings.len() + assessment.pending_ours.len();
            prop_assert!(wants <= wanted.len());
        }

        #[test]
        fn once_written_and_read_back_it_is_satisfied(mut wanted in some_values()) {
            let mut view = view();
            let none = BTreeMap::new();
            let target = server();
            let unknown = Written { salt: "s", fingerprints: &none };
            let impossible = assess_settings(&AttributeItem::new(&target, &wanted, unknown), &view).findings;
            wanted.retain(|name, _| !impossible.iter().any(|finding| finding.name == *name));
            let assessment = assess_settings(&AttributeItem::new(&target, &wanted, unknown), &view);
            for patch in group_patches(&assessment, &view) {
                for resource in &mut view.resources {
                    resource.current.extend(patch.attributes.clone());
                }
            }
            let written = Written { salt: "s", fingerprints: &assessment.fingerprints };
            let item = AttributeItem::new(&target, &wanted, written);
            prop_assert!(assess_settings(&item, &view).satisfied, "{:?}", assess_settings(&item, &view));
        }
    }
}
