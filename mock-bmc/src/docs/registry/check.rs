//! This room holds values up against a registry.
//!
//! It deliberately keeps no values; what is current is passed in.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::super::messages::Message;
use super::super::store::Store;
use super::super::walk::{members_of, target};
use super::dependency::{Dependency, read_dependency};
use super::entry::read_attribute;

/// What a registry says of its attributes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Registry {
    attributes: BTreeMap<String, Attribute>,
    dependencies: Vec<Dependency>,
}

/// What a registry says of one attribute.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attribute {
    pub(super) kind: String,
    /// `ValueName` and `ValueDisplayName`.
    pub(super) values: Vec<(String, String)>,
    pub(super) lower: Option<i64>,
    pub(super) upper: Option<i64>,
    pub(super) increment: Option<i64>,
    pub(super) shortest: Option<u64>,
    pub(super) longest: Option<u64>,
    pub(super) read_only: bool,
    /// `None` where the registry does not say.
    pub(crate) reset_required: Option<bool>,
    pub(crate) default: Option<Value>,
}

/// Finds the registry that a document names, or where it names none the one whose name contains `hint`.
pub(crate) fn find<'a>(store: &'a Store, name: Option<&str>, hint: &str) -> Option<&'a Value> {
    let root = store.get("/redfish/v1")?;
    let files = members_of(store, root, "Registries");
    let wanted = name.map(squeezed);
    let fits = |file: &Value| {
        let names = [&file["Registry"], &file["Id"]];
        let mut names = names.into_iter().filter_map(Value::as_str).map(squeezed);
        match &wanted {
            Some(wanted) => names.any(|known| known == *wanted),
            None => names.any(|known| known.contains(&squeezed(hint))),
        }
    };
    let file = files
        .iter()
        .filter_map(|uri| store.get(uri))
        .find(|file| fits(file))?;
    let location = file["Location"].as_array()?.first()?;
    let uri = location["Uri"].as_str().map(str::to_owned);
    store.get(&uri.or_else(|| target(&location["Uri"]))?)
}

/// Services spell one registry as `X.v1_0_0`, `X.1.0.0` and `X.1_0_0`.
fn squeezed(name: &str) -> String {
    let lower = name.to_ascii_lowercase().replace(".v", ".");
    lower.chars().filter(char::is_ascii_alphanumeric).collect()
}

impl Registry {
    /// Reads a registry document; what is missing or odd in it is left out.
    pub(crate) fn read(document: &Value) -> Self {
        let entries = &document["RegistryEntries"];
        let list = |name: &str| entries[name].as_array().cloned().unwrap_or_default();
        let attributes = list("Attributes")
            .iter()
            .filter_map(read_attribute)
            .collect();
        let dependencies = list("Dependencies")
            .iter()
            .filter_map(read_dependency)
            .collect();
        Self {
            attributes,
            dependencies,
        }
    }

    /// What it says of one attribute.
    pub(crate) fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.get(name)
    }

    /// Every attribute with its name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Attribute)> {
        self.attributes
            .iter()
            .map(|(name, attribute)| (name.as_str(), attribute))
    }

    /// Checks a wanted value against the registry and against what is current; gives it as it is to be stored.
    pub(crate) fn check(
        &self,
        name: &str,
        wanted: &Value,
        current: &Map<String, Value>,
    ) -> Result<Value, Message> {
        let pointer = format!("/Attributes/{name}");
        let Some(attribute) = self.attributes.get(name) else {
            return check_by_example(name, wanted, current).map_err(|found| found.about(&pointer));
        };
        if attribute.read_only || self.is_locked(name, current) {
            return Err(Message::base("PropertyNotWritable", &[name]).about(&pointer));
        }
        attribute
            .check(name, wanted, current.get(name))
            .map_err(|found| found.about(&pointer))
    }

    /// Whether the values of other attributes make this one read-only; the last rule that holds decides.
    fn is_locked(&self, name: &str, current: &Map<String, Value>) -> bool {
        let mut rules = self
            .dependencies
            .iter()
            .filter(|rule| rule.attribute == name);
        rules
            .rfind(|rule| rule.holds(current))
            .is_some_and(|rule| rule.read_only)
    }

    /// The value as it is shown where enumerations are shown by display name.
    pub(crate) fn displayed(&self, name: &str, value: &Value) -> Value {
        let values = self.attributes.get(name).map(|attribute| &attribute.values);
        let display = values.zip(value.as_str()).and_then(|(values, text)| {
            let known = values.iter().find(|(known, _)| known == text);
            known.map(|(_, display)| display.clone())
        });
        display.map_or_else(|| value.clone(), Value::String)
    }

    /// The value as it is stored, whether given by name or by display name.
    pub(crate) fn named(&self, name: &str, value: &Value) -> Value {
        let values = self.attributes.get(name).map(|attribute| &attribute.values);
        let known = values.zip(value.as_str()).and_then(|(values, text)| {
            let of_name = values.iter().find(|(known, _)| known == text);
            let found = of_name.or_else(|| values.iter().find(|(_, display)| display == text));
            found.map(|(known, _)| known.clone())
        });
        known.map_or_else(|| value.clone(), Value::String)
    }
}

