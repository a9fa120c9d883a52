//! Settings of a BIOS: what is written, when, and what is refused before anything is.

use redpipe::run::Record;
use redpipe::run::record::RunPhase;
use serde_json::{Value, json};

use crate::claims::{
    BMC, assert_completed, assert_failed, assert_held, bios_attribute, bodies, journal, pipeline,
    stage, stage_text, told,
};
use crate::common::first;
use crate::support::world::World;

const SETTINGS: &str = "/redfish/v1/Systems/1/Bios/Settings";

fn settings(wanted: &str) -> String {
    pipeline(&stage_text(
        "bios",
        "bios-settings",
        &format!("settings = {{ {wanted} }}"),
    ))
}

fn accepted(names: &str) -> String {
    format!("settings accepted {SETTINGS} {names}")
}

/// Scenario 94.
#[tokio::test(start_paused = true)]
async fn without_a_difference_nothing_is_written_and_no_host_restarts() {
    let world = World::one(1, "");
    let text = settings(
        "QuietBoot = true, BootMode = \"UEFI\", NumaNodesPerSocket = \"1\", AssetNote = \"\"",
    );

    let report = world.apply(&[&text]).await;

    assert_completed(&report, "bios", "already-there");
    assert_eq!(world.writes(BMC), [""; 0]);
    assert_eq!(told(&world, &["power ", "post "]), [""; 0]);
}

/// Scenario 95.
#[tokio::test(start_paused = true)]
async fn an_attribute_of_which_the_registry_says_nothing_restarts_the_host_once() {
    let world = World::one(1, "");

    let report = world.apply(&[&settings("MemPatrolScrubHours = 12")]).await;

    assert_completed(&report, "bios", "applied");
    assert_eq!(bios_attribute(&world, "MemPatrolScrubHours"), 12);
    let wanted = [
        accepted("MemPatrolScrubHours"),
        "reset /redfish/v1/Systems/1 GracefulRestart".to_owned(),
        "post 1 begins".to_owned(),
        "settings 1 applied MemPatrolScrubHours".to_owned(),
        "post 1 ends".to_owned(),
    ];
    assert_eq!(told(&world, &["settings ", "reset ", "post "]), wanted);
}

/// Scenario 95, the other way round: the registry says that none is needed, and none is made.
#[tokio::test(start_paused = true)]
async fn an_attribute_that_needs_no_reset_restarts_nothing() {
    let world = World::one(1, "");

    let report = world
        .apply(&[&settings("PostLedEnabled = false, BootRetryCount = 5")])
        .await;

    assert_completed(&report, "bios", "applied");
    assert_eq!(world.writes(BMC).len(), 1);
    assert_eq!(told(&world, &["reset ", "power ", "post "]), [""; 0]);
    assert_eq!(bios_attribute(&world, "BootRetryCount"), 5);
}

/// Scenario 99.
#[tokio::test(start_paused = true)]
async fn an_unmet_version_guard_blocks_and_a_met_one_applies() {
    let world = World::one(1, "");
    let body = "version = \"2.20\"\nsettings = { QuietBoot = false }";
    let text = pipeline(&stage_text("bios", "bios-settings", body));

    let held = world.apply(&[&text]).await;

    assert_held(&held, &["blocked:", "2.20", "2.10"]);
    assert_eq!(world.writes(BMC), [""; 0]);

    world.bmc(BMC, |bmc| bmc.set_bios_version(0, "2.30"));
    let done = world.apply(&[&text]).await;

    assert_completed(&done, "bios", "applied");
    assert_eq!(bios_attribute(&world, "QuietBoot"), false);
}

/// Scenario 99: with `match = "exact"` a later version does not meet the guard.
#[tokio::test(start_paused = true)]
async fn an_exact_guard_is_not_met_by_a_later_version() {
    let world = World::one(1, "[versions]\nbios = \"2.30\"");
    let body = "version = \"2.20\"\nmatch = \"exact\"\nsettings = { QuietBoot = false }";

    let held = world
        .apply(&[&pipeline(&stage_text("bios", "bios-settings", body))])
        .await;

    assert_held(&held, &["blocked:", "2.20", "2.30"]);
    assert_eq!(world.writes(BMC), [""; 0]);
}

/// Scenario 100.
#[tokio::test(start_paused = true)]
async fn a_failing_stage_is_tried_as_often_as_it_may_and_counted_anew_by_the_next_apply() {
    let world = World::one(1, "[bios_settings]\nsilently_kept = [\"QuietBoot\"]");
    let body = "attempts = 3\nsettings = { QuietBoot = false }";
    let text = pipeline(&stage_text("bios", "bios-settings", body));
    let tries = |world: &World| {
        let records = journal(world);
        let again = records
            .iter()
            .filter(|record| matches!(record, Record::Retrying { .. }));
        let failed = records
            .iter()
            .filter(|record| matches!(record, Record::Failed { .. }));
        (again.count(), failed.count())
    };

    let report = world.apply(&[&text]).await;

    assert_failed(&report, "bios", &["`QuietBoot` is true instead of false"]);
    assert_eq!(tries(&world), (2, 1));
    assert_eq!(told(&world, &["settings accepted"]).len(), 3);
    assert_eq!(told(&world, &["post 1 begins"]).len(), 3);

    let report = world.apply(&[&text]).await;

    assert_failed(&report, "bios", &["`QuietBoot` is true instead of false"]);
    assert_eq!(tries(&world), (4, 2));
    assert_eq!(told(&world, &["settings accepted"]).len(), 6);
}

