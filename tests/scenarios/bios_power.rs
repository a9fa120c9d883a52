//! What BIOS settings and updates do to the power of a host.

use redpipe::plan::PlanAction;

use crate::claims::{
    BMC, assert_completed, assert_failed, assert_held, bios_attribute, pipeline, stage_text, story,
    told,
};
use crate::common::row;
use crate::support::world::World;

const RESET: &str = "reset /redfish/v1/Systems/1";

fn quiet(more: &str) -> String {
    let body = format!("{more}\nsettings = {{ QuietBoot = false }}");
    pipeline(&stage_text("bios", "bios-settings", &body))
}

fn update(world: &World, more: &str) -> String {
    let body = format!(
        "version = \"2.20\"\nimage = {}\n{more}",
        world.image("bios", "2.20")
    );
    pipeline(&stage_text("bios", "bios-version", &body))
}

fn power(world: &World) -> String {
    world.bmc(BMC, |bmc| bmc.state()).systems[0].power.clone()
}

/// Scenario 111.
#[tokio::test(start_paused = true)]
async fn a_host_that_was_off_is_off_again_after_its_settings() {
    let world = World::one(1, "[power]\nstate = \"Off\"");

    let report = world.apply(&[&quiet("")]).await;

    assert_completed(&report, "bios", "applied");
    assert_eq!(bios_attribute(&world, "QuietBoot"), false);
    let wanted = [
        format!("{RESET} On"),
        "power 1 On".to_owned(),
        "post 1 begins".to_owned(),
        "post 1 ends".to_owned(),
        format!("{RESET} GracefulShutdown"),
        "power 1 Off".to_owned(),
    ];
    assert_eq!(told(&world, &["reset ", "power ", "post "]), wanted);
    assert_eq!(power(&world), "Off");
}

/// Scenario 111, over two items and an update: on again and off again, and off at the end.
#[tokio::test(start_paused = true)]
async fn a_host_that_was_off_is_off_again_after_its_update() {
    let world = World::one(1, "[power]\nstate = \"Off\"");

    let report = world.apply(&[&update(&world, "")]).await;

    assert_completed(&report, "bios", "applied");
    let resets = told(&world, &["reset ", "bios 1 version"]);
    let wanted = [
        format!("{RESET} On"),
        "bios 1 version 2.10 -> 2.20".to_owned(),
        format!("{RESET} GracefulShutdown"),
    ];
    assert_eq!(resets, wanted);
    assert_eq!(power(&world), "Off");
}

/// Scenario 111: a host that was on stays on.
#[tokio::test(start_paused = true)]
async fn a_host_that_was_on_is_on_afterwards() {
    let world = World::one(1, "");

    let report = world.apply(&[&update(&world, "")]).await;

    assert_completed(&report, "bios", "applied");
    assert_eq!(power(&world), "On");
    assert_eq!(
        told(&world, &["reset "]),
        [format!("{RESET} GracefulShutdown"), format!("{RESET} On")]
    );
}

/// Scenario 112.
#[tokio::test(start_paused = true)]
async fn an_ignored_restart_is_forced_after_the_grace_time_where_that_is_allowed() {
    let world = World::one(1, "[power]\nignored_graceful = true");

    let report = world
        .apply(&[&quiet("reset = \"graceful-then-force\"")])
        .await;

    assert_completed(&report, "bios", "applied");
    assert_eq!(bios_attribute(&world, "QuietBoot"), false);
    let wanted = [
        "reset ignored /redfish/v1/Systems/1 GracefulRestart".to_owned(),
        format!("{RESET} ForceRestart"),
    ];
    assert_eq!(told(&world, &["reset "]), wanted);
    let at = |what: &str| {
        let ledger = world.ledger(BMC);
        let found = ledger
            .iter()
            .find(|line| line.caused.iter().any(|caused| caused.ends_with(what)));
        found.unwrap().at_ms
    };
    let waited = at("ForceRestart") - at("GracefulRestart");
    assert!(waited >= 5 * 60 * 1000, "forced after only {waited} ms");
}

/// Scenario 112.
#[tokio::test(start_paused = true)]
async fn an_ignored_restart_fails_the_stage_where_force_is_not_allowed() {
    let world = World::one(1, "[power]\nignored_graceful = true");

    let report = world.apply(&[&quiet("reset = \"graceful\"")]).await;

    assert_failed(&report, "bios", &["the host ignores the restart"]);
    assert_eq!(
        told(&world, &["reset "]),
        ["reset ignored /redfish/v1/Systems/1 GracefulRestart"]
    );
    assert_eq!(told(&world, &["power ", "post "]), [""; 0]);
}

/// Scenario 112.
#[tokio::test(start_paused = true)]
async fn with_an_image_staged_an_ignored_shutdown_is_forced_before_the_boot_and_never_after() {
    let world = World::one(1, "[power]\nignored_graceful = true");

    let report = world
        .apply(&[&update(&world, "reset = \"graceful-then-force\"")])
        .await;

    assert_completed(&report, "bios", "applied");
    let wanted = [
        "reset ignored /redfish/v1/Systems/1 GracefulShutdown".to_owned(),
        format!("{RESET} ForceOff"),
        "power 1 Off".to_owned(),
        format!("{RESET} On"),
        "power 1 On".to_owned(),
        "bios 1 version 2.10 -> 2.20".to_owned(),
    ];
    assert_eq!(
        told(&world, &["reset ", "power ", "bios 1 version"]),
        wanted
    );
}

