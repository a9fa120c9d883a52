//! The walk over a parsed file beside its form.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::form::{Form, TableForm};
use super::mask::secret_part;
use super::nearest::nearest;
use crate::pipeline::diagnostic::{Diagnostic, SourceId};

/// What a walk leaves behind besides findings.
pub(super) struct Walk<'a> {
    pub(super) source: SourceId,
    pub(super) findings: &'a mut Vec<Diagnostic>,
    /// Keys by the start of their value.
    pub(super) keys: BTreeMap<usize, Range<usize>>,
    /// Keys that were taken out or are likely meant by one that was, by the place of their table.
    pub(super) pruned: BTreeSet<(usize, usize, String)>,
    /// Bytes that nobody may see.
    pub(super) secrets: Vec<Range<usize>>,
}

impl Walk<'_> {
    /// Checks a whole file and takes out what is wrong.
    pub(super) fn file(&mut self, root: &mut Spanned<DeTable<'_>>, form: &Form) {
        let span = root.span();
        match form {
            Form::Table(form) => self.table(root.get_mut(), &span, form, ""),
            Form::Any
            | Form::Text
            | Form::Choice(_)
            | Form::Integer { .. }
            | Form::Number
            | Form::Boolean
            | Form::List { .. }
            | Form::Either(_) => unreachable!("a file is a table"),
        }
    }

    fn table(
        &mut self,
        table: &mut DeTable<'_>,
        span: &Range<usize>,
        form: &TableForm,
        path: &str,
    ) {
        let mut wrong = Vec::new();
        for (key, value) in table.iter_mut() {
            self.keys.insert(value.span().start, key.span());
            let name = key.get_ref().as_ref();
            self.secrets.extend(secret_part(name, value));
            let known = form
                .fields
                .iter()
                .find(|field| field.key == name)
                .map(|field| &field.form);
            let keep = match known.or(form.rest.as_deref()) {
                Some(form) => self.value(value, form, &join(path, name)),
                None => self.unknown_key(key, span, form, path),
            };
            if !keep {
                self.pruned.insert((span.start, span.end, name.to_owned()));
                wrong.push(name.to_owned());
            }
        }
        self.missing_keys(table, span, form, path);
        self.key_count(table, span, form, path);
        for name in wrong {
            table.remove(name.as_str());
        }
    }

    fn unknown_key(
        &mut self,
        key: &Spanned<std::borrow::Cow<'_, str>>,
        table: &Range<usize>,
        form: &TableForm,
        path: &str,
    ) -> bool {
        let name = key.get_ref();
        let known = || form.fields.iter().map(|field| field.key.as_str());
        let meant = nearest(name, known());
        if let Some(meant) = meant {
            self.pruned
                .insert((table.start, table.end, meant.to_owned()));
        }
        let hint = match meant {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("known keys here: {}", list(known())),
        };
        let message = format!("unknown key `{name}`{}", inside(path));
        self.error(key.span(), message, "not known here").hint(hint);
        false
    }

    fn missing_keys(
        &mut self,
        table: &DeTable<'_>,
        span: &Range<usize>,
        form: &TableForm,
        path: &str,
    ) {
        for field in form.fields.iter().filter(|field| field.required) {
            let key = field.key.as_str();
            let pruned = self
                .pruned
                .contains(&(span.start, span.end, key.to_owned()));
            if !pruned && !table.contains_key(key) {
                let message = format!("missing key `{key}`{}", inside(path));
                let label = if path.is_empty() {
                    "in this file"
                } else {
                    "in this table"
                };
                self.error(span.clone(), message, label)
                    .hint(format!("`{key}`: {}", field.meaning));
            }
        }
    }

    fn key_count(
        &mut self,
        table: &DeTable<'_>,
        span: &Range<usize>,
        form: &TableForm,
        path: &str,
    ) {
        let found = u64::try_from(table.len()).unwrap_or(u64::MAX);
        let known = || list(form.fields.iter().map(|field| field.key.as_str()));
        if found < form.minimum {
            let hint = format!("give one of {}", known());
            self.error(span.clone(), format!("`{path}` is empty"), "nothing in it")
                .hint(hint);
        } else if found > form.maximum {
            let hint = format!("keep one of {}", known());
            self.error(
                span.clone(),
                format!("`{path}` says more than one thing"),
                "too many keys",
            )
            .hint(hint);
        }
    }

    /// Checks a value; whether it may stay.
    fn value(&mut self, value: &mut Spanned<DeValue<'_>>, form: &Form, path: &str) -> bool {
        let span = value.span();
        if let Form::Either(forms) = form {
            return match forms.iter().find(|form| fits_type(value.get_ref(), form)) {
                Some(form) => self.value(value, form, path),
                None => self.wrong_type(value, form, path),
            };
        }
        match (form, value.get_mut()) {
            (Form::Text, DeValue::String(_)) | (Form::Boolean, DeValue::Boolean(_)) => true,
            (Form::Choice(words), DeValue::String(word)) => self.choice(&span, word, words, path),
            (Form::Number, DeValue::Integer(_) | DeValue::Float(_)) => self.number(value, path),
            (Form::Integer { minimum, maximum }, DeValue::Integer(_)) => {
                self.number(value, path) && self.bounds(value, *minimum, *maximum, path)
            }
            (Form::List { item, minimum }, DeValue::Array(items)) => {
                if *minimum > 0 && items.is_empty() {
                    self.error(span, format!("`{path}` is empty"), "nothing in it")
                        .hint("give at least one");
                }
                let kept: Vec<_> = std::mem::replace(items, DeArray::new())
                    .into_iter()
                    .filter_map(|mut value| self.value(&mut value, item, path).then_some(value))
                    .collect();
                *items = kept.into_iter().collect();
                true
            }
            (Form::Table(form), DeValue::Table(table)) => {
                self.table(table, &span, form, path);
                true
            }
            (Form::Any, _) => self.any(value, path),
            (_, _) => self.wrong_type(value, form, path),
        }
    }

    /// Anything may stand here but what JSON cannot hold.
    fn any(&mut self, value: &mut Spanned<DeValue<'_>>, path: &str) -> bool {
        let span = value.span();
        match value.get_mut() {
            DeValue::String(_) | DeValue::Boolean(_) => true,
            DeValue::Integer(_) | DeValue::Float(_) => self.number(value, path),
            DeValue::Datetime(_) => {
                let message = format!("`{path}` is a date, which JSON does not have");
                self.error(span, message, "found a date")
                    .hint("put it in quotes");
                false
            }
            DeValue::Array(items) => {
                let kept: Vec<_> = std::mem::replace(items, DeArray::new())
                    .into_iter()
                    .filter_map(|mut value| self.any(&mut value, path).then_some(value))
                    .collect();
                *items = kept.into_iter().collect();
                true
            }
            DeValue::Table(table) => {
                let form = TableForm {
                    rest: Some(Box::new(Form::Any)),
                    maximum: u64::MAX,
                    ..TableForm::default()
                };
                self.table(table, &span, &form, path);
                true
            }
        }
    }

    /// Numbers that neither JSON nor a 64-bit integer can hold.
    fn number(&mut self, value: &Spanned<DeValue<'_>>, path: &str) -> bool {
        let fits = match value.get_ref() {
            DeValue::Integer(number) => {
                i64::from_str_radix(number.as_str(), number.radix()).is_ok()
            }
            DeValue::Float(number) => number.as_str().parse::<f64>().is_ok_and(f64::is_finite),
            DeValue::String(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_)
            | DeValue::Table(_) => false,
        };
        if !fits {
            let message = format!("`{path}` is not a number that can be written");
            self.error(value.span(), message, "not finite, or more than 64 bits")
                .hint("use a smaller number");
        }
        fits
    }

    fn bounds(
        &mut self,
        value: &Spanned<DeValue<'_>>,
        minimum: i64,
        maximum: i64,
        path: &str,
    ) -> bool {
        let DeValue::Integer(number) = value.get_ref() else {
            return false;
        };
        let found = i64::from_str_radix(number.as_str(), number.radix()).unwrap_or(i64::MAX);
        let (bound, hint) = if found < minimum {
            ("too small", format!("use {minimum} or more"))
        } else if found > maximum {
            ("too big", format!("use {maximum} or less"))
        } else {
            return true;
        };
        self.error(value.span(), format!("`{path}` is {bound}"), bound)
            .hint(hint);
        false
    }

    fn choice(&mut self, span: &Range<usize>, word: &str, words: &[String], path: &str) -> bool {
        if words.iter().any(|known| known == word) {
            return true;
        }
        let known = || words.iter().map(String::as_str);
        let hint = match nearest(word, known()) {
            Some(meant) => format!("did you mean `{meant}`? it can be {}", list(known())),
            None => format!("it can be {}", list(known())),
        };
        let message = format!("`{path}` cannot be `{word}`");
        self.error(span.clone(), message, "not one of its values")
            .hint(hint);
        false
    }

    fn wrong_type(&mut self, value: &Spanned<DeValue<'_>>, form: &Form, path: &str) -> bool {
        let message = format!("`{path}` must be {}", form.expected());
        let label = format!("found {}", found(value.get_ref()));
        let hint = match (form, value.get_ref()) {
            (
                Form::Text | Form::Choice(_),
                DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_),
            ) => "put it in quotes".to_owned(),
            (Form::Integer { .. } | Form::Number | Form::Boolean, DeValue::String(_)) => {
                "leave out the quotes".to_owned()
            }
            (Form::List { .. }, _) => "put it in `[` and `]`".to_owned(),
            (Form::Table(form), _) if !form.fields.is_empty() => {
                format!(
                    "write a table with {}",
                    list(form.fields.iter().map(|field| field.key.as_str()))
                )
            }
            (_, _) => format!("write {}", form.expected()),
        };
        self.error(value.span(), message, label).hint(hint);
        false
    }

    fn error(
        &mut self,
        span: Range<usize>,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> &mut Diagnostic {
        self.findings
            .push(Diagnostic::error(self.source, span, message, label));
        self.findings.last_mut().expect("one was pushed just now")
    }
}

fn fits_type(value: &DeValue<'_>, form: &Form) -> bool {
    match value {
        DeValue::String(_) => matches!(form, Form::Text | Form::Choice(_)),
        DeValue::Integer(_) => matches!(form, Form::Integer { .. } | Form::Number),
        DeValue::Float(_) => matches!(form, Form::Number),
        DeValue::Boolean(_) => matches!(form, Form::Boolean),
        DeValue::Datetime(_) => false,
        DeValue::Array(_) => matches!(form, Form::List { .. }),
        DeValue::Table(_) => matches!(form, Form::Table(_)),
    }
}

fn found(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

fn inside(path: &str) -> String {
    if path.is_empty() {
        String::new()
    } else {
        format!(" in `{path}`")
    }
}

fn list<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words
        .map(|word| format!("`{word}`"))
        .collect::<Vec<_>>()
        .join(", ")
}
