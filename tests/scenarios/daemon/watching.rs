//! What is observed, when it counts, and that observing writes nothing.

use std::time::Duration;

use mock_bmc::script::Script;
use redpipe::drift::DriftState;
use serde_json::json;

use crate::common::{bios_hop, bmc_hop, completed, named, settings};
use crate::support::daemon::{Files, Running};
use crate::support::world::World;

const MINUTE: Duration = Duration::from_mins(1);

fn observing(stages: &[String]) -> String {
    named("p", "", stages)
}

/// Scenario 83: given policy Observe and a changed setting after success, then it is told with key, expected and actual,
/// and nothing is written.
#[tokio::test(start_paused = true)]
async fn under_observe_drift_is_told_and_nothing_is_written() {
    let world = World::one(1, "");
    let text = observing(&[settings("post", "bios", "BootMode = \"UEFI\"")]);
    completed(&world, &world.apply(&[&text]).await);
    let writes = world.writes("mock-1");
    let mut daemon = Running::start(&world, &Files::new(&world, &[&text]));
    daemon
        .until(MINUTE, |d| {
            d.bmc("mock-1").state == Some(DriftState::InSync)
        })
        .await;

    world.bmc("mock-1", |bmc| {
        bmc.set_attribute(0, "BootMode", json!("LegacyBios"));
    });
    daemon
        .until(15 * MINUTE, |d| {
            d.bmc("mock-1").state == Some(DriftState::Drifted)
        })
        .await;
    let shown = daemon.bmc("mock-1");
    let item = &shown.items[0];
    assert_eq!(
        (item.name.as_str(), &item.expected, &item.actual),
        ("BootMode", &json!("Uefi"), &json!("LegacyBios"))
    );
    assert!(item.since.is_some(), "since when");
    assert_eq!(daemon.happened("drift-detected").len(), 1);

    daemon.pass(60 * MINUTE).await;
    assert_eq!(world.writes("mock-1"), writes);
    assert_eq!(daemon.happened("drift-detected").len(), 1, "told once");

    world.bmc("mock-1", |bmc| {
        bmc.set_attribute(0, "BootMode", json!("Uefi"));
    });
    daemon
        .until(10 * MINUTE, |d| {
            d.bmc("mock-1").state == Some(DriftState::InSync)
        })
        .await;
    assert_eq!(daemon.happened("drift-cleared").len(), 1);
    daemon.end().await;
}

/// A disk that is waited for at every observation would be the slowest part of a big fleet.
#[tokio::test(start_paused = true)]
async fn observing_what_is_known_writes_nothing_into_the_state() {
    let world = World::one(1, "");
    let text = observing(&[settings("post", "bios", "BootMode = \"Uefi\"")]);
    completed(&world, &world.apply(&[&text]).await);
    let mut daemon = Running::start(&world, &Files::new(&world, &[&text]));
    daemon.pass(20 * MINUTE).await;
    let log = world.folder.path().join("state.db-wal");
    let (before, polls) = (std::fs::read(&log).unwrap(), daemon.bmc("mock-1").polls);
    for note in ["one", "two", "three"] {
        // Something that nobody watches: all is read and compared again.
        world.bmc("mock-1", |bmc| {
            bmc.set_attribute(0, "AssetNote", json!(note));
        });
        daemon.pass(10 * MINUTE).await;
    }
    assert!(daemon.bmc("mock-1").polls >= polls + 5);
    assert_eq!(daemon.bmc("mock-1").state, Some(DriftState::InSync));
    assert!(
        std::fs::read(&log).unwrap() == before,
        "the state was written"
    );
    daemon.end().await;
}

/// Scenario 90: given a single bad poll, then no drift is reported.
#[tokio::test(start_paused = true)]
async fn one_odd_answer_is_no_drift_and_one_missed_is_not_unreachable() {
    let world = World::one(1, "");
    let text = observing(&[settings("post", "bios", "BootMode = \"UEFI\"")]);
    let mut daemon = Running::start(&world, &Files::new(&world, &[&text]));
    daemon.until(MINUTE, |d| d.bmc("mock-1").polls == 1).await;

    world.bmc("mock-1", |bmc| {
        bmc.set_attribute(0, "BootMode", json!("LegacyBios"));
    });
    daemon
        .until(10 * MINUTE, |d| d.bmc("mock-1").polls == 2)
        .await;
    world.bmc("mock-1", |bmc| {
        bmc.set_attribute(0, "BootMode", json!("Uefi"));
    });
    daemon
        .until(10 * MINUTE, |d| d.bmc("mock-1").polls == 4)
        .await;
    assert_eq!(daemon.happened("drift-detected"), [""; 0]);

    world.bmc("mock-1", |bmc| bmc.set_script(&refusing()));
    daemon
        .until(20 * MINUTE, |d| d.bmc("mock-1").failures == 1)
        .await;
    assert_eq!(daemon.bmc("mock-1").state, Some(DriftState::InSync));
    daemon
        .until(20 * MINUTE, |d| d.bmc("mock-1").failures == 2)
        .await;
    assert_eq!(daemon.bmc("mock-1").state, Some(DriftState::Unreachable));
    assert_eq!(daemon.happened("drift-detected"), [""; 0]);
    assert_eq!(daemon.happened("unreachable").len(), 1);

    world.bmc("mock-1", mock_bmc::bmc::Bmc::clear_faults);
    daemon
        .until(120 * MINUTE, |d| {
            d.bmc("mock-1").state == Some(DriftState::InSync)
        })
        .await;
    assert_eq!(daemon.happened("reachable").len(), 1);
    daemon.end().await;
}

