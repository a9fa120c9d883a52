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
            let differing = if secrecy::is_secret(member) && wanted.is_string() {
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
pub(super) fn child(pointer: &str, member: &str) -> String {
    format!("{pointer}/{}", member.replace('~', "~0").replace('/', "~1"))
}

#[cfg(test)]
mod tests;
