//! Label selectors: which servers a pipeline, or `--limit`, speaks of.

use std::collections::BTreeMap;

use crate::model::Label;
use crate::model::facts::{FACT_PREFIX, FACTS};

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
    /// Whether labels satisfy every term; of facts there are none.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        let label = |name: &str| Label::from(labels.get(name).map(String::as_str));
        self.judge(label) == Some(true)
    }

    /// Whether labels satisfy every term; `None` = that hangs on a fact that was not read yet.
    pub fn judge<'l>(&self, label: impl Fn(&str) -> Label<'l>) -> Option<bool> {
        let is = |key: &String, value: &String| match label(key) {
            Label::Is(found) => Some(found == value),
            Label::Absent => Some(false),
            Label::Unknown => None,
        };
        let labels = self.match_labels.iter().map(|(key, value)| is(key, value));
        let terms = self.expressions.iter();
        let terms = terms.map(|term| term.operator.judge(label(&term.key)));
        // One term that does not hold is enough, whatever is not known of others.
        let mut all = Some(true);
        for one in labels.chain(terms) {
            match one {
                Some(true) => {}
                Some(false) => return Some(false),
                None => all = None,
            }
        }
        all
    }

    /// Whether a term is about a fact of the hardware.
    pub fn needs_facts(&self) -> bool {
        let terms = self.expressions.iter().map(|term| &term.key);
        let mut keys = self.match_labels.keys().chain(terms);
        keys.any(|key| key.starts_with(FACT_PREFIX))
    }

    /// A selector from text such as `rack=r04,role in (db,web),!x`.
    ///
    /// Terms: `k=v`, `k==v`, `k!=v`, `k in (a,b)`, `k notin (a,b)`, `k`, `!k`; a value with spaces or signs stands in
    /// double quotes. The error is a fragment that names the term.
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

impl Operator {
    /// Whether it holds of a label; `None` = the label was not read yet.
    fn judge(&self, label: Label<'_>) -> Option<bool> {
        let value = match label {
            Label::Is(value) => Some(value),
            Label::Absent => None,
            Label::Unknown => return None,
        };
        let is_one_of =
            |values: &[String]| value.is_some_and(|v| values.iter().any(|one| one == v));
        Some(match self {
            Self::In(values) => is_one_of(values),
            Self::NotIn(values) => !is_one_of(values),
            Self::Exists => value.is_some(),
            Self::DoesNotExist => value.is_none(),
        })
    }
}

/// Why a label name can name no fact; `None` = it does, or is no fact's.
pub(super) fn unknown_fact(name: &str) -> Option<String> {
    let is_unknown = name.starts_with(FACT_PREFIX) && !FACTS.contains(&name);
    is_unknown.then(|| format!("no fact of the hardware is called `{name}`"))
}

/// The facts there are, for people.
pub(super) fn all_facts() -> String {
    format!("facts are `{}`", FACTS.join("`, `"))
}

/// Splits at commas outside parentheses and quotes.
fn split_terms(text: &str) -> Result<Vec<&str>, String> {
    let (mut terms, mut start, mut inside) = (Vec::new(), 0, false);
    let mut quoted = false;
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            _ if quoted => {}
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
    if quoted {
        return Err(format!("selector `{text}` leaves a quote open"));
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
    if let Some((left, list)) = split_before_quotes(term, "(") {
        return parse_set(left, list, term);
    }
    if let Some((key, text)) = split_before_quotes(term, "!=") {
        return expression(key, Operator::NotIn(vec![value(text, term)?]), term);
    }
    if let Some((key, text)) = split_before_quotes(term, "=") {
        let text = text.strip_prefix('=').unwrap_or(text);
        return expression(key, Operator::In(vec![value(text, term)?]), term);
    }
    expression(term, Operator::Exists, term)
}

/// Splits at a sign that stands before all quotes.
fn split_before_quotes<'t>(term: &'t str, sign: &str) -> Option<(&'t str, &'t str)> {
    let open = term.find('"').unwrap_or(term.len());
    let at = term[..open].find(sign)?;
    Some((&term[..at], &term[at + sign.len()..]))
}

fn parse_set(left: &str, list: &str, term: &str) -> Result<Expression, String> {
    let Some(list) = list.strip_suffix(')') else {
        return Err(format!(
            "selector term `{term}` goes on after its parenthesis"
        ));
    };
    let mut quoted = false;
    let at_comma = |c: char| {
        quoted ^= c == '"';
        c == ',' && !quoted
    };
    let values = list
        .split(at_comma)
        .map(|text| value(text, term))
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
    if let Some(unknown) = unknown_fact(&key) {
        return Err(format!(
            "selector term `{term}`: {unknown}; {}",
            all_facts()
        ));
    }
    Ok(Expression { key, operator })
}

/// A value: plain, or anything between quotes.
fn value(text: &str, term: &str) -> Result<String, String> {
    let quoted = text
        .trim()
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    match quoted {
        Some(inner) if !inner.contains('"') => Ok(inner.to_owned()),
        Some(_) | None => plain(text, term),
    }
}

/// A label name or value: no spaces and none of the selector's own signs.
fn plain(text: &str, term: &str) -> Result<String, String> {
    let text = text.trim();
    match text
        .chars()
        .find(|c| c.is_whitespace() || "()!=,<>\"".contains(*c))
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
            ("a=\"b", "selector `a=\"b` leaves a quote open"),
            (
                "a=b\"c\"",
                "selector term `a=b\"c\"` has a `\"` where a label name or value stands",
            ),
            (
                "redfish.modell=x",
                "selector term `redfish.modell=x`: no fact of the hardware is called `redfish.modell`; facts are \
                 `redfish.vendor`, `redfish.model`, `redfish.platform`, `redfish.bmc_version`, `redfish.bios_version`",
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

    #[test]
    fn quotes_hold_what_hardware_says_of_itself() {
        let label = |name: &str| match name {
            "redfish.model" => Label::Is("PowerEdge R740 (14G), rev=2"),
            _ => Label::Absent,
        };
        let cases = [
            "redfish.model=\"PowerEdge R740 (14G), rev=2\"",
            "redfish.model in (x, \"PowerEdge R740 (14G), rev=2\")",
            "redfish.model != \"PowerEdge R740\",!redfish.bios_version",
        ];
        for text in cases {
            let selector = Selector::parse(text).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(selector.judge(label), Some(true), "{text}");
            assert!(selector.needs_facts());
        }
    }

    #[test]
    fn what_was_not_read_yet_decides_only_where_nothing_else_does() {
        let label = |name: &str| match name {
            "rack" => Label::Is("r04"),
            "redfish.platform" => Label::Unknown,
            _ => Label::Absent,
        };
        let cases = [
            ("redfish.platform=ilo6", None),
            ("redfish.platform!=ilo6", None),
            ("!redfish.platform", None),
            ("rack=r04,redfish.platform", None),
            ("redfish.platform,rack=r05", Some(false)),
            ("rack=r04", Some(true)),
        ];
        for (text, expected) in cases {
            let selector = Selector::parse(text).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(selector.judge(label), expected, "{text}");
        }
    }
}