/// Scenario 112.
#[tokio::test(start_paused = true)]
async fn with_an_image_staged_and_no_force_allowed_the_run_is_held_and_the_host_left_alone() {
    let world = World::one(1, "[power]\nignored_graceful = true");

    let report = world
        .apply(&[&update(&world, "reset = \"graceful\"")])
        .await;

    assert_held(&report, &["does not go off"]);
    assert_eq!(
        told(&world, &["reset "]),
        ["reset ignored /redfish/v1/Systems/1 GracefulShutdown"]
    );
    assert_eq!(told(&world, &["power ", "bricked"]), [""; 0]);
}

/// Scenario 112: a flashing POST that lasts longer than any POST should is waited for, then held, never reset.
#[tokio::test(start_paused = true)]
async fn after_the_boot_of_a_flash_no_power_request_is_sent_however_long_it_lasts() {
    let world = World::one(1, "[durations]\nbios_flash_post = \"3h\"");
    let text = update(&world, "reset = \"force\"");

    let report = world.apply(&[&text]).await;

    assert_held(&report, &["POST"]);
    let resets = [format!("{RESET} ForceOff"), format!("{RESET} On")];
    assert_eq!(told(&world, &["reset "]), resets);

    // Taken up again and again while it lasts, and finished once it is over.
    let mut last = report;
    for _ in 0..40 {
        tokio::time::sleep(std::time::Duration::from_mins(10)).await;
        last = world.apply(&[&text]).await;
        if crate::common::first(&last).phase.is_terminal() {
            break;
        }
    }
    assert_completed(&last, "bios", "applied");
    assert_eq!(told(&world, &["reset "]), resets);
    assert!(!story(&world).iter().any(|line| line.starts_with("bricked")));
}

/// Scenario 123: a host that is in POST already is waited for, and only then is an image sent.
#[tokio::test(start_paused = true)]
async fn a_host_that_is_in_post_is_waited_for_before_anything_is_sent() {
    let world = World::one(1, "[[system]]\nid = \"1\"\nin_post = true");
    let mut waited = false;

    let report = world
        .apply_watched(&[&update(&world, "")], |_, rows| {
            waited |= row(rows, BMC).is_some_and(|run| run.reason.contains("is in POST"));
            true
        })
        .await
        .expect("nobody kills it");

    assert_completed(&report, "bios", "applied");
    assert!(waited, "the wait has a reason that a person can read");
    let ledger = world.ledger(BMC);
    let first_at = |what: &str| {
        let found = ledger.iter().find(|line| {
            let told = line.caused.iter().chain(&line.detail);
            told.into_iter().any(|told| told.starts_with(what))
        });
        found.map(|line| line.at_ms)
    };
    assert!(
        first_at("post 1 ends") < first_at("update accepted"),
        "{:?}",
        story(&world)
    );
}

/// Scenario 123: a BMC that restarts the host by itself is not helped.
#[tokio::test(start_paused = true)]
async fn a_host_that_its_update_restarted_is_not_restarted_again() {
    let world = World::one(1, "[update]\nactivation = \"self-reboot\"");

    let report = world.apply(&[&update(&world, "")]).await;

    assert_completed(&report, "bios", "applied");
    assert_eq!(told(&world, &["reset "]), [""; 0]);
    assert_eq!(told(&world, &["post 1 begins"]).len(), 1);
    assert_eq!(power(&world), "On");
}

/// What cannot be activated is not written: the plan says so, and so does the run, whose ledger stays empty.
async fn assert_blocked(script: &str, stage: &str, missing: &[&str]) {
    let world = World::one(1, script);
    let pipeline = if stage == "hop" {
        update(&world, "")
    } else {
        quiet(stage)
    };

    let planned = world.plan(&[&pipeline]).await;
    let (plan, _) = planned[0].report.as_ref().unwrap();
    let target = &plan.stages[0].targets[0];
    assert_eq!(target.action, PlanAction::Blocked);
    let reason = target.reason.clone().unwrap();
    assert!(missing.iter().all(|text| reason.contains(text)), "{reason}");
    assert_eq!(target.outage, None);

    let report = world.apply(&[&pipeline]).await;
    assert_held(&report, &["blocked: ", &reason]);
    assert_eq!(world.writes(BMC), Vec::<String>::new());
    assert_eq!(told(&world, &["reset "]), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn settings_of_a_host_that_offers_no_reset_are_not_written() {
    let missing = ["`mock-1-s1`", "no `#ComputerSystem.Reset`"];
    assert_blocked("[power]\nreset = false", "", &missing).await;
}

#[tokio::test(start_paused = true)]
async fn a_bios_image_for_a_host_that_offers_no_reset_is_not_sent() {
    let missing = ["`mock-1-s1`", "no `#ComputerSystem.Reset`"];
    assert_blocked("[power]\nreset = false", "hop", &missing).await;
}

#[tokio::test(start_paused = true)]
async fn nothing_is_written_where_the_reset_that_the_stage_allows_is_not_offered() {
    let script = "[power]\nreset_types = [\"On\", \"ForceOff\", \"ForceRestart\"]";
    let missing = [
        "`mock-1-s1`",
        "by GracefulRestart",
        "On, ForceOff, ForceRestart",
    ];
    assert_blocked(script, "reset = \"graceful\"", &missing).await;
    let script = "[power]\nreset_types = [\"GracefulShutdown\", \"ForceOff\"]";
    assert_blocked(script, "hop", &["`mock-1-s1`", "by On "]).await;
}

#[tokio::test(start_paused = true)]
async fn where_a_person_resets_the_missing_action_is_in_nobodys_way() {
    let world = World::one(1, "[power]\nreset = false");

    let report = world.apply(&[&quiet("reset = \"none\"")]).await;

    let wanted = "blocked: the host must be restarted and `reset = \"none\"`";
    assert_held(&report, &[wanted]);
    assert_eq!(told(&world, &["reset "]), Vec::<String>::new());
}
