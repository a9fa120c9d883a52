//! Hosts: graceful first, forced only where that is allowed and safe, and power as before at the end.

use std::time::Duration;

use super::bench::Bench;
use super::texts::{bios_hop, bios_hop_with, bios_settings, name};
use crate::model::look::Power;
use crate::run::deadline::after;
use crate::run::{Record, RunPhase};

fn quiet(options: &str) -> Bench {
    let rest = format!("{options}\nsettings = {{ QuietBoot = false }}");
    Bench::one(&bios_settings("quiet", &rest))
}

fn hop(options: &str) -> Bench {
    Bench::one(&bios_hop_with("2.20", options))
}

fn power(bench: &Bench) -> Power {
    bench.model.hosts[&name("s1")].power
}

#[test]
fn a_host_that_was_off_is_switched_on_for_its_settings_and_off_again() {
    let mut bench = quiet("");
    bench.model.host("s1").power = Power::Off;
    bench.completes(&["patch server:s1 QuietBoot", "On s1", "GracefulShutdown s1"]);
    assert_eq!(power(&bench), Power::Off);
}

#[test]
fn a_host_that_was_off_and_ignores_the_last_shutdown_is_left_on_and_told() {
    let mut bench = quiet("");
    bench.model.host("s1").power = Power::Off;
    bench.model.habits.ignores = ["GracefulShutdown"].into();
    bench.completes(&["patch server:s1 QuietBoot", "On s1", "GracefulShutdown s1"]);
    assert!(
        bench.has(|r| matches!(r, Record::Notice { text, .. } if text.contains("it is left on")))
    );
}

#[test]
fn an_ignored_restart_is_forced_after_the_graceful_time() {
    let mut bench = quiet("");
    bench.model.habits.ignores = ["GracefulRestart"].into();
    bench.completes(&[
        "patch server:s1 QuietBoot",
        "GracefulRestart s1",
        "ForceRestart s1",
    ]);
}

#[test]
fn an_ignored_restart_is_not_forced_where_the_stage_forbids_it() {
    let mut bench = quiet("reset = \"graceful\"");
    bench.model.habits.ignores = ["GracefulRestart"].into();
    bench.fails("the host ignores the restart");
    assert_eq!(bench.sent("Force"), 0);
}

#[test]
fn a_stage_that_may_reset_nothing_says_who_has_to() {
    let mut bench = quiet("reset = \"none\"");
    bench.holds("blocked: the host must be restarted and `reset = \"none\"`");
    let host = bench.model.host("s1");
    let pending = std::mem::take(&mut host.pending);
    host.attributes.extend(pending);
    bench.until("awake", |bench| bench.phase() != RunPhase::Held);
    bench.completes(&["patch server:s1 QuietBoot"]);
}

#[test]
fn a_stage_that_forces_never_asks_first() {
    let mut bench = quiet("reset = \"force\"");
    bench.completes(&["patch server:s1 QuietBoot", "ForceRestart s1"]);
    let mut bench = hop("reset = \"force\"");
    bench.completes(&["update server:s1 to 2.20", "ForceOff s1", "On s1"]);
}

#[test]
fn an_ignored_shutdown_before_an_activation_ends_in_a_forced_off() {
    let mut bench = hop("");
    bench.model.habits.ignores = ["GracefulShutdown"].into();
    bench.completes(&[
        "update server:s1 to 2.20",
        "GracefulShutdown s1",
        "ForceOff s1",
        "On s1",
    ]);
}

#[test]
fn a_refused_shutdown_before_an_activation_ends_in_a_forced_off() {
    let mut bench = hop("");
    bench.model.habits.refuses = ["GracefulShutdown"].into();
    bench.completes(&[
        "update server:s1 to 2.20",
        "GracefulShutdown s1",
        "ForceOff s1",
        "On s1",
    ]);
}

#[test]
fn a_host_that_must_not_be_forced_waits_for_a_person_to_switch_it_off() {
    let mut bench = hop("reset = \"graceful\"");
    bench.model.habits.ignores = ["GracefulShutdown"].into();
    bench.holds("the host does not go off, and an image waits for its boot");
    bench.model.host("s1").power = Power::Off;
    bench.until("awake", |bench| bench.phase() != RunPhase::Held);
    bench.completes(&["update server:s1 to 2.20", "GracefulShutdown s1", "On s1"]);
}

