//! The plain way through.

use std::time::Duration;

use super::bench::Bench;
use super::texts::{bios_hop, bios_settings, bmc_hop, name};
use crate::model::look::Power;
use crate::run::{How, Record, RunPhase};

fn plain_text() -> String {
    bmc_hop("1.60")
        + &bios_hop("2.20")
        + &bios_settings("quiet", "settings = { QuietBoot = false }")
}

fn plain() -> Bench {
    Bench::one(&plain_text())
}

const PLAIN_LEDGER: [&str; 6] = [
    "update bmc to 1.60",
    "update server:s1 to 2.20",
    "GracefulShutdown s1",
    "On s1",
    "patch server:s1 QuietBoot",
    "GracefulRestart s1",
];

#[test]
fn a_run_goes_through_its_stages_and_sends_each_thing_once() {
    let mut bench = plain();
    bench.completes(&PLAIN_LEDGER);
    assert_eq!(bench.model.bmc, "1.60");
}

#[test]
fn a_finished_pipeline_sends_nothing_again() {
    let mut bench = plain();
    bench.completes(&PLAIN_LEDGER);
    bench.begin_again();
    bench.completes(&PLAIN_LEDGER);
    assert!(
        bench.has(|record| matches!(record, Record::Done { how, .. } if *how == How::AlreadyThere))
    );
}

#[test]
fn a_host_that_was_off_is_off_afterwards() {
    let mut bench = plain();
    bench.model.host("s1").power = Power::Off;
    assert_eq!(bench.run(), RunPhase::Completed, "{}", bench.story());
    assert_eq!(bench.model.hosts[&name("s1")].power, Power::Off);
}

#[test]
fn siblings_take_the_update_service_in_turn_and_overlap_their_waits() {
    let mut bench = Bench::of(&["s1", "s2"], &plain_text());
    bench.until_sent("update server:s2");
    assert_eq!(bench.model.hosts[&name("s1")].bios, "2.20");
    assert_eq!(bench.run(), RunPhase::Completed, "{}", bench.story());
    assert_eq!(bench.sent("update server"), 2);
    let restarts: Vec<_> = bench
        .model
        .ledger
        .iter()
        .filter(|line| line.starts_with("GracefulRestart"))
        .collect();
    assert_eq!(restarts.len(), 2);
}

#[test]
fn where_each_target_may_stage_two_siblings_are_updated_at_once() {
    let mut bench = Bench::of(&["s1", "s2"], &bios_hop("2.20"));
    bench.model.habits.stages_per_target = true;
    bench.until_sent("update server:s2");
    assert_eq!(bench.model.hosts[&name("s1")].bios, "2.10");
    assert_eq!(bench.run(), RunPhase::Completed, "{}", bench.story());
}

#[test]
fn a_blocked_stage_sends_nothing_and_goes_on_once_the_version_can_be_compared() {
    let mut bench = plain();
    bench.model.bmc = "no version at all".to_owned();
    bench.holds("blocked: incomparable");
    bench.model.bmc = "1.50".to_owned();
    bench.turn();
    bench.completes(&PLAIN_LEDGER);
}

#[test]
fn a_bmc_that_is_away_for_a_moment_is_no_failure() {
    let mut bench = plain();
    bench.turn();
    bench.model.gone_until = Some(crate::run::deadline::after(
        bench.model.now,
        Duration::from_mins(5),
    ));
    bench.completes(&PLAIN_LEDGER);
}
