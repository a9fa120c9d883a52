//! Which of several managers is the BMC.

use crate::claims::{BMC, assert_completed, assert_held, pipeline, stage, stage_text};
use crate::support::world::World;

/// A second manager beside `BMC`, listed first or last.
fn with_another(kind: &str, first: bool) -> String {
    let another = "{ \"@odata.id\" = \"/redfish/v1/Managers/A0\" }";
    let bmc = "{ \"@odata.id\" = \"/redfish/v1/Managers/BMC\" }";
    let members = if first {
        format!("{another}, {bmc}")
    } else {
        format!("{bmc}, {another}")
    };
    format!(
        r##"
        [[fault]]
        method = "GET"
        path = "/redfish/v1/Managers"
        count = 0
        answer = "edit"
        body = {{ "Members@odata.count" = 2, Members = [{members}] }}

        [[fault]]
        method = "GET"
        path = "/redfish/v1/Managers/A0"
        count = 0
        status = 200
        body = {{ "@odata.id" = "/redfish/v1/Managers/A0", "@odata.type" = "#Manager.v1_17_0.Manager", Id = "A0", Name = "Another manager", ManagerType = "{kind}", FirmwareVersion = "9.90", Links = {{ }} }}
        "##
    )
}

fn hop(world: &World, more: &str) -> String {
    let body = format!(
        "version = \"1.60\"\nimage = {}\n{more}",
        world.image("bmc", "1.60")
    );
    pipeline(&stage_text("hop", "bmc-version", &body))
}

/// Scenario 129.
#[tokio::test(start_paused = true)]
async fn the_manager_of_the_systems_is_the_bmc_in_whatever_order_managers_are_listed() {
    for first in [true, false] {
        let world = World::one(1, &with_another("EnclosureManager", first));

        let planned = world.plan(&[&hop(&world, "")]).await;
        let report = world.apply(&[&hop(&world, "")]).await;

        assert!(!planned.is_empty());
        assert_completed(&report, "hop", "applied");
        assert_eq!(
            world.caused(BMC, "update accepted bmc 1.60").len(),
            1,
            "first: {first}"
        );
        let state = world.bmc(BMC, |bmc| bmc.state());
        assert_eq!(state.bmc_version.as_deref(), Some("1.60"));
    }
}

/// Scenario 129: the other manager's version is never taken for the BMC's.
#[tokio::test(start_paused = true)]
async fn settings_of_the_bmc_go_to_the_manager_of_the_systems() {
    for first in [true, false] {
        let world = World::one(1, &with_another("EnclosureManager", first));
        let body = "  [[stage.flow]]\n  name = \"ntp\"\n  priority = 1\n  resources = [{ uri = \"{manager}/NetworkProtocol\", set = { NTP = { ProtocolEnabled = true } } }]";

        let report = world
            .apply(&[&pipeline(&stage_text("ntp", "bmc-settings", body))])
            .await;

        assert_completed(&report, "ntp", "applied");
        assert_eq!(
            world.writes(BMC),
            ["PATCH /redfish/v1/Managers/BMC/NetworkProtocol 200"]
        );
    }
}

/// Scenario 129: with two managers of type BMC and nothing that says which, an update is blocked, each time alike.
#[tokio::test(start_paused = true)]
async fn with_two_bmcs_and_no_targets_an_update_is_blocked() {
    for first in [true, false] {
        let world = World::one(1, &with_another("BMC", first));

        let report = world.apply(&[&hop(&world, "")]).await;

        assert_held(
            &report,
            &[
                "blocked:",
                "/redfish/v1/Managers/A0",
                "/redfish/v1/Managers/BMC",
            ],
        );
        assert_eq!(stage(&report, "hop").phase, redpipe::run::RunPhase::Held);
        assert_eq!(world.writes(BMC), [""; 0]);
    }
}
