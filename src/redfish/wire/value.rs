//! Members of JSON objects, read with patience.
//!
//! A null member counts as missing: Redfish says so of every property that a resource cannot fill.

use serde_json::{Map, Value};

const ID: &str = "@odata.id";

/// A member by name, else by name in another letter case; null is missing.
pub(in crate::redfish) fn member<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    let object = value.as_object()?;
    object
        .get(name)
        .or_else(|| {
            object
                .iter()
                .find(|(key, _)| key.eq_ignore_ascii_case(name))
                .map(|(_, value)| value)
        })
        .filter(|value| !value.is_null())
}

/// A member of a member of a member.
pub(in crate::redfish) fn at<'a>(value: &'a Value, names: &[&str]) -> Option<&'a Value> {
    names
        .iter()
        .try_fold(value, |value, name| member(value, name))
}

/// An object member.
pub(in crate::redfish) fn object<'a>(
    value: &'a Value,
    name: &str,
) -> Option<&'a Map<String, Value>> {
    member(value, name)?.as_object()
}

/// A text, byte for byte; an empty one is missing, and a number is taken as its digits.
pub(in crate::redfish) fn text(value: &Value, name: &str) -> Option<String> {
    plain(member(value, name)?).filter(|text| !text.trim().is_empty())
}

/// Texts of an array, or a lone text.
pub(in crate::redfish) fn texts(value: &Value, name: &str) -> Vec<String> {
    match member(value, name) {
        Some(Value::Array(items)) => items.iter().filter_map(plain).collect(),
        Some(one) => plain(one).into_iter().collect(),
        None => Vec::new(),
    }
}

/// A boolean, or its name as text.
pub(in crate::redfish) fn flag(value: &Value, name: &str) -> Option<bool> {
    let value = member(value, name)?;
    value.as_bool().or_else(|| {
        let text = value.as_str()?.trim();
        if text.eq_ignore_ascii_case("true") {
            Some(true)
        } else if text.eq_ignore_ascii_case("false") {
            Some(false)
        } else {
            None
        }
    })
}

/// A whole number, also written as `5.0` or as text.
pub(in crate::redfish) fn whole(value: &Value, name: &str) -> Option<i64> {
    let value = member(value, name)?;
    value
        .as_i64()
        .or_else(|| value.as_f64().and_then(integral))
        .or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()))
}

/// A link: `{"@odata.id": ".."}`, or a bare path.
pub(in crate::redfish) fn link(value: &Value, name: &str) -> Option<String> {
    as_link(member(value, name)?)
}

/// Links of an array, or a lone one.
pub(in crate::redfish) fn links(value: &Value, name: &str) -> Vec<String> {
    match member(value, name) {
        Some(Value::Array(items)) => items.iter().filter_map(as_link).collect(),
        Some(one) => as_link(one).into_iter().collect(),
        None => Vec::new(),
    }
}

/// The link to the next page of a collection. DSP0266, "Paging", has it beside the members; some services leave that out
/// of its name.
pub(in crate::redfish) fn next_page(page: &Value) -> Option<String> {
    text(page, "Members@odata.nextLink").or_else(|| text(page, "@odata.nextLink"))
}

fn as_link(value: &Value) -> Option<String> {
    let text = match value {
        Value::Object(_) => member(value, ID)?.as_str()?,
        Value::String(text) => text.as_str(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => return None,
    };
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "only whole numbers well inside i64 pass the check"
)]
fn integral(number: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn null_is_missing_and_letter_case_is_forgiven() {
        let doc = json!({"BIOS": {"@odata.id": "/x"}, "Model": null, "UUID": ""});
        assert_eq!(link(&doc, "Bios").as_deref(), Some("/x"));
        assert_eq!(text(&doc, "Model"), None);
        assert_eq!(text(&doc, "UUID"), None);
        assert_eq!(member(&json!([1]), "x"), None);
    }

    #[test]
    fn wrong_types_are_read_as_far_as_they_go() {
        let doc = json!({"a": "true", "n": "7", "f": 7.0, "l": ["/1", {"@odata.id": "/2"}, 3, null], "t": 5, "one": "x"});
        assert_eq!(flag(&doc, "a"), Some(true));
        assert_eq!((whole(&doc, "n"), whole(&doc, "f")), (Some(7), Some(7)));
        assert_eq!(links(&doc, "l"), ["/1", "/2"]);
        assert_eq!(text(&doc, "t").as_deref(), Some("5"));
        assert_eq!(texts(&doc, "one"), ["x"]);
        assert_eq!(whole(&json!({"n": 7.5}), "n"), None);
    }
}
