//! Attribute registries: found by name through the Registries collection, and reduced to what a typed diff needs.
//!
//! Names are forgiven much: one registry is seen spelled three ways on one BMC.

use std::sync::Arc;

use serde_json::Value;

use super::links::Links;
use super::reader::Reader;
use crate::model::Fault;
use crate::model::setting::{
    AttributeDefinition, AttributeRegistry, AttributeType, Dependency, DependencyTerm, EnumValue,
};
use crate::redfish::wire::{flag, last_segment, member, text, texts, whole};

/// Whose attributes a registry describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::redfish) enum Describes {
    /// A system's Bios.
    Bios,
    /// The BMC itself.
    Manager,
}

impl Describes {
    /// How registry names of this kind begin, in the form of [`plain_name`].
    fn stem(self) -> &'static str {
        match self {
            Self::Bios => "biosattributeregistry",
            Self::Manager => "managerattributeregistry",
        }
    }
}

/// Finds and reads the registry that a resource names, or the only one of its kind.
pub(in crate::redfish) async fn find_registry(
    reader: &mut Reader<'_>,
    found: &Links,
    named: Option<&str>,
    describes: Describes,
) -> Result<Option<AttributeRegistry>, Fault> {
    let doc = registry_document(reader, found, named, describes).await?;
    Ok(doc.and_then(|doc| parse_registry(&doc)))
}

/// The document of that registry; it holds attributes.
pub(in crate::redfish) async fn registry_document(
    reader: &mut Reader<'_>,
    found: &Links,
    named: Option<&str>,
    describes: Describes,
) -> Result<Option<Arc<Value>>, Fault> {
    let Some(collection) = found.root.registries.clone() else {
        return Ok(None);
    };
    let members = reader.member_uris(&collection, "registries").await?;
    let Some(uri) = choose(reader, &members, named, describes).await? else {
        if let Some(name) = named {
            reader.problem(
                "registry-missing",
                format!("no registry of this BMC is `{name}`"),
            );
        }
        return Ok(None);
    };
    read_registry(reader, &uri).await
}

/// The member that describes what is asked: by name, by name without version, else the only one of its kind, else by
/// what the candidates say of themselves.
async fn choose(
    reader: &mut Reader<'_>,
    members: &[String],
    named: Option<&str>,
    describes: Describes,
) -> Result<Option<String>, Fault> {
    if let Some(uri) = named.and_then(|name| by_name(members, name)) {
        return Ok(Some(uri));
    }
    if let Some(uri) = only_of_kind(members, describes) {
        if let Some(name) = named {
            let found = last_segment(&uri).to_owned();
            reader.problem(
                "registry-name",
                format!(
                    "the attributes name registry `{name}`, the only one of this kind is `{found}`"
                ),
            );
        }
        return Ok(Some(uri));
    }
    let Some(name) = named.map(plain_name) else {
        return Ok(None);
    };
    let candidates = members
        .iter()
        .filter(|uri| plain_name(last_segment(uri)).contains("attribute"));
    for uri in candidates {
        let Some(doc) = reader.read_if_well(uri, "registry").await? else {
            continue;
        };
        let says = [text(&doc, "Registry"), text(&doc, "Id")];
        if says.iter().flatten().any(|text| {
            let text = plain_name(text);
            text == name || without_version(&text) == without_version(&name)
        }) {
            return Ok(Some(uri.clone()));
        }
    }
    Ok(None)
}

fn by_name(members: &[String], name: &str) -> Option<String> {
    let wanted = plain_name(name);
    let exact = members
        .iter()
        .find(|uri| plain_name(last_segment(uri)) == wanted);
    if let Some(uri) = exact {
        return Some(uri.clone());
    }
    let stem = without_version(&wanted);
    let mut alike = members
        .iter()
        .filter(|uri| without_version(&plain_name(last_segment(uri))) == stem);
    match (alike.next(), alike.next()) {
        (Some(only), None) => Some(only.clone()),
        _ => None,
    }
}

fn only_of_kind(members: &[String], describes: Describes) -> Option<String> {
    let mut of_kind = members
        .iter()
        .filter(|uri| plain_name(last_segment(uri)).starts_with(describes.stem()));
    match (of_kind.next(), of_kind.next()) {
        (Some(only), None) => Some(only.clone()),
        _ => None,
    }
}

