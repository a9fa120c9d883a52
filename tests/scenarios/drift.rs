//! One observation against what a pipeline wants in the end.

use redpipe::daemon::{Awaited, BmcDrift, drift};
use redpipe::drift::DriftState;
use serde_json::json;

use crate::common::{bios_hop, bmc_hop, completed, pipeline, settings};
use crate::support::world::World;

async fn observed(world: &World, text: &str) -> BmcDrift {
    let assignments = world.assignments(&[text]).await;
    let found = Box::pin(drift(
        &world.engine(),
        &assignments,
        &world.stop,
        &Awaited::default(),
    ))
    .await;
    let mut found = found.expect("nobody stops it");
    assert_eq!(found.len(), 1);
    found.remove(0).0
}

/// `TARGET STAGE NAME: EXPECTED, ACTUAL` of every item.
fn items(found: &BmcDrift) -> Vec<String> {
    let lines = found.items.iter();
    let line = |item: &redpipe::daemon::DriftLine| {
        format!(
            "{} {} {}: {}, {}",
            item.target, item.stage, item.name, item.expected, item.actual
        )
    };
    lines.map(line).collect()
}

fn whole(world: &World) -> String {
    pipeline(&[
        bmc_hop(world, "1.60"),
        bmc_hop(world, "1.80"),
        settings(
            "pre",
            "bios",
            "BootMode = \"LegacyBios\", QuietBoot = false",
        ),
        bios_hop(world, "2.50"),
        settings(
            "post",
            "bios",
            "BootMode = \"UEFI\", NumaNodesPerSocket = \"2\"",
        ),
    ])
}

/// Scenario 88: superseded hops and settings never report drift; the last word of each does.
#[tokio::test(start_paused = true)]
async fn only_the_last_word_on_each_thing_is_watched() {
    let world = World::one(1, "");
    let text = whole(&world);
    let report = world.apply(&[&text]).await;
    completed(&world, &report);
    let writes = world.writes("mock-1");

    let found = observed(&world, &text).await;
    assert_eq!((found.state, items(&found)), (DriftState::InSync, vec![]));

    world.bmc("mock-1", |bmc| {
        bmc.set_bmc_version("1.70");
        bmc.set_bios_version(0, "2.10");
        bmc.set_attribute(0, "BootMode", json!("LegacyBios"));
        bmc.set_attribute(0, "QuietBoot", json!(true));
    });
    let found = observed(&world, &text).await;
    let wanted = [
        r#"bmc bmc-1.80 version: "1.80", "1.70""#,
        "server:mock-1-s1 pre QuietBoot: false, true",
        r#"server:mock-1-s1 bios-2.50 version: "2.50", "2.10""#,
        r#"server:mock-1-s1 post BootMode: "Uefi", "LegacyBios""#,
    ];
    assert_eq!(
        (found.state, items(&found)),
        (DriftState::Drifted, wanted.map(str::to_owned).to_vec())
    );
    assert_eq!(
        world.writes("mock-1"),
        writes,
        "an observation writes nothing"
    );
}

/// Scenario 24, observed: past the last hop is told, and is no drift.
#[tokio::test(start_paused = true)]
async fn what_is_past_the_last_hop_is_ahead_and_not_drifted() {
    let world = World::one(1, "");
    let text = pipeline(&[bmc_hop(&world, "1.40")]);
    let found = observed(&world, &text).await;
    assert_eq!((found.state, items(&found)), (DriftState::Ahead, vec![]));
    assert_eq!(found.problems[0].kind, "ahead");
}

/// Scenario 151: what is not shown is not observable: no drift.
#[tokio::test(start_paused = true)]
async fn a_key_that_is_not_shown_is_a_problem_and_no_drift() {
    let world = World::one(1, "");
    let text = pipeline(&[settings("post", "bios", "RenamedByAnUpdate = \"On\"")]);
    let found = observed(&world, &text).await;
    assert_eq!((found.state, items(&found)), (DriftState::InSync, vec![]));
    let problem = &found.problems[0];
    assert_eq!(problem.kind, "not-observable");
    assert!(problem.message.contains("RenamedByAnUpdate"), "{problem:?}");
}

/// Scenario 147, observed: a transient setting that the update behind it reset is not watched.
#[tokio::test(start_paused = true)]
async fn a_transient_stage_is_not_watched() {
    let world = World::one(1, "");
    let transient =
        settings("pre", "bios", "QuietBoot = false").replace("kind =", "transient = true\nkind =");
    let text = pipeline(&[transient, bios_hop(&world, "2.10")]);
    let found = observed(&world, &text).await;
    assert_eq!((found.state, items(&found)), (DriftState::InSync, vec![]));
}

/// A value that waits for a reset is not in effect, and one that is about to be replaced counts for nothing.
#[tokio::test(start_paused = true)]
async fn what_waits_for_a_reset_is_not_taken_for_what_is() {
    let world = World::one(1, "");
    let text = pipeline(&[settings(
        "post",
        "bios",
        "QuietBoot = false, BootMode = \"UEFI\"",
    )]);
    world.bmc("mock-1", |bmc| {
        bmc.set_pending(0, "QuietBoot", json!(false));
        bmc.set_pending(0, "BootMode", json!("LegacyBios"));
    });
    let found = observed(&world, &text).await;
    assert_eq!(
        items(&found),
        ["server:mock-1-s1 post QuietBoot: false, true"]
    );
    let told = found
        .problems
        .iter()
        .any(|p| p.kind == "not-observable" && p.message.contains("BootMode"));
    assert!(told, "{:?}", found.problems);
}

#[tokio::test(start_paused = true)]
async fn a_bmc_that_does_not_answer_is_unreachable_and_not_drifted() {
    let world = World::one(1, "[[fault]]\ncount = 0\nanswer = \"refuse\"\n");
    let text = pipeline(&[bmc_hop(&world, "1.60")]);
    let found = observed(&world, &text).await;
    assert_eq!(
        (found.state, items(&found)),
        (DriftState::Unreachable, vec![])
    );
    assert!(!found.problems.is_empty());
}
