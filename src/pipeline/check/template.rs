//! Values with variables in them.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::{Number, Value};

use super::context::Check;
use super::stage::StagePlace;
use crate::pipeline::document::{Any, At};
use crate::pipeline::template::{Template, Variable};

/// Text with variables.
pub(super) fn text(
    text: &At<String>,
    place: &StagePlace,
    check: &mut Check<'_>,
) -> Option<Template> {
    parse(text.get(), &text.span(), place, check)
}

/// Any value, with variables in its texts.
pub(super) fn value(
    value: &At<Any>,
    place: &StagePlace,
    check: &mut Check<'_>,
) -> Option<Template> {
    match value.get() {
        Any::Boolean(boolean) => Some(Template::Literal(Value::Bool(*boolean))),
        Any::Integer(number) => Some(Template::Literal(Value::from(*number))),
        Any::Float(number) => Number::from_f64(*number)
            .map(Value::Number)
            .map(Template::Literal),
        Any::Text(text) => parse(text, &value.span(), place, check),
        Any::Array(items) => {
            let items: Vec<_> = items
                .iter()
                .map(|item| self::value(item, place, check))
                .collect();
            items
                .into_iter()
                .collect::<Option<Vec<_>>>()
                .map(Template::Array)
        }
        Any::Table(fields) => {
            table(fields.iter().map(|(key, field)| (key, field)), place, check).map(Template::Table)
        }
    }
}

/// A table of such values.
pub(super) fn table<'d>(
    fields: impl Iterator<Item = (&'d At<String>, &'d At<Any>)>,
    place: &StagePlace,
    check: &mut Check<'_>,
) -> Option<BTreeMap<String, Template>> {
    let fields: Vec<_> = fields
        .map(|(key, field)| value(field, place, check).map(|field| (key.get().clone(), field)))
        .collect();
    fields.into_iter().collect()
}

fn parse(
    text: &str,
    span: &Range<usize>,
    place: &StagePlace,
    check: &mut Check<'_>,
) -> Option<Template> {
    let template = match Template::parse(text, &check.file.folder) {
        Ok(template) => template,
        Err(errors) => {
            for error in errors {
                let piece = text.get(error.span).unwrap_or_default();
                let here = check.file.piece_of(span, piece);
                check
                    .error(here, error.message, "not a variable")
                    .hint(error.hint);
            }
            return None;
        }
    };
    let mut variables = Vec::new();
    template.visit_variables(&mut |variable| variables.push(variable.clone()));
    for variable in variables {
        refer(variable, span, place, check);
    }
    Some(template)
}

fn refer(variable: Variable, span: &Range<usize>, place: &StagePlace, check: &mut Check<'_>) {
    match variable {
        Variable::ServerName if place.is_bmc() => {
            let here = check.file.piece_of(span, "${server.name}");
            let message = format!(
                "`${{server.name}}` in {} of kind `{}`",
                place.title,
                place.kind()
            );
            check
                .error(
                    here,
                    message,
                    "the stage acts on the BMC, not on one server",
                )
                .hint("use `${bmc.name}`, or a label of the BMC as `${label.NAME}`");
        }
        Variable::BmcName | Variable::ServerName | Variable::Label(_) => {}
        Variable::Env(ref name) => {
            let here = check.file.piece_of(span, &format!("${{env.{name}}}"));
            check.references.push((variable, check.file.id, here));
        }
        Variable::File(_) => {
            let here = check.file.piece_of(span, "${file.");
            check.references.push((variable, check.file.id, here));
        }
    }
}
