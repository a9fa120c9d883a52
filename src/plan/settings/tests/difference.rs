//! What differs, what waits, and what is written where.

use super::*;

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
