//! What holds for whatever values there are.

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
