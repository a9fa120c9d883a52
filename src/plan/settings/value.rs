//! Values of attributes: one form for comparing, one form for writing.

use serde_json::Value;

use super::assess::FindingKind;
use super::nearest::nearest;
use crate::model::setting::{AttributeDefinition, AttributeType, EnumValue};

/// Why a value cannot be that of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Misfit {
    /// Which rule it breaks.
    pub(super) kind: FindingKind,
    /// A fragment that continues "`NAME` …", without the value of a write-only attribute.
    pub(super) message: String,
    /// What was probably meant, or what is allowed.
    pub(super) hint: Option<String>,
}

impl Misfit {
    fn new(kind: FindingKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: None,
        }
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Whether two values mean the same for this attribute, whichever form each is in: an enumeration by value name or by
/// display name, a number as number or as text, `1` or `1.0`.
pub(crate) fn same(a: &Value, b: &Value, definition: Option<&AttributeDefinition>) -> bool {
    canonical(a, definition) == canonical(b, definition)
}

/// The wanted value in the registry's form and type, or why it has none. Without a registry line the current value's
/// own type decides.
pub(super) fn coerce(
    wanted: &Value,
    definition: Option<&AttributeDefinition>,
    current: Option<&Value>,
) -> Result<Value, Misfit> {
    if wanted.is_null() {
        return Ok(Value::Null);
    }
    let Some(definition) = definition else {
        return coerce_like(wanted, current);
    };
    match definition.kind {
        Some(AttributeType::Enumeration) => enumeration(wanted, definition),
        Some(AttributeType::Integer) => integer(wanted, definition),
        Some(AttributeType::Boolean) => boolean(wanted),
        Some(AttributeType::String | AttributeType::Password) => text(wanted, definition),
        None => coerce_like(wanted, current),
    }
}

/// A value as it is read in the form and type in which it is written; `None` = it could not be written.
pub(crate) fn written_form(
    value: &Value,
    definition: Option<&AttributeDefinition>,
) -> Option<Value> {
    coerce(value, definition, Some(value)).ok()
}

/// A value as text for people.
pub(super) fn shown(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), ToOwned::to_owned)
}

/// A whole number, in any of the forms in which BMCs and people write one.
pub(super) fn whole(value: &Value) -> Option<i64> {
    /// Largest magnitude up to which a float still names one whole number.
    const EXACT_FLOAT_MAX: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) => number.as_i64().or_else(|| {
            let float = number
                .as_f64()
                .filter(|f| f.fract() == 0.0 && f.abs() <= EXACT_FLOAT_MAX)?;
            format!("{float:.0}").parse().ok()
        }),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(truth) => Some(*truth),
        Value::String(text) if text.eq_ignore_ascii_case("true") => Some(true),
        Value::String(text) if text.eq_ignore_ascii_case("false") => Some(false),
        Value::String(_) | Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            None
        }
    }
}

fn canonical(value: &Value, definition: Option<&AttributeDefinition>) -> Value {
    if value.is_null() {
        return Value::Null;
    }
    let numbered = || whole(value).map_or_else(|| value.clone(), Value::from);
    let Some(definition) = definition else {
        return if value.is_number() {
            numbered()
        } else {
            value.clone()
        };
    };
    match definition.kind {
        Some(AttributeType::Enumeration) => {
            let text = shown(value);
            Value::from(
                by_any_name(&text, &definition.values).map_or(text, |found| found.name.clone()),
            )
        }
        Some(AttributeType::Integer) => numbered(),
        Some(AttributeType::Boolean) => truth(value).map_or_else(|| value.clone(), Value::from),
        None if value.is_number() => numbered(),
        Some(AttributeType::String | AttributeType::Password) | None => value.clone(),
    }
}

/// A value name goes before a display name: it is what the registry writes.
fn by_any_name<'a>(text: &str, values: &'a [EnumValue]) -> Option<&'a EnumValue> {
    values.iter().find(|value| value.name == text).or_else(|| {
        values
            .iter()
            .find(|value| value.display_name.as_deref() == Some(text))
    })
}

