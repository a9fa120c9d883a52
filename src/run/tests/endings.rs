//! How updates end: what a task says is a hint, and the running version is the verdict.

use std::time::Duration;

use super::bench::Bench;
use super::habit::Ending;
use super::texts::{bios_hop, bmc_hop, bmc_hop_with, name};
use crate::run::{How, Record, RunPhase};

fn bmc() -> Bench {
    Bench::one(&bmc_hop("1.60"))
}

fn bios() -> Bench {
    Bench::one(&bios_hop("2.20"))
}

const ACTIVATED: [&str; 3] = ["update server:s1 to 2.20", "GracefulShutdown s1", "On s1"];

#[test]
fn a_task_that_completes_with_a_warning_is_decided_by_the_version() {
    let mut bench = bmc();
    bench.model.habits.ending = Ending::Good("Warning");
    bench.completes(&["update bmc to 1.60"]);
}

#[test]
fn a_task_that_completes_critically_is_a_failure() {
    let mut bench = bmc();
    bench.model.habits.ending = Ending::Good("Critical");
    bench.fails("the task ended Completed (Critical)");
}

#[test]
fn a_failed_task_fails_the_hop_with_its_own_words() {
    let mut bench = bmc();
    bench.model.habits.ending = Ending::Fails("Exception", "Warning");
    bench.fails("update to `1.60` failed: the task ended Exception (Warning), and `1.50` runs");
    assert_eq!(bench.model.ledger, ["update bmc to 1.60"]);
}

#[test]
fn a_cancelled_task_whose_flash_goes_on_is_decided_by_the_version() {
    let mut bench = bmc();
    bench.model.habits.ending = Ending::Fails("Cancelled", "OK");
    bench.until_told("the task ended in failure");
    bench.model.bmc = "1.60".to_owned();
    bench.completes(&["update bmc to 1.60"]);
    assert_eq!(
        bench.status().stages[0].reason,
        "`1.60` is running, though the task ended Cancelled"
    );
}

#[test]
fn a_task_that_is_purged_when_it_ends_proves_nothing_and_the_version_decides() {
    for (mut bench, ledger) in [(bmc(), &["update bmc to 1.60"][..]), (bios(), &ACTIVATED)] {
        bench.model.habits.ending = Ending::Vanishes;
        bench.completes(ledger);
    }
}

#[test]
fn tasks_that_a_restart_forgets_are_not_missed() {
    let mut bench = bmc();
    bench.model.habits.forgets_tasks = true;
    bench.completes(&["update bmc to 1.60"]);
}

#[test]
fn an_update_without_a_handle_is_followed_by_what_it_changes() {
    for (mut bench, ledger) in [(bmc(), &["update bmc to 1.60"][..]), (bios(), &ACTIVATED)] {
        bench.model.habits.hides_tasks = true;
        bench.completes(ledger);
    }
}

#[test]
fn a_host_is_not_restarted_while_nothing_shows_that_an_image_waits_for_it() {
    let mut bench = bios();
    bench.model.habits.hides_tasks = true;
    bench.model.habits.shows_staged = false;
    bench.fails("version did not change: wanted `2.20`, running `2.10`");
    assert_eq!(bench.model.ledger, ["update server:s1 to 2.20"]);
}

#[test]
fn a_task_without_progress_is_held_and_nothing_is_reset() {
    let mut bench = bmc();
    bench.model.habits.ending = Ending::Stuck;
    bench.holds("no progress since");
    bench.go_on_for(Duration::from_hours(5));
    assert_eq!(bench.phase(), RunPhase::Held);
    assert_eq!(bench.model.ledger, ["update bmc to 1.60"]);
}

#[test]
fn a_task_that_takes_longer_than_its_stage_may_is_held_and_followed_on() {
    let mut bench = Bench::one(&bmc_hop_with("1.60", "timeout = \"5m\""));
    bench.holds("the update task has had 5 min and is still Running at 40 %");
    bench.until("awake", |bench| bench.phase() != RunPhase::Held);
    bench.completes(&["update bmc to 1.60"]);
}

#[test]
fn a_bmc_that_waits_for_its_reset_is_reset_once() {
    let mut bench = bmc();
    bench.model.habits.ending = Ending::Waits("Pending");
    bench.model.habits.bmc_waits_for_reset = true;
    bench.completes(&["update bmc to 1.60", "GracefulRestart manager"]);
}

