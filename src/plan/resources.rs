//! Comparison of the JSON that a resource must contain with the JSON that was read.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

use super::secrecy::{self, MASK, Written};
use super::spec::ResourceSpec;
use crate::model::SettingChange;

/// What stands between a resource and what is wanted of it.
#[derive(Clone, Default, PartialEq)]
pub struct ResourceAssessment {
    /// JSON pointers of what differs, in member order.
    pub differing: Vec<String>,
    /// The same with values, named `URI#/pointer`. Secret values are masked: what is sent is
    /// [`body`](Self::body).
    pub changes: Vec<SettingChange>,
    /// JSON pointers of wanted members that the resource does not show. Empty pointer: the resource itself.
    pub not_shown: Vec<String>,
    /// Whether all that is wanted was read back, or was written where it cannot be.
    pub satisfied: bool,
    /// What to remember of write-only members once the BMC has accepted them, by `URI#/pointer`.
    pub fingerprints: BTreeMap<String, String>,
    body: Option<Value>,
}

impl ResourceAssessment {
    /// What to send: of the wanted object, the members that differ. `None` where nothing differs, or where something
    /// is not shown: what cannot be read is not written. Secret values are in the clear.
    pub fn body(&self) -> Option<&Value> {
        self.body.as_ref()
    }
}

impl fmt::Debug for ResourceAssessment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResourceAssessment")
            .field("changes", &self.changes)
            .field("not_shown", &self.not_shown)
            .field("satisfied", &self.satisfied)
            .finish_non_exhaustive()
    }
}

/// Compares what a resource must contain with what was read; `None` = it was not found.
///
/// Objects are compared as subsets, arrays and scalars exactly. A write-only member, known by its name, cannot be read
/// back: it counts as wanted once it was written and the author has not changed it since.
pub fn assess_resource(
    wanted: &ResourceSpec,
    found: Option<&Value>,
    written: Written<'_>,
) -> ResourceAssessment {
    let mut diff = Diff {
        uri: &wanted.uri,
        written,
        assessment: ResourceAssessment::default(),
    };
    let body = if let Some(found) = found {
        diff.compare(&wanted.set, found, "")
    } else {
        diff.assessment.not_shown.push(String::new());
        None
    };
    let mut assessment = diff.assessment;
    assessment.satisfied = assessment.differing.is_empty() && assessment.not_shown.is_empty();
    assessment.body = body.filter(|_| assessment.not_shown.is_empty());
    assessment
}

/// Whether two scalars or arrays are the same JSON; `1` and `1.0` are.
pub(super) fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            a == b || (a.is_f64() || b.is_f64()) && a.as_f64() == b.as_f64()
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(name, a)| b.get(name).is_some_and(|b| equal(a, b)))
        }
        _ => a == b,
    }
}

/// All leaves of a wanted object, as `URI#/pointer` with their value.
pub(super) fn leaves(spec: &ResourceSpec) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), &spec.set)];
    while let Some((pointer, value)) = open.pop() {
        match value {
            Value::Object(members) if !members.is_empty() => {
                open.extend(
                    members
                        .iter()
                        .rev()
                        .map(|(member, inner)| (child(&pointer, member), inner)),
                );
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_) => found.push((key(&spec.uri, &pointer), value)),
        }
    }
    found
}

/// The name of a place in a resource.
pub(super) fn key(uri: &str, pointer: &str) -> String {
    format!("{uri}#{pointer}")
}

struct Diff<'a> {
    uri: &'a str,
    written: Written<'a>,
    assessment: ResourceAssessment,
}

impl Diff<'_> {
    /// The part of `wanted` that differs; what is found on the way goes into the assessment.
    fn compare(&mut self, wanted: &Value, found: &Value, pointer: &str) -> Option<Value> {
        match (wanted, found) {
            (Value::Object(wanted), Value::Object(found)) => {
                self.compare_members(wanted, found, pointer)
            }
            _ if equal(wanted, found) => None,
            _ => Some(self.differs(wanted, found, pointer)),
        }
    }

    fn compare_members(
        &mut self,
        wanted: &Map<String, Value>,
        found: &Map<String, Value>,
        pointer: &str,
    ) -> Option<Value> {
        let mut body = Map::new();
        for (member, wanted) in wanted {
            let pointer = child(pointer, member);
            let found = found.get(member);
            let differing = if secrecy::is_secret(member) && !wanted.is_null() {
                self.compare_secret(wanted, found, &pointer)
            } else if let Some(found) = found {
                self.compare(wanted, found, &pointer)
            } else if wanted.is_null() {
                // Absent and null say the same: no value.
                None
            } else {
                self.assessment.not_shown.push(pointer);
                None
            };
            if let Some(differing) = differing {
                body.insert(member.clone(), differing);
            }
        }
        (!body.is_empty()).then_some(Value::Object(body))
    }

    fn compare_secret(
        &mut self,
        wanted: &Value,
        found: Option<&Value>,
        pointer: &str,
    ) -> Option<Value> {
        let key = key(self.uri, pointer);
        if found.is_some_and(|found| equal(wanted, found)) || self.written.holds(&key, wanted) {
            return None;
        }
        self.assessment.differing.push(pointer.to_owned());
        self.assessment.fingerprints.insert(
            key.clone(),
            secrecy::fingerprint(self.written.salt, &key, wanted),
        );
        self.assessment.changes.push(SettingChange {
            name: key,
            from: Value::Null,
            to: Value::from(MASK),
        });
        Some(wanted.clone())
    }

    fn differs(&mut self, wanted: &Value, found: &Value, pointer: &str) -> Value {
        let member = pointer.rsplit('/').next().unwrap_or_default();
        self.assessment.differing.push(pointer.to_owned());
        self.assessment.changes.push(SettingChange {
            name: key(self.uri, pointer),
            from: secrecy::masked(member, found),
            to: secrecy::masked(member, wanted),
        });
        wanted.clone()
    }
}

/// A JSON pointer (RFC 6901) one member deeper.
fn child(pointer: &str, member: &str) -> String {
    format!("{pointer}/{}", member.replace('~', "~0").replace('/', "~1"))
}

#[cfg(test)]
mod tests {
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
        let found =
            json!({"NTP": {"ProtocolEnabled": false, "NTPServers": ["a"]}, "HostName": "h"});
        let wanted =
            json!({"NTP": {"ProtocolEnabled": true, "NTPServers": ["a"]}, "HostName": "h"});
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
}
