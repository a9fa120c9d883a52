//! What happens when a person cancels, releases, retries, pauses and resumes.

use std::time::Duration;

use redpipe::daemon::history::events_after;
use redpipe::daemon::summary::{PipelinePhase, of_store};
use redpipe::daemon::{ApplyReport, RunEnd};
use redpipe::model::{About, Verb};
use redpipe::run::RunPhase;
use redpipe::run::status::RunStatus;

use super::common::{
    PIPELINE, bios_hop, bmc_hop, completed, first, named, pipeline, row, settings, stage, stages,
    words,
};
use super::support::world::{World, end, status};

const QUIET: &str = "QuietBoot = false";

fn run() -> About {
    World::run_of(PIPELINE, "mock-1")
}

fn whole() -> About {
    About::Pipeline(PIPELINE.into())
}

/// Applies, and has another process order something once `when` holds of the run.
async fn ordered_when(
    world: &World,
    text: &str,
    about: &About,
    verb: &Verb,
    when: impl Fn(&World, &RunStatus) -> bool,
) -> ApplyReport {
    let mut given = false;
    let report = world
        .apply_watched(&[text], |world, rows| {
            let run = row(rows, "mock-1");
            if !given && run.is_some_and(|run| when(world, &run)) {
                world.order(about, verb);
                given = true;
            }
            true
        })
        .await
        .unwrap();
    assert!(given, "nothing was ordered: {report:#?}");
    report
}

fn flashes(world: &World, _: &RunStatus) -> bool {
    !world.caused("mock-1", "update accepted").is_empty()
}

/// Scenario 82.
#[tokio::test(start_paused = true)]
async fn a_cancel_during_a_flash_follows_it_to_its_end_and_begins_nothing_more() {
    let world = World::one(1, "");
    let text = pipeline(&[
        bmc_hop(&world, "1.60"),
        settings("quiet", "bios", QUIET),
        bmc_hop(&world, "1.70"),
    ]);
    let report = ordered_when(&world, &text, &run(), &Verb::Cancel, flashes).await;
    let status = first(&report);
    assert_eq!(status.phase, RunPhase::Cancelled, "{status:#?}");
    assert!(
        status.reason.contains("cancelled by ann at "),
        "{status:#?}"
    );
    assert_eq!(
        stages(status),
        [
            "bmc-1.60 Completed applied",
            "quiet Pending -",
            "bmc-1.70 Pending -"
        ]
    );
    assert_eq!(
        world.writes("mock-1").len(),
        1,
        "{:#?}",
        world.writes("mock-1")
    );
    assert_eq!(
        world
            .bmc("mock-1", |bmc| bmc.state().bmc_version)
            .as_deref(),
        Some("1.60")
    );
}

/// Scenario 82.
#[tokio::test(start_paused = true)]
async fn a_cancel_after_a_kill_is_carried_out_by_whoever_gave_it() {
    let world = World::one(1, "");
    let text = pipeline(&[bmc_hop(&world, "1.60"), settings("quiet", "bios", QUIET)]);
    world
        .apply_watched(&[&text], |world, _| {
            world.caused("mock-1", "update accepted").is_empty()
        })
        .await;
    let status = world
        .command(&[&text], &run(), &Verb::Cancel)
        .await
        .unwrap();
    assert_eq!(status.phase, RunPhase::Cancelled, "{status:#?}");
    assert_eq!(stage(&status, "bmc-1.60").how, Some("applied"));
    assert_eq!(world.writes("mock-1").len(), 1);
    let again = world.apply(&[&text]).await;
    completed(&world, &again);
}

#[tokio::test(start_paused = true)]
async fn a_host_that_is_down_for_its_update_is_brought_up_and_verified_before_a_cancelled_run_ends()
{
    let world = World::one(1, "");
    let text = pipeline(&[bios_hop(&world, "2.20"), bios_hop(&world, "2.30")]);
    let is_down = |world: &World, _: &RunStatus| {
        !words(
            world,
            "mock-1",
            &["system 1 power Off", "power 1 Off", "host 1 off"],
        )
        .is_empty()
            || world.bmc("mock-1", |bmc| {
                format!("{:?}", bmc.state().systems).contains("Off")
            })
    };
    let report = ordered_when(&world, &text, &run(), &Verb::Cancel, is_down).await;
    let status = first(&report);
    assert_eq!(status.phase, RunPhase::Cancelled, "{status:#?}");
    assert_eq!(
        stages(status),
        ["bios-2.20 Completed applied", "bios-2.30 Pending -"]
    );
}

