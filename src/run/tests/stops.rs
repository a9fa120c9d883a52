//! An operator stops a run, or the pipeline's failure budget does: nothing further is begun, and nothing is left in the
//! middle.

use std::time::Duration;

use super::bench::{Bench, PERMITS, STOPPING};
use super::habit::Ending;
use super::texts::{bios_hop, bios_settings, bmc_hop, name};
use crate::model::look::Power;
use crate::run::{Permits, Record, RunPhase};

const NO_VERSIONS: Permits = Permits {
    acts: true,
    versions: false,
};

#[test]
fn a_run_that_is_stopped_before_it_writes_writes_nothing() {
    let mut bench = Bench::one(&bmc_hop("1.60"));
    bench.permits = STOPPING;
    bench.go_on_for(Duration::from_hours(1));
    assert!(bench.model.ledger.is_empty());
    assert!(bench.told("stopping: no further step is begun"));
    assert!(bench.machine.is_at_safe_point());
}

#[test]
fn a_flash_is_followed_to_its_end_and_nothing_comes_after_it() {
    let mut bench = Bench::one(&(bmc_hop("1.60") + &bios_hop("2.20")));
    bench.until_sent("update");
    bench.permits = STOPPING;
    assert!(
        bench.machine.is_at_safe_point(),
        "the BMC flashes by itself"
    );
    bench.go_on_for(Duration::from_hours(2));
    assert_eq!(bench.model.ledger, ["update bmc to 1.60"]);
    assert!(bench.has(|r| matches!(r, Record::Done { at, .. } if at.stage.as_str() == "bmc-1.60")));
    bench.permits = PERMITS;
    assert_eq!(bench.run(), RunPhase::Completed, "{}", bench.story());
}

#[test]
fn a_host_that_is_down_by_our_doing_is_brought_up_before_the_run_may_be_left() {
    let mut bench = Bench::one(&bios_hop("2.20"));
    bench.until_sent("GracefulShutdown");
    bench.permits = STOPPING;
    assert!(!bench.machine.is_at_safe_point());
    bench.until("safe", |bench| bench.machine.is_at_safe_point());
    assert_eq!(bench.model.ledger.last().unwrap(), "On s1");
    assert_eq!(bench.model.hosts[&name("s1")].power, Power::On);
}

#[test]
fn a_staged_image_is_not_activated_once_a_stop_is_asked_for() {
    let mut bench = Bench::one(&bios_hop("2.20"));
    bench.until_sent("update");
    bench.permits = STOPPING;
    bench.go_on_for(Duration::from_mins(10));
    assert_eq!(bench.model.ledger, ["update server:s1 to 2.20"]);
    bench.restart();
    bench.permits = PERMITS;
    bench.completes(&["update server:s1 to 2.20", "GracefulShutdown s1", "On s1"]);
}

#[test]
fn written_settings_wait_for_their_reset_until_the_run_goes_on() {
    let mut bench = Bench::one(&bios_settings("quiet", "settings = { QuietBoot = false }"));
    bench.until_sent("patch");
    bench.permits = STOPPING;
    bench.go_on_for(Duration::from_mins(30));
    assert_eq!(bench.sent("GracefulRestart"), 0);
    bench.restart();
    bench.permits = PERMITS;
    bench.completes(&["patch server:s1 QuietBoot", "GracefulRestart s1"]);
}

#[test]
fn a_spent_budget_ends_a_run_before_its_next_hop_and_not_in_the_middle_of_one() {
    let mut bench = Bench::one(&(bmc_hop("1.60") + &bmc_hop("1.70")));
    bench.until_sent("update bmc to 1.60");
    bench.permits = NO_VERSIONS;
    bench.holds("halted: the pipeline's failure budget is spent");
    assert_eq!(bench.model.bmc, "1.60");
    assert_eq!(bench.sent("update"), 1);
    bench.permits = PERMITS;
    bench.until("awake", |bench| bench.phase() != RunPhase::Held);
    bench.completes(&["update bmc to 1.60", "update bmc to 1.70"]);
}

#[test]
fn a_spent_budget_stops_no_settings() {
    let mut bench = Bench::one(&bios_settings("quiet", "settings = { QuietBoot = false }"));
    bench.permits = NO_VERSIONS;
    bench.completes(&["patch server:s1 QuietBoot", "GracefulRestart s1"]);
}

#[test]
fn a_held_run_that_is_taken_up_again_looks_before_it_says_so() {
    let mut bench = Bench::one(&bmc_hop("1.60"));
    bench.model.habits.ending = Ending::Stuck;
    bench.holds("no progress since");
    bench.restart();
    assert_eq!(bench.phase(), RunPhase::InProgress);
    bench.holds("no progress since");
    assert_eq!(bench.model.ledger, ["update bmc to 1.60"]);
}

#[test]
fn nothing_follows_the_end_of_a_run() {
    let mut bench = Bench::one(&bmc_hop("1.60"));
    bench.completes(&["update bmc to 1.60"]);
    let records = bench.journal.len();
    bench.model.bmc = "1.50".to_owned();
    bench.turn();
    assert_eq!(bench.journal.len(), records);
}
