//! NVIDIA GB200.

use serde_json::{Value, json};

use crate::walk::{NTP, Walk, bodies, story};

pub(crate) const WALK: Walk = Walk {
    mock: "nvidia-gb200",
    platform: "nvidia-gb200",
    bmc_settings: NTP,
    bmc: ["GB200Nvl-24.12-8", "GB200Nvl-25.01-E"],
    bios: ["02.03.05", "02.04.01"],
};

/// There are two managers: an author says which one is meant.
pub(crate) const TARGET: &str =
    "targets = [\"/redfish/v1/UpdateService/FirmwareInventory/FW_BMC_0\"]";

#[tokio::test(start_paused = true)]
async fn gb200_has_two_managers_and_hears_no_name_of_its_own_bmc() {
    let world = WALK.take_with(TARGET).await;
    let push = "POST /redfish/v1/UpdateService/update-multipart 202";
    let hop = [
        push,
        "reset /redfish/v1/Systems/System_0 GracefulShutdown",
        "reset /redfish/v1/Systems/System_0 On",
    ];
    let settings = [
        "PATCH /redfish/v1/Systems/System_0/Bios/Settings 200",
        "reset /redfish/v1/Systems/System_0 GracefulRestart",
        "PATCH /redfish/v1/Managers/BMC_0/NetworkProtocol 200",
        push,
        push,
    ];
    assert_eq!(story(&world), [&settings[..], &hop, &hop].concat());
    let pushes = bodies(&world, "/redfish/v1/UpdateService/update-multipart");
    let parameters: Vec<&Value> = pushes
        .iter()
        .map(|push| &push["parts"][0]["json"])
        .collect();
    let uefi = json!({"Targets": ["/redfish/v1/UpdateService/FirmwareInventory/UEFI"]});
    let none = json!({"Targets": []});
    assert_eq!(parameters, [&none, &none, &uefi, &uefi]);
}