#[test]
fn a_host_that_refuses_every_way_down_is_a_persons_business() {
    let mut bench = hop("");
    bench.model.habits.refuses = ["GracefulShutdown", "ForceOff"].into();
    bench.holds("blocked: the host refuses to go off");
    assert_eq!(bench.sent("On"), 0);
}

#[test]
fn a_host_that_refuses_to_come_up_again_is_a_persons_business() {
    let mut bench = hop("");
    bench.model.habits.refuses = ["On"].into();
    bench.holds("blocked: the host is off for its update and refuses to be switched on");
    bench.model.habits.refuses.clear();
    let until = after(bench.model.now, super::model::POST);
    let host = bench.model.host("s1");
    (host.power, host.post_until) = (Power::On, Some(until));
    host.flashes = host.staged.take();
    bench.until("awake", |bench| bench.phase() != RunPhase::Held);
    assert_eq!(bench.run(), RunPhase::Completed, "{}", bench.story());
}

#[test]
fn a_shutdown_that_turns_into_a_boot_is_left_alone_until_the_version_is_there() {
    let mut bench = hop("");
    bench.model.habits.shutdown_restarts = true;
    bench.completes(&["update server:s1 to 2.20", "GracefulShutdown s1"]);
}

#[test]
fn a_flash_that_restarts_its_host_by_itself_gets_no_second_reboot() {
    let mut bench = hop("");
    bench.model.habits.reboots_by_itself = true;
    bench.completes(&["update server:s1 to 2.20"]);
}

#[test]
fn a_host_that_is_flashed_in_its_sleep_is_not_switched_on() {
    let mut bench = hop("");
    bench.model.habits.flashes_while_off = true;
    bench.model.host("s1").power = Power::Off;
    bench.completes(&["update server:s1 to 2.20"]);
    assert_eq!(power(&bench), Power::Off);
}

#[test]
fn a_bmc_that_never_speaks_of_post_is_given_time() {
    let mut bench = Bench::one(
        &(bios_hop("2.20") + &bios_settings("quiet", "settings = { QuietBoot = false }")),
    );
    bench.model.habits.tells_post = false;
    assert_eq!(bench.run(), RunPhase::Completed, "{}", bench.story());
}

#[test]
fn only_offered_reset_types_are_sent() {
    let mut bench = hop("");
    bench.model.habits.reset_types = vec!["On", "ForceOff"];
    bench.completes(&["update server:s1 to 2.20", "ForceOff s1", "On s1"]);
    let mut bench = quiet("");
    bench.model.habits.reset_types = vec!["On", "ForceOff"];
    bench.holds("blocked: `s1` must be reset by GracefulRestart or ForceRestart or PowerCycle to activate this, and its `#ComputerSystem.Reset` offers only On, ForceOff");
    assert!(bench.model.ledger.is_empty());
}

#[test]
fn nothing_is_sent_to_a_host_in_post_and_one_that_stays_there_is_held() {
    let mut bench = hop("");
    bench.model.host("s1").post_until = Some(after(bench.model.now, Duration::from_hours(2)));
    bench.holds("deferred: `s1` stays in POST");
    assert!(bench.model.ledger.is_empty());
    bench.until("awake", |bench| bench.phase() != RunPhase::Held);
    assert_eq!(bench.run(), RunPhase::Completed, "{}", bench.story());
}

#[test]
fn a_host_that_is_stuck_in_its_flashing_post_is_held_and_not_reset() {
    let mut bench = hop("");
    bench.until_sent("On");
    bench.model.host("s1").post_until = Some(after(bench.model.now, Duration::from_hours(3)));
    bench.holds("the host is still in POST and may be flashing, so nothing is reset");
    bench.until("awake", |bench| bench.phase() != RunPhase::Held);
    bench.completes(&["update server:s1 to 2.20", "GracefulShutdown s1", "On s1"]);
}

#[test]
fn a_host_that_somebody_else_switched_off_is_left_off_and_told() {
    let mut bench = hop("");
    bench.until("verified", |bench| {
        bench.told("reading the new version again")
    });
    bench.model.host("s1").power = Power::Off;
    assert_eq!(bench.run(), RunPhase::Completed, "{}", bench.story());
    assert_eq!(power(&bench), Power::Off);
    assert!(bench.has(|r| matches!(r, Record::Notice { text, .. } if text.contains("somebody else has switched it off"))));
}
