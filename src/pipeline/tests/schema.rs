//! The published schemas are the ones that files are checked against.

use serde_json::Value;

use crate::pipeline::{schema_catalogue, schema_inventory, schema_pipeline};

/// Every object in a schema with the place it stands at.
fn objects<'a>(
    schema: &'a Value,
    place: &str,
    found: &mut Vec<(String, &'a serde_json::Map<String, Value>)>,
) {
    if let Some(object) = schema.as_object() {
        found.push((place.to_owned(), object));
        for (key, value) in object {
            objects(value, &format!("{place}/{key}"), found);
        }
    } else {
        for (index, value) in schema.as_array().into_iter().flatten().enumerate() {
            objects(value, &format!("{place}/{index}"), found);
        }
    }
}

#[test]
fn schemas_refuse_unknown_keys_and_know_no_null() {
    for schema in [schema_inventory(), schema_pipeline(), schema_catalogue()] {
        let mut found = Vec::new();
        objects(&schema, "", &mut found);
        assert!(found.len() > 10, "the whole schema is looked at");
        for (place, object) in found {
            if object.contains_key("properties") && object.get("type").is_some() {
                assert_eq!(
                    object.get("additionalProperties"),
                    Some(&Value::Bool(false)),
                    "{place}"
                );
            }
            assert_ne!(object.get("type"), Some(&Value::from("null")), "{place}");
            assert!(!object.get("type").is_some_and(Value::is_array), "{place}");
        }
        assert!(!schema.to_string().contains("null"));
    }
}

#[test]
fn schemas_are_named_and_say_which_keys_must_be_there() {
    let pipeline = schema_pipeline();
    assert_eq!(
        pipeline["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
    assert_eq!(pipeline["title"], "redpipe pipeline");
    assert_eq!(
        pipeline["required"],
        serde_json::json!(["name", "selector", "stage"])
    );
    assert_eq!(
        pipeline["$defs"]["StageDocument"]["required"],
        serde_json::json!(["name", "kind"])
    );
    assert_eq!(
        schema_inventory()["$defs"]["BmcDocument"]["required"],
        serde_json::json!(["name", "address"])
    );
}

#[test]
fn every_key_is_described() {
    for schema in [schema_inventory(), schema_pipeline(), schema_catalogue()] {
        let mut found = Vec::new();
        objects(&schema, "", &mut found);
        for (place, object) in found {
            let properties = object
                .get("properties")
                .and_then(Value::as_object)
                .into_iter()
                .flatten();
            for (key, property) in properties.filter(|_| object.get("type").is_some()) {
                assert!(property.get("description").is_some(), "{place}/{key}");
            }
        }
    }
}