#[test]
fn a_host_whose_task_waits_for_a_person_is_activated() {
    for state in ["UserIntervention", "Stopping", "Suspended"] {
        let mut bench = bios();
        bench.model.habits.ending = Ending::Waits(state);
        bench.completes(&ACTIVATED);
    }
}

#[test]
fn a_good_task_with_an_unchanged_version_is_a_failure() {
    let mut bench = bmc();
    bench.model.habits.writes_instead = Some("1.50".to_owned());
    bench.fails("version did not change: wanted `1.60`, running `1.50`");
    assert_eq!(bench.model.ledger, ["update bmc to 1.60"]);
}

#[test]
fn another_image_than_the_hops_is_never_activated() {
    let mut bench = bios();
    bench.model.habits.writes_instead = Some("2.15".to_owned());
    bench.holds("shows `2.15` as staged, and the hop is `2.20`; nothing is activated");
    assert_eq!(bench.model.ledger, ["update server:s1 to 2.20"]);
}

#[test]
fn a_version_that_is_shown_late_is_waited_for() {
    let mut bench = bmc();
    bench.model.habits.shown_late = Duration::from_mins(10);
    bench.completes(&["update bmc to 1.60"]);
}

#[test]
fn a_bmc_that_does_not_come_back_is_held_and_taken_up_when_it_does() {
    let mut bench = bmc();
    bench.model.habits.never_returns = true;
    bench.holds("it may still be flashing, so nothing is reset");
    bench.model.gone_until = None;
    bench.model.bmc_soon = None;
    bench.model.bmc = "1.60".to_owned();
    bench.until("awake", |bench| bench.phase() != RunPhase::Held);
    bench.completes(&["update bmc to 1.60"]);
}

#[test]
fn a_failed_hop_ends_only_when_nothing_of_it_is_left() {
    let mut bench = bios();
    bench.model.habits.ending = Ending::Fails("Exception", "Critical");
    bench.until_sent("update");
    bench.model.host("s1").staged = Some("2.20".to_owned());
    bench.holds("left behind: /inventory/Systems/s1-staged holds `2.20` for the next boot");
    bench.model.host("s1").staged = None;
    bench.until("awake", |bench| bench.phase() != RunPhase::Held);
    bench.fails("the task ended Exception");
}

#[test]
fn an_update_that_changes_a_sibling_is_a_failure_that_names_it() {
    let mut bench = Bench::of(&["s1", "s2"], &bios_hop("2.20"));
    bench.model.host("s2").bios = "2.05".to_owned();
    bench.model.habits.takes_along = Some(name("s2"));
    bench.fails("the update of server `s1` changed `s2` from `2.05` to `2.20`");
}

#[test]
fn one_servers_failure_leaves_its_sibling_to_its_own_end() {
    let mut bench = Bench::of(&["s1", "s2"], &(bios_hop("2.20") + &bmc_hop("1.60")));
    bench.until_sent("update server:s1");
    bench.model.habits.ending = Ending::Fails("Exception", "Critical");
    bench.until("failed on s1", |bench| {
        bench.has(|record| matches!(record, Record::Failed { .. }))
    });
    bench.model.habits.ending = Ending::Good("OK");
    bench.fails("server `s1`");
    assert_eq!(bench.model.hosts[&name("s2")].bios, "2.20");
    assert_eq!(bench.sent("update bmc"), 0, "the barrier stays shut");
}

#[test]
fn what_was_found_by_search_is_told_as_adopted() {
    let mut bench = bmc();
    bench.model.habits.lose_answers = 1;
    bench.completes(&["update bmc to 1.60"]);
    assert!(bench.has(|record| matches!(
        record,
        Record::Done {
            how: How::Adopted,
            ..
        }
    )));
}

#[test]
fn a_version_past_the_hop_is_there_already_and_told() {
    let mut bench = bmc();
    bench.model.bmc = "1.70".to_owned();
    bench.completes(&[]);
    assert!(
        bench.has(
            |record| matches!(record, Record::Notice { text, .. } if text.starts_with("ahead"))
        )
    );
}

#[test]
fn hops_below_the_running_version_are_not_walked() {
    let mut bench = Bench::one(&(bmc_hop("1.60") + &bmc_hop("1.70")));
    bench.model.bmc = "1.60".to_owned();
    bench.completes(&["update bmc to 1.70"]);
}
