//! From two texts to an answer: absent, same text, a rule, plain fields, in this order.

use super::absent::Clean;
use super::comparison::{Compared, Comparison};
use super::platform::speaks_of;
use super::reading::{Reading, read};
use super::rule::{Reach, Rule};
use super::table::rules;
use super::{order, plain_order};
use crate::model::component::Component;

/// Longest text, in bytes, that is read as a version. The longest one known to be in use has some 70 bytes; beyond the
/// bound two texts are equal or incomparable.
const TEXT_BYTES_MAX: usize = 256;

/// How version `a` stands to version `b`.
///
/// `platform` is the name of the platform both come from, `component` what they are the version of. Where they are
/// known, the rules of that platform come first and also take short forms that could be anybody's; where not, rules are
/// tried by shape in the order of the table. A platform no rule speaks of counts as not known.
///
/// Comparing `b` with `a` gives the reversed answer. A text that states a version equals itself.
pub fn compare(a: &str, b: &str, platform: Option<&str>, component: Option<Component>) -> Compared {
    let (left, right) = (Clean::new(a), Clean::new(b));
    if let Some(text) = [(a, &left), (b, &right)]
        .iter()
        .find(|(_, clean)| clean.is_absent())
        .map(|(text, _)| text)
    {
        return Compared::new(
            Comparison::Incomparable,
            "absent",
            format!("`{text}` states no version"),
        );
    }
    if left.lower == right.lower {
        return Compared::new(Comparison::Equal, "text", "both are the same text");
    }
    if left.lower.len().max(right.lower.len()) > TEXT_BYTES_MAX {
        let why = format!("a text of more than {TEXT_BYTES_MAX} bytes is not read as a version");
        return Compared::new(Comparison::Incomparable, "text", why);
    }
    by_rule(&left, &right, platform, component)
        .unwrap_or_else(|| plain_order::verdict(&left.lower, &right.lower).by("plain fields"))
}

/// The first rule that reads both texts decides; one that alone can read one of them forbids every other reading.
fn by_rule(
    a: &Clean,
    b: &Clean,
    platform: Option<&str>,
    component: Option<Component>,
) -> Option<Compared> {
    let mut stranger = None;
    for (rule, needed) in candidates(platform, component) {
        match (read(rule, a), read(rule, b)) {
            (Some(left), Some(right)) => {
                if left.reach.max(right.reach) >= needed && !is_plain(rule, &left, &right) {
                    return Some(order::verdict(rule, &left, &right, platform).by(rule.name));
                }
            }
            (Some(one), None) if is_unmistakable(rule, &one) => {
                stranger = stranger.or(Some((rule, &a.own)));
            }
            (None, Some(one)) if is_unmistakable(rule, &one) => {
                stranger = stranger.or(Some((rule, &b.own)));
            }
            (Some(_) | None, None) | (None, Some(_)) => {}
        }
    }
    stranger.map(|(rule, text)| {
        let why = format!("only `{text}` is written as `{}` is", rule.name);
        Compared::new(Comparison::Incomparable, rule.name, why)
    })
}

/// Whether a text is in nobody else's form: a named one, or one whose letters are hexadecimal digits by its shape. Split
/// into plain fields, these digits would count as letters behind numbers.
fn is_unmistakable(rule: &Rule, reading: &Reading) -> bool {
    reading.reach == Reach::Named || (rule.is_hex() && reading.has_letter())
}

/// The rules to try, those of the platform first, each with the reach that one of both texts must have.
fn candidates(
    platform: Option<&str>,
    component: Option<Component>,
) -> impl Iterator<Item = (&'static Rule, Reach)> {
    let speaks = |rule: &Rule| platform.is_some_and(|platform| speaks_of(platform, rule.platforms));
    let is_known = rules().iter().any(speaks);
    let fits = move |rule: &&Rule| {
        component.is_none() || rule.component.is_none() || rule.component == component
    };
    let (own, others): (Vec<_>, Vec<_>) =
        rules().iter().filter(fits).partition(|rule| speaks(rule));
    let by_shape = move |rule: &'static Rule| {
        let foreign = is_known && !rule.platforms.is_empty();
        (rule, if foreign { Reach::Named } else { Reach::Shaped })
    };
    own.into_iter()
        .map(|rule| (rule, Reach::Short))
        .chain(others.into_iter().map(by_shape))
}

/// Whether a hexadecimal rule has nothing to add: without a hexadecimal letter its order is the decimal one.
fn is_plain(rule: &Rule, a: &Reading, b: &Reading) -> bool {
    let fits_by_chance =
        rule.is_hex() && rule.family.groups.is_empty() && a.reach.max(b.reach) < Reach::Named;
    fits_by_chance && !a.has_letter() && !b.has_letter()
}
