//! Lenovo XCC.

use redpipe::run::RunPhase;
use serde_json::json;

use crate::support::world::{World, status};
use crate::walk::{BMC, NTP, Walk, bodies, hop, pipeline, story};

pub(crate) const XCC: Walk = Walk {
    mock: "xcc",
    platform: "lenovo-xcc",
    bmc_settings: NTP,
    bmc: ["TGBT44S 3.10 2023-10-05", "TGBT50S 3.60 2024-01-05"],
    bios: ["U8E124J", "U8E126J"],
};

/// A push between claim and release.
const CLAIMED: [&str; 3] = [
    "PATCH /redfish/v1/UpdateService 200",
    "POST /mfwupdate 202",
    "PATCH /redfish/v1/UpdateService 200",
];

#[tokio::test(start_paused = true)]
async fn xcc_is_claimed_for_every_push_and_its_settings_wait_in_bios_pending() {
    let world = XCC.take().await;
    let restart = [
        "reset /redfish/v1/Systems/1 GracefulShutdown",
        "reset /redfish/v1/Systems/1 On",
    ];
    let settings = [
        "PATCH /redfish/v1/Systems/1/Bios/Pending 200",
        "reset /redfish/v1/Systems/1 GracefulRestart",
        "PATCH /redfish/v1/Managers/1/NetworkProtocol 200",
    ];
    let hops = [
        &CLAIMED[..],
        &CLAIMED,
        &CLAIMED,
        &restart,
        &CLAIMED,
        &restart,
    ];
    assert_eq!(story(&world), [&settings[..], &hops.concat()].concat());
    let claims = bodies(&world, "/redfish/v1/UpdateService");
    assert_eq!(claims[0], json!({"HttpPushUriTargetsBusy": true}));
    assert_eq!(claims[1], json!({"HttpPushUriTargetsBusy": false}));
    let settings = bodies(&world, "/redfish/v1/Systems/1/Bios/Pending");
    assert_eq!(
        settings,
        [json!({"Attributes": {"BootRetryCount": 5, "QuietBoot": false}})]
    );
    // The monitor of an ended task takes the task away: nobody reads it.
    let reads = world.ledger(BMC).into_iter().filter_map(|line| line.path);
    assert_eq!(
        reads.filter(|path| path.contains("/TaskMonitors/")).count(),
        0
    );
}

pub(crate) const XCC3: Walk = Walk {
    mock: "xcc3",
    platform: "lenovo-xcc3",
    bmc: ["IHX407I 2.00 2025-03-10", "IHX409I 2.10 2025-05-10"],
    bios: ["IHE107I", "IHE109I"],
    ..XCC
};

#[tokio::test(start_paused = true)]
async fn xcc3_is_pushed_without_a_claim_and_its_task_is_found_in_annotations() {
    let world = XCC3.take().await;
    let push = "POST /redfish/v1/UpdateService/update-multipart 202";
    let hop = [
        push,
        "reset /redfish/v1/Systems/1 GracefulShutdown",
        "reset /redfish/v1/Systems/1 On",
    ];
    let settings = [
        "PATCH /redfish/v1/Systems/1/Bios/Pending 200",
        "reset /redfish/v1/Systems/1 GracefulRestart",
        "PATCH /redfish/v1/Managers/1/NetworkProtocol 200",
        push,
        push,
    ];
    assert_eq!(story(&world), [&settings[..], &hop, &hop].concat());
}

/// Scenario 121: an image of somebody else waits in the slot that XCC has for it.
#[tokio::test(start_paused = true)]
async fn an_image_that_waits_defers_the_hop_until_it_is_gone() {
    let slot = "/redfish/v1/UpdateService/FirmwareInventory/BMC-Primary-Pending";
    let set = |world: &World, version: &str| {
        world.bmc(BMC, |bmc| bmc.set_member(slot, "/Version", json!(version)));
    };
    let world = XCC.world("");
    set(&world, "TGBT44S-3.10");
    let text = pipeline(&hop(&world, "bmc", XCC.bmc[0]));
    let report = world.apply(&[&text]).await;
    let run = status(&report, "p", BMC);
    assert_eq!(run.phase, RunPhase::Held, "{run:#?}");
    assert!(run.reason.contains("BMC-Primary-Pending"), "{}", run.reason);
    assert_eq!(story(&world), [""; 0]);
    set(&world, "-*");
    let report = world.apply(&[&text]).await;
    assert_eq!(status(&report, "p", BMC).phase, RunPhase::Completed);
    assert_eq!(story(&world), CLAIMED);
}

/// Scenario 120: a task hands over to a job, which is followed.
#[tokio::test(start_paused = true)]
async fn a_task_that_turns_into_a_job_is_followed_there() {
    let world = XCC.world("[tasks]\nturns_into_job = true\n");
    let stages = hop(&world, "bmc", XCC.bmc[0]) + &hop(&world, "bios", XCC.bios[0]);
    let report = world.apply(&[&pipeline(&stages)]).await;
    let run = status(&report, "p", BMC);
    assert_eq!(run.phase, RunPhase::Completed, "{run:#?}");
    assert_eq!(world.caused(BMC, "update accepted").len(), 2);
    let reads = world.ledger(BMC).into_iter().filter_map(|line| line.path);
    let jobs = reads.filter(|path| path.contains("/JobService/Jobs/JID_000001"));
    assert!(jobs.count() > 1, "the job was not followed");
}
