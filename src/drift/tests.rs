use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::*;
use crate::model::Target;

fn at(minutes: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_mins(minutes)
}

fn item(name: &str, actual: &str) -> DriftItem {
    DriftItem {
        target: Target::Bmc,
        stage: "s".into(),
        name: name.to_owned(),
        expected: json!("wanted"),
        actual: json!(actual),
        is_recoverable: true,
    }
}

fn found(items: &[DriftItem]) -> Comparison {
    Comparison {
        items: items.to_vec(),
        ..Comparison::default()
    }
}

/// Scenario 90: given a single odd observation, then nothing is declared; two in a row that agree are needed.
#[test]
fn drift_is_what_two_observations_in_a_row_agree_on() {
    let mut watch = Watch::default();
    let change = watch.observe(at(0), &found(&[item("K", "a")]));
    assert!(change.suspected && !change.declared && watch.declared().is_empty());
    let change = watch.observe(at(1), &found(&[item("K", "b")]));
    assert!(change.suspected && !change.declared, "they disagree");
    let change = watch.observe(at(2), &found(&[item("K", "b")]));
    assert!(change.declared && !change.suspected);
    let declared = watch.declared();
    assert_eq!((declared.len(), declared[0].since), (1, at(1)));
    let change = watch.observe(at(3), &found(&[item("K", "b"), item("L", "x")]));
    assert!(change.suspected && !change.declared && !change.cleared);
    let change = watch.observe(at(4), &found(&[]));
    assert!(change.cleared && watch.declared().is_empty());
}

#[test]
fn what_was_seen_before_a_run_does_not_count_behind_it() {
    let mut watch = Watch::default();
    watch.observe(at(0), &found(&[item("K", "a")]));
    watch.forget();
    assert!(!watch.observe(at(1), &found(&[item("K", "a")])).declared);
}

/// Scenario 91: given flapping drift, then recoveries are limited.
#[test]
fn a_bmc_is_brought_back_three_times_a_day_and_a_version_once_a_week() {
    let none = BTreeSet::new();
    let of_settings = |minutes| Recovery {
        at: at(minutes),
        versions: BTreeSet::new(),
    };
    let mut past = vec![of_settings(0), of_settings(60)];
    assert_eq!(stuck(&past, &none, at(120)), None);
    past.push(of_settings(120));
    assert_eq!(stuck(&past, &none, at(180)), Some(Stuck::TooOften));
    assert_eq!(stuck(&past, &none, at(24 * 60)), None, "a day later");
    let bios = BTreeSet::from([Target::Server("s".into())]);
    past = vec![Recovery {
        at: at(0),
        versions: bios.clone(),
    }];
    let again = Some(Stuck::VersionAgain(Target::Server("s".into())));
    assert_eq!(stuck(&past, &bios, at(6 * 24 * 60)), again);
    assert_eq!(stuck(&past, &BTreeSet::from([Target::Bmc]), at(60)), None);
    assert_eq!(stuck(&past, &bios, at(7 * 24 * 60)), None, "a week later");
}

/// Scenario 153, the count: more than three, and more than the twentieth part of a pipeline within an hour.
#[test]
fn many_bmcs_that_drift_within_an_hour_are_left_to_a_person() {
    let mut few = MassDrift::default();
    for (minute, name) in (0..).zip(["a", "b", "c", "c"]) {
        few.drifted(at(minute), &name.into(), 10);
    }
    assert_eq!(few.held(), None);
    few.drifted(at(59), &"d".into(), 10);
    assert_eq!(few.held(), Some((at(59), 4)));
    few.clear();
    assert_eq!(few.held(), None);
    let mut slow = MassDrift::default();
    for (minute, name) in (0..).zip(["a", "b", "c", "d"]) {
        slow.drifted(at(minute * 21), &name.into(), 10);
    }
    assert_eq!(slow.held(), None, "the first is more than an hour ago");
    let mut large = MassDrift::default();
    for number in 0..=50 {
        assert_eq!(large.held(), None);
        large.drifted(at(0), &format!("b{number}").as_str().into(), 1000);
    }
    assert_eq!(large.held(), Some((at(0), 51)));
}
