//! AMI MegaRAC on a Gigabyte board.

use serde_json::{Value, json};

use crate::walk::{NTP, Walk, bodies, story};

pub(crate) const WALK: Walk = Walk {
    mock: "megarac",
    platform: "ami-gigabyte",
    bmc_settings: NTP,
    bmc: ["12.85.01", "12.86.02"],
    bios: ["2.28", "2.30"],
};

#[tokio::test(start_paused = true)]
async fn megarac_is_written_where_nothing_links_to_and_told_what_an_image_is_for() {
    let world = WALK.take().await;
    let push = "POST /redfish/v1/UpdateService/upload 202";
    let hop = [
        push,
        "reset /redfish/v1/Systems/Self GracefulShutdown",
        "reset /redfish/v1/Systems/Self On",
    ];
    // Its own tag is refused in every form, then `*` is taken; that is learned once.
    let refused = "PATCH /redfish/v1/Systems/Self/Bios/SD 412";
    let settings = [
        refused,
        refused,
        refused,
        "PATCH /redfish/v1/Systems/Self/Bios/SD 204",
        "reset /redfish/v1/Systems/Self GracefulRestart",
        "PATCH /redfish/v1/Managers/Self/NetworkProtocol 200",
        push,
        push,
    ];
    assert_eq!(story(&world), [&settings[..], &hop, &hop].concat());
    let pushes = bodies(&world, "/redfish/v1/UpdateService/upload");
    let kinds: Vec<&Value> = pushes
        .iter()
        .map(|push| &push["parts"][1]["json"])
        .collect();
    let (bmc, bios) = (json!({"ImageType": "BMC"}), json!({"ImageType": "BIOS"}));
    assert_eq!(kinds, [&bmc, &bmc, &bios, &bios]);
}
