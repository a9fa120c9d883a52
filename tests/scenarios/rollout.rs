//! Which runs there are, how many at once, and how their pipeline stands meanwhile.

use std::collections::BTreeSet;

use redpipe::daemon::history::events_after;
use redpipe::daemon::summary::{PipelinePhase, PipelineStatus, of_report, of_store};
use redpipe::model::{BmcName, Target};
use redpipe::run::{Record, RunPhase};

use super::common::{PIPELINE, bios_hop, bmc_hop, named, pipeline, row, settings};
use super::support::world::{World, status};

const NTP: &str = "\"NtpServer1\" = \"10.0.0.1\"";

/// One BMC at a time.
const SERIAL: &str = "[rollout]\nmax_concurrent = 1\n";

/// How the pipeline stands, as `redpipe status` of another process says.
fn stands(world: &World) -> PipelineStatus {
    let engine = world.engine();
    let summary = of_store(engine.store().as_ref()).unwrap();
    assert_eq!(summary.pipelines.len(), 1, "{summary:#?}");
    summary.pipelines[0].clone()
}

/// All runs in the state: `PIPELINE/BMC` and their servers.
fn runs(world: &World) -> Vec<(String, Vec<String>)> {
    let summary = of_store(world.engine().store().as_ref()).unwrap();
    let runs = summary.runs.into_iter();
    runs.map(|run| (run.id, run.servers)).collect()
}

/// Scenario 67.
#[tokio::test(start_paused = true)]
async fn one_matching_server_is_one_run_with_recorded_baselines() {
    let mut world = World::of(&[1, 1], "");
    let label = "labels = { role = \"db\" }";
    world
        .server_extra
        .insert("mock-2-s1".to_owned(), label.to_owned());
    let text = pipeline(&[settings("quiet", "bios", "QuietBoot = false")])
        .replace("match_labels = {}", "match_labels = { role = \"db\" }");
    world.apply(&[&text]).await;
    assert_eq!(
        runs(&world),
        [("p/mock-2".to_owned(), vec!["mock-2-s1".to_owned()])]
    );
    assert!(world.ledger("mock-1").is_empty(), "not even looked at");
    let events = events_after(world.engine().store().as_ref(), 0, 10).unwrap();
    let Some(Record::Started { baselines, .. }) = &events[0].record else {
        panic!("{:#?}", events[0]);
    };
    let version = |target: Target| baselines[&target].as_deref();
    assert_eq!(version(Target::Bmc), Some("1.50"));
    assert_eq!(version(Target::Server("mock-2-s1".into())), Some("2.10"));
}

/// Scenario 68.
#[tokio::test(start_paused = true)]
async fn two_servers_behind_one_bmc_are_one_run() {
    let world = World::one(2, "");
    world.apply(&[&pipeline(&[bios_hop(&world, "2.20")])]).await;
    let servers = vec!["mock-1-s1".to_owned(), "mock-1-s2".to_owned()];
    assert_eq!(runs(&world), [("p/mock-1".to_owned(), servers)]);
}

/// Scenario 69.
#[tokio::test(start_paused = true)]
async fn servers_behind_distinct_bmcs_are_one_run_for_each_bmc() {
    let world = World::of(&[1, 2], "");
    world
        .apply(&[&pipeline(&[settings("ntp", "bmc", NTP)])])
        .await;
    let ids: Vec<String> = runs(&world).into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, ["p/mock-1", "p/mock-2"]);
    for bmc in ["mock-1", "mock-2"] {
        assert_eq!(world.writes(bmc).len(), 1, "{:#?}", world.writes(bmc));
    }
}

/// Scenario 70.
#[tokio::test(start_paused = true)]
async fn at_most_as_many_runs_are_active_as_there_are_slots() {
    let world = World::of(&[1, 1, 1], "");
    let text = named(PIPELINE, SERIAL, &[bmc_hop(&world, "1.60")]);
    let mut order = Vec::new();
    let report = world
        .apply_watched(&[&text], |_, rows| {
            let names = ["mock-1", "mock-2", "mock-3"];
            let active: Vec<&str> = names
                .into_iter()
                .filter(|bmc| row(rows, bmc).is_some_and(|run| !run.phase.is_terminal()))
                .collect();
            assert!(active.len() <= 1, "{active:?}");
            order.extend(active);
            true
        })
        .await
        .unwrap();
    order.dedup();
    assert_eq!(
        order,
        ["mock-1", "mock-2", "mock-3"],
        "by name, as slots free"
    );
    for bmc in ["mock-1", "mock-2", "mock-3"] {
        let run = status(&report, PIPELINE, bmc);
        assert_eq!(run.phase, RunPhase::Completed, "{run:#?}");
    }
}

/// Scenario 70.
#[tokio::test(start_paused = true)]
async fn two_slots_are_used_at_once() {
    let world = World::of(&[1, 1, 1], "");
    let rollout = "[rollout]\nmax_concurrent = 2\n";
    let text = named(PIPELINE, rollout, &[bmc_hop(&world, "1.60")]);
    let mut most = BTreeSet::new();
    world
        .apply_watched(&[&text], |_, rows| {
            let runs = rows.values().filter_map(|row| row.status.as_ref());
            let active = runs.filter(|run| run.phase == RunPhase::InProgress);
            most.insert(active.count());
            true
        })
        .await
        .unwrap();
    assert_eq!(most.last(), Some(&2));
}

