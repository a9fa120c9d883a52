//! Requests whose answer never came: looked for until evidence or enough quiet time says what became of them.

use std::time::Duration;

use super::bench::Bench;
use super::habit::Ending;
use super::model::{GONE, staged};
use super::texts::{bios_hop, bios_settings, bmc_hop, bmc_resources};
use crate::model::look::TaskView;
use crate::run::deadline::after;
use crate::run::{Record, RunPhase};

fn bmc() -> Bench {
    Bench::one(&bmc_hop("1.60"))
}

fn minutes(bench: &Bench) -> i64 {
    bench.model.now.as_second() / 60
}

#[test]
fn a_lost_update_that_shows_a_tied_task_is_followed() {
    let mut bench = bmc();
    bench.model.habits.lose_answers = 1;
    bench.completes(&["update bmc to 1.60"]);
    let tied = |record: &Record| matches!(record, Record::Adopted { tie, .. } if tie.contains("names the image"));
    assert!(bench.has(tied), "{}", bench.story());
}

#[test]
fn a_lost_update_that_shows_its_version_has_happened() {
    let mut bench = bmc();
    bench.model.habits.lose_answers = 1;
    bench.model.habits.hides_tasks = true;
    bench.completes(&["update bmc to 1.60"]);
    let shown = |record: &Record| matches!(record, Record::Happened { reason, .. } if reason.contains("wanted version"));
    assert!(bench.has(shown), "{}", bench.story());
}

#[test]
fn a_lost_update_that_shows_its_image_staged_has_happened() {
    let mut bench = Bench::one(&bios_hop("2.20"));
    bench.model.habits.lose_answers = 1;
    bench.model.habits.hides_tasks = true;
    bench.completes(&["update server:s1 to 2.20", "GracefulShutdown s1", "On s1"]);
    let shown = |record: &Record| matches!(record, Record::Happened { reason, .. } if reason.contains("as staged"));
    assert!(bench.has(shown), "{}", bench.story());
}

/// A lost update, held while its task runs.
fn staged_by_a_task_without_payload(in_job: bool) -> Bench {
    let mut bench = Bench::one(&bios_hop("2.20"));
    bench.model.habits.stages_in_job = in_job;
    bench.model.habits.lose_answers = 1;
    bench.model.habits.tells_payload = false;
    bench.model.habits.ending = Ending::Waits("Pending");
    bench.holds("nothing ties it to our request");
    bench
}

#[test]
fn the_only_task_that_came_with_the_staged_image_of_a_lost_update_is_followed() {
    let mut bench = staged_by_a_task_without_payload(true);
    bench.until("awake", |bench| bench.phase() != RunPhase::Held);
    bench.completes(&["update server:s1 to 2.20", "GracefulShutdown s1", "On s1"]);
    let tied = |record: &Record| matches!(record, Record::Adopted { tie, .. } if tie.contains("the only one that came since"));
    assert!(bench.has(tied), "{}", bench.story());
}

#[test]
fn a_task_that_need_not_be_what_keeps_the_image_is_not_and_nothing_is_reset() {
    let mut bench = staged_by_a_task_without_payload(false);
    bench.go_on_for(Duration::from_hours(1));
    bench.holds("nothing is reset meanwhile");
    assert_eq!(bench.model.ledger, ["update server:s1 to 2.20"]);
}

#[test]
fn of_two_tasks_that_came_with_it_neither_is_and_nothing_is_reset() {
    let mut bench = staged_by_a_task_without_payload(true);
    bench.model.strangers.tasks = vec![TaskView {
        uri: "/Tasks/theirs".to_owned(),
        state: Some("Pending".to_owned()),
        ..TaskView::default()
    }];
    bench.go_on_for(Duration::from_hours(1));
    bench.holds("nothing is reset meanwhile");
    assert_eq!(bench.model.ledger, ["update server:s1 to 2.20"]);
    let adopted = |record: &Record| matches!(record, Record::Adopted { .. });
    assert!(!bench.has(adopted), "{}", bench.story());
}

#[test]
fn a_lost_update_of_which_nothing_shows_is_sent_anew_only_after_the_longest_flash() {
    let mut bench = bmc();
    bench.model.habits.lose_requests = 1;
    bench.until_sent("update");
    assert!(minutes(&bench) >= 20, "{}", bench.story());
    bench.completes(&["(a request was lost)", "update bmc to 1.60"]);
}

