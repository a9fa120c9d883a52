//! When servers may be disturbed: a step begins only where enough is left of the window, and never outside.

use std::time::Duration;

use redpipe::run::RunPhase;
use redpipe::run::status::RunStatus;

use crate::common::{
    PIPELINE, bios_hop, bmc_hop, completed, first, named, settings, stages, words,
};
use crate::support::world::World;

const BMC: &str = "mock-1";

/// A pipeline with a window on Sundays; the lab is switched on on a Sunday at 10:00 UTC.
fn on_sundays(start: &str, end: &str, stages: &[String]) -> String {
    let table = format!(
        "[maintenance]\nwindow = {{ days = [\"Sun\"], start = \"{start}\", end = \"{end}\", zone = \"UTC\" }}\n"
    );
    named(PIPELINE, &table, stages)
}

#[track_caller]
fn held<'a>(report: &'a redpipe::daemon::ApplyReport, reason: &str) -> &'a RunStatus {
    let run = first(report);
    assert_eq!(run.phase, RunPhase::Held, "{run:#?}");
    assert!(run.reason.contains(reason), "{}", run.reason);
    run
}

#[tokio::test(start_paused = true)]
async fn outside_its_window_a_run_is_held_until_a_time_that_it_names() {
    let world = World::one(1, "");
    let text = on_sundays("22:00", "23:00", &[bmc_hop(&world, "1.60")]);
    let report = world.apply(&[&text]).await;
    let run = held(&report, "opens Sun 2026-03-01 22:00 UTC");
    let deadline = run.deadline.unwrap();
    assert_eq!(deadline.to_string(), "2026-03-01T22:00:00Z");
    assert_eq!(world.writes(BMC), [""; 0]);

    tokio::time::advance(Duration::from_hours(12)).await;
    completed(&world, &world.apply(&[&text]).await);
}

#[tokio::test(start_paused = true)]
async fn a_hop_does_not_begin_where_too_little_is_left_of_the_window() {
    let world = World::one(1, "");
    let text = on_sundays("09:00", "10:10", &[bmc_hop(&world, "1.60")]);
    held(
        &world.apply(&[&text]).await,
        "opens Sun 2026-03-08 09:00 UTC",
    );
    assert_eq!(world.writes(BMC), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_window_that_is_never_long_enough_is_said_and_not_waited_for() {
    let world = World::one(1, "");
    let text = on_sundays("10:00", "10:20", &[bios_hop(&world, "2.20")]);
    let report = world.apply(&[&text]).await;
    held(
        &report,
        "blocked: this step takes about 30 min, and window `Sun 10:00-10:20 UTC` is never open for so long",
    );
}

#[tokio::test(start_paused = true)]
async fn what_disturbs_nobody_needs_no_window() {
    let world = World::one(1, "");
    let text = on_sundays(
        "22:00",
        "23:00",
        &[settings("ntp", "bmc", "\"NtpServer1\" = \"10.0.0.1\"")],
    );
    completed(&world, &world.apply(&[&text]).await);
}

/// Staging and activation are one step, and the next one waits for the next window.
#[tokio::test(start_paused = true)]
async fn a_window_that_closes_between_two_hops_stops_the_run_between_them_and_never_within_one() {
    let world = World::one(
        1,
        "[durations]\nbios_stage = \"15m\"\nbios_flash_post = \"20m\"",
    );
    let text = on_sundays(
        "10:00",
        "10:31",
        &[bios_hop(&world, "2.20"), bmc_hop(&world, "1.60")],
    );
    let report = world.apply(&[&text]).await;
    let run = held(&report, "opens Sun 2026-03-08 10:00 UTC");
    assert_eq!(
        stages(run),
        ["bios-2.20 Completed applied", "bmc-1.60 Held -"]
    );
    assert!(
        world.elapsed() > Duration::from_mins(31),
        "the hop outlasted its window: {:?}",
        world.elapsed()
    );
    let journal = world.journal(BMC);
    let released = journal
        .iter()
        .filter(|line| line.contains("\"hold\":\"released\""));
    assert_eq!(released.count(), 1, "{journal:#?}");

    let open = Duration::from_hours(7 * 24).saturating_sub(world.elapsed());
    tokio::time::advance(open).await;
    completed(&world, &world.apply(&[&text]).await);
    assert_eq!(
        words(&world, BMC, &["update accepted"]),
        ["update accepted bios 2.20", "update accepted bmc 1.60"]
    );
}

/// A restart that settings need belongs to their write.
#[tokio::test(start_paused = true)]
async fn settings_that_need_a_restart_are_not_written_outside_the_window() {
    let world = World::one(1, "");
    let text = on_sundays(
        "22:00",
        "23:00",
        &[settings("quiet", "bios", "QuietBoot = false")],
    );
    held(&world.apply(&[&text]).await, "waits for window");
    assert_eq!(world.writes(BMC), [""; 0]);
}
