//! The order of two texts that one rule has read.

use std::cmp::Ordering;

use super::comparison::{Comparison, Verdict};
use super::platform::generation;
use super::reading::Reading;
use super::rule::{Family, Field, Missing, Radix, Rule, Unnamed};

/// Family first, then fields, then whatever may contradict them, then builds and dates where the fields tie.
pub(super) fn verdict(rule: &Rule, a: &Reading, b: &Reading, platform: Option<&str>) -> Verdict {
    let families = (
        family(&rule.family, a, platform),
        family(&rule.family, b, platform),
    );
    let is_one_named = match &families {
        (Some(left), Some(right)) if left != right => {
            return Verdict::incomparable(format!("`{left}` and `{right}` are different families"));
        }
        (Some(_), Some(_)) | (None, None) => false,
        (Some(_), None) | (None, Some(_)) => rule.family.unnamed == Unnamed::OnlyTwin,
    };
    if rule.fields.is_empty() {
        return Verdict::incomparable("such texts are equal or incomparable");
    }
    let decided = by_fields(rule, a, b);
    let decided = contradiction(rule, a, b, decided.comparison).unwrap_or(decided);
    let decided = if decided.comparison == Comparison::Equal {
        tie(rule, a, b, decided)
    } else {
        decided
    };
    if is_one_named && !(decided.comparison == Comparison::Equal && has_witness(rule, a, b)) {
        return Verdict::incomparable("only one of them names its family");
    }
    decided
}

fn by_fields(rule: &Rule, a: &Reading, b: &Reading) -> Verdict {
    for field in rule.fields {
        let (left, right) = (a.value(field.group), b.value(field.group));
        let shown = (left.unwrap_or("none"), right.unwrap_or("none"));
        match order_field(field, left, right) {
            Some(Ordering::Equal) => {}
            Some(ordering) => return Verdict::ordered(ordering, field.group, shown.0, shown.1),
            None => {
                let why = format!(
                    "{} `{}` and `{}` have no order between them",
                    field.group, shown.0, shown.1
                );
                return Verdict::incomparable(why);
            }
        }
    }
    Verdict::equal("every field agrees")
}

/// Where both texts say the same thing twice and the second saying does not bear out the first.
fn contradiction(rule: &Rule, a: &Reading, b: &Reading, decided: Comparison) -> Option<Verdict> {
    rule.confirms.iter().find_map(|field| {
        let (left, right) = (a.value(field.group)?, b.value(field.group)?);
        let second = order_dotted(left, right);
        let agrees = second == Ordering::Equal || Comparison::from(second) == decided;
        (!agrees && decided != Comparison::Incomparable).then(|| {
            Verdict::incomparable(format!(
                "{} `{left}` and `{right}` contradict the rest",
                field.group
            ))
        })
    })
}

/// In a tie a date on both sides decides; with none, or the same one, builds must not differ.
fn tie(rule: &Rule, a: &Reading, b: &Reading, tied: Verdict) -> Verdict {
    let dates = a
        .date
        .as_ref()
        .zip(b.date.as_ref())
        .map(|(left, right)| left.order(right));
    if let Some(ordering @ (Ordering::Less | Ordering::Greater)) = dates {
        let shown = rule
            .date
            .and_then(|group| a.value(group).zip(b.value(group)))
            .unwrap_or_default();
        return Verdict::ordered(ordering, "numbers tie, date", shown.0, shown.1);
    }
    let differing = rule
        .builds
        .iter()
        .find(|group| a.value(group) != b.value(group));
    differing.map_or(tied, |group| {
        let (left, right) = (
            a.value(group).unwrap_or("none"),
            b.value(group).unwrap_or("none"),
        );
        Verdict::incomparable(format!(
            "{group} `{left}` and `{right}` have no order between them"
        ))
    })
}

/// Whether a date, a confirming field or a build is on both sides; in a tie they are known to agree.
fn has_witness(rule: &Rule, a: &Reading, b: &Reading) -> bool {
    let groups = rule
        .confirms
        .iter()
        .map(|field| field.group)
        .chain(rule.date)
        .chain(rule.builds.iter().copied());
    groups
        .into_iter()
        .any(|group| a.value(group).is_some() && b.value(group).is_some())
}

/// What a text belongs to; `None` where neither the text nor the platform says.
fn family(family: &Family, reading: &Reading, platform: Option<&str>) -> Option<String> {
    let named: Vec<&str> = family
        .groups
        .iter()
        .filter_map(|group| reading.value(group))
        .collect();
    if named.is_empty() {
        let stated = platform
            .zip(family.generation)
            .and_then(|(platform, word)| generation(platform, word));
        return stated.filter(|digits| !digits.is_empty());
    }
    let name = named.join(" ");
    let number = name.parse::<u32>().ok();
    let band = family
        .bands
        .iter()
        .find(|band| number.is_some_and(|n| (band.lowest..=band.highest).contains(&n)));
    Some(band.map_or(name, |band| band.name.to_owned()))
}

fn order_field(field: &Field, a: Option<&str>, b: Option<&str>) -> Option<Ordering> {
    match (a, b) {
        (Some(a), Some(b)) => order_values(field.radix, a, b),
        (None, None) => Some(Ordering::Equal),
        (Some(a), None) => Some(against_none(field.missing, a)),
        (None, Some(b)) => Some(against_none(field.missing, b).reverse()),
    }
}

/// How a value stands to a text that has none.
fn against_none(missing: Missing, value: &str) -> Ordering {
    match missing {
        Missing::Newer => Ordering::Less,
        Missing::Zero if value.bytes().all(|b| b == b'0') => Ordering::Equal,
        Missing::Zero => Ordering::Greater,
    }
}

fn order_values(radix: Radix, a: &str, b: &str) -> Option<Ordering> {
    let is_number = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    match radix {
        Radix::Letter => Some(a.cmp(b)),
        Radix::Mark if is_number(a) != is_number(b) => None,
        Radix::Decimal | Radix::Hex | Radix::Base36 | Radix::Mark => Some(order_digits(a, b)),
    }
}

/// The order of two numbers in the same base, of any length: zeros in front aside, longer is more, then the digits
/// decide. In ASCII digits come before letters, so one function serves every base up to 36.
pub(super) fn order_digits(a: &str, b: &str) -> Ordering {
    let (a, b) = (a.trim_start_matches('0'), b.trim_start_matches('0'));
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

/// The order of two dotted numbers with as many fields.
fn order_dotted(a: &str, b: &str) -> Ordering {
    let fields = a.split('.').zip(b.split('.'));
    fields
        .map(|(a, b)| order_digits(a, b))
        .find(|ordering| ordering.is_ne())
        .unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_no_largest() {
        let nines = "9".repeat(60);
        assert_eq!(
            order_digits(&nines, &format!("1{}", "0".repeat(60))),
            Ordering::Less
        );
        assert_eq!(order_digits("00000002", "2"), Ordering::Equal);
        assert_eq!(order_digits("a4", "64"), Ordering::Greater);
    }

    #[test]
    fn a_number_and_a_letter_have_no_order() {
        assert_eq!(order_values(Radix::Mark, "8", "e"), None);
    }
}
