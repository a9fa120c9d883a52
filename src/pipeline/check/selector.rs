//! `[selector]`.

use super::context::Check;
use crate::pipeline::document::{At, ExpressionDocument, OperatorDocument, SelectorDocument};
use crate::pipeline::selector::{Expression, Operator, Selector, all_facts, unknown_fact};

pub(super) fn check_selector(selector: &At<SelectorDocument>, check: &mut Check<'_>) -> Selector {
    let document = selector.get();
    let reported = ["match_labels", "match_expressions"]
        .iter()
        .any(|key| check.file.was_reported(&selector.span(), key));
    if document.match_labels.is_none() && document.match_expressions.is_none() && !reported {
        check
            .error(
                selector.span(),
                "`selector` selects nothing",
                "neither `match_labels` nor `match_expressions`",
            )
            .hint("write `match_labels = {}` to select every server");
    }
    let match_labels = document.match_labels.iter().flatten();
    match_labels
        .clone()
        .for_each(|(key, _)| check_name(key, check));
    let expressions = document.match_expressions.iter().flatten();
    Selector {
        match_labels: match_labels
            .map(|(key, value)| (key.get().clone(), value.get().clone()))
            .collect(),
        expressions: expressions
            .filter_map(|expression| check_expression(expression, check))
            .collect(),
    }
}

fn check_expression(
    expression: &At<ExpressionDocument>,
    check: &mut Check<'_>,
) -> Option<Expression> {
    let ExpressionDocument {
        key,
        operator,
        values,
    } = expression.get();
    if let Some(key) = key {
        check_name(key, check);
    }
    let operator = operator.as_ref()?;
    let list = || -> Vec<String> {
        values
            .iter()
            .flat_map(At::get)
            .map(|value| value.get().clone())
            .collect()
    };
    let reported = check.file.was_reported(&expression.span(), "values");
    let needs_values = match operator.get() {
        OperatorDocument::In | OperatorDocument::NotIn => true,
        OperatorDocument::Exists | OperatorDocument::DoesNotExist => false,
    };
    if needs_values && list().is_empty() && !reported {
        let word = format!("`{:?}` needs `values`", operator.get());
        check
            .error(operator.span(), word, "no values")
            .hint("add `values = [\"..\"]`");
    }
    if let Some(values) = values.as_ref().filter(|_| !needs_values) {
        let message = format!("`{:?}` takes no `values`", operator.get());
        check
            .error(check.file.key_of(&values.span()), message, "not used")
            .hint("remove it, or use `In`");
    }
    let operator = match operator.get() {
        OperatorDocument::In => Operator::In(list()),
        OperatorDocument::NotIn => Operator::NotIn(list()),
        OperatorDocument::Exists => Operator::Exists,
        OperatorDocument::DoesNotExist => Operator::DoesNotExist,
    };
    Some(Expression {
        key: key.as_ref()?.get().clone(),
        operator,
    })
}

fn check_name(key: &At<String>, check: &mut Check<'_>) {
    if let Some(unknown) = unknown_fact(key.get()) {
        check
            .error(key.span(), unknown, "not a fact")
            .hint(all_facts());
    }
}
