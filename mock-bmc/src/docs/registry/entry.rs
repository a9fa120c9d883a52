//! This room reads the entries of an attribute registry.
//!
//! It deliberately tolerates any spelling of member names, as vendors vary it.

use serde_json::Value;

use super::super::walk::any_case;
use super::check::Attribute;

/// Reads an attribute; one without a name is left out.
pub(super) fn read_attribute(entry: &Value) -> Option<(String, Attribute)> {
    let name = any_case(entry, "AttributeName")?.as_str()?.to_owned();
    let number = |key: &str| any_case(entry, key).and_then(Value::as_i64);
    let length = |key: &str| any_case(entry, key).and_then(Value::as_u64);
    let flag = |key: &str| any_case(entry, key).and_then(Value::as_bool);
    let values = any_case(entry, "Value").and_then(Value::as_array);
    let attribute = Attribute {
        kind: any_case(entry, "Type")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        values: values
            .map(|values| values.iter().filter_map(read_choice).collect())
            .unwrap_or_default(),
        lower: number("LowerBound"),
        upper: number("UpperBound"),
        increment: number("ScalarIncrement"),
        shortest: length("MinLength"),
        longest: length("MaxLength").filter(|longest| *longest > 0),
        read_only: flag("ReadOnly").unwrap_or_default() || flag("Immutable").unwrap_or_default(),
        reset_required: flag("ResetRequired"),
        default: any_case(entry, "DefaultValue").cloned(),
    };
    Some((name, attribute))
}

fn read_choice(choice: &Value) -> Option<(String, String)> {
    let name = any_case(choice, "ValueName")?.as_str()?.to_owned();
    let display = any_case(choice, "ValueDisplayName").and_then(Value::as_str);
    let display = display.unwrap_or(&name).to_owned();
    Some((name, display))
}
