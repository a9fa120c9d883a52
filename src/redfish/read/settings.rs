//! Settings as a BMC shows them: what is in effect, what waits, and where each is written.
//!
//! Whether a value is the wanted one is decided elsewhere.

use std::collections::BTreeMap;

use serde_json::Value;

use super::links::{Links, SystemLinks};
use super::managers::attribute_candidates;
use super::reader::Reader;
use crate::model::Fault;
use crate::model::setting::AttributeResource;
use crate::redfish::quirk::{current_shows_what_waits, unlinked_settings, writes_bios_itself};
use crate::redfish::wire::{link, member, object, same, text, texts};

/// Resources read in search of BMC attributes on a manager none of whose links speak of attributes: vendors hang 10 to
/// 20 resources there, and the result is remembered.
const CANDIDATES_MAX: usize = 24;

/// Attributes of one system's BIOS; `None` where the system has none.
pub(in crate::redfish) async fn bios_attributes(
    reader: &mut Reader<'_>,
    system: &SystemLinks,
    platform: &str,
) -> Result<Option<AttributeResource>, Fault> {
    let Some(uri) = system.bios.clone() else {
        return Ok(None);
    };
    match reader.read_if_well(&uri, "bios").await? {
        Some(doc) => {
            let unlinked = unlinked_settings(platform, &uri);
            let reading = Reading {
                unlinked,
                shows_only_changes: current_shows_what_waits(platform),
            };
            let found = attribute_resource(reader, &uri, &doc, reading).await;
            found.map(|resource| Some(where_written(platform, resource)))
        }
        None => Ok(None),
    }
}

/// All resources with attributes of the BMC itself.
pub(in crate::redfish) async fn manager_attributes(
    reader: &mut Reader<'_>,
    found: &mut Links,
    manager: &str,
) -> Result<Vec<AttributeResource>, Fault> {
    let uris = match found.attribute_resources.clone() {
        Some(uris) => uris,
        None => find_attribute_resources(reader, manager).await?,
    };
    let mut resources = Vec::new();
    for uri in &uris {
        if let Some(doc) = reader.read_if_well(uri, "attributes").await? {
            resources.push(attribute_resource(reader, uri, &doc, Reading::default()).await?);
        }
    }
    if resources.len() == uris.len() {
        found.attribute_resources = Some(uris);
    }
    note_twins(reader, &resources);
    Ok(resources)
}

/// How a resource is read that is not quite the standard's.
#[derive(Default)]
struct Reading {
    /// Its settings object, where nothing links to it.
    unlinked: Option<String>,
    /// Whatever its settings object shows waits, also where the current view shows it already.
    shows_only_changes: bool,
}

/// Where the settings of a BIOS are really written.
fn where_written(platform: &str, resource: AttributeResource) -> AttributeResource {
    if writes_bios_itself(platform) {
        AttributeResource {
            write_uri: resource.uri.clone(),
            ..resource
        }
    } else {
        resource
    }
}

/// One resource with an `Attributes` map, and what waits in its settings object.
async fn attribute_resource(
    reader: &mut Reader<'_>,
    uri: &str,
    doc: &Value,
    reading: Reading,
) -> Result<AttributeResource, Fault> {
    let current = attributes_of(doc);
    let settings = member(doc, "@Redfish.Settings");
    let object = settings
        .and_then(|settings| link(settings, "SettingsObject"))
        .filter(|object| {
            !same(object, uri) && !object.trim_matches('/').eq_ignore_ascii_case("redfish/v1")
        })
        .or(reading.unlinked);
    let mut apply_times = settings
        .map(|settings| texts(settings, "SupportedApplyTimes"))
        .unwrap_or_default();
    let mut pending = BTreeMap::new();
    if let Some(object) = &object
        && let Some(doc) = waiting_document(reader, object).await?
    {
        pending = if reading.shows_only_changes {
            let shown = attributes_of(&doc).into_iter();
            shown.filter(|(_, value)| !value.is_null()).collect()
        } else {
            waiting(&current, attributes_in(&doc))
        };
        if apply_times.is_empty() {
            apply_times = offered_apply_times(&doc);
        }
    }
    Ok(AttributeResource {
        uri: uri.to_owned(),
        write_uri: object.unwrap_or_else(|| uri.to_owned()),
        current,
        pending,
        apply_times,
        registry_name: text(doc, "AttributeRegistry"),
    })
}

/// The settings object. Some services have none to show until the first PATCH: a 404 there is "nothing waits". Any other
/// failure ends the look: what may wait must not be flushed unseen.
async fn waiting_document(
    reader: &mut Reader<'_>,
    uri: &str,
) -> Result<Option<std::sync::Arc<Value>>, Fault> {
    match reader.read(uri).await {
        Ok(doc) => Ok(Some(doc)),
        Err(fault) if matches!(fault.status, Some(404 | 405)) => Ok(None),
        Err(fault) => Err(fault),
    }
}

