//! Canaries go first, and failures stop a rollout, over all processes and runs.

use redpipe::daemon::summary::{PipelinePhase, of_report, of_store};
use redpipe::daemon::{ApplyReport, RunEnd};
use redpipe::model::Verb;
use redpipe::run::RunPhase;

use super::common::{PIPELINE, bmc_hop, named, row};
use super::support::world::{World, end, status};

const BUDGET: &str = "[rollout]\nmax_concurrent = 3\nmax_failures = 1\n";
const CANARY: &str = "[rollout]\nmax_concurrent = 3\ncanary = 1\n";
const ONE_FAILS: &str = "[[bmc]]\nname = \"mock-1\"\n[bmc.update]\nbmc_outcome = \"failed\"\n";

fn halted(report: &ApplyReport) -> Vec<&str> {
    report.halted.iter().map(|(_, bmc)| bmc.as_str()).collect()
}

fn phase(report: &ApplyReport, bmc: &str) -> RunPhase {
    status(report, PIPELINE, bmc).phase
}

fn updates(world: &World, bmc: &str) -> usize {
    world.caused(bmc, "update accepted").len()
}

/// Scenario 77.
#[tokio::test(start_paused = true)]
async fn a_failed_run_halts_the_rollout_in_every_later_process_too() {
    let world = World::of(&[1, 1, 1], ONE_FAILS);
    let text = named(
        PIPELINE,
        "[rollout]\nmax_failures = 1\n",
        &[bmc_hop(&world, "1.60")],
    );
    let report = world.apply(&[&text]).await;
    assert_eq!(phase(&report, "mock-1"), RunPhase::Failed);
    assert_eq!(halted(&report), ["mock-2", "mock-3"]);
    let stands = of_report(&report).pipelines.remove(0);
    assert_eq!(stands.phase, PipelinePhase::Halted);
    assert!(
        stands.reason.contains("`redpipe retry p/mock-1`"),
        "{stands:#?}"
    );
    let of_store = of_store(world.engine().store().as_ref())
        .unwrap()
        .pipelines
        .remove(0);
    assert_eq!(
        (of_store.phase, of_store.reason),
        (stands.phase, stands.reason)
    );
    let again = world.apply(&[&text]).await;
    assert_eq!(
        halted(&again),
        ["mock-2", "mock-3"],
        "the one that failed may be tried again"
    );
    assert_eq!(phase(&again, "mock-1"), RunPhase::Failed);
    assert_eq!(
        (updates(&world, "mock-2"), updates(&world, "mock-3")),
        (0, 0)
    );
}