#[tokio::test(start_paused = true)]
async fn an_update_that_waits_for_a_restart_is_taken_back_by_its_handle() {
    let world = World::one(1, "[update]\nstaged_task = \"pending\"\n");
    let text = pipeline(&[bios_hop(&world, "2.20")]);
    let is_staged =
        |world: &World, _: &RunStatus| !words(world, "mock-1", &["bios 1 staged"]).is_empty();
    let report = ordered_when(&world, &text, &run(), &Verb::Cancel, is_staged).await;
    let status = first(&report);
    assert_eq!(status.phase, RunPhase::Cancelled, "{status:#?}");
    assert_eq!(stages(status), ["bios-2.20 Cancelled -"]);
    let story = words(
        &world,
        "mock-1",
        &[
            "update accepted",
            "task deleted",
            "bios 1 unstaged",
            "reset",
        ],
    );
    assert_eq!(
        story,
        [
            "update accepted bios 2.20",
            "task deleted 1",
            "bios 1 unstaged 2.20"
        ],
        "{}",
        world.trace("mock-1")
    );
}

#[tokio::test(start_paused = true)]
async fn an_image_that_cannot_be_taken_back_is_left_behind_until_a_person_answers_for_it() {
    let world = World::one(1, "");
    let text = pipeline(&[bios_hop(&world, "2.20"), settings("quiet", "bios", QUIET)]);
    let is_staged =
        |world: &World, _: &RunStatus| !words(world, "mock-1", &["bios 1 staged"]).is_empty();
    let report = ordered_when(&world, &text, &run(), &Verb::Cancel, is_staged).await;
    let status = first(&report);
    assert_eq!(status.phase, RunPhase::Held, "{status:#?}");
    assert!(status.reason.contains("left behind: "), "{status:#?}");
    assert!(
        status.reason.contains("redpipe release p/mock-1 --leave"),
        "{status:#?}"
    );
    let (looks, writes) = (world.ledger("mock-1").len(), world.writes("mock-1"));
    assert_eq!(writes.len(), 1, "{writes:#?}");
    let again = world.apply(&[&text]).await;
    assert_eq!(
        first(&again).phase,
        RunPhase::Held,
        "still cancelled, and still left behind"
    );
    assert_eq!(world.writes("mock-1"), writes);
    let looked = world.ledger("mock-1").len();
    assert!(looked > looks);
    let released = world.command(&[&text], &run(), &Verb::Leave).await.unwrap();
    assert_eq!(released.phase, RunPhase::Cancelled, "{released:#?}");
    assert!(
        released.reason.contains("released by ann@"),
        "{released:#?}"
    );
    assert!(
        released.reason.contains("left behind: "),
        "what is left is in the journal"
    );
    assert_eq!(
        world.ledger("mock-1").len(),
        looked,
        "nothing is looked at for that"
    );
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_held_before_its_first_write_is_cancelled_without_a_look() {
    let world = World::one(1, "[[foreign_task]]\nname = \"theirs\"\n");
    let text = pipeline(&[bmc_hop(&world, "1.60")]);
    let report = world.apply(&[&text]).await;
    assert_eq!(
        first(&report).phase,
        RunPhase::Held,
        "{:#?}",
        first(&report)
    );
    let looks = world.ledger("mock-1").len();
    let status = world
        .command(&[&text], &run(), &Verb::Cancel)
        .await
        .unwrap();
    assert_eq!(status.phase, RunPhase::Cancelled, "{status:#?}");
    assert_eq!(stages(&status), ["bmc-1.60 Cancelled -"]);
    assert_eq!(world.ledger("mock-1").len(), looks);
}

#[tokio::test(start_paused = true)]
async fn a_command_on_a_run_that_another_process_drives_leaves_it_to_that_process() {
    let world = World::one(1, "");
    let text = pipeline(&[bmc_hop(&world, "1.60"), bmc_hop(&world, "1.70")]);
    let assignments = world.assignments(&[&text]).await;
    let engine = world.engine();
    let options = redpipe::daemon::ApplyOptions::default();
    let mut work = Box::pin(redpipe::daemon::apply(
        &engine,
        assignments,
        options,
        &world.stop,
    ));
    let early = tokio::time::timeout(Duration::from_mins(1), &mut work).await;
    assert!(early.is_err(), "{early:?}");
    assert_eq!(world.command(&[&text], &run(), &Verb::Cancel).await, None);
    let report = work.await;
    assert_eq!(first(&report).phase, RunPhase::Cancelled);
    assert_eq!(world.caused("mock-1", "update accepted").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn settings_that_wait_for_a_restart_are_told_of_when_their_run_is_cancelled() {
    let world = World::one(1, "");
    let text = pipeline(&[settings("quiet", "bios", QUIET)]);
    let is_written = |world: &World, _: &RunStatus| !world.writes("mock-1").is_empty();
    let report = ordered_when(&world, &text, &run(), &Verb::Cancel, is_written).await;
    let status = first(&report);
    assert_eq!(status.phase, RunPhase::Cancelled, "{status:#?}");
    assert!(
        stage(status, "quiet")
            .reason
            .contains("take effect at the next restart")
            || stage(status, "quiet").phase == RunPhase::Completed,
        "{status:#?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_failed_run_is_begun_anew_at_the_first_stage_that_is_not_there() {
    let world = World::one(1, "[update]\nbios_outcome = \"failed\"\n");
    let text = pipeline(&[bmc_hop(&world, "1.60"), bios_hop(&world, "2.20")]);
    let report = world.apply(&[&text]).await;
    assert_eq!(first(&report).phase, RunPhase::Failed);
    world.order(&run(), &Verb::Retry);
    let again = world.apply(&[&text]).await;
    assert_eq!(
        stages(first(&again)),
        ["bmc-1.60 Completed already-there", "bios-2.20 Failed -"]
    );
    let story = world.journal("mock-1");
    let retries = story
        .iter()
        .filter(|line| line.contains("\"verb\":\"retry\""));
    assert_eq!(retries.count(), 1, "the new run says who had it begun");
}

#[tokio::test(start_paused = true)]
async fn a_paused_pipeline_follows_its_flash_holds_before_the_next_step_and_goes_on_when_resumed() {
    let world = World::of(&[1, 1], "");
    let text = named(
        PIPELINE,
        "",
        &[bmc_hop(&world, "1.60"), bmc_hop(&world, "1.70")],
    );
    let report = ordered_when(&world, &text, &whole(), &Verb::Pause, flashes).await;
    let status = first(&report);
    assert_eq!(status.phase, RunPhase::Held, "{status:#?}");
    assert!(
        status.reason.contains("paused by ann since "),
        "{status:#?}"
    );
    assert_eq!(stage(status, "bmc-1.60").how, Some("applied"));
    assert_eq!(world.caused("mock-1", "update accepted").len(), 1);
    let RunEnd::NotStarted(fault) = end(&report, PIPELINE, "mock-2") else {
        panic!("{report:#?}")
    };
    assert!(fault.message.contains("is paused by ann at "), "{fault}");
    assert!(fault.hint.as_ref().unwrap().contains("redpipe resume p"));
    assert!(world.writes("mock-2").is_empty());
    let stands = of_store(world.engine().store().as_ref()).unwrap().pipelines;
    assert_eq!(stands[0].phase, PipelinePhase::Held, "{stands:#?}");
    assert!(stands[0].reason.contains("paused by ann"), "{stands:#?}");
    let paused = world.apply(&[&text]).await;
    assert_eq!(first(&paused).phase, RunPhase::Held);
    assert_eq!(world.caused("mock-1", "update accepted").len(), 1);
    world.order(&whole(), &Verb::Resume);
    let report = world.apply(&[&text]).await;
    completed(&world, &report);
    assert_eq!(world.caused("mock-2", "update accepted").len(), 2);
}

/// Scenario 78.
#[tokio::test(start_paused = true)]
async fn two_pipelines_on_one_bmc_never_act_at_once() {
    let world = World::one(1, "");
    let one = named("p", "", &[bmc_hop(&world, "1.60")]);
    let two = named("q", "", &[settings("quiet", "bios", QUIET)]);
    let report = world.apply(&[&one, &two]).await;
    for pipeline in ["p", "q"] {
        let run = status(&report, pipeline, "mock-1");
        assert_eq!(run.phase, RunPhase::Completed, "{run:#?}");
    }
    let of_run = |line: &String| line.contains("\"record\":\"ended\"");
    let events = events_after(world.engine().store().as_ref(), 0, usize::MAX >> 1).unwrap();
    let runs: Vec<&str> = events
        .iter()
        .map(|event| event.key.pipeline.as_str())
        .collect();
    let mut turns = runs.clone();
    turns.dedup();
    assert_eq!(
        turns.len(),
        2,
        "one is over before the other begins: {turns:?}"
    );
    assert_eq!(
        world
            .journal("mock-1")
            .iter()
            .filter(|line| of_run(line))
            .count(),
        2
    );
}

/// Scenario 78.
#[tokio::test(start_paused = true)]
async fn a_second_pipeline_is_told_which_run_has_the_bmc() {
    let world = World::one(1, "");
    let one = named("p", "", &[bmc_hop(&world, "1.60")]);
    let two = named("q", "", &[settings("quiet", "bios", QUIET)]);
    world
        .apply_watched(&[&one], |world, _| {
            world.caused("mock-1", "update accepted").is_empty()
        })
        .await;
    let report = world.apply(&[&two]).await;
    let RunEnd::NotStarted(fault) = end(&report, "q", "mock-1") else {
        panic!("{report:#?}")
    };
    assert!(
        fault.message.contains("run `p/mock-1` is not over"),
        "{fault}"
    );
    assert!(fault.hint.as_ref().unwrap().contains('p'), "{fault:?}");
    assert_eq!(world.writes("mock-1").len(), 1);
}