#[test]
fn an_update_that_is_lost_twice_is_a_persons_business() {
    let mut bench = bmc();
    bench.model.habits.lose_requests = 2;
    bench.holds("this stage was in doubt before");
    bench.go_on_for(Duration::from_hours(10));
    assert_eq!(bench.sent("update"), 0);
}

#[test]
fn a_bmc_that_was_away_after_a_lost_update_may_have_flashed_it() {
    let mut bench = bmc();
    bench.model.habits.lose_requests = 1;
    bench.until_told("the update request may have been lost");
    bench.model.gone_until = Some(after(bench.model.now, GONE));
    bench.holds("the BMC has been away meanwhile");
    assert_eq!(bench.sent("update"), 0);
}

#[test]
fn a_bmc_that_says_it_never_restarted_is_believed() {
    let mut bench = bmc();
    bench.model.started = Some(bench.model.now);
    bench.model.habits.lose_requests = 1;
    bench.completes(&["(a request was lost)", "update bmc to 1.60"]);
}

#[test]
fn a_strange_staged_image_after_a_lost_update_is_not_activated() {
    let mut bench = Bench::one(&bios_hop("2.20"));
    bench.model.habits.lose_requests = 1;
    bench.until_told("the update request may have been lost");
    bench.model.strangers.staged = vec![staged("/Systems/s1", "2.18")];
    bench.holds("shows `2.18` as staged, which is not the hop's version; nothing is activated");
    assert_eq!(bench.model.ledger, ["(a request was lost)"]);
}

#[test]
fn another_version_after_a_lost_update_is_a_persons_business() {
    let mut bench = bmc();
    bench.model.habits.lose_requests = 1;
    bench.until_told("the update request may have been lost");
    bench.model.bmc = "1.55".to_owned();
    bench.holds("`1.50` ran before, and `1.55` runs now");
}

#[test]
fn lost_settings_that_are_shown_are_not_written_again() {
    let mut bench = Bench::one(&bios_settings("quiet", "settings = { QuietBoot = false }"));
    bench.model.habits.lose_answers = 1;
    bench.completes(&["patch server:s1 QuietBoot", "GracefulRestart s1"]);
}

#[test]
fn lost_settings_that_show_no_trace_are_written_anew_a_few_times() {
    let mut bench = Bench::one(&bios_settings("quiet", "settings = { QuietBoot = false }"));
    bench.model.habits.lose_requests = 3;
    assert_eq!(bench.run(), RunPhase::Completed, "{}", bench.story());
    let mut bench = Bench::one(&bios_settings("quiet", "settings = { QuietBoot = false }"));
    bench.model.habits.lose_requests = 4;
    bench.fails("the answer was lost 4 times, and no read shows that it happened");
    assert_eq!(bench.sent("patch"), 0);
}

#[test]
fn a_lost_restart_that_shows_is_not_sent_again() {
    let mut bench = Bench::one(&bios_settings("quiet", "settings = { QuietBoot = false }"));
    bench.until_sent("patch");
    bench.model.habits.lose_answers = 1;
    bench.completes(&["patch server:s1 QuietBoot", "GracefulRestart s1"]);
}

#[test]
fn a_lost_power_on_of_an_activation_is_looked_for_and_not_repeated() {
    let mut bench = Bench::one(&bios_hop("2.20"));
    bench.until_sent("GracefulShutdown");
    bench.model.habits.lose_answers = 1;
    bench.completes(&["update server:s1 to 2.20", "GracefulShutdown s1", "On s1"]);
}

#[test]
fn a_lost_bmc_reset_is_known_by_the_new_start() {
    let net = bmc_resources(
        "net",
        &[r#"{ uri = "{manager}/NetworkProtocol", set = { NTP = { ProtocolEnabled = true } } }"#],
    );
    let mut bench = Bench::one(&net);
    bench.model.habits.network_needs_reset = true;
    bench.model.started = Some(bench.model.now);
    bench.until_sent("patch");
    bench.model.habits.lose_answers = 1;
    assert_eq!(bench.run(), RunPhase::Completed, "{}", bench.story());
    assert_eq!(bench.sent("GracefulRestart manager"), 1);
}
