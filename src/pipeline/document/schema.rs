//! JSON Schemas of every kind of file.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use super::firmware::CatalogueDocument;
use super::inventory::InventoryDocument;
use super::pipeline::PipelineDocument;

/// JSON Schema (draft 2020-12) of an inventory file.
pub fn schema_inventory() -> Value {
    schema_of::<InventoryDocument>()
}

/// JSON Schema (draft 2020-12) of a pipeline file.
pub fn schema_pipeline() -> Value {
    schema_of::<PipelineDocument>()
}

/// JSON Schema (draft 2020-12) of a firmware catalogue in a file of its own.
pub fn schema_catalogue() -> Value {
    schema_of::<CatalogueDocument>()
}

fn schema_of<T: JsonSchema>() -> Value {
    let mut schema = SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<T>();
    RecursiveTransform(without_null).transform(&mut schema);
    schema.to_value()
}

/// TOML has no null: an optional key is left out, never null.
fn without_null(schema: &mut Schema) {
    let Some(object) = schema.as_object_mut() else {
        return;
    };
    object.retain(|key, value| key != "default" || !value.is_null());
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|word| word != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(forms)) = object.get_mut("anyOf") {
        forms.retain(|form| form.get("type").is_none_or(|word| word != "null"));
        if let [Value::Object(only)] = forms.as_slice() {
            let only = only.clone();
            object.remove("anyOf");
            for (key, value) in only {
                object.entry(key).or_insert(value);
            }
        }
    }
}
