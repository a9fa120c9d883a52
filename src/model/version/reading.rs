//! A text read by a rule.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use super::absent::Clean;
use super::date::Date;
use super::rule::{Form, Reach, Rule};
use super::table::rules;

/// What a rule found in a text.
#[derive(Debug)]
pub(super) struct Reading {
    /// Of the form that fitted.
    pub(super) reach: Reach,
    /// The rule's date, where the text has one.
    pub(super) date: Option<Date>,
    /// Groups that took part, in lower case.
    values: BTreeMap<String, String>,
}

impl Reading {
    /// The text of a group; `None` where the form, or this text, has none.
    pub(super) fn value(&self, group: &str) -> Option<&str> {
        self.values.get(group).map(String::as_str)
    }

    /// Whether any group holds a letter.
    pub(super) fn has_letter(&self) -> bool {
        self.values
            .values()
            .any(|value| value.bytes().any(|b| b.is_ascii_alphabetic()))
    }
}

/// Reads a text by the first form of a rule that fits. A form does not fit where its date is not in the calendar.
pub(super) fn read(rule: &Rule, text: &Clean) -> Option<Reading> {
    rule.forms
        .iter()
        .find_map(|form| read_form(rule, form, text))
}

fn read_form(rule: &Rule, form: &Form, text: &Clean) -> Option<Reading> {
    let pattern = PATTERNS.get(form.pattern)?;
    let captures = pattern.captures(if form.own_case {
        &text.own
    } else {
        &text.lower
    })?;
    let values: BTreeMap<String, String> = pattern
        .capture_names()
        .flatten()
        .filter_map(|group| {
            Some((
                group.to_owned(),
                captures.name(group)?.as_str().to_ascii_lowercase(),
            ))
        })
        .collect();
    let date = match rule.date.and_then(|group| values.get(group)) {
        Some(stated) => Some(Date::parse(stated)?),
        None => None,
    };
    Some(Reading {
        reach: form.reach,
        date,
        values,
    })
}

/// Every form's pattern, compiled once: the table is constant, and so is this.
static PATTERNS: LazyLock<BTreeMap<&'static str, Regex>> = LazyLock::new(|| {
    let forms = rules().iter().flat_map(|rule| rule.forms);
    forms
        .filter_map(|form| Some((form.pattern, compile(form).ok()?)))
        .collect()
});

/// ASCII only: `\d` is a digit that a BMC would send, and no other script's.
fn compile(form: &Form) -> Result<Regex, regex::Error> {
    Regex::new(&format!("(?-u)^(?:{})$", form.pattern))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles_and_has_the_groups_that_its_rule_speaks_of() {
        for rule in rules() {
            let mut groups = Vec::new();
            for form in rule.forms {
                match compile(form) {
                    Ok(pattern) => {
                        groups.extend(pattern.capture_names().flatten().map(str::to_owned));
                    }
                    Err(error) => panic!("{}: {error}", rule.name),
                }
            }
            let spoken = rule
                .fields
                .iter()
                .chain(rule.confirms)
                .map(|field| field.group);
            let spoken = spoken
                .chain(rule.family.groups.iter().copied())
                .chain(rule.builds.iter().copied());
            for group in spoken.chain(rule.date) {
                assert!(
                    groups.iter().any(|name| name == group),
                    "{}: no group {group}",
                    rule.name
                );
            }
        }
    }
}
