//! One server: its BIOS is updated or set, or found as wanted, or fails.

use redpipe::run::RunPhase;

use super::common::{bios_hop, completed, first, pipeline, settings, stage, words};
use super::support::world::World;

/// Scenario 52.
#[tokio::test(start_paused = true)]
async fn a_server_below_the_hop_gets_one_update() {
    let world = World::one(1, "");
    let report = world.apply(&[&pipeline(&[bios_hop(&world, "2.20")])]).await;
    completed(&world, &report);
    let updates = world.caused("mock-1", "update");
    assert_eq!(updates.len(), 1, "{updates:#?}");
    assert!(
        updates[0].starts_with("update accepted bios 2.20 "),
        "{updates:?}"
    );
}

/// Scenario 53.
#[tokio::test(start_paused = true)]
async fn a_server_at_or_past_the_hop_is_already_there() {
    for live in ["2.20", "2.30"] {
        let world = World::one(1, &format!("[versions]\nbios = \"{live}\"\n"));
        let report = world.apply(&[&pipeline(&[bios_hop(&world, "2.20")])]).await;
        let hop = stage(completed(&world, &report), "bios-2.20");
        assert_eq!(hop.how, Some("already-there"));
        assert!(
            hop.reason.contains("2.20") && hop.reason.contains(live),
            "names both versions: {}",
            hop.reason
        );
        assert_eq!(world.writes("mock-1"), [""; 0]);
    }
}

/// Scenario 54.
#[tokio::test(start_paused = true)]
async fn a_completed_update_completes_its_stage_with_the_version_read_back() {
    let world = World::one(1, "");
    let report = world.apply(&[&pipeline(&[bios_hop(&world, "2.20")])]).await;
    let hop = stage(completed(&world, &report), "bios-2.20");
    assert_eq!((hop.phase, hop.how), (RunPhase::Completed, Some("applied")));
    assert!(hop.reason.contains("2.20"), "{}", hop.reason);
    let state = world.bmc("mock-1", |bmc| bmc.state());
    assert_eq!(state.systems[0].bios_version.as_deref(), Some("2.20"));
    assert_eq!(state.systems[0].power, "On", "as it was before");
}

/// Scenario 55.
#[tokio::test(start_paused = true)]
async fn a_failed_update_fails_its_stage_and_the_run_with_the_bmcs_words() {
    let world = World::one(1, "[update]\nbios_outcome = \"failed\"\n");
    let report = world.apply(&[&pipeline(&[bios_hop(&world, "2.20")])]).await;
    let run = first(&report);
    assert_eq!(run.phase, RunPhase::Failed, "{run:#?}");
    let hop = stage(run, "bios-2.20");
    assert_eq!(hop.phase, RunPhase::Failed);
    assert!(hop.reason.contains("Exception"), "{}", hop.reason);
    assert!(
        hop.reason.contains("Update."),
        "the BMC's MessageId: {}",
        hop.reason
    );
    assert!(run.reason.contains("mock-1-s1"), "{}", run.reason);
    let state = world.bmc("mock-1", |bmc| bmc.state());
    assert_eq!(state.systems[0].bios_version.as_deref(), Some("2.10"));
    assert_eq!(world.caused("mock-1", "reset"), [""; 0]);
}

/// Scenario 56.
#[tokio::test(start_paused = true)]
async fn bios_settings_that_are_read_back_complete_their_stage() {
    let world = World::one(1, "");
    let text = pipeline(&[settings("cpu", "bios", "NumaNodesPerSocket = 2")]);
    let report = world.apply(&[&text]).await;
    let cpu = stage(completed(&world, &report), "cpu");
    assert_eq!((cpu.phase, cpu.how), (RunPhase::Completed, Some("applied")));
    let state = world.bmc("mock-1", |bmc| bmc.state());
    assert_eq!(state.systems[0].attributes["NumaNodesPerSocket"], 2);
    assert_eq!(
        words(&world, "mock-1", &["settings"]),
        [
            "settings accepted /redfish/v1/Systems/1/Bios/Settings NumaNodesPerSocket",
            "settings 1 applied NumaNodesPerSocket",
        ]
    );
}

/// Scenario 57.
#[tokio::test(start_paused = true)]
async fn bios_settings_that_the_bmc_fails_to_apply_fail_stage_and_run() {
    let world = World::one(1, "[bios_settings]\nfail = [\"NumaNodesPerSocket\"]\n");
    let text = pipeline(&[settings("cpu", "bios", "NumaNodesPerSocket = 2")]);
    let report = world.apply(&[&text]).await;
    let run = first(&report);
    assert_eq!(run.phase, RunPhase::Failed, "{run:#?}");
    let cpu = stage(run, "cpu");
    assert_eq!(cpu.phase, RunPhase::Failed);
    assert_eq!(cpu.phase, RunPhase::Failed);
    assert!(cpu.reason.contains("NumaNodesPerSocket"), "{}", cpu.reason);
    let accepted = world.caused("mock-1", "settings accepted");
    assert_eq!(accepted.len(), 1, "not written again: {accepted:#?}");
}

/// Hides the BIOS version of system 1 wherever it is shown.
const HIDDEN: &str = r#"
[collections]
expand = "refused"
[[fault]]
method = "GET"
path = "/redfish/v1/Systems/1"
count = 0
answer = "edit"
body = { BiosVersion = "null" }
[[fault]]
method = "GET"
path = "/redfish/v1/UpdateService/FirmwareInventory/BIOS_1"
count = 0
answer = "edit"
body = { Version = "null" }
"#;

/// Scenario 66.
#[tokio::test(start_paused = true)]
async fn a_server_that_shows_no_version_is_not_at_the_hop() {
    let script = format!("{HIDDEN}[[system]]\nid = \"2\"\nbios = \"2.20\"\n");
    let world = World::one(2, &script);
    let text = pipeline(&[bios_hop(&world, "2.20")]);
    let report = world.apply(&[&text]).await;
    let run = first(&report);
    assert_eq!(run.phase, RunPhase::Held, "{run:#?}");
    let hop = stage(run, "bios-2.20");
    assert_eq!(
        (hop.servers[0].phase, hop.servers[1].how),
        (RunPhase::Held, Some("already-there")),
        "{hop:#?}"
    );
    let reason = &hop.servers[0].reason;
    assert!(reason.starts_with("blocked: no version shown"), "{reason}");
    assert_eq!(
        world.writes("mock-1"),
        [""; 0],
        "and nothing is flashed blindly"
    );

    world.bmc("mock-1", mock_bmc::bmc::Bmc::clear_faults);
    let report = world.apply(&[&text]).await;
    completed(&world, &report);
    let updates = world.caused("mock-1", "update accepted");
    assert_eq!(updates.len(), 1, "{updates:#?}");
    assert!(
        updates[0].contains("2.20 target /redfish/v1/"),
        "{updates:#?}"
    );
}

/// Scenario 66.
#[tokio::test(start_paused = true)]
async fn one_server_at_the_hop_says_nothing_about_its_sibling() {
    let world = World::one(2, "[[system]]\nid = \"2\"\nbios = \"2.20\"\n");
    let report = world.apply(&[&pipeline(&[bios_hop(&world, "2.20")])]).await;
    let hop = stage(completed(&world, &report), "bios-2.20");
    let hows: Vec<_> = hop.servers.iter().map(|server| server.how).collect();
    assert_eq!(hows, [Some("applied"), Some("already-there")]);
}