fn refusing() -> Script {
    toml::from_str("[[fault]]\ncount = 0\nanswer = \"refuse\"\n").unwrap()
}

/// A BMC that stays away is asked more and more seldom.
#[tokio::test(start_paused = true)]
async fn a_bmc_that_does_not_answer_is_asked_more_and_more_seldom() {
    let world = World::one(1, "[[fault]]\ncount = 0\nanswer = \"refuse\"\n");
    let text = observing(&[bmc_hop(&world, "1.60")]);
    let mut daemon = Running::start(&world, &Files::new(&world, &[&text]));
    daemon.pass(24 * 60 * MINUTE).await;
    let failures = daemon.bmc("mock-1").failures;
    assert!((20..40).contains(&failures), "{failures} in a day");
    daemon.end().await;
}

/// DESIGN: never while a foreign task is active on that BMC.
#[tokio::test(start_paused = true)]
async fn nothing_is_judged_while_somebody_else_is_at_work() {
    let world = World::one(1, "[[foreign_task]]\n");
    let text = observing(&[bios_hop(&world, "2.50")]);
    let mut daemon = Running::start(&world, &Files::new(&world, &[&text]));
    daemon.pass(30 * MINUTE).await;
    assert_eq!(daemon.happened("drift-detected"), [""; 0]);
    let problems = daemon.bmc("mock-1").problems;
    assert!(
        problems.iter().any(|p| p.kind == "somebody-at-work"),
        "{problems:?}"
    );
    daemon.end().await;
}

/// Facts of the hardware are labels, beside those that are written.
#[tokio::test(start_paused = true)]
async fn facts_become_labels() {
    let world = World::one(1, "");
    let text = observing(&[bmc_hop(&world, "1.50")]);
    let mut daemon = Running::start(&world, &Files::new(&world, &[&text]));
    daemon.until(MINUTE, |d| d.bmc("mock-1").polls == 1).await;
    let labels = daemon.bmc("mock-1").labels;
    assert_eq!(labels["redfish.bmc_version"], "1.50");
    assert_eq!(labels["redfish.bios_version"], "2.10");
    assert_eq!(labels["redfish.platform"], "generic");
    daemon.end().await;
}

/// Observations begin spread over the interval, and go on in it.
#[tokio::test(start_paused = true)]
async fn observations_are_spread_evenly_and_go_on_in_their_interval() {
    let world = World::of(&[1; 10], "");
    let text = observing(&[bmc_hop(&world, "1.50")]);
    let mut daemon = Running::start(&world, &Files::new(&world, &[&text]));
    daemon.pass(Duration::from_secs(10)).await;
    let polled = |d: &Running| {
        d.fleet
            .bmcs()
            .iter()
            .filter(|b| b.polled_at.is_some())
            .count()
    };
    assert_eq!(polled(&daemon), 1, "the first at once, and not all at once");
    daemon.pass(Duration::from_secs(150)).await;
    assert!((4..=6).contains(&polled(&daemon)), "{}", polled(&daemon));
    daemon.pass(Duration::from_mins(55)).await;
    let polls: Vec<u64> = daemon.fleet.bmcs().iter().map(|b| b.polls).collect();
    assert!(polls.iter().all(|n| (10..=13).contains(n)), "{polls:?}");
    daemon.end().await;
}

/// PERFORMANCE: one drift check asks four documents at most.
#[tokio::test(start_paused = true)]
async fn a_warm_observation_asks_four_documents_and_is_not_told_them_again() {
    let world = World::one(1, "");
    let text = observing(&[
        bmc_hop(&world, "1.50"),
        settings("post", "bios", "BootMode = \"UEFI\""),
        bios_hop(&world, "2.10"),
    ]);
    let mut daemon = Running::start(&world, &Files::new(&world, &[&text]));
    for polls in 1..=2 {
        daemon
            .until(10 * MINUTE, |d| d.bmc("mock-1").polls == polls)
            .await;
    }
    let before = world.ledger("mock-1").len();
    daemon
        .until(10 * MINUTE, |d| d.bmc("mock-1").polls == 3)
        .await;
    let wanted = [
        "GET /redfish/v1/Managers/BMC 304",
        "GET /redfish/v1/Systems/1 304",
        "GET /redfish/v1/Systems/1/Bios 304",
        "GET /redfish/v1/Systems/1/Bios/Settings 304",
    ];
    assert_eq!(asked(&world, before), wanted);
    daemon.end().await;
}

fn asked(world: &World, after: usize) -> Vec<String> {
    let lines = world.ledger("mock-1").into_iter().skip(after);
    lines
        .filter_map(|line| Some(format!("{} {} {}", line.method?, line.path?, line.status?)))
        .collect()
}
