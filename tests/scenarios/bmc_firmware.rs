//! Firmware of a BMC: what is flashed, what is not, and what counts as done.

use redpipe::daemon::RunEnd;
use redpipe::model::FaultKind;
use redpipe::run::RunPhase;

use crate::common::{PIPELINE, bmc_hop, completed, first, hop, pipeline, stage, stages, words};
use crate::support::world::{World, end};

const BMC: &str = "mock-1";

/// Scenario 16.
#[tokio::test(start_paused = true)]
async fn a_live_version_below_the_target_is_one_update_for_the_bmc() {
    let world = World::one(2, "");
    let report = world.apply(&[&pipeline(&[bmc_hop(&world, "1.60")])]).await;
    let run = completed(&world, &report);
    assert_eq!(stages(run), ["bmc-1.60 Completed applied"]);
    assert_eq!(
        words(&world, BMC, &["update accepted"]),
        ["update accepted bmc 1.60"]
    );
    let intents = world
        .journal(BMC)
        .into_iter()
        .filter(|record| record.contains("\"intent\":\"update\""));
    assert_eq!(
        intents.count(),
        1,
        "one intent, written down beside run and stage"
    );
}

/// Scenario 17.
#[tokio::test(start_paused = true)]
async fn a_live_version_at_or_above_the_target_is_already_there_and_the_reason_names_both() {
    for live in ["1.60", "1.70"] {
        let world = World::one(1, &format!("[versions]\nbmc = \"{live}\""));
        let report = world
            .apply(&[&pipeline(&[
                bmc_hop(&world, "1.60"),
                bmc_hop(&world, "1.70"),
            ])])
            .await;
        let run = first(&report);
        let done = stage(run, "bmc-1.60");
        assert_eq!(done.how, Some("already-there"));
        assert!(
            done.reason.contains("1.60") && done.reason.contains(live),
            "{}",
            done.reason
        );
        assert_eq!(words(&world, BMC, &["update accepted bmc 1.60"]).len(), 0);
    }
}

/// Scenario 18.
#[tokio::test(start_paused = true)]
async fn a_completed_task_and_the_live_version_together_complete_the_stage() {
    let world = World::one(1, "");
    let report = world.apply(&[&pipeline(&[bmc_hop(&world, "1.60")])]).await;
    let done = stage(completed(&world, &report), "bmc-1.60");
    assert!(done.reason.contains("1.60"), "{}", done.reason);
    assert_eq!(
        world.bmc(BMC, |bmc| bmc.state().bmc_version),
        Some("1.60".to_owned())
    );
}

/// Scenario 19.
#[tokio::test(start_paused = true)]
async fn a_task_that_fails_fails_stage_and_run_with_the_bmcs_own_words() {
    let world = World::one(1, "[update]\nbmc_outcome = \"failed\"");
    let report = world.apply(&[&pipeline(&[bmc_hop(&world, "1.60")])]).await;
    let run = first(&report);
    assert_eq!(run.phase, RunPhase::Failed);
    let failed = stage(run, "bmc-1.60");
    assert_eq!(failed.phase, RunPhase::Failed);
    assert!(
        failed.reason.contains("Exception") && failed.reason.contains("the BMC says"),
        "{}",
        failed.reason
    );
    assert_eq!(words(&world, BMC, &["update accepted"]).len(), 1);
}

/// Scenario 20.
#[tokio::test(start_paused = true)]
async fn a_version_that_is_nowhere_shown_is_blocked_and_one_that_the_inventory_shows_is_used() {
    let shown = World::one(1, NO_MANAGER_VERSION);
    let text = |world: &World| pipeline(&[bmc_hop(world, "1.60")]);
    let report = shown.apply(&[&text(&shown)]).await;
    completed(&shown, &report);
    assert_eq!(words(&shown, BMC, &["update accepted"]).len(), 1);

    let hidden = World::one(1, "[versions]\nhide_bmc = true");
    let report = hidden.apply(&[&text(&hidden)]).await;
    let run = first(&report);
    assert_eq!(run.phase, RunPhase::Held, "{run:#?}");
    assert!(
        run.reason.contains("blocked: no version shown"),
        "{}",
        run.reason
    );
    assert_eq!(hidden.writes(BMC), [""; 0]);
}

/// The manager shows no version, its image in the inventory does.
const NO_MANAGER_VERSION: &str = r#"
[collections]
expand = "refused"
[[fault]]
method = "GET"
path = "/redfish/v1/Managers/BMC"
count = 0
answer = "edit"
body = { FirmwareVersion = "null" }
"#;

