//! Which box it is: boards that were shipped with one and the same UUID, and a sled that is swapped.

use redpipe::run::RunPhase;
use serde_json::json;

use crate::common::{PIPELINE, bios_hop, bmc_hop, first, named, pipeline, stages};
use crate::support::world::{World, status};

/// Scenario 156, its first half: a UUID that whole production runs share claims nothing, and both boards are driven, told
/// apart by what is their own (MAC addresses and serial numbers).
#[tokio::test(start_paused = true)]
async fn two_boards_with_one_default_uuid_are_both_driven() {
    let world = World::of(
        &[1, 1],
        "[identity]\nuuid = \"03000200-0400-0500-0006-000700080009\"\nsystem_uuid = \"03000200-0400-0500-0006-000700080009\"",
    );
    let both = "[rollout]\nmax_concurrent = 2\n";
    let text = named(PIPELINE, both, &[bmc_hop(&world, "1.60")]);

    let report = world.apply(&[&text]).await;

    for bmc in ["mock-1", "mock-2"] {
        let run = status(&report, PIPELINE, bmc);
        assert_eq!(run.phase, RunPhase::Completed, "{run:?}");
        assert_eq!(world.caused(bmc, "update accepted").len(), 1, "{bmc}");
    }
}

/// Scenario 156, its second half: the sled is swapped while the BMC flashes. What was begun is followed to its end, and the
/// other sled gets nothing of what was meant for the first.
#[tokio::test(start_paused = true)]
async fn a_sled_swapped_mid_run_is_another_box_and_gets_nothing() {
    let world = World::one(1, "");
    let text = pipeline(&[bmc_hop(&world, "1.60"), bios_hop(&world, "2.20")]);
    let mut is_swapped = false;

    let report = world
        .apply_watched(&[&text], |world, _| {
            if !is_swapped && !world.caused("mock-1", "update accepted").is_empty() {
                is_swapped = true;
                world.bmc("mock-1", |bmc| {
                    let system = "/redfish/v1/Systems/1";
                    bmc.set_member(system, "/SerialNumber", json!("ANOTHER-SLED"));
                    bmc.set_member(
                        system,
                        "/UUID",
                        json!("6d5f6e1c-3f0f-4d5b-9f0e-2f6c1a7f9b11"),
                    );
                });
            }
            true
        })
        .await
        .expect("nobody kills it");

    let run = first(&report);
    assert_eq!(run.phase, RunPhase::Held, "{run:?}");
    assert!(run.reason.contains("another box?"), "{}", run.reason);
    assert!(run.reason.contains("ANOTHER-SLED"), "{}", run.reason);
    assert_eq!(stages(run)[1], "bios-2.20 Pending -");
    let flashed = world.caused("mock-1", "update accepted");
    assert_eq!(flashed.len(), 1, "{flashed:?}");
}
