//! What cannot be written is found before anything is.

use super::*;

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
