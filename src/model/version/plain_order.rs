//! The order of two texts that no rule reads.

use std::cmp::Ordering;

use super::comparison::{Comparison, Verdict};
use super::order::order_digits;
use super::plain::{Kind, Plain, PlainField, split};

/// Same name, then field by field: numbers as numbers, letters behind numbers are later, words such as `rc` are older,
/// and whatever else differs has no order. A date decides where both have one and all fields tie.
pub(super) fn verdict(a: &str, b: &str) -> Verdict {
    let (left, right) = match (split(a), split(b)) {
        (Some(left), Some(right)) => (left, right),
        (None, Some(_) | None) => return unreadable(a),
        (Some(_), None) => return unreadable(b),
    };
    if left.name != right.name {
        return Verdict::incomparable(format!("names `{}` and `{}` differ", left.name, right.name));
    }
    let decided = by_fields(&left, &right);
    match (decided.comparison, left.date.zip(right.date)) {
        (Comparison::Equal, Some((left, right))) if left.order(&right).is_ne() => {
            Verdict::ordered(left.order(&right), "numbers tie, date of", a, b)
        }
        _ => decided,
    }
}

fn unreadable(text: &str) -> Verdict {
    Verdict::incomparable(format!("`{text}` is not made of fields that have an order"))
}

fn by_fields(a: &Plain, b: &Plain) -> Verdict {
    let (mut ours, mut theirs) = (a.fields.as_slice(), b.fields.as_slice());
    loop {
        let (left, right) = (ours.first(), theirs.first());
        let step = match (left, right) {
            (None, None) => return Verdict::equal("every field agrees"),
            (Some(left), None) => Step::alone(left),
            (None, Some(right)) => Step::alone(right).reversed(),
            // `1.2-rc1` is `1.2.0-rc1`: the zero has no partner, and the word waits for its own.
            (Some(left), Some(right)) if is_before(left) && is_zero(right) => {
                theirs = rest(theirs);
                continue;
            }
            (Some(left), Some(right)) if is_before(right) && is_zero(left) => {
                ours = rest(ours);
                continue;
            }
            (Some(left), Some(right)) if is_fork(left, ours, right, theirs) => Step::Unknown,
            (Some(left), Some(right)) => Step::pair(left, right),
        };
        let shown =
            |field: Option<&PlainField>| field.map_or("none", |f| f.text.as_str()).to_owned();
        let (left, right) = (shown(left), shown(right));
        match step {
            Step::Tie => (ours, theirs) = (rest(ours), rest(theirs)),
            Step::Less => return Verdict::ordered(Ordering::Less, "field", &left, &right),
            Step::Greater => return Verdict::ordered(Ordering::Greater, "field", &left, &right),
            Step::Unknown => {
                return Verdict::incomparable(format!(
                    "fields `{left}` and `{right}` have no order between them"
                ));
            }
        }
    }
}

fn rest(fields: &[PlainField]) -> &[PlainField] {
    fields.get(1..).unwrap_or_default()
}

fn is_zero(field: &PlainField) -> bool {
    let is_nothing = |digits: &str| digits.bytes().all(|b| b == b'0');
    field.separator != '~'
        && matches!(&field.kind, Kind::Number { digits, letter: None } if is_nothing(digits))
}

/// Whether one text goes on with a letter and the other with a field, as `3a` and `3.1` do: both are later than `3`, and
/// nobody says which is later than the other.
fn is_fork(
    left: &PlainField,
    ours: &[PlainField],
    right: &PlainField,
    theirs: &[PlainField],
) -> bool {
    let (
        Kind::Number { digits, letter },
        Kind::Number {
            digits: others,
            letter: other,
        },
    ) = (&left.kind, &right.kind)
    else {
        return false;
    };
    let goes_on = |fields: &[PlainField]| {
        rest(fields)
            .iter()
            .any(|field| !is_zero(field) && !is_before(field))
    };
    order_digits(digits, others).is_eq()
        && match (letter, other) {
            (Some(_), None) => goes_on(theirs) && !goes_on(ours),
            (None, Some(_)) => goes_on(ours) && !goes_on(theirs),
            (Some(_), Some(_)) | (None, None) => false,
        }
}

/// What one field says.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Step {
    Less,
    Tie,
    Greater,
    Unknown,
}

impl From<Ordering> for Step {
    fn from(ordering: Ordering) -> Self {
        match ordering {
            Ordering::Less => Self::Less,
            Ordering::Equal => Self::Tie,
            Ordering::Greater => Self::Greater,
        }
    }
}

impl Step {
    fn reversed(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::Greater => Self::Less,
            Self::Tie | Self::Unknown => self,
        }
    }

    fn pair(a: &PlainField, b: &PlainField) -> Self {
        match (is_before(a), is_before(b)) {
            (true, false) => Self::before(b).reversed(),
            (false, true) => Self::before(a),
            (false, false) if a.separator != b.separator => Self::Unknown,
            (true, true) | (false, false) => Self::like(a, b),
        }
    }

    /// Two fields of which neither, or each, puts its version before the release.
    fn like(a: &PlainField, b: &PlainField) -> Self {
        match (&a.kind, &b.kind) {
            (
                Kind::Number { digits, letter },
                Kind::Number {
                    digits: others,
                    letter: other,
                },
            ) => {
                let decimal = order_digits(digits, others).then(letter.cmp(other));
                if is_doubtful(a, b, decimal) {
                    Self::Unknown
                } else {
                    decimal.into()
                }
            }
            (Kind::Hex(digits), Kind::Hex(others)) => order_digits(digits, others).into(),
            (
                Kind::Early { word, digits },
                Kind::Early {
                    word: other,
                    digits: others,
                },
            ) if word == other => order_digits(digits, others).into(),
            (
                Kind::Tagged { word, digits },
                Kind::Tagged {
                    word: other,
                    digits: others,
                },
            ) if word == other => order_digits(digits, others).into(),
            _ if a.text == b.text => Self::Tie,
            _ => Self::Unknown,
        }
    }

    /// A field beside one that puts its version before the release.
    fn before(field: &PlainField) -> Self {
        match field.kind {
            Kind::Number { .. } => Self::Greater,
            Kind::Hex(_) | Kind::Early { .. } | Kind::Tagged { .. } | Kind::Opaque => Self::Unknown,
        }
    }

    /// A field that the other text, equal so far, does not have.
    fn alone(field: &PlainField) -> Self {
        match &field.kind {
            _ if is_before(field) => Self::Less,
            Kind::Number {
                digits,
                letter: None,
            } if digits.bytes().all(|b| b == b'0') => Self::Tie,
            Kind::Number { .. } => Self::Greater,
            Kind::Hex(_) | Kind::Early { .. } | Kind::Tagged { .. } | Kind::Opaque => Self::Unknown,
        }
    }
}

fn is_before(field: &PlainField) -> bool {
    field.separator == '~' || matches!(field.kind, Kind::Early { .. })
}

/// Whether two numbers with a letter could as well be hexadecimal bytes, and then had another order: same width, at
/// least two places, no letter beyond `f`.
fn is_doubtful(a: &PlainField, b: &PlainField, decimal: Ordering) -> bool {
    let is_hex = |field: &PlainField| {
        field.text.len() > 1 && field.text.bytes().all(|b| b.is_ascii_hexdigit())
    };
    is_hex(a)
        && is_hex(b)
        && a.text.len() == b.text.len()
        && order_digits(&a.text, &b.text) != decimal
}
