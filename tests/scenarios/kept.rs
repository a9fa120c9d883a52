//! What one process leaves in the state for the next: where things are on a BMC, and logins that nobody will end.

use std::time::Duration;

use mock_bmc::ledger::Kind;
use redpipe::model::BmcName;
use redpipe::run::RunPhase;
use serde_json::json;

use super::common::{bmc_hop, completed, pipeline, row, settings};
use super::support::world::World;

/// Paths that the BMC was asked to show since so many ledger lines.
fn shown(world: &World, since: usize) -> Vec<String> {
    let lines = world.ledger("mock-1").into_iter().skip(since);
    lines
        .filter(|line| line.kind == Kind::Request && line.method.as_deref() == Some("GET"))
        .filter_map(|line| line.path)
        .collect()
}

/// Applies to the end, and returns what was read for it.
async fn applied(world: &World, text: &str) -> Vec<String> {
    let since = world.ledger("mock-1").len();
    let report = world.apply(&[text]).await;
    completed(world, &report);
    shown(world, since)
}

fn forget(world: &World) {
    let store = world.engine().store();
    store
        .remember_links(&BmcName::from("mock-1"), "", None)
        .unwrap();
    assert_eq!(store.known_links(&"mock-1".into()).unwrap(), None);
}

fn known_version(world: &World) -> String {
    let links = world.engine().store().known_links(&"mock-1".into());
    let links = links.unwrap().unwrap();
    links["bmc_version"].as_str().unwrap().to_owned()
}

#[tokio::test(start_paused = true)]
async fn what_one_process_has_found_the_next_does_not_look_for() {
    let world = World::one(2, "");
    let text = pipeline(&[
        bmc_hop(&world, "1.60"),
        settings("quiet", "bios", "QuietBoot = false"),
    ]);
    applied(&world, &text).await;
    let warm = applied(&world, &text).await;
    forget(&world);
    let cold = applied(&world, &text).await;
    assert!(warm.len() + 3 < cold.len(), "{warm:#?}\n{cold:#?}");
    let service = "/redfish/v1/UpdateService".to_owned();
    assert!(cold.contains(&service), "{cold:#?}");
    assert!(!warm.contains(&service), "{warm:#?}");
}

#[tokio::test(start_paused = true)]
async fn a_plan_teaches_the_apply_after_it() {
    let world = World::one(1, "");
    let text = pipeline(&[settings("quiet", "bios", "QuietBoot = false")]);
    world.plan(&[&text]).await;
    let since = world.ledger("mock-1").len();
    world.plan(&[&text]).await;
    let service = "/redfish/v1/UpdateService".to_owned();
    assert!(!shown(&world, since).contains(&service));
    assert!(!applied(&world, &text).await.contains(&service));
}

#[tokio::test(start_paused = true)]
async fn links_of_another_bmc_version_are_dropped() {
    let world = World::one(1, "");
    let text = pipeline(&[bmc_hop(&world, "1.60")]);
    applied(&world, &text).await;
    assert_eq!(known_version(&world), "1.60");
    world.bmc("mock-1", |bmc| bmc.set_bmc_version("1.70"));
    let read = applied(&world, &text).await;
    assert!(read.contains(&"/redfish/v1/UpdateService".to_owned()));
    assert_eq!(known_version(&world), "1.70");
}

#[tokio::test(start_paused = true)]
async fn a_login_that_a_killed_process_never_ended_keeps_nobody_waiting() {
    let world = World::one(1, "");
    let text = pipeline(&[bmc_hop(&world, "1.60")]);
    let killed = world
        .apply_watched(&[&text], |_, rows| {
            row(rows, "mock-1").is_none_or(|run| run.phase == RunPhase::Pending)
        })
        .await;
    assert!(killed.is_none());
    // As it stands where the kill came between a login and its end.
    let store = world.engine().store();
    let marks = store.login_marks().unwrap();
    assert_eq!(marks.len(), 1);
    for mark in marks {
        let pending = json!({ "bmcs": { "mock-1": { "pending_since": world.wall() } } });
        store
            .update_logins(&mark, &mut |_| Some(pending.clone()))
            .unwrap();
    }
    let (began, lines) = (world.elapsed(), world.ledger("mock-1").len());
    let login = |world: &World| {
        let new = world.ledger("mock-1").into_iter().skip(lines);
        new.filter(|line| line.method.as_deref() == Some("POST"))
            .any(|line| line.path.is_some_and(|path| path.ends_with("/Sessions")))
    };
    world
        .apply_watched(&[&text], |world, _| !login(world))
        .await;
    let waited = world.elapsed().checked_sub(began).unwrap();
    assert!(waited < Duration::from_mins(1), "{waited:?}");
    let report = world.apply(&[&text]).await;
    completed(&world, &report);
}
