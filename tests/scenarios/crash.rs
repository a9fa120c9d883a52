//! What one process leaves half done, the next one ends.

use std::sync::Arc;

use redpipe::run::RunPhase;

use crate::common::{bios_hop, bmc_hop, completed, first, pipeline, settings, stage, words};
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
