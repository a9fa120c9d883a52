//! This room orders versions as far as the mock must: numbers by value, the rest by letters.
//!
//! It deliberately knows no vendor; whoever scripts requirements uses versions that this order fits.

use std::cmp::Ordering;

/// Whether `one` is older than `other`.
pub(super) fn is_older(one: &str, other: &str) -> bool {
    compare(one, other) == Ordering::Less
}

fn compare(one: &str, other: &str) -> Ordering {
    let (one, other) = (parts(one), parts(other));
    let pairs = one.iter().zip(&other);
    let unequal = pairs
        .map(|(one, other)| one.cmp(other))
        .find(|order| *order != Ordering::Equal);
    unequal.unwrap_or_else(|| one.len().cmp(&other.len()))
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Text(String),
    Number(u64),
}

fn parts(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = text.trim();
    while let Some(first) = rest.chars().next() {
        let digits = first.is_ascii_digit();
        let end = rest
            .find(|letter: char| letter.is_ascii_digit() != digits)
            .unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        let number = part.parse().ok().filter(|_| digits);
        parts.push(number.map_or_else(|| Part::Text(part.to_owned()), Part::Number));
        rest = after;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_by_value() {
        for (one, other) in [
            ("1.9", "1.10"),
            ("1.50", "1.60"),
            ("iLO 6 v1.60", "iLO 6 v1.68"),
            ("1.5", "1.5.1"),
        ] {
            assert!(is_older(one, other), "{one} {other}");
            assert!(!is_older(other, one), "{other} {one}");
        }
        assert!(!is_older("1.50", "1.50"));
    }
}