/// A name without what spellings differ in: case, separators, and a `v` before a number.
fn plain_name(name: &str) -> String {
    let name = name.strip_suffix(".json").unwrap_or(name);
    let mut plain = String::with_capacity(name.len());
    let mut chars = name.chars().peekable();
    let mut after_separator = false;
    while let Some(c) = chars.next() {
        if !c.is_ascii_alphanumeric() {
            after_separator = true;
            continue;
        }
        let version_mark = after_separator
            && c.eq_ignore_ascii_case(&'v')
            && chars.peek().is_some_and(char::is_ascii_digit);
        after_separator = false;
        if !version_mark {
            plain.push(c.to_ascii_lowercase());
        }
    }
    plain
}

fn without_version(plain: &str) -> &str {
    plain.trim_end_matches(|c: char| c.is_ascii_digit())
}

/// Reads a registry through its file resource: the English location, else the first.
async fn read_registry(reader: &mut Reader<'_>, uri: &str) -> Result<Option<Arc<Value>>, Fault> {
    let Some(file) = reader.read_if_well(uri, "registry").await? else {
        return Ok(None);
    };
    if holds_attributes(&file) {
        return Ok(Some(file));
    }
    let Some(location) = location(&file) else {
        reader.problem("registry-missing", format!("`{uri}` names no location"));
        return Ok(None);
    };
    let doc = reader.read_if_well(&location, "registry").await?;
    let is_one = doc.as_ref().is_none_or(|doc| holds_attributes(doc));
    if !is_one {
        reader.problem(
            "registry-unreadable",
            format!("`{location}` holds no attributes"),
        );
    }
    Ok(doc.filter(|_| is_one))
}

fn holds_attributes(doc: &Value) -> bool {
    member(doc, "RegistryEntries")
        .and_then(|entries| member(entries, "Attributes"))
        .is_some_and(Value::is_array)
}

fn location(file: &Value) -> Option<String> {
    let places = member(file, "Location")?.as_array()?;
    let english = |place: &&Value| {
        text(place, "Language")
            .is_some_and(|language| language.to_ascii_lowercase().starts_with("en"))
    };
    let place = places.iter().find(english).or_else(|| places.first())?;
    text(place, "Uri").or_else(|| crate::redfish::wire::link(place, "Uri"))
}

/// A registry document; `None` where it holds no attributes.
pub(super) fn parse_registry(doc: &Value) -> Option<AttributeRegistry> {
    let entries = member(doc, "RegistryEntries")?;
    let attributes = member(entries, "Attributes")?.as_array()?;
    Some(AttributeRegistry {
        id: text(doc, "Id").unwrap_or_default(),
        attributes: attributes
            .iter()
            .filter_map(|entry| Some((text(entry, "AttributeName")?, definition(entry))))
            .collect(),
        dependencies: member(entries, "Dependencies")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(dependency)
            .collect(),
    })
}

fn definition(entry: &Value) -> AttributeDefinition {
    let kind = text(entry, "Type").and_then(|kind| attribute_type(&kind));
    let set = |name: &str| flag(entry, name) == Some(true);
    let length = |name: &str| whole(entry, name).and_then(|length| u64::try_from(length).ok());
    AttributeDefinition {
        kind,
        read_only: set("ReadOnly"),
        locked: set("Immutable") || set("Hidden") || set("GrayOut"),
        write_only: set("WriteOnly") || kind == Some(AttributeType::Password),
        reset_required: flag(entry, "ResetRequired"),
        values: member(entry, "Value")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(enum_value)
            .collect(),
        lower: whole(entry, "LowerBound"),
        upper: whole(entry, "UpperBound"),
        increment: whole(entry, "ScalarIncrement"),
        min_length: length("MinLength"),
        max_length: length("MaxLength"),
    }
}

fn attribute_type(kind: &str) -> Option<AttributeType> {
    match kind.to_ascii_lowercase().as_str() {
        "enumeration" => Some(AttributeType::Enumeration),
        "string" => Some(AttributeType::String),
        "integer" => Some(AttributeType::Integer),
        "boolean" => Some(AttributeType::Boolean),
        "password" => Some(AttributeType::Password),
        _ => None,
    }
}

fn enum_value(value: &Value) -> Option<EnumValue> {
    let name = text(value, "ValueName").or_else(|| value.as_str().map(str::to_owned))?;
    Some(EnumValue {
        display_name: text(value, "ValueDisplayName"),
        name,
    })
}

