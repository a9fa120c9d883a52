//! A version text without a rule, split into fields.
//!
//! What a field means is deliberately left open wherever its shape does not say it: such a field is opaque, and two
//! different opaque fields have no order.

use super::date::{Date, split_date};

/// A text in fields.
#[derive(Debug, PartialEq)]
pub(super) struct Plain {
    /// What stands before the first number: a product or component.
    pub(super) name: String,
    /// The version, most significant field first.
    pub(super) fields: Vec<PlainField>,
    /// The date at its end.
    pub(super) date: Option<Date>,
}

/// One field with what separates it from the one before.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PlainField {
    /// One of `.`, `-`, `_`, `(`, `~`, a space, or NUL for nothing.
    pub(super) separator: char,
    /// The text.
    pub(super) text: String,
    /// What its shape says.
    pub(super) kind: Kind,
}

/// What the shape of a field says.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// Decimal digits, perhaps with one letter behind.
    Number {
        digits: String,
        letter: Option<char>,
    },
    /// Digits that say themselves that they are hexadecimal.
    Hex(String),
    /// A word for "before the release", perhaps with a number.
    Early { word: &'static str, digits: String },
    /// One word and a number.
    Tagged { word: String, digits: String },
    /// A hash, a word, or a mixture: equal or not, and nothing else.
    Opaque,
}

/// Words that put a version before the plain one.
const EARLY: [&str; 5] = ["alpha", "beta", "rc", "dev", "dirty"];

/// Splits a text in lower case; `None` where a character is in it that no version has, or where it has no number that
/// stands on its own.
pub(super) fn split(text: &str) -> Option<Plain> {
    let (text, date) = split_date(text);
    if !text
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || ".-_() ~".contains(c))
    {
        return None;
    }
    let all = separate(text);
    let start = version_start(&all)?;
    let (name, fields) = all.split_at_checked(start)?;
    let name = name
        .iter()
        .map(|(_, text)| *text)
        .collect::<Vec<_>>()
        .join(" ");
    let fields = fields
        .iter()
        .flat_map(|(separator, text)| read_field(*separator, text))
        .collect();
    Some(Plain { name, fields, date })
}

fn separate(text: &str) -> Vec<(char, &str)> {
    let mut fields = Vec::new();
    let mut separator = '\0';
    for piece in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
        let field = piece.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        if !field.is_empty() {
            fields.push((separator, field));
            separator = '\0';
        }
        let behind = piece
            .chars()
            .last()
            .filter(|c| !c.is_ascii_alphanumeric() && *c != ')');
        // Spaces around another separator are padding.
        separator = match behind {
            Some(' ') | None if separator != '\0' => separator,
            Some(c) => c,
            None => separator,
        };
    }
    fields
}

/// Where the version begins: at a number with `v` before it, else behind the last space of a text that begins with a
/// word, else at the first number.
fn version_start(fields: &[(char, &str)]) -> Option<usize> {
    let begins_with_word = fields
        .first()
        .is_some_and(|(_, text)| text.starts_with(|c: char| c.is_ascii_alphabetic()));
    if !begins_with_word {
        return (!fields.is_empty()).then_some(0);
    }
    let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let marked = fields
        .iter()
        .position(|(_, text)| text.strip_prefix('v').is_some_and(is_number));
    let after_space = fields
        .iter()
        .rposition(|(separator, text)| *separator == ' ' && is_number(text));
    marked
        .or(after_space)
        .or_else(|| fields.iter().position(|(_, text)| is_number(text)))
}

fn read_field(separator: char, text: &str) -> Vec<PlainField> {
    let text = match text.strip_prefix('v') {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_digit()) => rest,
        Some(_) | None => text,
    };
    let field = |separator, text: &str, kind| PlainField {
        separator,
        text: text.to_owned(),
        kind,
    };
    if let Some(digits) = text
        .strip_prefix("0x")
        .filter(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_hexdigit()))
    {
        return vec![field(separator, text, Kind::Hex(digits.to_owned()))];
    }
    let (digits, rest) = text.split_at(
        text.find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len()),
    );
    if digits.is_empty() {
        return vec![field(separator, text, read_word(text))];
    }
    let number = |letter| Kind::Number {
        digits: digits.to_owned(),
        letter,
    };
    let mut letters = rest.chars();
    match (letters.next(), letters.next()) {
        (letter, None) => vec![field(separator, text, number(letter))],
        (Some(_) | None, Some(_)) => match early(rest) {
            Some(early) => vec![
                field(separator, digits, number(None)),
                field('\0', rest, early),
            ],
            None => vec![field(separator, text, Kind::Opaque)],
        },
    }
}

fn read_word(text: &str) -> Kind {
    if let Some(early) = early(text) {
        return early;
    }
    let (word, digits) = text.split_at(
        text.find(|c: char| c.is_ascii_digit())
            .unwrap_or(text.len()),
    );
    let is_hash = word == "g" && digits.len() > 4;
    let is_tagged = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) && !is_hash;
    if is_tagged {
        Kind::Tagged {
            word: word.to_owned(),
            digits: digits.to_owned(),
        }
    } else {
        Kind::Opaque
    }
}

fn early(text: &str) -> Option<Kind> {
    EARLY.iter().find_map(|word| {
        let digits = text.strip_prefix(word)?;
        digits
            .bytes()
            .all(|b| b.is_ascii_digit())
            .then(|| Kind::Early {
                word,
                digits: digits.to_owned(),
            })
    })
}