/// Scenario 22.
#[tokio::test(start_paused = true)]
async fn versions_of_two_families_are_blocked_with_both_texts_and_nothing_is_sent() {
    let world = World::one(1, "[versions]\nbios = \"A56 v1.10\"");
    let image = world.image("bios", "U54 v2.50");
    let text =
        pipeline(&[hop("bios", "U54 v2.50", &image, "")]).replace("\"bios-U54 v2.50\"", "\"rom\"");
    let report = world.apply(&[&text]).await;
    let run = first(&report);
    assert_eq!(run.phase, RunPhase::Held);
    assert!(
        run.reason.contains("A56 v1.10") && run.reason.contains("U54 v2.50"),
        "{}",
        run.reason
    );
    assert!(run.reason.contains("blocked:"), "{}", run.reason);
    assert_eq!(world.writes(BMC), [""; 0]);
}

/// Scenario 23.
#[tokio::test(start_paused = true)]
async fn between_two_hops_only_what_is_above_is_flashed() {
    let world = World::one(1, "[versions]\nbmc = \"1.75\"");
    let hops = ["1.60", "1.70", "1.80"].map(|version| bmc_hop(&world, version));
    let report = world.apply(&[&pipeline(&hops)]).await;
    let run = completed(&world, &report);
    let wanted = [
        "bmc-1.60 Completed already-there",
        "bmc-1.70 Completed already-there",
        "bmc-1.80 Completed applied",
    ];
    assert_eq!(stages(run), wanted);
    assert_eq!(
        words(&world, BMC, &["update accepted"]),
        ["update accepted bmc 1.80"]
    );
}

/// Scenario 24.
#[tokio::test(start_paused = true)]
async fn past_the_last_hop_succeeds_with_an_ahead_notice_and_lowers_nothing() {
    let world = World::one(1, "[versions]\nbmc = \"1.90\"");
    let report = world
        .apply(&[&pipeline(&[
            bmc_hop(&world, "1.70"),
            bmc_hop(&world, "1.80"),
        ])])
        .await;
    let run = completed(&world, &report);
    assert!(
        run.conditions
            .iter()
            .any(|condition| condition.kind == "Ahead"),
        "{:?}",
        run.conditions
    );
    assert_eq!(world.writes(BMC), [""; 0]);
}

/// Scenario 28.
#[tokio::test(start_paused = true)]
async fn a_task_that_is_gone_after_the_restart_lets_the_live_version_decide() {
    let world = World::one(1, "[update]\ntasks_survive = false");
    let report = world.apply(&[&pipeline(&[bmc_hop(&world, "1.60")])]).await;
    completed(&world, &report);
    assert_eq!(words(&world, BMC, &["update accepted"]).len(), 1);
}

/// Scenario 29.
#[tokio::test(start_paused = true)]
async fn a_bmc_that_is_gone_for_eight_minutes_is_waited_for() {
    let world = World::one(1, "[durations]\nbmc_gone = \"8m\"");
    let report = world.apply(&[&pipeline(&[bmc_hop(&world, "1.60")])]).await;
    completed(&world, &report);
    assert_eq!(words(&world, BMC, &["update accepted"]).len(), 1);
}

/// Scenario 29, the other half.
#[tokio::test(start_paused = true)]
async fn a_bmc_that_never_returns_is_held_with_what_is_known_and_never_reset() {
    let world = World::one(1, "[update]\nbmc_outcome = \"never-returns\"");
    let report = world.apply(&[&pipeline(&[bmc_hop(&world, "1.60")])]).await;
    let run = first(&report);
    assert_eq!(run.phase, RunPhase::Held, "{run:#?}");
    assert!(
        run.reason.contains("has not answered since") && run.reason.contains("nothing is reset"),
        "{}",
        run.reason
    );
    assert_eq!(world.writes(BMC).len(), 1, "the update and nothing else");
}

/// Scenario 31.
#[tokio::test(start_paused = true)]
async fn a_warning_is_decided_by_the_live_version_and_a_critical_completion_is_a_failure() {
    for (status, phase) in [
        ("Warning", RunPhase::Completed),
        ("Critical", RunPhase::Failed),
    ] {
        let script = format!("[[task_fault]]\ncomponent = \"bmc\"\nend_status = \"{status}\"");
        let world = World::one(1, &script);
        let report = world.apply(&[&pipeline(&[bmc_hop(&world, "1.60")])]).await;
        let run = first(&report);
        assert_eq!(run.phase, phase, "{status}: {run:#?}");
        assert_eq!(words(&world, BMC, &["update accepted"]).len(), 1);
    }
}

