//! Label selectors: which servers a pipeline, or `--limit`, speaks of.

use std::collections::BTreeMap;

/// All terms must hold; no term at all selects everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selector {
    /// Labels that must have exactly this value.
    pub match_labels: BTreeMap<String, String>,
    /// Further terms.
    pub expressions: Vec<Expression>,
}

/// One term about one label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expression {
    /// Label name.
    pub key: String,
    /// What must hold.
    pub operator: Operator,
}

/// What must hold of a label. A label that is absent is in no set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operator {
    /// Present, with one of these values.
    In(Vec<String>),
    /// Absent, or with another value.
    NotIn(Vec<String>),
    /// Present.
    Exists,
    /// Absent.
    DoesNotExist,
}

impl Selector {
    /// Whether labels satisfy every term.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.match_labels
            .iter()
            .all(|(key, value)| labels.get(key) == Some(value))
            && self
                .expressions
                .iter()
                .all(|expression| expression.matches(labels))
    }

    /// A selector from text such as `rack=r04,role in (db,web),!x`.
    ///
    /// Terms: `k=v`, `k==v`, `k!=v`, `k in (a,b)`, `k notin (a,b)`, `k`, `!k`. The error is a fragment that names the
    /// term.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut selector = Self::default();
        for term in split_terms(text)? {
            let term = term.trim();
            if term.is_empty() {
                return Err(format!("selector `{text}` has an empty term"));
            }
            selector.expressions.push(parse_term(term)?);
        }
        Ok(selector)
    }
}

impl Expression {
    /// Whether labels satisfy this term.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        let value = labels.get(&self.key);
        match &self.operator {
            Operator::In(values) => value.is_some_and(|value| values.contains(value)),
            Operator::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
        }
    }
}

/// Splits at commas outside parentheses.
fn split_terms(text: &str) -> Result<Vec<&str>, String> {
    let (mut terms, mut start, mut inside) = (Vec::new(), 0, false);
    for (at, c) in text.char_indices() {
        match c {
            '(' if inside => return Err(format!("selector `{text}` opens a parenthesis twice")),
            '(' => inside = true,
            ')' if !inside => {
                return Err(format!(
                    "selector `{text}` closes a parenthesis that is not open"
                ));
            }
            ')' => inside = false,
            ',' if !inside => {
                terms.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if inside {
        return Err(format!("selector `{text}` leaves a parenthesis open"));
    }
    terms.push(&text[start..]);
    Ok(terms)
}

fn parse_term(term: &str) -> Result<Expression, String> {
    if let Some(key) = term.strip_prefix('!') {
        return expression(key, Operator::DoesNotExist, term);
    }
    if let Some((left, list)) = term.split_once('(') {
        return parse_set(left, list, term);
    }
    if let Some((key, value)) = term.split_once("!=") {
        return expression(key, Operator::NotIn(vec![plain(value, term)?]), term);
    }
    if let Some((key, value)) = term.split_once('=') {
        let value = value.strip_prefix('=').unwrap_or(value);
        return expression(key, Operator::In(vec![plain(value, term)?]), term);
    }
    expression(term, Operator::Exists, term)
}

fn parse_set(left: &str, list: &str, term: &str) -> Result<Expression, String> {
    let Some(list) = list.strip_suffix(')') else {
        return Err(format!(
            "selector term `{term}` goes on after its parenthesis"
        ));
    };
    let values = list
        .split(',')
        .map(|value| plain(value, term))
        .collect::<Result<Vec<_>, _>>()?;
    let mut words = left.split_whitespace();
    match (words.next(), words.next(), words.next()) {
        (Some(key), Some("in"), None) => expression(key, Operator::In(values), term),
        (Some(key), Some("notin"), None) => expression(key, Operator::NotIn(values), term),
        (_, _, _) => Err(format!(
            "selector term `{term}` is not `KEY in (A,B)` or `KEY notin (A,B)`"
        )),
    }
}

fn expression(key: &str, operator: Operator, term: &str) -> Result<Expression, String> {
    let key = plain(key, term)?;
    if key.is_empty() {
        return Err(format!("selector term `{term}` names no label"));
    }
    Ok(Expression { key, operator })
}

/// A label name or value: no spaces and none of the selector's own signs.
fn plain(text: &str, term: &str) -> Result<String, String> {
    let text = text.trim();
    match text
        .chars()
        .find(|c| c.is_whitespace() || "()!=,<>".contains(*c))
    {
        Some(c) => Err(format!(
            "selector term `{term}` has a `{c}` where a label name or value stands"
        )),
        None => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn each_broken_selector_names_its_term() {
        let cases = [
            ("", "selector `` has an empty term"),
            ("a=b,,c", "selector `a=b,,c` has an empty term"),
            ("a in (b", "selector `a in (b` leaves a parenthesis open"),
            (
                "a in b)",
                "selector `a in b)` closes a parenthesis that is not open",
            ),
            (
                "a in ((b)",
                "selector `a in ((b)` opens a parenthesis twice",
            ),
            (
                "a on (b)",
                "selector term `a on (b)` is not `KEY in (A,B)` or `KEY notin (A,B)`",
            ),
            (
                "a in (b) c",
                "selector term `a in (b) c` goes on after its parenthesis",
            ),
            ("=b", "selector term `=b` names no label"),
            (
                "a b",
                "selector term `a b` has a ` ` where a label name or value stands",
            ),
            (
                "a=b=c",
                "selector term `a=b=c` has a `=` where a label name or value stands",
            ),
            (
                "a<3",
                "selector term `a<3` has a `<` where a label name or value stands",
            ),
        ];
        for (text, error) in cases {
            assert_eq!(Selector::parse(text), Err(error.to_owned()), "{text}");
        }
    }

    #[test]
    fn every_term_must_hold() {
        let box_labels = labels(&[("rack", "r04"), ("role", "db")]);
        let cases = [
            ("rack=r04", true),
            ("rack==r04", true),
            ("rack=r05", false),
            ("rack!=r05", true),
            ("rack!=r04", false),
            ("zone!=a", true),
            ("rack = r04 , role in (db, web), !x", true),
            ("rack=r04,role notin (db)", false),
            ("zone notin (a)", true),
            ("rack", true),
            ("!rack", false),
            ("zone", false),
        ];
        for (text, expected) in cases {
            let selector = Selector::parse(text).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(selector.matches(&box_labels), expected, "{text}");
        }
        assert!(
            Selector::default().matches(&box_labels),
            "no term selects all"
        );
    }
}
