//! What others do on the box: seen before every update and reset, named, and never followed, activated or flushed.

use std::time::Duration;

use serde_json::json;

use super::bench::Bench;
use super::model::staged;
use super::texts::{bios_hop, bios_settings, bmc_hop, name};
use crate::model::look::{JobView, TaskView};
use crate::run::{How, Record, RunPhase};

fn task(state: &str) -> TaskView {
    TaskView {
        uri: "/Tasks/theirs".to_owned(),
        name: Some("their update".to_owned()),
        state: Some(state.to_owned()),
        ..TaskView::default()
    }
}

fn awake(bench: &mut Bench) {
    bench.until("awake", |bench| bench.phase() != RunPhase::Held);
}

#[test]
fn an_update_waits_for_a_strangers_task() {
    let mut bench = Bench::one(&bmc_hop("1.60"));
    bench.model.strangers.tasks = vec![task("Running")];
    bench.holds(
        "deferred: task /Tasks/theirs `their update` is Running; no update is sent meanwhile",
    );
    assert!(bench.model.ledger.is_empty());
    bench.model.strangers.tasks = vec![task("Completed")];
    awake(&mut bench);
    bench.completes(&["update bmc to 1.60"]);
}

#[test]
fn a_task_in_a_state_that_nobody_knows_is_at_work() {
    let mut bench = Bench::one(&bmc_hop("1.60"));
    bench.model.strangers.tasks = vec![task("Downloading...")];
    bench.holds("deferred: task");
    assert!(bench.model.ledger.is_empty());
}

#[test]
fn an_update_waits_for_a_strangers_job() {
    let mut bench = Bench::one(&bios_hop("2.20"));
    bench.model.strangers.jobs = vec![JobView {
        uri: "/Jobs/JID_7".to_owned(),
        state: Some("Scheduled".to_owned()),
        ..JobView::default()
    }];
    bench.holds("deferred: job /Jobs/JID_7 is Scheduled");
    bench.model.strangers.jobs.clear();
    awake(&mut bench);
    assert_eq!(bench.run(), RunPhase::Completed, "{}", bench.story());
}

#[test]
fn a_strangers_staged_image_on_any_server_holds_updates_and_resets() {
    for pipeline in [
        bmc_hop("1.60"),
        bios_hop("2.20"),
        bios_settings("quiet", "settings = { QuietBoot = false }"),
    ] {
        let mut bench = Bench::of(&["s1", "s2"], &pipeline);
        bench.model.strangers.staged = vec![staged("/Systems/s2", "2.90")];
        bench.holds("deferred: staged component: /inventory/Systems/s2-staged holds 2.90");
        assert_eq!(
            bench.sent("update") + bench.sent("Graceful") + bench.sent("Force"),
            0
        );
    }
}

#[test]
fn pending_settings_of_a_sibling_hold_an_update() {
    let mut bench = Bench::of(&["s1", "s2"], &bmc_hop("1.60"));
    let theirs = [("Turbo".to_owned(), json!(1))];
    bench
        .model
        .strangers
        .pending
        .insert(name("s2"), theirs.into());
    bench.holds("settings of somebody else are pending on `s2`: Turbo");
    assert!(bench.model.ledger.is_empty());
}

#[test]
fn a_task_that_comes_before_the_activation_holds_it_with_the_image_staged() {
    let mut bench = Bench::one(&bios_hop("2.20"));
    bench.until_sent("update");
    bench.model.strangers.tasks = vec![task("Running")];
    bench.holds("nothing is reset meanwhile");
    assert_eq!(bench.model.ledger, ["update server:s1 to 2.20"]);
    bench.model.strangers.tasks.clear();
    awake(&mut bench);
    bench.completes(&["update server:s1 to 2.20", "GracefulShutdown s1", "On s1"]);
}

#[test]
fn a_strangers_task_after_a_lost_update_is_not_adopted() {
    let mut bench = Bench::one(&bmc_hop("1.60"));
    bench.model.habits.lose_requests = 1;
    bench.until_told("the update request may have been lost");
    bench.model.strangers.tasks = vec![task("Running")];
    bench.holds("nothing ties it to our request; it is neither followed nor activated");
    bench.model.strangers.tasks = vec![task("Completed")];
    bench.go_on_for(Duration::from_hours(1));
    assert_eq!(bench.phase(), RunPhase::Held);
    assert_eq!(bench.sent("update"), 0);
}

#[test]
fn a_hop_that_somebody_else_made_meanwhile_is_there_already() {
    let mut bench = Bench::one(
        &(bios_settings("quiet", "settings = { QuietBoot = false }") + &bmc_hop("1.60")),
    );
    bench.until_sent("patch");
    bench.model.bmc = "1.60".to_owned();
    assert_eq!(bench.run(), RunPhase::Completed, "{}", bench.story());
    assert_eq!(bench.sent("update"), 0);
    let there = |record: &Record| matches!(record, Record::Done { at, how: How::AlreadyThere, .. } if at.stage.as_str() == "bmc-1.60");
    assert!(bench.has(there));
}

#[test]
fn the_version_is_read_again_right_before_the_request() {
    let mut bench = Bench::one(&bmc_hop("1.60"));
    bench.model.strangers.tasks = vec![task("Running")];
    bench.holds("deferred: task");
    bench.model.strangers.tasks = vec![task("Completed")];
    bench.model.bmc = "1.70".to_owned();
    awake(&mut bench);
    bench.completes(&[]);
}

#[test]
fn a_version_of_another_family_is_never_flashed_over() {
    let hop = bmc_hop("1.60").replace("version = \"1.60\"", "version = \"iLO 6 v1.60\"");
    let mut bench = Bench::one(&hop);
    bench.model.bmc = "iLO 5 v3.00".to_owned();
    bench.holds("blocked:");
    assert!(
        bench.status().reason.contains("iLO 5 v3.00"),
        "{}",
        bench.status().reason
    );
    assert!(bench.model.ledger.is_empty());
}

#[test]
fn another_box_behind_the_same_name_is_not_touched() {
    let mut bench = Bench::one(&bios_hop("2.20"));
    bench.turn();
    bench.model.host("s1").serial = "another".to_owned();
    bench.holds("another box?");
    assert_eq!(bench.sent("update"), 0);
}

#[test]
fn a_system_that_the_bmc_does_not_show_is_blocked_and_named() {
    let mut bench = Bench::of(&["s1", "s2"], &bios_hop("2.20"));
    bench.turn();
    bench.model.host("s2").shown = false;
    bench.holds("s2");
    bench.model.host("s2").shown = true;
    awake(&mut bench);
    assert_eq!(bench.run(), RunPhase::Completed, "{}", bench.story());
}