fn enumeration(wanted: &Value, definition: &AttributeDefinition) -> Result<Value, Misfit> {
    if wanted.is_array() || wanted.is_object() {
        return Err(Misfit::new(
            FindingKind::WrongType,
            "takes one word of a list",
        ));
    }
    let text = shown(wanted);
    if definition.values.is_empty() {
        return Ok(Value::from(text));
    }
    if let Some(found) = by_any_name(&text, &definition.values) {
        return Ok(Value::from(found.name.clone()));
    }
    let names = definition.values.iter().flat_map(|value| {
        std::iter::once(value.name.as_str()).chain(value.display_name.as_deref())
    });
    let allowed: Vec<String> = definition
        .values
        .iter()
        .map(|value| format!("`{}`", value.name))
        .collect();
    let hint = match nearest(&text, names) {
        Some(near) => format!("did you mean `{near}`? allowed: {}", allowed.join(", ")),
        None => format!("allowed: {}", allowed.join(", ")),
    };
    Err(Misfit::new(
        FindingKind::NotInEnumeration,
        format!("has no value `{text}`"),
    )
    .hint(hint))
}

fn integer(wanted: &Value, definition: &AttributeDefinition) -> Result<Value, Misfit> {
    let Some(number) = whole(wanted) else {
        let message = format!("takes a whole number, not {}", described(wanted));
        return Err(Misfit::new(FindingKind::WrongType, message));
    };
    // A range of fewer than two values bounds nothing: registries write 0 to 0, or an upper bound of -1, for "none".
    let (lower, upper) = match (definition.lower, definition.upper) {
        (Some(lower), Some(upper)) if lower >= upper => (None, None),
        bounds => bounds,
    };
    if let Some(lower) = lower.filter(|lower| number < *lower) {
        return Err(Misfit::new(
            FindingKind::OutOfBounds,
            format!("is at least {lower}, not {number}"),
        ));
    }
    if let Some(upper) = upper.filter(|upper| number > *upper) {
        return Err(Misfit::new(
            FindingKind::OutOfBounds,
            format!("is at most {upper}, not {number}"),
        ));
    }
    let step = definition.increment.filter(|step| *step > 1);
    let off = step.filter(|step| {
        // 128 bits: the difference of two 64-bit numbers does not fit 64.
        (i128::from(number) - i128::from(lower.unwrap_or(0))) % i128::from(*step) != 0
    });
    if let Some(step) = off {
        let message = format!(
            "goes in steps of {step} from {}, {number} is between two",
            lower.unwrap_or(0)
        );
        return Err(Misfit::new(FindingKind::Step, message));
    }
    Ok(Value::from(number))
}

fn boolean(wanted: &Value) -> Result<Value, Misfit> {
    truth(wanted).map(Value::from).ok_or_else(|| {
        Misfit::new(
            FindingKind::WrongType,
            format!("takes true or false, not {}", described(wanted)),
        )
    })
}

fn text(wanted: &Value, definition: &AttributeDefinition) -> Result<Value, Misfit> {
    let Some(text) = wanted.as_str() else {
        return Err(
            Misfit::new(FindingKind::WrongType, "takes text").hint("put the value in quotes")
        );
    };
    let length = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
    // An upper length of 0, or below the lower one, is how registries leave it open.
    let longest = definition
        .max_length
        .filter(|max| *max > 0 && *max >= definition.min_length.unwrap_or(0));
    if let Some(longest) = longest.filter(|longest| length > *longest) {
        let message = format!("takes at most {longest} characters, not {length}");
        return Err(Misfit::new(FindingKind::Length, message));
    }
    if let Some(shortest) = definition.min_length.filter(|shortest| length < *shortest) {
        let message = format!("takes at least {shortest} characters, not {length}");
        return Err(Misfit::new(FindingKind::Length, message));
    }
    Ok(Value::from(text))
}

fn coerce_like(wanted: &Value, current: Option<&Value>) -> Result<Value, Misfit> {
    let fits = match current {
        None | Some(Value::Null) => Some(wanted.clone()),
        Some(Value::Bool(_)) => truth(wanted).map(Value::from),
        Some(Value::Number(number)) if number.is_f64() => {
            wanted.is_number().then(|| wanted.clone())
        }
        Some(Value::Number(_)) => whole(wanted).map(Value::from),
        Some(Value::String(_)) => wanted.is_string().then(|| wanted.clone()),
        Some(Value::Array(_)) => wanted.is_array().then(|| wanted.clone()),
        Some(Value::Object(_)) => wanted.is_object().then(|| wanted.clone()),
    };
    fits.ok_or_else(|| {
        let now = current.map_or("nothing", described);
        Misfit::new(
            FindingKind::WrongType,
            format!("is {now} now, and {} is wanted", described(wanted)),
        )
    })
}

fn described(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(number) if number.is_f64() => "a fraction",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