/// Without a registry a value must be of the kind that the attribute has now.
fn check_by_example(
    name: &str,
    wanted: &Value,
    current: &Map<String, Value>,
) -> Result<Value, Message> {
    match current.get(name) {
        None => Err(Message::base("PropertyUnknown", &[name])),
        Some(known) if known.is_null() || same_kind(known, wanted) => Ok(wanted.clone()),
        Some(_) => Err(type_error(name, wanted)),
    }
}

fn same_kind(one: &Value, other: &Value) -> bool {
    (one.is_string() && other.is_string())
        || (one.is_number() && other.is_number())
        || (one.is_boolean() && other.is_boolean())
        || (one.is_array() && other.is_array())
        || (one.is_object() && other.is_object())
}

/// A value as it stands in a message.
pub(crate) fn shown(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn type_error(name: &str, wanted: &Value) -> Message {
    Message::base("PropertyValueTypeError", &[&shown(wanted), name])
}

impl Attribute {
    /// A password is accepted and never shown.
    pub(crate) fn is_password(&self) -> bool {
        self.kind == "Password"
    }

    fn check(&self, name: &str, wanted: &Value, current: Option<&Value>) -> Result<Value, Message> {
        match self.kind.as_str() {
            "Enumeration" => self.check_choice(name, wanted, current),
            "Integer" => self.check_integer(name, wanted),
            "Boolean" if !wanted.is_boolean() => Err(type_error(name, wanted)),
            "String" | "Password" => self.check_text(name, wanted, current),
            _ => Ok(wanted.clone()),
        }
    }

    fn check_choice(
        &self,
        name: &str,
        wanted: &Value,
        current: Option<&Value>,
    ) -> Result<Value, Message> {
        let Some(text) = wanted.as_str() else {
            // Some services report numbers where their registry lists texts.
            let usual = current.is_some_and(|current| same_kind(current, wanted));
            return if usual {
                Ok(wanted.clone())
            } else {
                Err(type_error(name, wanted))
            };
        };
        if self.values.is_empty() || self.values.iter().any(|(known, _)| known == text) {
            return Ok(wanted.clone());
        }
        Err(Message::base("PropertyValueNotInList", &[text, name]))
    }

    fn check_integer(&self, name: &str, wanted: &Value) -> Result<Value, Message> {
        let Some(number) = wanted.as_i64() else {
            return Err(type_error(name, wanted));
        };
        let low = self.lower.is_some_and(|lower| number < lower);
        let high = self.upper.is_some_and(|upper| number > upper);
        if low || high {
            return Err(Message::base(
                "PropertyValueOutOfRange",
                &[&number.to_string(), name],
            ));
        }
        let step = self.increment.filter(|step| *step > 1);
        let off = step.is_some_and(|step| (number - self.lower.unwrap_or(0)) % step != 0);
        if off {
            return Err(Message::base(
                "PropertyValueIncorrect",
                &[name, &number.to_string()],
            ));
        }
        Ok(wanted.clone())
    }

    fn check_text(
        &self,
        name: &str,
        wanted: &Value,
        current: Option<&Value>,
    ) -> Result<Value, Message> {
        let Some(text) = wanted.as_str() else {
            let usual = current.is_some_and(|current| same_kind(current, wanted));
            return if usual {
                Ok(wanted.clone())
            } else {
                Err(type_error(name, wanted))
            };
        };
        // A password does not go into a message.
        let word = if self.is_password() { name } else { text };
        let length = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
        if let Some(longest) = self.longest.filter(|longest| length > *longest) {
            return Err(Message::base(
                "StringValueTooLong",
                &[word, &longest.to_string()],
            ));
        }
        if let Some(shortest) = self.shortest.filter(|shortest| length < *shortest) {
            return Err(Message::base(
                "StringValueTooShort",
                &[word, &shortest.to_string()],
            ));
        }
        Ok(wanted.clone())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn registry() -> Registry {
        Registry::read(&json!({"RegistryEntries": {
            "Attributes": [
                {"AttributeName": "Mode", "Type": "Enumeration", "Value": [
                    {"ValueName": "A", "ValueDisplayName": "The A"}, {"ValueName": "B", "ValueDisplayName": "The B"}]},
                {"AttributeName": "Cores", "Type": "Integer", "LowerBound": 0, "UpperBound": 8, "ScalarIncrement": 2},
                {"AttributeName": "Fixed", "Type": "Boolean", "Readonly": true},
                {"AttributeName": "Tied", "Type": "Boolean"},
                {"AttributeName": "Secret", "Type": "Password", "MinLength": 8, "MaxLength": 10},
            ],
            "Dependencies": [{"Type": "Map", "DependencyFor": "Tied", "Dependency": {
                "MapFrom": [{"MapFromAttribute": "Mode", "MapFromProperty": "CurrentValue", "MapFromCondition": "EQU", "MapFromValue": "A"}],
                "MapToAttribute": "Tied", "MapToProperty": "ReadOnly", "MapToValue": true}}],
        }}))
    }

    fn refusal(name: &str, wanted: &Value, current: &Value) -> Option<String> {
        let current = current.as_object().cloned().unwrap_or_default();
        let refused = registry().check(name, wanted, &current).err();
        refused.map(|message| message.id.rsplit('.').next().unwrap_or_default().to_owned())
    }

    #[test]
    fn each_kind_of_wrong_value_is_refused_in_its_own_words() {
        let current = json!({"Mode": "A"});
        for (name, wanted, words) in [
            ("Nope", json!(1), Some("PropertyUnknown")),
            ("Mode", json!("The A"), Some("PropertyValueNotInList")),
            ("Mode", json!(1), Some("PropertyValueTypeError")),
            ("Mode", json!("B"), None),
            ("Cores", json!("4"), Some("PropertyValueTypeError")),
            ("Cores", json!(10), Some("PropertyValueOutOfRange")),
            ("Cores", json!(3), Some("PropertyValueIncorrect")),
            ("Cores", json!(4), None),
            ("Fixed", json!(true), Some("PropertyNotWritable")),
            ("Tied", json!(true), Some("PropertyNotWritable")),
            ("Secret", json!("short"), Some("StringValueTooShort")),
            ("Secret", json!("much too long"), Some("StringValueTooLong")),
        ] {
            assert_eq!(
                refusal(name, &wanted, &current).as_deref(),
                words,
                "{name} {wanted}"
            );
        }
    }

    #[test]
    fn a_dependency_locks_only_while_it_holds() {
        assert_eq!(refusal("Tied", &json!(true), &json!({"Mode": "B"})), None);
    }

    #[test]
    fn a_refused_password_is_not_repeated() {
        let refused = registry().check("Secret", &json!("hunter2"), &Map::new());
        assert!(refused.is_err_and(|message| !message.text.contains("hunter2")));
    }

    #[test]
    fn display_names_and_names_turn_into_each_other() {
        let registry = registry();
        assert_eq!(registry.displayed("Mode", &json!("A")), json!("The A"));
        assert_eq!(registry.named("Mode", &json!("The A")), json!("A"));
        assert_eq!(registry.named("Cores", &json!(4)), json!(4));
    }
}
