//! As much of JSON Schema as the OpenAPI document uses; a word that it does not know is a finding.

use serde_json::Value;

/// What is wrong with a value by a schema of the document; empty = nothing.
pub(crate) fn findings(document: &Value, schema: &Value, value: &Value, at: &str) -> Vec<String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let pointer = reference.strip_prefix('#').unwrap();
        let target = document.pointer(pointer);
        let target = target.unwrap_or_else(|| panic!("no {reference}"));
        return findings(document, target, value, at);
    }
    let mut found = Vec::new();
    for (word, says) in schema.as_object().unwrap() {
        let is_good = match word.as_str() {
            "type" => is_of_type(says, value),
            "enum" => says.as_array().unwrap().contains(value),
            "required" => value.as_object().is_none_or(|members| {
                let mut names = says.as_array().unwrap().iter();
                names.all(|name| members.contains_key(name.as_str().unwrap()))
            }),
            "additionalProperties" => {
                *says == Value::Bool(true)
                    || value.as_object().is_none_or(|members| {
                        members
                            .keys()
                            .all(|name| schema["properties"].get(name).is_some())
                    })
            }
            "minimum" => value.as_f64().is_none_or(|n| n >= says.as_f64().unwrap()),
            "maximum" => value.as_f64().is_none_or(|n| n <= says.as_f64().unwrap()),
            "minLength" | "maxLength" | "description" => true,
            "format" => value
                .as_str()
                .is_none_or(|text| text.parse::<jiff::Timestamp>().is_ok()),
            "properties" => {
                for (name, member) in says.as_object().unwrap() {
                    if let Some(value) = value.get(name) {
                        found.extend(findings(document, member, value, &format!("{at}.{name}")));
                    }
                }
                true
            }
            "items" => {
                for (index, value) in value.as_array().into_iter().flatten().enumerate() {
                    found.extend(findings(document, says, value, &format!("{at}[{index}]")));
                }
                true
            }
            unknown => panic!("{at}: schema word `{unknown}`"),
        };
        if !is_good {
            found.push(format!("{at}: {value} is not as `{word}`: {says} says"));
        }
    }
    found
}

fn is_of_type(says: &Value, value: &Value) -> bool {
    let is = |name: &Value| match name.as_str().unwrap() {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "null" => value.is_null(),
        unknown => panic!("schema type `{unknown}`"),
    };
    match says.as_array() {
        Some(names) => names.iter().any(is),
        None => is(says),
    }
}
