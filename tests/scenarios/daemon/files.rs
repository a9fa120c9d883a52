//! Files that change under a daemon, and runs that outlive its processes.

use std::time::Duration;

use redpipe::daemon::service::Command;
use redpipe::drift::DriftState;
use redpipe::model::About;
use redpipe::run::RunPhase;

use crate::common::{PIPELINE, bios_hop, bmc_hop, completed, named, row, settings};
use crate::support::daemon::{Files, Running};
use crate::support::world::World;

const MINUTE: Duration = Duration::from_mins(1);
const HOUR: Duration = Duration::from_hours(1);

fn is_completed(daemon: &Running) -> bool {
    let run = row(&daemon.engine.board().rows(), "mock-1");
    run.is_some_and(|run| run.phase == RunPhase::Completed)
}

/// A broken file keeps the old state, and says so.
#[tokio::test(start_paused = true)]
async fn a_broken_file_changes_nothing_and_is_told_loudly() {
    let world = World::one(1, "");
    let text = named(PIPELINE, "", &[bmc_hop(&world, "1.50")]);
    let files = Files::new(&world, &[&text]);
    let mut daemon = Running::start(&world, &files);
    daemon.until(MINUTE, |d| d.bmc("mock-1").polls == 1).await;
    files.write(&world.inventory(), &["name = 7"]);
    daemon.pass(2 * MINUTE).await;
    assert!(daemon.fleet.files().refused.unwrap().contains("name"));
    assert_eq!(daemon.happened("files-refused").len(), 1);
    let polls = daemon.bmc("mock-1").polls;
    daemon.pass(20 * MINUTE).await;
    assert!(
        daemon.bmc("mock-1").polls > polls,
        "it goes on by the old files"
    );

    files.write(&world.inventory(), &[&text]);
    daemon.commands.send(Command::Reload).unwrap();
    daemon.pass(Duration::from_secs(1)).await;
    assert_eq!(daemon.fleet.files().refused, None);
    daemon.end().await;
}

/// A pipeline that wants something else is what is watched from then on.
#[tokio::test(start_paused = true)]
async fn a_changed_file_is_what_is_watched_from_then_on() {
    let world = World::one(1, "");
    let text = named(
        PIPELINE,
        "",
        &[settings("s", "bios", "BootMode = \"UEFI\"")],
    );
    let files = Files::new(&world, &[&text]);
    let mut daemon = Running::start(&world, &files);
    daemon
        .until(MINUTE, |d| {
            d.bmc("mock-1").state == Some(DriftState::InSync)
        })
        .await;
    let other = named(
        PIPELINE,
        "",
        &[settings("s", "bios", "BootMode = \"LegacyBios\"")],
    );
    files.write(&world.inventory(), &[&other]);
    daemon
        .until(20 * MINUTE, |d| {
            d.bmc("mock-1").state == Some(DriftState::Drifted)
        })
        .await;
    assert_eq!(world.writes("mock-1"), [""; 0]);
    daemon.end().await;
}

/// Scenario 15, for the daemon: given one that is killed in the middle of a run, then the next one carries it on.
#[tokio::test(start_paused = true)]
async fn the_next_daemon_carries_on_what_the_last_one_was_killed_in() {
    let world = World::one(1, "");
    let text = named(
        PIPELINE,
        "",
        &[bmc_hop(&world, "1.60"), bios_hop(&world, "2.50")],
    );
    assert!(
        world.apply_for(&[&text], 5 * MINUTE).await.is_none(),
        "killed while it flashes"
    );
    let files = Files::new(&world, &[&text]);
    let mut killed = Running::start(&world, &files);
    killed.pass(10 * MINUTE).await;
    drop(killed);
    let mut daemon = Running::start(&world, &files);
    daemon.until(3 * HOUR, is_completed).await;
    assert_eq!(world.caused("mock-1", "update accepted").len(), 2);
    daemon.end().await;
}

/// What is ordered to be applied is applied to every BMC, one that does not answer yet among them, though the daemon is
/// killed in between; another file is not applied by the same word.
#[tokio::test(start_paused = true)]
async fn an_ordered_apply_reaches_every_bmc_though_the_daemon_is_killed() {
    let world = World::of(
        &[1, 1, 1],
        "[[fault]]\nbmc = \"mock-2\"\nuntil = \"2h\"\ncount = 0\nanswer = \"refuse\"\n",
    );
    let text = named(PIPELINE, "", &[bios_hop(&world, "2.50")]);
    let files = Files::new(&world, &[&text]);
    let mut killed = Running::start(&world, &files);
    killed.pass(MINUTE).await;
    let verb = files.to_apply(&world);
    world.order(&About::Pipeline(PIPELINE.into()), &verb);
    killed
        .until(HOUR, |_| {
            world.caused("mock-1", "update accepted").len() == 1
        })
        .await;
    drop(killed);

    let mut daemon = Running::start(&world, &files);
    let is_applied = |name: &str| {
        world.bmc(name, |bmc| {
            bmc.state().systems[0].bios_version.as_deref() == Some("2.50")
        })
    };
    daemon
        .until(8 * HOUR, |_| {
            ["mock-1", "mock-2", "mock-3"]
                .iter()
                .all(|name| is_applied(name))
        })
        .await;
    for name in ["mock-1", "mock-2", "mock-3"] {
        assert_eq!(world.caused(name, "update accepted").len(), 1, "{name}");
    }

    let other = named(PIPELINE, "", &[bios_hop(&world, "2.70")]);
    files.write(&world.inventory(), &[&other]);
    daemon.pass(2 * MINUTE).await;
    world.order(&About::Pipeline(PIPELINE.into()), &verb);
    daemon.pass(HOUR).await;
    assert_eq!(
        world.caused("mock-1", "update accepted").len(),
        1,
        "another file"
    );
    assert!(!daemon.happened("apply-outdated").is_empty());
    daemon.end().await;
}