#[tokio::test(start_paused = true)]
async fn only_a_completed_run_gives_the_budget_back() {
    let world = World::of(
        &[1, 1],
        "[[fault]]\nbmc = \"mock-1\"\nmethod = \"POST\"\npath = \"/redfish/v1/UpdateService/upload*\"\ncount = 1\nstatus = 400\n",
    );
    let text = named(PIPELINE, BUDGET, &[bmc_hop(&world, "1.60")])
        .replace("max_concurrent = 3", "max_concurrent = 1");
    let report = world.apply(&[&text]).await;
    assert_eq!(phase(&report, "mock-1"), RunPhase::Failed, "{report:#?}");
    assert_eq!(halted(&report), ["mock-2"]);
    let report = world.apply(&[&text]).await;
    assert_eq!(phase(&report, "mock-1"), RunPhase::Completed);
    assert_eq!(phase(&report, "mock-2"), RunPhase::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_failure_of_the_file_as_it_was_says_nothing_of_the_file_as_it_is() {
    let world = World::of(&[1, 1], ONE_FAILS);
    let text = named(
        PIPELINE,
        "[rollout]\nmax_failures = 1\n",
        &[bmc_hop(&world, "1.60")],
    );
    let report = world.apply(&[&text]).await;
    assert_eq!(halted(&report), ["mock-2"]);
    let raised = text.replace("max_failures = 1", "max_failures = 1 # the same");
    let report = world.apply(&[&raised]).await;
    assert_eq!(halted(&report), ["mock-2"], "a comment is no change");
    let edited = named(
        PIPELINE,
        "[rollout]\nmax_failures = 2\n",
        &[bmc_hop(&world, "1.70")],
    );
    let report = world.apply(&[&edited]).await;
    assert_eq!(phase(&report, "mock-2"), RunPhase::Completed, "{report:#?}");
}

/// Scenario 139.
#[tokio::test(start_paused = true)]
async fn a_bmc_that_an_image_killed_counts_until_a_run_on_it_is_completed() {
    let world = World::of(
        &[1, 1],
        "[[bmc]]\nname = \"mock-1\"\n[bmc.update]\nbmc_outcome = \"never-returns\"\n",
    );
    let text = named(
        PIPELINE,
        "[rollout]\nmax_failures = 1\n",
        &[bmc_hop(&world, "1.60")],
    );
    let report = world.apply(&[&text]).await;
    assert_eq!(phase(&report, "mock-1"), RunPhase::Held);
    assert_eq!(halted(&report), ["mock-2"]);
    let run = World::run_of(PIPELINE, "mock-1");
    let cancelled = world.command(&[&text], &run, &Verb::Cancel).await.unwrap();
    assert_eq!(
        cancelled.phase,
        RunPhase::Held,
        "it may still be flashing: {cancelled:#?}"
    );
    assert_eq!(halted(&world.apply(&[&text]).await), ["mock-2"]);
    let released = world.command(&[&text], &run, &Verb::Leave).await.unwrap();
    assert_eq!(released.phase, RunPhase::Cancelled);
    let report = world.apply(&[&text]).await;
    assert_eq!(halted(&report), ["mock-2"]);
    assert!(
        matches!(end(&report, PIPELINE, "mock-1"), RunEnd::NotStarted(_)),
        "{report:#?}"
    );
    assert!(world.writes("mock-2").is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_running_run_begins_no_further_hop_once_the_budget_is_spent() {
    let world = World::of(&[1, 1], ONE_FAILS);
    let text = named(
        PIPELINE,
        BUDGET,
        &[bmc_hop(&world, "1.60"), bmc_hop(&world, "1.70")],
    );
    let report = world.apply(&[&text]).await;
    assert_eq!(phase(&report, "mock-1"), RunPhase::Failed);
    let second = status(&report, PIPELINE, "mock-2");
    assert_eq!(second.phase, RunPhase::Held, "{second:#?}");
    assert!(
        second
            .reason
            .contains("halted: the pipeline's failure budget is spent"),
        "{second:#?}"
    );
    assert_eq!(updates(&world, "mock-2"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_canary_goes_first_and_the_rest_only_after_it_is_completed() {
    let world = World::of(&[1, 1, 1], "");
    let text = named(PIPELINE, CANARY, &[bmc_hop(&world, "1.60")]);
    let report = world
        .apply_watched(&[&text], |world, rows| {
            let first = row(rows, "mock-1").map(|run| run.phase);
            if first != Some(RunPhase::Completed) {
                assert_eq!((updates(world, "mock-2"), updates(world, "mock-3")), (0, 0));
            }
            true
        })
        .await
        .unwrap();
    for bmc in ["mock-1", "mock-2", "mock-3"] {
        assert_eq!(phase(&report, bmc), RunPhase::Completed);
    }
}

#[tokio::test(start_paused = true)]
async fn a_canary_that_fails_keeps_every_other_bmc_from_an_update() {
    let world = World::of(&[1, 1, 1], ONE_FAILS);
    let text = named(PIPELINE, CANARY, &[bmc_hop(&world, "1.60")]);
    let report = world.apply(&[&text]).await;
    assert_eq!(phase(&report, "mock-1"), RunPhase::Failed);
    assert_eq!(halted(&report), ["mock-2", "mock-3"]);
    let again = world.apply(&[&text]).await;
    assert_eq!(halted(&again), ["mock-2", "mock-3"]);
    assert!(world.writes("mock-2").is_empty() && world.writes("mock-3").is_empty());
}

/// Scenario 152.
#[tokio::test(start_paused = true)]
async fn a_canary_that_was_there_already_is_replaced_by_one_that_must_be_updated() {
    let world = World::of(
        &[1, 1, 1],
        "[[bmc]]\nname = \"mock-1\"\n[bmc.versions]\nbmc = \"1.60\"\n",
    );
    let text = named(PIPELINE, CANARY, &[bmc_hop(&world, "1.60")]);
    let report = world
        .apply_watched(&[&text], |world, rows| {
            let second = row(rows, "mock-2").map(|run| run.phase);
            if second != Some(RunPhase::Completed) {
                assert_eq!(
                    updates(world, "mock-3"),
                    0,
                    "what mock-1 had says nothing of the update"
                );
            }
            true
        })
        .await
        .unwrap();
    let how = |bmc: &str| status(&report, PIPELINE, bmc).stages[0].how;
    assert_eq!(
        (how("mock-1"), how("mock-2"), how("mock-3")),
        (Some("already-there"), Some("applied"), Some("applied"))
    );
}

#[tokio::test(start_paused = true)]
async fn a_canary_that_is_held_before_it_writes_is_replaced_and_each_platform_has_its_own() {
    let mut world = World::of(
        &[1, 1, 1],
        "[[foreign_task]]\nbmc = \"mock-1\"\nname = \"theirs\"\n",
    );
    world
        .extra
        .insert("mock-3".to_owned(), "platform = \"other\"".to_owned());
    let text = named(PIPELINE, CANARY, &[bmc_hop(&world, "1.60")]);
    let report = world.apply(&[&text]).await;
    assert_eq!(phase(&report, "mock-1"), RunPhase::Held);
    assert_eq!(
        phase(&report, "mock-2"),
        RunPhase::Completed,
        "in the place of mock-1"
    );
    assert_eq!(
        phase(&report, "mock-3"),
        RunPhase::Completed,
        "the canary of its platform"
    );
}
