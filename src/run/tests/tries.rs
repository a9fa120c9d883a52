//! Whole tries of a stage: as many as it may have, each after the wait that the last one needs, and no more.

use std::time::Duration;

use super::bench::Bench;
use super::habit::Ending;
use super::texts::{bios_hop, bios_settings, bmc_hop, bmc_hop_with};
use crate::model::{Fault, FaultKind, Retry};
use crate::run::deadline::after;
use crate::run::{Record, RunPhase};

fn failed_tasks(mut bench: Bench) -> Bench {
    bench.model.habits.ending = Ending::Fails("Exception", "Critical");
    bench
}

#[test]
fn one_try_is_all_that_a_stage_has_unless_it_says_otherwise() {
    let mut bench = failed_tasks(Bench::one(&bmc_hop("1.60")));
    bench.fails("the task ended Exception");
    assert_eq!(bench.sent("update"), 1);
}

#[test]
fn the_next_try_waits_for_what_the_last_one_may_still_be_doing() {
    let mut bench = failed_tasks(Bench::one(&bmc_hop_with("1.60", "attempts = 2")));
    bench.until_told("the last try may still be flashing");
    let began = bench.model.now;
    bench.model.habits.ending = Ending::Good("OK");
    bench.model.tasks[0].purged = true;
    bench.until("sent again", |bench| bench.sent("update") == 2);
    assert!(bench.model.now >= after(began, Duration::from_mins(19)));
    bench.completes(&["update bmc to 1.60", "update bmc to 1.60"]);
}

#[test]
fn a_try_that_shows_its_effect_late_needs_no_second_one() {
    let mut bench = failed_tasks(Bench::one(&bmc_hop_with("1.60", "attempts = 2")));
    bench.until_told("the last try may still be flashing");
    bench.model.bmc = "1.60".to_owned();
    bench.completes(&["update bmc to 1.60"]);
}

#[test]
fn tries_end_when_they_are_used_up() {
    let mut bench = failed_tasks(Bench::one(&bmc_hop_with("1.60", "attempts = 3")));
    bench.fails("the task ended Exception");
    assert_eq!(bench.sent("update"), 3);
    let again = bench
        .journal
        .iter()
        .filter(|(_, r)| matches!(r, Record::Retrying { .. }));
    assert_eq!(again.count(), 2);
}

#[test]
fn a_process_that_dies_between_two_tries_does_not_begin_to_count_anew() {
    let mut bench = failed_tasks(Bench::one(&bmc_hop_with("1.60", "attempts = 2")));
    bench.until_told("the last try may still be flashing");
    bench.restart();
    bench.fails("the task ended Exception");
    assert_eq!(bench.sent("update"), 2);
}

#[test]
fn an_update_that_was_sent_anew_after_a_doubt_counts_as_a_try() {
    let mut bench = failed_tasks(Bench::one(&bmc_hop_with("1.60", "attempts = 2")));
    bench.model.habits.lose_requests = 1;
    bench.fails("the task ended Exception");
    assert_eq!(bench.sent("update"), 1);
}

#[test]
fn a_refused_update_is_not_asked_for_again() {
    let mut bench = Bench::one(&bmc_hop_with("1.60", "attempts = 3"));
    bench.model.habits.refuses_updates = Some("the image is not for this BMC");
    bench.fails("the image is not for this BMC");
    assert_eq!(bench.model.ledger, ["(an update was refused)"]);
}

#[test]
fn a_bmc_that_says_come_later_is_asked_again() {
    let mut bench = Bench::one(&bmc_hop("1.60"));
    bench.model.habits.later = 3;
    assert_eq!(bench.run(), RunPhase::Completed, "{}", bench.story());
    assert_eq!(bench.sent("(come later)"), 3);
    assert_eq!(bench.sent("update"), 1);
}

#[test]
fn a_bmc_that_says_come_later_for_ever_is_given_up() {
    let mut bench = Bench::one(&bmc_hop("1.60"));
    bench.model.habits.later = u32::MAX;
    bench.fails("asked again for 30 min, always in vain");
    assert_eq!(bench.sent("update"), 0);
}

#[test]
fn settings_are_tried_again_as_often_as_they_may() {
    let rest = "attempts = 2\nsettings = { QuietBoot = false }";
    let mut bench = Bench::one(&bios_settings("quiet", rest));
    bench.model.habits.silently_kept = ["QuietBoot".to_owned()].into();
    bench.fails("settings were accepted and are not in effect");
    assert_eq!(bench.sent("patch"), 2);
    assert_eq!(bench.sent("GracefulRestart"), 2);
}

#[test]
fn a_second_try_of_settings_that_works_completes_the_stage() {
    let rest = "attempts = 2\nsettings = { QuietBoot = false }";
    let mut bench = Bench::one(&bios_settings("quiet", rest));
    bench.model.habits.silently_kept = ["QuietBoot".to_owned()].into();
    bench.until("tried again", |b| {
        b.has(|r| matches!(r, Record::Retrying { .. }))
    });
    bench.model.habits.silently_kept.clear();
    assert_eq!(bench.run(), RunPhase::Completed, "{}", bench.story());
    assert_eq!(bench.sent("patch"), 2);
}

#[test]
fn refused_credentials_are_held_and_nothing_is_tried_with_them() {
    let mut bench = Bench::one(&bios_hop("2.20"));
    bench.turn();
    let fault = Fault::new(FaultKind::CredentialsBad, Retry::Operator, "refused before");
    bench.model.habits.answers = Some(fault);
    bench.holds("refused before");
    bench.model.habits.answers = None;
    bench.until("awake", |bench| bench.phase() != RunPhase::Held);
    assert_eq!(bench.run(), RunPhase::Completed, "{}", bench.story());
}

#[test]
fn a_bmc_that_stays_away_without_having_said_so_is_held() {
    let mut bench = Bench::one(&bios_hop("2.20"));
    bench.turn();
    bench.model.gone_until = Some(after(bench.model.now, Duration::from_hours(1)));
    bench.holds("see to its power and network, then apply again");
    bench.until("awake", |bench| bench.phase() != RunPhase::Held);
    assert_eq!(bench.run(), RunPhase::Completed, "{}", bench.story());
}
