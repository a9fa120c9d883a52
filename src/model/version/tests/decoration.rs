//! What does not make two versions differ, and what an answer tells.

use crate::model::component::Component;
use crate::model::version::{Comparison, compare, rules};

#[test]
fn decoration_is_no_difference() {
    for (a, b) in [
        ("U54 v2.50 (12/04/2023)", "u54 V2.50"),
        ("iLO 6 v1.60", "ilo 6  V1.60 "),
        ("iLO 6 v1.60", "iLO6 v1.60"),
        ("1.60", "v1.60"),
        ("1.60", "1.60 (01/02/2026)"),
        ("v1.60", "1.60 Jan 02 2026"),
        ("1.60", "01.60.00"),
        ("Foo v1.6", "FOO 1.6 2026-01-02"),
    ] {
        for platform in [None, Some("generic"), Some("hpe")] {
            let found = compare(a, b, platform, None);
            assert_eq!(
                found.comparison,
                Comparison::Equal,
                "{a} {b}: {} {}",
                found.rule,
                found.explanation
            );
        }
    }
}

#[test]
fn a_date_decides_only_where_both_carry_one_and_the_numbers_tie() {
    let sign = |a: &str, b: &str| compare(a, b, None, None).comparison.sign();
    assert_eq!(sign("1.60 (01/02/2026)", "1.60 (01/03/2026)"), '<');
    assert_eq!(sign("1.60 (01/02/2026)", "1.61 (01/01/2020)"), '<');
    assert_eq!(sign("iLO 5 v2.72", "2.72 Sep 04 2022"), '=');
    assert_eq!(
        sign("U54 v2.50 (12/04/2023)", "U54 v2.50 (11/30/2024)"),
        '<'
    );
}

/// Read as `1.06`, such a text would make every live `1.60` look ahead of it.
#[test]
fn an_hpe_number_with_one_place_too_few_is_not_read() {
    for (a, b) in [
        ("iLO 6 v1.6", "iLO 6 v1.60"),
        ("U54 v2.5", "U54 v2.50 (12/04/2023)"),
        ("iLO 6 v1.6", "1.60"),
    ] {
        for platform in [None, Some("hpe")] {
            let found = compare(a, b, platform, None);
            assert_eq!(
                found.comparison,
                Comparison::Incomparable,
                "{a} {b}: {}",
                found.explanation
            );
        }
    }
}

#[test]
fn the_answer_names_its_rule_and_shows_what_decided() {
    for (a, b, rule, shown) in [
        (
            "U54 v2.50",
            "A56 v1.20",
            "hpe rom",
            "`u54` and `a56` are different families",
        ),
        (
            "iLO 5 v2.72",
            "iLO 5 v3.02",
            "hpe ilo",
            "major `2` is below `3`",
        ),
        ("1.60", "1.80", "plain fields", "field `60` is below `80`"),
        ("1.60", "1.60", "text", "both are the same text"),
        ("N/A", "1.60", "absent", "`N/A` states no version"),
        (
            "iLO 5 v2.72",
            "2.72.x",
            "hpe ilo",
            "only `iLO 5 v2.72` is written as `hpe ilo` is",
        ),
    ] {
        let found = compare(a, b, None, None);
        assert_eq!(
            (found.rule, found.explanation.as_str()),
            (rule, shown),
            "{a} {b}"
        );
    }
}

#[test]
fn a_platform_brings_its_own_rules_and_keeps_others_out() {
    let rule = |platform, component| compare("2.19.1", "2.9.4", platform, component).rule;
    assert_eq!(rule(Some("dell"), Some(Component::Bios)), "dell bios");
    assert_eq!(
        rule(Some("supermicro"), Some(Component::Bmc)),
        "supermicro bmc"
    );
    assert_eq!(rule(None, None), "plain fields");
    // Two generations of iDRAC by shape are nothing of the kind on another vendor's board.
    assert_eq!(
        compare("2.10.10.10", "3.10.10.10", Some("supermicro"), None).comparison,
        Comparison::Less
    );
    assert_eq!(
        compare("2.10.10.10", "3.10.10.10", None, None).comparison,
        Comparison::Incomparable
    );
}

#[test]
fn a_text_too_long_for_a_version_is_equal_or_incomparable() {
    let (long, longer) = ("1.".repeat(200) + "1", "1.".repeat(200) + "2");
    assert_eq!(
        compare(&long, &long, None, None).comparison,
        Comparison::Equal
    );
    assert_eq!(
        compare(&long, &longer, None, None).comparison,
        Comparison::Incomparable
    );
}

#[test]
fn every_rule_has_a_name_of_its_own_and_says_what_it_is_for() {
    for (at, rule) in rules().iter().enumerate() {
        assert!(
            !rule.name.is_empty() && !rule.note.is_empty() && !rule.forms.is_empty(),
            "{}",
            rule.name
        );
        assert!(
            !["text", "plain fields", "absent"].contains(&rule.name),
            "{}",
            rule.name
        );
        assert!(
            rules()
                .iter()
                .skip(at + 1)
                .all(|other| other.name != rule.name),
            "{} twice",
            rule.name
        );
    }
}