/// Scenario 32.
#[tokio::test(start_paused = true)]
async fn a_version_that_differs_only_in_decoration_is_verified() {
    let world = World::one(1, "[versions]\nbios = \"U54 v2.10 (04/01/2024)\"");
    let image = world.image("bios", "U54 v2.50 (04/22/2025)");
    let text =
        pipeline(&[hop("bios", "u54 2.50", &image, "")]).replace("\"bios-u54 2.50\"", "\"rom\"");
    let report = world.apply(&[&text]).await;
    let run = completed(&world, &report);
    assert_eq!(stages(run), ["rom Completed applied"]);
}

/// Scenario 33.
#[tokio::test(start_paused = true)]
async fn an_unchanged_version_after_success_fails_with_both_versions() {
    let world = World::one(1, "[update]\nbmc_outcome = \"unchanged\"");
    let report = world.apply(&[&pipeline(&[bmc_hop(&world, "1.60")])]).await;
    let run = first(&report);
    assert_eq!(run.phase, RunPhase::Failed);
    let reason = &stage(run, "bmc-1.60").reason;
    assert!(
        reason.contains("version did not change") && reason.contains("1.50"),
        "{reason}"
    );
    assert_eq!(words(&world, BMC, &["update accepted"]).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_version_that_is_shown_late_is_waited_for() {
    let world = World::one(1, "[update]\nbmc_late_for = \"6m\"");
    let report = world.apply(&[&pipeline(&[bmc_hop(&world, "1.60")])]).await;
    completed(&world, &report);
    assert_eq!(words(&world, BMC, &["update accepted"]).len(), 1);
}

/// Scenario 30.
#[tokio::test(start_paused = true)]
async fn a_task_that_says_nothing_new_is_held_with_since_when() {
    let world = World::one(
        1,
        "[[task_fault]]\ncomponent = \"bmc\"\nstuck_at = 40\nnever_ends = true\n[update]\nbmc_outcome = \"unchanged\"",
    );
    let report = world.apply(&[&pipeline(&[bmc_hop(&world, "1.60")])]).await;
    let run = first(&report);
    assert_eq!(run.phase, RunPhase::Held, "{run:#?}");
    assert!(run.reason.contains("no progress since"), "{}", run.reason);
    assert_eq!(world.writes(BMC).len(), 1, "the update and nothing else");
}

/// One BMC unreachable, one with another password, one with another certificate: each gives one clear fault, and the
/// fourth is done.
#[tokio::test(start_paused = true)]
async fn what_keeps_one_bmc_from_starting_keeps_no_other() {
    let script = "[[fault]]\nbmc = \"mock-1\"\ncount = 0\nanswer = \"refuse\"\n[[fault]]\nbmc = \"mock-2\"\ncount = 0\nmethod = \"POST\"\npath = \"/redfish/v1/SessionService/Sessions\"\nstatus = 401\nmessage_id = \"Base.1.18.NoValidSession\"\n";
    let world = World::of(&[1, 1, 1], script);
    let text = pipeline(&[bmc_hop(&world, "1.60")]).replace(
        "match_labels = {}",
        "match_labels = {}\n[rollout]\nmax_concurrent = 3",
    );
    let report = world.apply(&[&text]).await;
    let fault = |bmc: &str| match end(&report, PIPELINE, bmc) {
        RunEnd::NotStarted(fault) => fault.clone(),
        other @ (RunEnd::Over(_) | RunEnd::Held(_) | RunEnd::Interrupted(_)) => {
            panic!("{bmc}: {other:?}")
        }
    };
    assert_eq!(fault("mock-1").kind, FaultKind::Unreachable);
    let refused = fault("mock-2");
    assert_eq!(refused.kind, FaultKind::LoginRefused);
    assert!(
        refused
            .hint
            .as_deref()
            .unwrap_or_default()
            .contains("redpipe trust"),
        "{refused:?}"
    );
    let logins = |world: &World| {
        let lines = world.ledger("mock-2").into_iter();
        lines
            .filter(|line| line.method.as_deref() == Some("POST"))
            .count()
    };
    let before = logins(&world);
    assert!((1..=3).contains(&before), "{before} logins were refused");
    assert_eq!(words(&world, "mock-3", &["update accepted"]).len(), 1);

    let again = world.apply(&[&text]).await;
    assert!(
        matches!(end(&again, PIPELINE, "mock-2"), RunEnd::NotStarted(fault) if fault.kind == FaultKind::CredentialsBad)
    );
    assert_eq!(logins(&world), before, "the next process logs in no more");
}
