//! What may stand at a place: a JSON Schema reduced to the forms that our own document types produce.

use serde_json::{Map, Value};

/// What may stand at a place.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Form {
    /// Anything that JSON can hold too.
    Any,
    /// Text.
    Text,
    /// One of these texts.
    Choice(Vec<String>),
    /// A whole number within bounds.
    Integer { minimum: i64, maximum: i64 },
    /// Any number.
    Number,
    /// True or false.
    Boolean,
    /// A list of one form.
    List { item: Box<Form>, minimum: u64 },
    /// A table.
    Table(TableForm),
    /// One of several forms, told apart by type.
    Either(Vec<Form>),
}

/// What may stand in a table.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct TableForm {
    /// Known keys.
    pub(super) fields: Vec<Field>,
    /// Form of every other key; `None` = there must be none.
    pub(super) rest: Option<Box<Form>>,
    /// Fewest keys.
    pub(super) minimum: u64,
    /// Most keys.
    pub(super) maximum: u64,
}

/// A known key.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    pub(super) key: String,
    pub(super) form: Form,
    pub(super) required: bool,
    /// First sentence of its description.
    pub(super) meaning: String,
}

impl Form {
    /// The form of a whole file.
    pub(super) fn of(root: &Value) -> Self {
        Self::read(root, root.get("$defs").unwrap_or(&Value::Null))
    }

    /// Our types refer to no type that refers back, so that this ends.
    fn read(schema: &Value, definitions: &Value) -> Self {
        let Some(schema) = schema.as_object() else {
            return Self::Any;
        };
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let name = reference.rsplit('/').next().unwrap_or_default();
            return Self::read(definitions.get(name).unwrap_or(&Value::Null), definitions);
        }
        if let Some(choices) = choices(schema) {
            return Self::Choice(choices);
        }
        if let Some(forms) = schema.get("anyOf").and_then(Value::as_array) {
            return Self::Either(
                forms
                    .iter()
                    .map(|form| Self::read(form, definitions))
                    .collect(),
            );
        }
        match schema.get("type").and_then(Value::as_str) {
            Some("string") => Self::Text,
            Some("boolean") => Self::Boolean,
            Some("number") => Self::Number,
            Some("integer") => integer(schema),
            Some("array") => Self::List {
                item: Box::new(Self::read(
                    schema.get("items").unwrap_or(&Value::Null),
                    definitions,
                )),
                minimum: count(schema, "minItems", 0),
            },
            Some("object") => Self::Table(table(schema, definitions)),
            Some(_) | None => Self::Any,
        }
    }

    /// What is expected here, for people.
    pub(super) fn expected(&self) -> String {
        match self {
            Self::Any => "a value".to_owned(),
            Self::Text | Self::Choice(_) => "text".to_owned(),
            Self::Integer { .. } => "a whole number".to_owned(),
            Self::Number => "a number".to_owned(),
            Self::Boolean => "`true` or `false`".to_owned(),
            Self::List { .. } => "a list".to_owned(),
            Self::Table(_) => "a table".to_owned(),
            Self::Either(forms) => forms
                .iter()
                .map(Self::expected)
                .collect::<Vec<_>>()
                .join(" or "),
        }
    }
}

fn choices(schema: &Map<String, Value>) -> Option<Vec<String>> {
    let words = match (schema.get("enum"), schema.get("oneOf"), schema.get("const")) {
        (Some(Value::Array(words)), _, _) => words.iter().collect(),
        (_, Some(Value::Array(forms)), _) => {
            return forms
                .iter()
                .map(|form| form.as_object().and_then(choices))
                .collect::<Option<Vec<_>>>()
                .map(|lists| lists.concat());
        }
        (_, _, Some(word)) => vec![word],
        (_, _, _) => return None,
    };
    words
        .into_iter()
        .map(|word| word.as_str().map(str::to_owned))
        .collect()
}

fn integer(schema: &Map<String, Value>) -> Form {
    let largest = match schema.get("format").and_then(Value::as_str) {
        Some("uint32") => i64::from(u32::MAX),
        Some(_) | None => i64::MAX,
    };
    let bound = |key: &str| schema.get(key).and_then(Value::as_i64);
    Form::Integer {
        minimum: bound("minimum").unwrap_or(i64::MIN),
        maximum: bound("maximum").unwrap_or(largest),
    }
}

fn table(schema: &Map<String, Value>, definitions: &Value) -> TableForm {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let properties = schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    let field = |(key, form): (&String, &Value)| Field {
        key: key.clone(),
        form: Form::read(form, definitions),
        required: required.contains(&key.as_str()),
        meaning: meaning(form, definitions),
    };
    let rest = match schema.get("additionalProperties") {
        None | Some(Value::Bool(false)) => None,
        Some(form) => Some(Box::new(Form::read(form, definitions))),
    };
    TableForm {
        fields: properties.map(field).collect(),
        rest,
        minimum: count(schema, "minProperties", 0),
        maximum: count(schema, "maxProperties", u64::MAX),
    }
}

fn meaning(form: &Value, definitions: &Value) -> String {
    let name = form
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|path| path.rsplit('/').next());
    let target = name.and_then(|name| definitions.get(name)).unwrap_or(form);
    let description = form
        .get("description")
        .or(target.get("description"))
        .and_then(Value::as_str);
    description
        .unwrap_or_default()
        .trim_end_matches('.')
        .replace('\n', " ")
}

fn count(schema: &Map<String, Value>, key: &str, otherwise: u64) -> u64 {
    schema.get(key).and_then(Value::as_u64).unwrap_or(otherwise)
}
