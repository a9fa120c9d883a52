//! Firmware of a BIOS: one request, one activation, and what refuses it.

use std::time::Duration;

use crate::claims::{
    BMC, assert_completed, assert_failed, bios_attribute, pipeline, stage, stage_text, story, told,
};
use crate::support::world::World;

fn hop(world: &World, version: &str) -> String {
    let body = format!(
        "version = \"{version}\"\nimage = {}",
        world.image("bios", version)
    );
    stage_text("bios", "bios-version", &body)
}

/// Scenario 114.
#[tokio::test(start_paused = true)]
async fn an_equal_version_is_already_there_without_any_request_that_changes_something() {
    let world = World::one(1, "");

    let report = world.apply(&[&pipeline(&hop(&world, "2.10"))]).await;

    assert_completed(&report, "bios", "already-there");
    let reason = &stage(&report, "bios").reason;
    assert!(reason.contains("2.10"), "{reason}");
    assert_eq!(world.writes(BMC), [""; 0]);
    assert_eq!(story(&world), [""; 0]);
}

/// Scenario 115.
#[tokio::test(start_paused = true)]
async fn an_upgrade_goes_from_request_over_task_and_reboot_to_the_verified_version() {
    let world = World::one(1, "");

    let report = world.apply(&[&pipeline(&hop(&world, "2.20"))]).await;

    assert_completed(&report, "bios", "applied");
    let story = story(&world);
    let accepted =
        "update accepted bios 2.20 target /redfish/v1/UpdateService/FirmwareInventory/BIOS_1";
    assert!(story[0].starts_with(accepted), "{story:?}");
    let wanted = [
        "bios 1 staged 2.20",
        "reset /redfish/v1/Systems/1 GracefulShutdown",
        "power 1 Off",
        "reset /redfish/v1/Systems/1 On",
        "power 1 On",
        "post 1 begins",
        "bios 1 flash begins 2.20",
        "bios 1 version 2.10 -> 2.20",
        "post 1 ends",
    ];
    let steps = told(&world, &["bios ", "reset ", "power ", "post "]);
    assert_eq!(steps, wanted);
    assert_eq!(world.caused(BMC, "update accepted").len(), 1);
    let ledger = world.ledger(BMC);
    let changed = ledger
        .iter()
        .position(|line| line.detail.as_deref() == Some("bios 1 version 2.10 -> 2.20"));
    let read_after = ledger[changed.unwrap()..].iter().filter(|line| {
        line.method.as_deref() == Some("GET")
            && line.path.as_deref() == Some("/redfish/v1/Systems/1")
    });
    assert!(
        read_after.count() >= 3,
        "the version was not read often enough after it changed"
    );
    let state = world.bmc(BMC, |bmc| bmc.state());
    assert_eq!(state.sessions, [""; 0], "a session was left");
}

/// Scenario 122.
#[tokio::test(start_paused = true)]
async fn a_refused_image_fails_the_stage_at_once_and_is_sent_once() {
    let world = World::one(
        1,
        "[[requirement]]\ncomponent = \"bios\"\nat_least = \"2.15\"\nmessage = \"Install 2.15 first.\"",
    );
    let text = pipeline(&hop(&world, "2.20"));

    let report = world.apply(&[&text]).await;

    assert_failed(&report, "bios", &["Install 2.15 first."]);
    assert_eq!(world.writes(BMC).len(), 1);
    assert_eq!(world.caused(BMC, "update refused").len(), 1);
    assert_eq!(told(&world, &["reset ", "power "]), [""; 0]);
    assert!(
        world.elapsed() < Duration::from_mins(5),
        "{:?}",
        world.elapsed()
    );
}

/// Scenario 122: several tries do not change what is final.
#[tokio::test(start_paused = true)]
async fn a_refused_image_is_not_sent_again_however_many_tries_are_left() {
    let world = World::one(
        1,
        r#"
        [[fault]]
        method = "POST"
        path = "/redfish/v1/UpdateService*"
        status = 400
        message_id = "Update.1.3.UpdateNotApplicable"
        message = "The image is not for this board."
        "#,
    );
    let text = pipeline(&(hop(&world, "2.20") + "attempts = 5\n"));

    let report = world.apply(&[&text]).await;

    assert_failed(&report, "bios", &["The image is not for this board."]);
    assert_eq!(world.writes(BMC).len(), 1);
}