/// Attributes of a document; none where `Attributes` is missing or no object.
pub(in crate::redfish) fn attributes_of(doc: &Value) -> BTreeMap<String, Value> {
    let owned = |(name, value): (&String, &Value)| (name.clone(), value.clone());
    attributes_in(doc).map(owned).collect()
}

fn attributes_in(doc: &Value) -> impl Iterator<Item = (&String, &Value)> {
    let map = object(doc, "Attributes").into_iter().flatten();
    map.filter(|(name, _)| !name.contains('@'))
}

/// What waits: values of the settings object that are not in effect. Some services repeat every value there, some only
/// the changed ones; null there says nothing.
pub(super) fn waiting<'a>(
    current: &BTreeMap<String, Value>,
    settings: impl Iterator<Item = (&'a String, &'a Value)>,
) -> BTreeMap<String, Value> {
    settings
        .filter(|(name, value)| {
            !value.is_null() && current.get(*name).is_none_or(|now| !same_value(now, value))
        })
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// Whether two values are the same in other JSON types: a BMC may show 5 in one place and "5" in the other.
pub(in crate::redfish) fn same_value(a: &Value, b: &Value) -> bool {
    a == b || plain(a).is_some_and(|a| plain(b).is_some_and(|b| a == b))
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 => format!("{float:.0}"),
            _ => number.to_string(),
        }),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn offered_apply_times(doc: &Value) -> Vec<String> {
    member(doc, "@Redfish.SettingsApplyTime")
        .map(|offer| texts(offer, "ApplyTime@Redfish.AllowableValues"))
        .unwrap_or_default()
}

async fn find_attribute_resources(
    reader: &mut Reader<'_>,
    manager: &str,
) -> Result<Vec<String>, Fault> {
    let Some(doc) = reader.read_if_well(manager, "manager").await? else {
        return Ok(Vec::new());
    };
    let (named, others) = attribute_candidates(&doc);
    let found = with_attributes(reader, named).await?;
    if !found.is_empty() {
        return Ok(found);
    }
    with_attributes(reader, others).await
}

/// Those candidates whose document has an `Attributes` map. One that cannot be read is none, quietly: it was only a guess
/// that it might be one.
async fn with_attributes(
    reader: &mut Reader<'_>,
    candidates: Vec<String>,
) -> Result<Vec<String>, Fault> {
    let mut found = Vec::new();
    for uri in candidates.into_iter().take(CANDIDATES_MAX) {
        match reader.read(&uri).await {
            Ok(doc) if object(&doc, "Attributes").is_some() => found.push(uri),
            Err(fault) if super::reader::ends_look(&fault) => return Err(fault),
            Ok(_) | Err(_) => {}
        }
    }
    Ok(found)
}

fn note_twins(reader: &mut Reader<'_>, resources: &[AttributeResource]) {
    let mut holders: BTreeMap<&String, &String> = BTreeMap::new();
    for resource in resources {
        for name in resource.current.keys() {
            if let Some(first) = holders.insert(name, &resource.uri) {
                reader.problem(
                    "attribute-twice",
                    format!(
                        "attribute `{name}` is in `{first}` and in `{}`",
                        resource.uri
                    ),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map(value: &Value) -> BTreeMap<String, Value> {
        attributes_of(&json!({ "Attributes": value }))
    }

    #[test]
    fn only_what_differs_waits_in_either_style() {
        let current = map(&json!({"A": "x", "B": 5, "C": true, "P": null}));
        let everything = map(&json!({"A": "x", "B": "5", "C": false, "P": null}));
        assert_eq!(
            waiting(&current, everything.iter()),
            map(&json!({"C": false}))
        );
        let changes = map(&json!({"A": "y"}));
        assert_eq!(waiting(&current, changes.iter()), map(&json!({"A": "y"})));
        assert_eq!(
            waiting(&current, map(&json!({"A": null})).iter()),
            BTreeMap::new()
        );
    }

    #[test]
    fn numbers_texts_and_booleans_are_compared_by_what_they_say() {
        assert!(same_value(&json!(5.0), &json!(5)));
        assert!(same_value(&json!("true"), &json!(true)));
        assert!(!same_value(&json!(null), &json!("")));
        assert!(!same_value(&json!([1]), &json!("1")));
    }

    #[test]
    fn attributes_that_are_no_map_are_none() {
        assert!(attributes_of(&json!({"Attributes": []})).is_empty());
        assert!(attributes_of(&json!({"Attributes": null})).is_empty());
        assert!(attributes_of(&json!({"Attributes": {"@odata.type": "x"}})).is_empty());
    }
}