/// A `Map` dependency (DSP0268, AttributeRegistry). Terms are joined by each later term's `MapTerms`; one OR makes the
/// whole an OR, because the standard gives no precedence.
fn dependency(entry: &Value) -> Option<Dependency> {
    let map = member(entry, "Dependency")?;
    if text(entry, "Type").is_some_and(|kind| !kind.eq_ignore_ascii_case("Map")) {
        return None;
    }
    let terms = member(map, "MapFrom")?.as_array()?;
    Some(Dependency {
        joined_by_or: terms.iter().any(|term| {
            texts(term, "MapTerms")
                .iter()
                .any(|word| word.eq_ignore_ascii_case("OR"))
        }),
        from: terms.iter().filter_map(term).collect(),
        to_attribute: text(map, "MapToAttribute")?,
        to_property: text(map, "MapToProperty")?,
        to_value: member(map, "MapToValue").cloned().unwrap_or(Value::Null),
    })
}

fn term(term: &Value) -> Option<DependencyTerm> {
    Some(DependencyTerm {
        attribute: text(term, "MapFromAttribute")?,
        property: text(term, "MapFromProperty").unwrap_or_else(|| "CurrentValue".to_owned()),
        condition: text(term, "MapFromCondition").unwrap_or_else(|| "EQU".to_owned()),
        value: member(term, "MapFromValue").cloned().unwrap_or(Value::Null),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn members(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| format!("/r/{name}")).collect()
    }

    #[test]
    fn one_registry_in_three_spellings_is_one_registry() {
        let wanted = plain_name("BiosAttributeRegistry.v1_0_0");
        assert_eq!(plain_name("BiosAttributeRegistry.1.0.0"), wanted);
        assert_eq!(plain_name("BiosAttributeRegistry.1_0_0"), wanted);
        assert_eq!(plain_name("biosattributeregistry_v1_0_0"), wanted);
        assert_ne!(plain_name("BiosAttributeRegistryU58.v1_2_44"), wanted);
    }

    #[test]
    fn another_version_is_taken_only_where_it_is_the_only_one() {
        let one = members(&["BiosAttributeRegistry.v1_0_0", "BootSourcesRegistry.v1_0_0"]);
        assert_eq!(
            by_name(&one, "BiosAttributeRegistry.v1_0_3").as_deref(),
            Some("/r/BiosAttributeRegistry.v1_0_0")
        );
        let two = members(&[
            "BiosAttributeRegistry.v1_0_0",
            "BiosAttributeRegistry.v1_0_1",
        ]);
        assert_eq!(by_name(&two, "BiosAttributeRegistry.v1_0_3"), None);
        assert_eq!(only_of_kind(&two, Describes::Bios), None);
        assert_eq!(
            by_name(&members(&["Base.1.5.0"]), "BiosAttributeRegistryP89.v1_0_0"),
            None
        );
    }

    #[test]
    fn registry_keys_are_read_in_any_letter_case() {
        let doc = json!({"Id": "r", "RegistryEntries": {"Attributes": [
            {"AttributeName": "A", "Type": "Integer", "Readonly": true, "LowerBound": -9_223_372_036_854_775_808_i64, "UpperBound": 10.0, "MaxLength": -1},
            {"AttributeName": "B", "Type": "Enumeration", "Value": [{"ValueName": "1", "ValueDisplayName": "One"}, {"ValueName": 0}, null]},
            {"AttributeName": "P", "Type": "Password"}, {"no": "name"}],
            "Dependencies": [{"Type": "Map", "Dependency": {"MapFrom": [
                {"MapFromAttribute": "A", "MapFromCondition": "EQU", "MapFromProperty": "CurrentValue", "MapFromValue": 0},
                {"MapTerms": "OR", "MapFromAttribute": "B", "MapFromValue": "1"}], "MapToAttribute": "P", "MapToProperty": "ReadOnly", "MapToValue": "true"}},
                null, {"Type": "Map"}]}});
        let registry = parse_registry(&doc).expect("a registry");
        let a = &registry.attributes["A"];
        assert!(a.read_only);
        assert_eq!(
            (a.lower, a.upper, a.max_length),
            (Some(i64::MIN), Some(10), None)
        );
        let names: Vec<&str> = registry.attributes["B"]
            .values
            .iter()
            .map(|v| v.name.as_str())
            .collect();
        assert_eq!(names, ["1", "0"]);
        assert!(registry.attributes["P"].write_only);
        assert_eq!(registry.dependencies.len(), 1);
        assert!(registry.dependencies[0].joined_by_or);
    }

    #[test]
    fn a_document_without_attributes_is_no_registry() {
        assert_eq!(
            parse_registry(&json!({"RegistryEntries": {"Attributes": null}})),
            None
        );
        assert_eq!(parse_registry(&json!({"Messages": {}})), None);
    }
}
