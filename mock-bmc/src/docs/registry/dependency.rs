//! This room is the dependencies between attributes that a registry states.
//!
//! It deliberately knows only those that make an attribute read-only; others change what a menu shows.

use serde_json::{Map, Value};

/// A rule that makes an attribute read-only while others have certain values.
#[derive(Clone, Debug)]
pub(super) struct Dependency {
    pub(super) attribute: String,
    conditions: Vec<Condition>,
    pub(super) read_only: bool,
}

#[derive(Clone, Debug)]
struct Condition {
    attribute: String,
    operator: String,
    value: Value,
    any: bool,
}

impl Dependency {
    /// Whether it holds, term by term from the left.
    pub(super) fn holds(&self, current: &Map<String, Value>) -> bool {
        let mut conditions = self.conditions.iter();
        let Some(first) = conditions.next() else {
            return false;
        };
        conditions.fold(first.holds(current), |so_far, next| {
            if next.any {
                so_far || next.holds(current)
            } else {
                so_far && next.holds(current)
            }
        })
    }
}

impl Condition {
    fn holds(&self, current: &Map<String, Value>) -> bool {
        let value = current.get(&self.attribute).unwrap_or(&Value::Null);
        let order = value.as_f64().zip(self.value.as_f64());
        match self.operator.as_str() {
            "EQU" => *value == self.value,
            "NEQ" => *value != self.value,
            "GTR" => order.is_some_and(|(one, other)| one > other),
            "GEQ" => order.is_some_and(|(one, other)| one >= other),
            "LSS" => order.is_some_and(|(one, other)| one < other),
            "LEQ" => order.is_some_and(|(one, other)| one <= other),
            _ => false,
        }
    }
}

/// Reads a dependency; what is none of this kind is left out.
pub(super) fn read_dependency(entry: &Value) -> Option<Dependency> {
    let rule = &entry["Dependency"];
    let property = rule["MapToProperty"].as_str()?;
    if entry["Type"] != "Map" || !matches!(property, "ReadOnly" | "GrayOut" | "Hidden") {
        return None;
    }
    let conditions = rule["MapFrom"].as_array()?;
    Some(Dependency {
        attribute: rule["MapToAttribute"].as_str()?.to_owned(),
        conditions: conditions.iter().filter_map(read_condition).collect(),
        read_only: rule["MapToValue"].as_bool().unwrap_or_default(),
    })
}

fn read_condition(entry: &Value) -> Option<Condition> {
    Some(Condition {
        attribute: entry["MapFromAttribute"].as_str()?.to_owned(),
        operator: entry["MapFromCondition"]
            .as_str()
            .unwrap_or("EQU")
            .to_owned(),
        value: entry["MapFromValue"].clone(),
        any: entry["MapTerms"] == "OR",
    })
}
