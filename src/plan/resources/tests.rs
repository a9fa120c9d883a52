//! Claims about `resources`.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn spec(set: Value) -> ResourceSpec {
    ResourceSpec {
        uri: "{manager}/X".into(),
        set,
    }
}

fn assess(set: Value, found: Option<&Value>) -> ResourceAssessment {
    assess_resource(
        &spec(set),
        found,
        Written {
            salt: "s",
            fingerprints: &BTreeMap::new(),
        },
    )
}

#[test]
fn what_cannot_be_read_is_not_written() {
    let missing = assess(json!({"A": 1}), None);
    assert_eq!(
        (missing.not_shown.as_slice(), missing.body()),
        ([String::new()].as_slice(), None)
    );
    let member = assess(
        json!({"A": 1, "NTP": {"B": 2}}),
        Some(&json!({"A": 0, "NTP": {}})),
    );
    assert_eq!(
        (member.not_shown.as_slice(), member.body()),
        (["/NTP/B".to_owned()].as_slice(), None)
    );
    assert!(!missing.satisfied && !member.satisfied);
}

#[test]
fn objects_are_subsets_and_arrays_and_scalars_are_exact() {
    let found = json!({
        "NTP": {"ProtocolEnabled": true, "NTPServers": ["a", "b"], "Port": 123.0}, "HostName": "h", "None": null,
    });
    let rows = [
        (json!({}), vec![]),
        (json!({"NTP": {"ProtocolEnabled": true}}), vec![]),
        (json!({"NTP": {"Port": 123}}), vec![]),
        (json!({"NTP": {"NTPServers": ["a", "b"]}}), vec![]),
        (json!({"None": null, "Absent": null}), vec![]),
        (
            json!({"NTP": {"NTPServers": ["a"]}}),
            vec!["/NTP/NTPServers"],
        ),
        (
            json!({"NTP": {"NTPServers": ["b", "a"]}}),
            vec!["/NTP/NTPServers"],
        ),
        (
            json!({"NTP": {"ProtocolEnabled": "true"}, "HostName": "g"}),
            vec!["/HostName", "/NTP/ProtocolEnabled"],
        ),
        (json!({"HostName": {"x": 1}}), vec!["/HostName"]),
        (json!({"None": "now"}), vec!["/None"]),
    ];
    for (wanted, differing) in rows {
        let assessment = assess(wanted.clone(), Some(&found));
        assert_eq!(assessment.differing, differing, "{wanted}");
        assert_eq!(assessment.satisfied, differing.is_empty(), "{wanted}");
        assert_eq!(
            assessment.body().is_none(),
            differing.is_empty(),
            "{wanted}"
        );
    }
}

#[test]
fn only_what_differs_is_sent() {
    let found = json!({"NTP": {"ProtocolEnabled": false, "NTPServers": ["a"]}, "HostName": "h"});
    let wanted = json!({"NTP": {"ProtocolEnabled": true, "NTPServers": ["a"]}, "HostName": "h"});
    let assessment = assess(wanted, Some(&found));
    assert_eq!(
        assessment.body(),
        Some(&json!({"NTP": {"ProtocolEnabled": true}}))
    );
    let [change] = assessment.changes.as_slice() else {
        panic!("{assessment:?}")
    };
    assert_eq!(
        (change.name.as_str(), &change.to),
        ("{manager}/X#/NTP/ProtocolEnabled", &json!(true))
    );
}

#[test]
fn a_write_only_member_is_written_once_and_again_when_the_author_changes_it() {
    let (found, wanted) = (
        json!({"Password": null, "Port": 1}),
        json!({"Password": "pw1", "Port": 1}),
    );
    let first = assess(wanted.clone(), Some(&found));
    assert_eq!(first.body(), Some(&json!({"Password": "pw1"})));
    assert!(!format!("{first:?}").contains("pw1"));
    let known = first.fingerprints.clone();
    let again = |set: Value| {
        assess_resource(
            &spec(set),
            Some(&found),
            Written {
                salt: "s",
                fingerprints: &known,
            },
        )
    };
    assert!(again(wanted).satisfied);
    assert_eq!(again(json!({"Password": "pw2"})).differing, ["/Password"]);
}

#[test]
fn a_plain_member_that_reads_null_after_a_write_is_not_taken_for_written() {
    let found = json!({"AssetTag": null});
    let assessment = assess(json!({"AssetTag": "x"}), Some(&found));
    assert_eq!(
        (assessment.differing.len(), assessment.fingerprints.len()),
        (1, 0)
    );
}

#[test]
fn leaves_name_every_place_once() {
    let spec = spec(json!({"B": {"C": 1, "D": [1, 2]}, "A/x": 2, "E": {}}));
    let names: Vec<String> = leaves(&spec).into_iter().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        [
            "{manager}/X#/A~1x",
            "{manager}/X#/B/C",
            "{manager}/X#/B/D",
            "{manager}/X#/E"
        ]
    );
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-c]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-d]", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// What a resource holds after it has taken a PATCH.
fn merge(found: &mut Value, patch: &Value) {
    match (found, patch) {
        (Value::Object(found), Value::Object(patch)) => {
            for (member, value) in patch {
                merge(found.entry(member.clone()).or_insert(Value::Null), value);
            }
        }
        (found, patch) => *found = patch.clone(),
    }
}

proptest! {
    #[test]
    fn everything_contains_itself(value in any_json()) {
        prop_assert!(assess(value.clone(), Some(&value)).satisfied);
    }

    #[test]
    fn no_difference_is_satisfied_and_nothing_else_is(wanted in any_json(), found in any_json()) {
        let assessment = assess(wanted, Some(&found));
        let nothing = assessment.differing.is_empty() && assessment.not_shown.is_empty();
        prop_assert_eq!(assessment.satisfied, nothing);
        prop_assert_eq!(assessment.differing.len(), assessment.changes.len());
    }

    #[test]
    fn once_sent_and_read_back_it_is_satisfied(wanted in any_json(), found in any_json()) {
        let assessment = assess(wanted.clone(), Some(&found));
        if let Some(body) = assessment.body() {
            let mut after = found;
            merge(&mut after, body);
            prop_assert!(assess(wanted, Some(&after)).satisfied);
        }
    }
}