/// What has begun has its slot before anything that has not, though its images come later and its name is the last.
#[tokio::test(start_paused = true)]
async fn a_run_that_has_begun_keeps_its_slot_over_a_kill() {
    let world = World::of(
        &[1, 1],
        "[[fault]]\nbmc = \"mock-1\"\nuntil = \"20m\"\ncount = 0\nanswer = \"refuse\"\n",
    );
    let serial = "[rollout]\nmax_concurrent = 1\n";
    let text = named(PIPELINE, serial, &[bmc_hop(&world, "1.60")]);
    let files = Files::new(&world, &[&text]);
    let mut killed = Running::start(&world, &files);
    killed.pass(MINUTE).await;
    let verb = files.to_apply(&world);
    world.order(&About::Pipeline(PIPELINE.into()), &verb);
    let accepted = |name: &str| world.caused(name, "update accepted").len();
    killed.until(HOUR, |_| accepted("mock-2") == 1).await;
    drop(killed);
    tokio::time::sleep(20 * MINUTE).await;
    assert_eq!(accepted("mock-1"), 0, "it did not answer");

    files.slow_images("mock-2");
    let mut daemon = Running::start(&world, &files);
    let is_over = |daemon: &Running| {
        let run = row(&daemon.engine.board().rows(), "mock-2");
        run.is_some_and(|run| run.phase.is_terminal())
    };
    daemon
        .until(HOUR, |daemon| {
            let is_over = is_over(daemon);
            assert!(is_over || world.writes("mock-1").is_empty());
            is_over
        })
        .await;
    daemon.until(HOUR, |_| accepted("mock-1") == 1).await;
    daemon.end().await;
}

/// A reload in the middle of a run lets it come to a safe point, and carries it on by the new files.
#[tokio::test(start_paused = true)]
async fn a_reload_in_the_middle_of_a_run_carries_it_on() {
    let world = World::one(1, "");
    let text = named(
        PIPELINE,
        "",
        &[bmc_hop(&world, "1.60"), bios_hop(&world, "2.50")],
    );
    assert!(world.apply_for(&[&text], 5 * MINUTE).await.is_none());
    let files = Files::new(&world, &[&text]);
    let mut daemon = Running::start(&world, &files);
    daemon.pass(2 * MINUTE).await;
    daemon.commands.send(Command::Reload).unwrap();
    daemon.until(3 * HOUR, is_completed).await;
    assert_eq!(world.caused("mock-1", "update accepted").len(), 2);
    daemon.end().await;
}

/// Scenario 133, for the daemon: no more sessions than BMCs, and none is left when it ends.
#[tokio::test(start_paused = true)]
async fn no_session_is_left_when_a_daemon_ends() {
    let world = World::of(&[1, 1, 1], "");
    let text = named(
        PIPELINE,
        "",
        &[settings("s", "bios", "BootMode = \"UEFI\"")],
    );
    let mut daemon = Running::start(&world, &Files::new(&world, &[&text]));
    daemon.pass(HOUR).await;
    for name in ["mock-1", "mock-2", "mock-3"] {
        assert!(
            world.bmc(name, |bmc| bmc.state().sessions.len()) <= 1,
            "{name}"
        );
    }
    daemon.end().await;
    for name in ["mock-1", "mock-2", "mock-3"] {
        assert_eq!(
            world.bmc(name, |bmc| bmc.state().sessions.len()),
            0,
            "{name}"
        );
    }
}

/// A run by `apply` beside a daemon has the BMC to itself, and is not doubled.
#[tokio::test(start_paused = true)]
async fn a_daemon_leaves_a_bmc_alone_that_another_process_drives() {
    let world = World::one(1, "");
    let text = named(PIPELINE, "", &[bios_hop(&world, "2.50")]);
    let mut daemon = Running::start(&world, &Files::new(&world, &[&text]));
    daemon.until(MINUTE, |d| d.bmc("mock-1").polls == 1).await;
    let texts = [text.as_str()];
    let applied = world.apply(&texts);
    tokio::pin!(applied);
    let report = loop {
        tokio::select! {
            biased;
            report = &mut applied => break report,
            () = daemon.pass(Duration::from_secs(1)) => {}
        }
    };
    completed(&world, &report);
    let polls = daemon.bmc("mock-1").polls;
    assert!(polls <= 2, "{polls} observations beside a run");
    daemon.end().await;
}