/// Scenario 71.
#[tokio::test(start_paused = true)]
async fn nothing_that_matches_is_no_run_and_no_contact() {
    let world = World::of(&[1, 1], "");
    let text = pipeline(&[bmc_hop(&world, "1.60")])
        .replace("match_labels = {}", "match_labels = { role = \"none\" }");
    let report = world.apply(&[&text]).await;
    assert!(report.ends.is_empty() && report.halted.is_empty());
    assert!(runs(&world).is_empty());
    for bmc in ["mock-1", "mock-2"] {
        assert!(world.ledger(bmc).is_empty());
    }
}

/// Scenario 73.
#[tokio::test(start_paused = true)]
async fn a_pipeline_with_a_run_at_work_is_active() {
    let world = World::one(1, "");
    let text = pipeline(&[bmc_hop(&world, "1.60")]);
    let mut seen = 0;
    world
        .apply_watched(&[&text], |world, rows| {
            if row(rows, "mock-1").is_some_and(|run| run.phase == RunPhase::InProgress) {
                assert_eq!(stands(world).phase, PipelinePhase::Active);
                seen += 1;
            }
            seen < 5
        })
        .await;
    assert_eq!(seen, 5);
}

/// Scenario 74.
#[tokio::test(start_paused = true)]
async fn a_pipeline_is_completed_when_all_its_runs_are() {
    let world = World::of(
        &[1, 1],
        "[[bmc]]\nname = \"mock-2\"\n[bmc.versions]\nbmc = \"1.60\"\n",
    );
    let text = pipeline(&[bmc_hop(&world, "1.60")]);
    let report = world.apply(&[&text]).await;
    let how = |bmc: &str| status(&report, PIPELINE, bmc).stages[0].how;
    assert_eq!(
        (how("mock-1"), how("mock-2")),
        (Some("applied"), Some("already-there"))
    );
    let expected = PipelineStatus {
        pipeline: PIPELINE.to_owned(),
        phase: PipelinePhase::Completed,
        runs: 2,
        waiting: 0,
        reason: String::new(),
    };
    assert_eq!(
        of_report(&report).pipelines,
        std::slice::from_ref(&expected)
    );
    assert_eq!(stands(&world), expected);
}

/// Scenario 75.
#[tokio::test(start_paused = true)]
async fn a_pipeline_with_a_failed_run_is_failed() {
    let world = World::of(
        &[1, 1],
        "[[bmc]]\nname = \"mock-2\"\n[bmc.update]\nbmc_outcome = \"failed\"\n",
    );
    let text = pipeline(&[bmc_hop(&world, "1.60")]);
    let report = world.apply(&[&text]).await;
    let phase = |bmc: &str| status(&report, PIPELINE, bmc).phase;
    assert_eq!(
        (phase("mock-1"), phase("mock-2")),
        (RunPhase::Completed, RunPhase::Failed)
    );
    assert_eq!(of_report(&report).pipelines[0].phase, PipelinePhase::Failed);
    assert_eq!(stands(&world).phase, PipelinePhase::Failed);
}

/// Scenario 76.
#[tokio::test(start_paused = true)]
async fn a_pipeline_whose_bmcs_wait_for_slots_is_active_and_never_completed() {
    let world = World::of(&[1, 1, 1], "");
    let text = named(PIPELINE, SERIAL, &[settings("ntp", "bmc", NTP)]);
    let mut waiting = BTreeSet::new();
    world
        .apply_watched(&[&text], |world, _| {
            let stands = stands(world);
            let is_over = stands.runs == 3 && stands.waiting == 0;
            assert!(
                is_over || stands.phase == PipelinePhase::Active,
                "{stands:#?}"
            );
            waiting.insert(stands.waiting);
            true
        })
        .await
        .unwrap();
    assert!(waiting.contains(&2), "{waiting:?}");
    assert_eq!(stands(&world).phase, PipelinePhase::Completed);
}

/// Scenario 76.
#[tokio::test(start_paused = true)]
async fn a_process_that_is_killed_between_two_bmcs_leaves_no_completed_pipeline() {
    let world = World::of(&[1, 1], "");
    let text = named(PIPELINE, SERIAL, &[settings("ntp", "bmc", NTP)]);
    world
        .apply_watched(&[&text], |_, rows| {
            row(rows, "mock-1").is_none_or(|run| run.phase != RunPhase::Completed)
        })
        .await;
    let left = stands(&world);
    assert_eq!(
        (left.runs, left.waiting),
        (1, 1),
        "all existing runs are done"
    );
    assert_eq!(left.phase, PipelinePhase::Active);
    let report = world.apply(&[&text]).await;
    assert!(
        report.ends.len() == 2
            && !report
                .waiting
                .iter()
                .any(|(_, bmc)| *bmc == BmcName::from("mock-2"))
    );
    assert_eq!(stands(&world).phase, PipelinePhase::Completed);
}

/// A foreign task of `mock-1` that lasts ten minutes holds its run.
#[tokio::test(start_paused = true)]
async fn a_held_run_that_is_waited_for_keeps_nobody_back() {
    let task =
        "[[foreign_task]]\nbmc = \"mock-1\"\nname = \"Update of a disk\"\nends_after = \"10m\"\n";
    let mut world = World::of(&[1, 1], task);
    world.options.wait = true;
    let text = named(PIPELINE, SERIAL, &[bmc_hop(&world, "1.60")]);
    let report = world.apply(&[&text]).await;
    for bmc in ["mock-1", "mock-2"] {
        let run = status(&report, PIPELINE, bmc);
        assert_eq!(run.phase, RunPhase::Completed, "{run:#?}");
    }
    let second = world.ledger("mock-2");
    let began_ms = second.iter().map(|line| line.at_ms).min().unwrap();
    assert!(
        began_ms < 20_000,
        "the slot of the held run was free at once, and used after {began_ms} ms"
    );
}