/// Scenario 122.
#[tokio::test(start_paused = true)]
async fn a_service_that_is_busy_is_asked_again_when_it_said() {
    for status in [503, 429] {
        let world = World::one(
            1,
            &format!(
                r#"
                [[fault]]
                method = "POST"
                path = "/redfish/v1/UpdateService*"
                count = 2
                status = {status}
                message_id = "Base.1.18.ServiceTemporarilyUnavailable"
                message = "Busy."
                retry_after = "90s"
                "#
            ),
        );

        let report = world.apply(&[&pipeline(&hop(&world, "2.20"))]).await;

        assert_completed(&report, "bios", "applied");
        assert_eq!(world.caused(BMC, "update accepted").len(), 1, "{status}");
        let ledger = world.ledger(BMC);
        let asked: Vec<u64> = ledger
            .iter()
            .filter(|line| line.method.as_deref() == Some("POST"))
            .filter(|line| {
                line.path
                    .as_deref()
                    .is_some_and(|path| path.starts_with("/redfish/v1/UpdateService"))
            })
            .map(|line| line.at_ms)
            .collect();
        assert_eq!(asked.len(), 3, "{status}");
        for pair in asked.windows(2) {
            assert!(
                pair[1] - pair[0] >= 90_000,
                "{status}: asked again too early: {asked:?}"
            );
        }
    }
}

/// Scenario 122: being asked to come later has an end.
#[tokio::test(start_paused = true)]
async fn a_service_that_is_busy_for_ever_fails_the_stage_inside_a_deadline() {
    let world = World::one(
        1,
        r#"
        [[fault]]
        method = "POST"
        path = "/redfish/v1/UpdateService*"
        status = 503
        count = 0
        message_id = "Base.1.18.ServiceTemporarilyUnavailable"
        message = "Busy."
        retry_after = "60s"
        "#,
    );

    let report = world.apply(&[&pipeline(&hop(&world, "2.20"))]).await;

    assert_failed(&report, "bios", &["Busy."]);
    let posts = world.writes(BMC).len();
    assert!((2..=40).contains(&posts), "{posts} requests");
    assert!(
        world.elapsed() < Duration::from_mins(45),
        "{:?}",
        world.elapsed()
    );
    assert_eq!(world.caused(BMC, "update accepted"), [""; 0]);
}

/// Scenario 113.
#[tokio::test(start_paused = true)]
async fn settings_that_an_update_reset_are_applied_again_by_a_later_stage() {
    let world = World::one(1, "[update]\nresets_bios_settings = true");
    let wanted = "settings = { ProcHyperthreading = \"Enabled\" }";
    let text = pipeline(
        &(stage_text(
            "pre",
            "bios-settings",
            &format!("transient = true\n{wanted}"),
        ) + &hop(&world, "2.20")
            + &stage_text("post", "bios-settings", wanted)),
    );

    let report = world.apply(&[&text]).await;

    assert_completed(&report, "post", "applied");
    assert_completed(&report, "pre", "applied");
    let wanted = [
        "settings 1 applied ProcHyperthreading",
        "bios 1 version 2.10 -> 2.20",
        "settings 1 applied ProcHyperthreading",
    ];
    assert_eq!(
        told(&world, &["settings 1 applied", "bios 1 version"]),
        wanted
    );
    assert_eq!(bios_attribute(&world, "ProcHyperthreading"), "Enabled");

    let writes = world.writes(BMC).len();
    let again = world.apply(&[&text]).await;

    assert_completed(&again, "post", "already-there");
    assert_eq!(
        world.writes(BMC).len(),
        writes,
        "a finished pipeline wrote again"
    );
}

/// Scenario 149, where the flash restarts its host by itself and the update is the last request of the run.
#[tokio::test(start_paused = true)]
async fn what_a_hop_resets_without_any_further_request_is_put_back_before_the_end() {
    let script = "[update]\nresets_bios_settings = true\nactivation = \"self-reboot\"";
    let world = World::one(1, script);
    let wanted = "settings = { ProcHyperthreading = \"Enabled\" }";
    let text = pipeline(&(stage_text("keep", "bios-settings", wanted) + &hop(&world, "2.20")));

    let report = world.apply(&[&text]).await;

    assert_completed(&report, "keep", "applied");
    assert_eq!(bios_attribute(&world, "ProcHyperthreading"), "Enabled");
}
