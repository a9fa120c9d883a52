//! What one process leaves half done, the next one ends.

use std::sync::Arc;
use std::time::Duration;

use redpipe::model::Verb;
use redpipe::run::RunPhase;
use redpipe::run::status::RunStatus;

use crate::common::{
    PIPELINE, bios_hop, bmc_hop, completed, first, pipeline, settings, stage, words,
};
use crate::support::lives::Lives;
use crate::support::process::{Death, Nobody};
use crate::support::world::World;

const BMC: &str = "mock-1";

/// Applies by a process that dies, then by another.
async fn twice(world: &World, text: &str, death: Death) -> redpipe::daemon::ApplyReport {
    let lives = Lives::new();
    let one = lives.start(world, 1, death, Arc::new(Nobody));
    assert!(one.apply(world, &[text]).await.is_none(), "nobody died");
    drop(one);
    let other = lives.start(world, 2, Death::Never, Arc::new(Nobody));
    other.apply(world, &[text]).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_run_that_was_opened_and_knows_nothing_is_begun_by_the_next_process() {
    let world = World::one(2, "");
    let text = pipeline(&[bmc_hop(&world, "1.60"), bios_hop(&world, "2.20")]);
    let report = twice(&world, &text, Death::AfterAppend(1)).await;
    let run = completed(&world, &report);
    assert_eq!(run.servers, ["mock-1-s1", "mock-1-s2"]);
    assert_eq!(stage(run, "bios-2.20").how, Some("applied"));
    assert_eq!(words(&world, BMC, &["update accepted"]).len(), 3);
}

/// Scenario 102.
#[tokio::test(start_paused = true)]
async fn a_job_that_came_with_our_own_write_is_not_somebody_elses_after_a_crash() {
    let world = World::one(1, "[bios_settings]\njob = true");
    let text = pipeline(&[settings("quiet", "bios", "QuietBoot = false")]);
    let report = twice(&world, &text, Death::AfterSend(1)).await;
    completed(&world, &report);
    assert_eq!(world.caused(BMC, "settings accepted").len(), 1);
    assert_eq!(world.caused(BMC, "reset ").len(), 1);
}

/// Scenario 141, after a crash.
#[tokio::test(start_paused = true)]
async fn a_job_that_stood_there_before_our_own_write_stays_somebody_elses_after_a_crash() {
    let job =
        "[[foreign_job]]\nname = \"theirs\"\ntarget = \"/redfish/v1/Systems/1/Bios/Settings\"";
    let world = World::one(1, job);
    let text = pipeline(&[settings("quiet", "bios", "QuietBoot = false")]);
    let report = twice(&world, &text, Death::AfterSend(1)).await;
    let run = first(&report);
    assert_eq!(run.phase, RunPhase::Held, "{run:#?}");
    assert!(run.reason.contains("theirs"), "{}", run.reason);
    assert_eq!(world.caused(BMC, "reset "), [""; 0]);
}

/// Cancels a hop whose image waits for a restart, with these faults; the run as its first process leaves it.
async fn cancelled_once_staged(faults: &str) -> (World, RunStatus) {
    let world = World::one(1, &format!("[update]\nstaged_task = \"pending\"\n{faults}"));
    let text = pipeline(&[bios_hop(&world, "2.20")]);
    let mut is_given = false;
    let report = world
        .apply_watched(&[&text], |world, _| {
            if !is_given && !words(world, BMC, &["bios 1 staged"]).is_empty() {
                world.order(&World::run_of(PIPELINE, BMC), &Verb::Cancel);
                is_given = true;
            }
            true
        })
        .await
        .unwrap();
    let run = first(&report).clone();
    (world, run)
}

#[tokio::test(start_paused = true)]
async fn an_image_that_is_gone_after_our_own_deletion_was_deleted_though_the_answer_is_lost() {
    let fault = "[[fault]]\nmethod = \"DELETE\"\npath = \"*/Tasks/*\"\nanswer = \"drop-after\"";
    let (world, run) = cancelled_once_staged(fault).await;
    assert_eq!(run.phase, RunPhase::Cancelled, "{run:#?}");
    let deleted = words(&world, BMC, &["task deleted", "bios 1 unstaged"]);
    assert_eq!(deleted, ["task deleted 1", "bios 1 unstaged 2.20"]);
}

#[tokio::test(start_paused = true)]
async fn an_image_whose_deletion_never_arrived_is_deleted_by_another_request() {
    let fault = "[[fault]]\nmethod = \"DELETE\"\npath = \"*/Tasks/*\"\nanswer = \"drop-before\"";
    let (world, run) = cancelled_once_staged(fault).await;
    assert_eq!(run.phase, RunPhase::Cancelled, "{run:#?}");
    let deleted = words(&world, BMC, &["task deleted", "bios 1 unstaged"]);
    assert_eq!(deleted, ["task deleted 1", "bios 1 unstaged 2.20"]);
}

/// A stage that had just begun when its process died: the next one, an hour later, has all of its time.
#[tokio::test(start_paused = true)]
async fn an_hour_without_a_process_counts_against_no_settings_stage() {
    for timeout in ["", "timeout = \"30m\"\n"] {
        let world = World::one(1, "");
        let stage = settings("quiet", "bios", "QuietBoot = false");
        let text = pipeline(&[stage + timeout]);
        let lives = Lives::new();
        let one = lives.start(&world, 1, Death::AfterSend(1), Arc::new(Nobody));
        assert!(one.apply(&world, &[&text]).await.is_none(), "nobody died");
        drop(one);
        tokio::time::sleep(Duration::from_hours(1)).await;
        let other = lives.start(&world, 2, Death::Never, Arc::new(Nobody));
        let report = other.apply(&world, &[&text]).await.unwrap();
        completed(&world, &report);
        assert_eq!(world.caused(BMC, "settings accepted").len(), 1);
        assert_eq!(world.caused(BMC, "reset ").len(), 1);
    }
}

/// A BMC that keeps a value though it took its write, and whose host restarted while no process lived: nothing waits for a
/// restart any more, so nobody forces one; its try fails by the value that is not there.
#[tokio::test(start_paused = true)]
async fn a_host_that_restarted_while_nobody_looked_is_not_forced() {
    let world = World::one(1, "[bios_settings]\nsilently_kept = [\"QuietBoot\"]\n");
    let text = pipeline(&[settings("quiet", "bios", "QuietBoot = false")]);
    let lives = Lives::new();
    // Seven records: the run, the stage, the write and its outcome, the power before, the reset and its outcome.
    let one = lives.start(&world, 1, Death::AfterAppend(7), Arc::new(Nobody));
    assert!(one.apply(&world, &[&text]).await.is_none(), "nobody died");
    drop(one);
    assert_eq!(words(&world, BMC, &["reset "]).len(), 1);
    tokio::time::sleep(Duration::from_hours(1)).await;
    let other = lives.start(&world, 2, Death::Never, Arc::new(Nobody));
    let report = other.apply(&world, &[&text]).await.unwrap();
    let run = first(&report);
    assert_eq!(run.phase, RunPhase::Failed, "{run:#?}");
    let resets = words(&world, BMC, &["reset "]);
    assert_eq!(resets, ["reset /redfish/v1/Systems/1 GracefulRestart"]);
}
