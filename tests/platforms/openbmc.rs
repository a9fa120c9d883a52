//! OpenBMC as bmcweb has it.

use crate::walk::{NTP, Walk, story};

pub(crate) const WALK: Walk = Walk {
    mock: "openbmc",
    platform: "openbmc",
    bmc_settings: NTP,
    bmc: ["2.16.0", "2.17.1"],
    bios: ["1.10", "1.11"],
};

#[tokio::test(start_paused = true)]
async fn openbmc_takes_one_push_a_hop_and_no_parameter_that_it_does_not_know() {
    let world = WALK.take().await;
    let push = "POST /redfish/v1/UpdateService/update 202";
    let hop = [
        push,
        "reset /redfish/v1/Systems/system GracefulShutdown",
        "reset /redfish/v1/Systems/system On",
    ];
    let settings = [
        "PATCH /redfish/v1/Systems/system/Bios/Settings 200",
        "reset /redfish/v1/Systems/system GracefulRestart",
        "PATCH /redfish/v1/Managers/bmc/NetworkProtocol 200",
        push,
        push,
    ];
    assert_eq!(story(&world), [&settings[..], &hop, &hop].concat());
}