/// Scenario 104.
#[tokio::test(start_paused = true)]
async fn everything_that_is_impossible_is_told_at_once_and_nothing_is_written() {
    let world = World::one(1, "");
    let wanted = "
        QuietBoot = false, ProcHyperthreadin = \"Enabled\", ProcVirtualization = \"Maybe\", NumaNodesPerSocket = 9,
        ProcCoreDisable = 3, SriovEnabled = \"often\", MemPatrolScrubHours = \"many\", AssetNote = 7
    "
    .replace('\n', " ");

    let report = world.apply(&[&settings(&wanted)]).await;

    let words = [
        "server `mock-1-s1`",
        "`ProcHyperthreadin` is no attribute of this BIOS (did you mean `ProcHyperthreading`?)",
        "`ProcVirtualization` has no value `Maybe`",
        "`NumaNodesPerSocket` is at most 8, not 9",
        "`ProcCoreDisable` goes in steps of 2",
        "`SriovEnabled` takes true or false",
        "`MemPatrolScrubHours` takes a whole number",
        "`AssetNote` takes text",
    ];
    assert_failed(&report, "bios", &words);
    assert!(
        !first(&report).reason.contains("`QuietBoot`"),
        "{}",
        first(&report).reason
    );
    assert_eq!(world.writes(BMC), [""; 0]);
}

/// Scenario 104, where only the BMC knows: its refusal is final, names the attribute, and nothing restarts.
#[tokio::test(start_paused = true)]
async fn a_refusal_by_the_bmc_is_final_and_restarts_nothing() {
    let script = r#"
        [[fault]]
        method = "PATCH"
        path = "*/Bios/Settings"
        status = 400
        message_id = "Base.1.18.PropertyValueConflict"
        message = "QuietBoot cannot be written while SecureBoot is on."
        message_args = ["QuietBoot", "SecureBoot"]
    "#;
    let world = World::one(1, script);

    let report = world.apply(&[&settings("QuietBoot = false")]).await;

    assert_failed(
        &report,
        "bios",
        &["QuietBoot cannot be written while SecureBoot is on."],
    );
    assert_eq!(world.writes(BMC), [format!("PATCH {SETTINGS} 400")]);
}

/// Scenario 107.
#[tokio::test(start_paused = true)]
async fn a_read_only_attribute_is_fine_at_its_value_and_an_error_at_another() {
    let world = World::one(1, "");

    let report = world.apply(&[&settings("SystemModelCode = \"G1\"")]).await;

    assert_completed(&report, "bios", "already-there");

    let report = world
        .apply(&[&settings("SystemModelCode = \"G2\", QuietBoot = false")])
        .await;

    assert_failed(
        &report,
        "bios",
        &["`SystemModelCode` is read-only, and is `G1` now"],
    );
    assert_eq!(world.writes(BMC), [""; 0]);
}

/// Scenario 108.
#[tokio::test(start_paused = true)]
async fn a_number_as_text_is_written_as_number_however_pending_values_are_shown() {
    for style in ["changes", "everything"] {
        let world = World::one(1, &format!("[bios_settings]\npending_style = \"{style}\""));

        let report = world
            .apply(&[&settings(
                "NumaNodesPerSocket = \"2\", BootRetryCount = \"5\"",
            )])
            .await;

        assert_completed(&report, "bios", "applied");
        let sent: Vec<Value> = bodies(&world, "/Bios/Settings");
        assert_eq!(sent.len(), 1, "{style}");
        assert_eq!(
            sent[0]["Attributes"],
            json!({ "NumaNodesPerSocket": 2, "BootRetryCount": 5 })
        );
        assert_eq!(bios_attribute(&world, "NumaNodesPerSocket"), 2);
        assert_eq!(told(&world, &["post 1 begins"]).len(), 1, "{style}");
    }
}

/// Scenario 106.
#[tokio::test(start_paused = true)]
async fn stages_that_change_before_anything_was_written_are_listed_as_they_are_now() {
    let world = World::one(1, "");
    let guarded = |name: &str, body: &str| {
        stage_text(
            name,
            "bios-settings",
            &format!("version = \"2.20\"\n{body}"),
        )
    };
    let before = pipeline(
        &(guarded("old", "settings = { QuietBoot = false }")
            + &guarded("kept", "settings = { SriovEnabled = true }")),
    );
    let held = world.apply(&[&before]).await;
    assert_held(&held, &["blocked:"]);

    let flow = "
  [[stage.flow]]
  name = \"second\"
  priority = 2
  settings = { BootRetryCount = 7 }
  [[stage.flow]]
  name = \"first\"
  priority = 1
  settings = { SriovEnabled = true }
";
    let after =
        pipeline(&(guarded("new", "settings = { AssetNote = \"x\" }") + &guarded("kept", flow)));
    let held = world.apply(&[&after]).await;

    let names: Vec<&str> = first(&held)
        .stages
        .iter()
        .map(|stage| stage.name.as_str())
        .collect();
    assert_eq!(names, ["new", "kept"]);
    assert_held(&held, &["`new`", "blocked:"]);
    assert_eq!(stage(&held, "kept").phase, RunPhase::Pending);
    assert_eq!(world.writes(BMC), [""; 0]);

    world.bmc(BMC, |bmc| bmc.set_bios_version(0, "2.20"));
    let done = world.apply(&[&after]).await;

    assert_completed(&done, "kept", "applied");
    let wanted = [
        accepted("AssetNote"),
        accepted("SriovEnabled"),
        accepted("BootRetryCount"),
    ];
    assert_eq!(told(&world, &["settings accepted"]), wanted);
    assert_eq!(
        bios_attribute(&world, "QuietBoot"),
        true,
        "a stage that is gone was applied"
    );
}
