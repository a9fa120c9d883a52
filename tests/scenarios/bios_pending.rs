//! Values that wait for a reset: somebody else's, and our own after a crash.

use serde_json::json;

use crate::claims::{
    BMC, assert_completed, assert_held, bios_attribute, pipeline, stage_text, story, told,
};
use crate::support::world::{Rows, World};

fn settings(wanted: &str) -> String {
    pipeline(&stage_text(
        "bios",
        "bios-settings",
        &format!("settings = {{ {wanted} }}"),
    ))
}

/// Scenario 101.
#[tokio::test(start_paused = true)]
async fn values_that_somebody_else_left_pending_hold_the_run_by_name() {
    let world = World::one(
        1,
        "[[system]]\nid = \"1\"\npending = { AssetNote = \"theirs\", BootMode = \"LegacyBios\" }",
    );
    let text = settings("QuietBoot = false");

    let held = world.apply(&[&text]).await;

    assert_held(&held, &["AssetNote", "BootMode"]);
    assert_eq!(world.writes(BMC), [""; 0]);
    assert_eq!(story(&world), [""; 0], "somebody's values were touched");
}

/// Scenario 101: with the wanted attribute among them, at another value.
#[tokio::test(start_paused = true)]
async fn another_value_pending_on_the_wanted_attribute_is_somebody_elses() {
    let world = World::one(
        1,
        "[[system]]\nid = \"1\"\npending = { NumaNodesPerSocket = 4 }",
    );

    let held = world.apply(&[&settings("NumaNodesPerSocket = 2")]).await;

    assert_held(&held, &["NumaNodesPerSocket"]);
    assert_eq!(world.writes(BMC), [""; 0]);
}

/// Scenario 101: settings of somebody else on a system that the pipeline does not even touch stop a reset of the BMC.
#[tokio::test(start_paused = true)]
async fn values_pending_on_a_sibling_stop_a_reset_of_the_bmc() {
    let mut world = World::one(
        2,
        "[[system]]\nid = \"2\"\npending = { AssetNote = \"theirs\" }",
    );
    let labels = "labels = { only = \"yes\" }".to_owned();
    world.server_extra.insert("mock-1-s1".to_owned(), labels);
    world.limit = Some("only=yes".to_owned());
    let text = pipeline(&stage_text(
        "ssh",
        "bmc-settings",
        "settings = { \"SshMaxSessions\" = 4 }",
    ));

    let held = world.apply(&[&text]).await;

    assert_held(&held, &["AssetNote"]);
    assert_eq!(told(&world, &["reset "]), [""; 0]);
}

/// Scenario 102.
#[tokio::test(start_paused = true)]
async fn our_own_pending_values_after_a_crash_are_adopted_and_brought_into_effect() {
    // The answer comes so late that the process dies before it: on disk there is an intent without an outcome.
    let world = World::one(
        1,
        r#"
        [[fault]]
        method = "PATCH"
        path = "*/Bios/Settings"
        count = 1
        answer = "delay"
        by = "20s"
        "#,
    );
    let text = settings("QuietBoot = false, NumaNodesPerSocket = 2");
    let not_written = |world: &World, _: &Rows| world.caused(BMC, "settings accepted").is_empty();
    let killed = world.apply_watched(&[&text], not_written).await;
    assert!(
        killed.is_none(),
        "the process was to die before its answer came: {killed:?}"
    );
    let state = world.bmc(BMC, |bmc| bmc.state());
    assert_eq!(
        state.systems[0].pending.get("QuietBoot"),
        Some(&json!(false))
    );

    let report = world.apply(&[&text]).await;

    assert_completed(&report, "bios", "applied");
    assert_eq!(world.caused(BMC, "settings accepted").len(), 1);
    assert_eq!(told(&world, &["post 1 begins"]).len(), 1);
    assert_eq!(bios_attribute(&world, "QuietBoot"), false);
    assert_eq!(bios_attribute(&world, "NumaNodesPerSocket"), 2);
}
