//! Settings that may cut redpipe's own connection to a BMC.

use redpipe::run::RunPhase;

use crate::common::{PIPELINE, completed, first, named, row, words};
use crate::support::world::{World, status};

const BMC: &str = "mock-1";
const PATCH: &str = "PATCH /redfish/v1/Managers/BMC/NetworkProtocol 200";

/// A BMC whose network goes down and comes up again when its host name changes; `more` are further tables.
fn script(more: &str) -> String {
    format!("[bmc_settings]\nsevers = [\"*/NetworkProtocol\"]\n{more}")
}

fn rename() -> String {
    "\n[[stage]]\nname = \"network\"\nkind = \"bmc-settings\"\n[[stage.flow]]\nname = \"host\"\nsevers = true\nresources = [{ uri = \"{manager}/NetworkProtocol\", set = { HostName = \"node\" } }]\n".to_owned()
}

/// What cuts the connection is expected to, goes one BMC at a time whatever the pipeline allows, and counts once a new login
/// reads it back.
#[tokio::test(start_paused = true)]
async fn what_cuts_our_own_connection_goes_one_bmc_at_a_time_and_counts_after_a_new_login() {
    let world = World::of(&[1, 1], &script(""));
    let both = "[rollout]\nmax_concurrent = 2\n";
    let text = named(PIPELINE, both, &[rename()]);
    let mut at_once = 0;

    let report = world
        .apply_watched(&[&text], |_, rows| {
            let runs = ["mock-1", "mock-2"].map(|bmc| row(rows, bmc));
            let active = runs.iter().flatten();
            let active = active.filter(|run| run.phase == RunPhase::InProgress);
            at_once = at_once.max(active.count());
            true
        })
        .await
        .expect("nobody kills it");

    assert_eq!(at_once, 1);
    for bmc in ["mock-1", "mock-2"] {
        let run = status(&report, PIPELINE, bmc);
        assert_eq!(run.phase, RunPhase::Completed, "{run:?}");
        assert_eq!(world.writes(bmc), [PATCH]);
        let told = words(
            &world,
            bmc,
            &["resource changed", "manager ", "session created"],
        );
        let back = told
            .iter()
            .position(|told| told.starts_with("manager back"));
        let after = &told[back.unwrap_or_else(|| panic!("{told:?}"))..];
        assert!(
            after.iter().any(|told| told.starts_with("session created")),
            "{told:?}"
        );
    }
}

/// A BMC that does not come back where it was is a person's business, who is told what to look at; what was written is not
/// written again.
#[tokio::test(start_paused = true)]
async fn a_bmc_that_is_gone_from_its_address_is_held_and_goes_on_where_it_is_found() {
    let world = World::one(1, &script("[durations]\nbmc_reset = \"2h\"\n"));
    let text = named(PIPELINE, "", &[rename()]);

    let report = world.apply(&[&text]).await;

    let run = first(&report);
    assert_eq!(run.phase, RunPhase::Held, "{run:?}");
    assert!(
        run.reason.contains("inventory has its address"),
        "{}",
        run.reason
    );

    tokio::time::sleep(std::time::Duration::from_hours(2)).await;
    completed(&world, &world.apply(&[&text]).await);
    assert_eq!(world.writes(BMC), [PATCH]);
}
