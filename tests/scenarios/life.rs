//! The life of a run and the order of its stages.

use std::cell::RefCell;

use jiff::Timestamp;
use redpipe::run::RunPhase;
use redpipe::run::status::RunStatus;

use super::common::{
    bios_hop, bmc_hop, completed, first, pipeline, row, settings, stage, stages, words,
};
use super::support::world::{EPOCH, World};

/// Scenario 1.
#[tokio::test(start_paused = true)]
async fn a_new_run_is_in_progress_with_a_start_time_from_the_first_moment_on() {
    let world = World::one(1, "");
    let text = pipeline(&[bmc_hop(&world, "1.60")]);
    let seen: RefCell<Option<RunStatus>> = RefCell::default();
    world
        .apply_watched(&[&text], |_, rows| {
            *seen.borrow_mut() = row(rows, "mock-1");
            seen.borrow().is_none()
        })
        .await;
    let run = seen.into_inner().unwrap();
    assert_eq!(run.phase, RunPhase::InProgress);
    let since = run.since.unwrap();
    assert!(EPOCH.parse::<Timestamp>().unwrap() <= since && since <= world.wall());
}

/// Scenario 2.
#[tokio::test(start_paused = true)]
async fn every_stage_is_listed_in_authored_order_before_it_begins() {
    let world = World::one(1, "");
    let text = pipeline(&[
        bmc_hop(&world, "1.60"),
        settings("quiet", "bios", "QuietBoot = false"),
        bios_hop(&world, "2.20"),
        settings("ntp", "bmc", "\"NtpServer1\" = \"10.0.0.1\""),
    ]);
    let seen: RefCell<Option<RunStatus>> = RefCell::default();
    world
        .apply_watched(&[&text], |_, rows| {
            *seen.borrow_mut() = row(rows, "mock-1");
            seen.borrow().is_none()
        })
        .await;
    let run = seen.into_inner().unwrap();
    assert_eq!(
        stages(&run),
        [
            "bmc-1.60 InProgress -",
            "quiet Pending -",
            "bios-2.20 Pending -",
            "ntp Pending -"
        ]
    );
    assert_eq!(
        (run.total_stages, run.active_stages, run.pending_stages),
        (4, 1, 3)
    );
}

/// Scenario 3.
#[tokio::test(start_paused = true)]
async fn the_second_hop_starts_after_the_first_has_succeeded_and_never_before() {
    let world = World::one(1, "");
    let text = pipeline(&[bmc_hop(&world, "1.60"), bmc_hop(&world, "1.70")]);
    let (mut alone, mut together) = (0, 0);
    let report = world
        .apply_watched(&[&text], |_, rows| {
            let Some(run) = row(rows, "mock-1") else {
                return true;
            };
            if stage(&run, "bmc-1.60").phase == RunPhase::Completed {
                return true;
            }
            if stage(&run, "bmc-1.70").phase == RunPhase::Pending {
                alone += 1;
            } else {
                together += 1;
            }
            true
        })
        .await
        .unwrap();
    completed(&world, &report);
    assert!(alone > 60, "a flash takes minutes: {alone}");
    assert_eq!(together, 0);
    let story = words(&world, "mock-1", &["update accepted", "bmc version"]);
    assert_eq!(
        story,
        [
            "update accepted bmc 1.60",
            "bmc version 1.50 -> 1.60",
            "update accepted bmc 1.70",
            "bmc version 1.60 -> 1.70",
        ]
    );
}

/// Scenario 4.
#[tokio::test(start_paused = true)]
async fn a_failed_stage_ends_the_run_and_the_next_one_is_never_started() {
    let world = World::one(1, "[update]\nbmc_outcome = \"failed\"\n");
    let text = pipeline(&[
        bmc_hop(&world, "1.60"),
        bmc_hop(&world, "1.70"),
        settings("quiet", "bios", "QuietBoot = false"),
    ]);
    let report = world.apply(&[&text]).await;
    let run = first(&report);
    assert_eq!(run.phase, RunPhase::Failed, "{run:#?}");
    assert_eq!(
        stages(run),
        ["bmc-1.60 Failed -", "bmc-1.70 Pending -", "quiet Pending -"]
    );
    assert_eq!(
        words(&world, "mock-1", &["update", "settings", "reset"]).len(),
        2,
        "one update that was accepted and then failed, and nothing else: {:#?}",
        world.writes("mock-1")
    );
    assert_eq!(world.writes("mock-1").len(), 1);
}

/// Scenario 5.
#[tokio::test(start_paused = true)]
async fn a_completed_run_that_is_processed_again_changes_nothing() {
    let world = World::one(1, "");
    let text = pipeline(&[
        bmc_hop(&world, "1.60"),
        settings("quiet", "bios", "QuietBoot = false"),
        bios_hop(&world, "2.20"),
    ]);
    let report = world.apply(&[&text]).await;
    completed(&world, &report);
    let (writes, state) = (
        world.writes("mock-1"),
        world.bmc("mock-1", |bmc| bmc.state()),
    );
    assert!(writes.len() >= 3, "{writes:#?}");
    let again = world.apply(&[&text]).await;
    let run = completed(&world, &again);
    assert_eq!(
        stages(run),
        [
            "bmc-1.60 Completed already-there",
            "quiet Completed already-there",
            "bios-2.20 Completed already-there",
        ]
    );
    assert_eq!(world.writes("mock-1"), writes);
    let now = world.bmc("mock-1", |bmc| bmc.state());
    assert_eq!(now.bmc_version, state.bmc_version);
    assert_eq!(now.systems, state.systems);
}

/// Scenario 6.
#[tokio::test(start_paused = true)]
async fn a_run_with_nothing_to_do_is_completed_without_a_write() {
    let world = World::one(
        2,
        "[versions]\nbmc = \"1.80\"\nbios = \"2.50\"\n[bmc_settings.attributes]\n\"NtpServer1\" = \"10.0.0.1\"\n",
    );
    let text = pipeline(&[
        bmc_hop(&world, "1.60"),
        bmc_hop(&world, "1.80"),
        settings("ntp", "bmc", "\"NtpServer1\" = \"10.0.0.1\""),
        settings("quiet", "bios", "QuietBoot = true"),
        bios_hop(&world, "2.20"),
    ]);
    let report = world.apply(&[&text]).await;
    let run = completed(&world, &report);
    for stage in &run.stages {
        assert_eq!(stage.how, Some("already-there"), "{stage:#?}");
    }
    assert_eq!(world.writes("mock-1"), [""; 0]);
}

/// Scenario 7.
#[tokio::test(start_paused = true)]
async fn hops_that_are_behind_are_passed_over_and_what_is_needed_is_done() {
    let world = World::one(1, "[versions]\nbmc = \"1.80\"\n");
    let text = pipeline(&[
        bmc_hop(&world, "1.60"),
        bmc_hop(&world, "1.80"),
        settings("quiet", "bios", "QuietBoot = false"),
        bios_hop(&world, "2.20"),
    ]);
    let report = world.apply(&[&text]).await;
    let run = completed(&world, &report);
    assert_eq!(
        stages(run),
        [
            "bmc-1.60 Completed already-there",
            "bmc-1.80 Completed already-there",
            "quiet Completed applied",
            "bios-2.20 Completed applied",
        ]
    );
    let reason = &stage(run, "bmc-1.60").reason;
    assert!(
        reason.contains("1.60") && reason.contains("1.80"),
        "{reason}"
    );
    assert_eq!(
        words(&world, "mock-1", &["update accepted"]),
        ["update accepted bios 2.20"]
    );
}
