//! This room proves how settings are written, wait, are applied, and are refused.
//!
//! It deliberately reads them back from documents, as a client does.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::support::{Bench, MANAGER, SETTINGS, bench, keys};

const BIOS: &str = "/redfish/v1/Systems/1/Bios";

fn write(bench: &mut Bench, attributes: &Value) -> (StatusCode, Value) {
    bench.patch(SETTINGS, &json!({"Attributes": attributes}))
}

fn current(bench: &mut Bench, name: &str) -> Value {
    bench.get(BIOS)["Attributes"][name].clone()
}

fn boot(bench: &mut Bench) {
    bench.reset("ForceRestart");
    bench.wait(2 + 240);
}

#[test]
fn a_setting_waits_for_the_boot_and_shows_after_post() {
    let mut bench = bench("");
    let (status, answer) = write(
        &mut bench,
        &json!({"QuietBoot": false, "NumaNodesPerSocket": 2}),
    );
    assert_eq!(status, StatusCode::OK);
    assert_eq!(keys(&answer), ["Success", "ResetRequired"]);
    assert_eq!(
        bench.get(SETTINGS)["Attributes"],
        json!({"QuietBoot": false, "NumaNodesPerSocket": 2})
    );
    assert_eq!(current(&mut bench, "QuietBoot"), true);
    bench.reset("ForceRestart");
    bench.wait(2 + 239);
    assert_eq!(current(&mut bench, "QuietBoot"), true);
    bench.wait(1);
    assert_eq!(current(&mut bench, "QuietBoot"), false);
    assert_eq!(current(&mut bench, "NumaNodesPerSocket"), 2);
    assert_eq!(bench.get(SETTINGS)["Attributes"], json!({}));
    let settings = bench.get(BIOS)["@Redfish.Settings"].clone();
    assert_eq!(settings["Messages"][0]["MessageId"], "Base.1.18.Success");
    assert_eq!(settings["Time"], "2026-01-01T00:04:02Z");
    assert!(bench.has("settings 1 applied NumaNodesPerSocket,QuietBoot"));
}

#[test]
fn every_wrong_attribute_is_named_and_nothing_is_taken() {
    let mut bench = bench("");
    let wrong = json!({"Nope": 1, "BootMode": "Bios", "SystemModelCode": "X", "QuietBoot": "yes", "PowerRegulator": "StaticHigh", "ProcCoreDisable": 3, "AssetNote": "ok"});
    let (status, answer) = write(&mut bench, &wrong);
    assert_eq!(status, StatusCode::BAD_REQUEST);
    let mut found = keys(&answer);
    found.sort();
    assert_eq!(
        found,
        [
            "PropertyNotWritable",
            "PropertyNotWritable",
            "PropertyUnknown",
            "PropertyValueIncorrect",
            "PropertyValueNotInList",
            "PropertyValueTypeError"
        ]
    );
    assert!(answer.to_string().contains("#/Attributes/BootMode"));
    assert_eq!(bench.get(SETTINGS)["Attributes"], json!({}));
    for (body, key) in [
        (json!({"Id": "x"}), "PropertyUnknown"),
        (json!({"Attributes": 1}), "PropertyValueTypeError"),
    ] {
        assert_eq!(keys(&bench.patch(SETTINGS, &body).1), [key]);
    }
}

#[test]
fn a_service_may_take_half() {
    let mut bench = bench("[bios_settings]\nhalf_accept = true");
    let (status, answer) = write(&mut bench, &json!({"Nope": 1, "QuietBoot": false}));
    assert_eq!(
        (status, keys(&answer)),
        (
            StatusCode::OK,
            vec!["PropertyUnknown".to_owned(), "ResetRequired".to_owned()]
        )
    );
    assert_eq!(
        bench.get(SETTINGS)["Attributes"],
        json!({"QuietBoot": false})
    );
}

#[test]
fn a_dependent_attribute_is_free_after_the_other_one_was_booted() {
    let mut bench = bench("");
    let both = json!({"WorkloadProfile": "Custom", "PowerRegulator": "StaticHigh"});
    assert_eq!(write(&mut bench, &both).0, StatusCode::BAD_REQUEST);
    assert_eq!(
        write(&mut bench, &json!({"WorkloadProfile": "Custom"})).0,
        StatusCode::OK
    );
    assert_eq!(
        write(&mut bench, &json!({"PowerRegulator": "StaticHigh"})).0,
        StatusCode::BAD_REQUEST
    );
    boot(&mut bench);
    assert_eq!(
        write(&mut bench, &json!({"PowerRegulator": "StaticHigh"})).0,
        StatusCode::OK
    );
}

#[test]
fn what_needs_no_reset_counts_at_once_and_passwords_never_show() {
    let mut bench = bench("");
    let (_, answer) = write(&mut bench, &json!({"PostLedEnabled": false}));
    assert_eq!(keys(&answer), ["Success"]);
    assert_eq!(current(&mut bench, "PostLedEnabled"), false);
    write(&mut bench, &json!({"AdminPassword": "hunter22"}));
    assert_eq!(
        bench.get(SETTINGS)["Attributes"],
        json!({"AdminPassword": null})
    );
    boot(&mut bench);
    assert_eq!(current(&mut bench, "AdminPassword"), json!(null));
    assert!(!format!("{:?}", bench.bmc.ledger()).contains("hunter22"));
}

#[test]
fn writing_the_current_value_withdraws_a_pending_one() {
    let mut bench = bench("");
    write(&mut bench, &json!({"QuietBoot": false}));
    write(&mut bench, &json!({"QuietBoot": true}));
    assert_eq!(bench.get(SETTINGS)["Attributes"], json!({}));
}

#[test]
fn the_settings_object_can_show_everything() {
    let mut bench = bench("[bios_settings]\npending_style = \"everything\"");
    write(&mut bench, &json!({"QuietBoot": false}));
    let pending = bench.get(SETTINGS)["Attributes"].clone();
    assert_eq!(pending.as_object().unwrap().len(), 18);
    assert_eq!(
        (
            pending["QuietBoot"].clone(),
            current(&mut bench, "QuietBoot")
        ),
        (json!(false), json!(true))
    );
}

#[test]
fn pending_values_can_show_early_fail_be_lost_or_be_kept_back() {
    let mut early = bench("[bios_settings]\nearly_display = true");
    write(&mut early, &json!({"QuietBoot": false}));
    assert_eq!(current(&mut early, "QuietBoot"), false);
    assert_eq!(early.state().systems[0].attributes["QuietBoot"], true);

    let mut fails = bench("[bios_settings]\nfail = [\"QuietBoot\"]");
    write(&mut fails, &json!({"QuietBoot": false, "AssetNote": "x"}));
    boot(&mut fails);
    assert_eq!(
        (
            current(&mut fails, "QuietBoot"),
            current(&mut fails, "AssetNote")
        ),
        (json!(true), json!("x"))
    );
    assert!(
        fails.get(BIOS)["@Redfish.Settings"]["Messages"]
            .to_string()
            .contains("PropertyNotUpdated")
    );

    let mut lost = bench("[bios_settings]\ndropped = true");
    write(&mut lost, &json!({"QuietBoot": false}));
    boot(&mut lost);
    assert_eq!(
        (
            current(&mut lost, "QuietBoot"),
            lost.get(SETTINGS)["Attributes"].clone()
        ),
        (json!(true), json!({}))
    );

    let mut kept = bench("[bios_settings]\nsilently_kept = [\"QuietBoot\"]");
    assert_eq!(
        write(&mut kept, &json!({"QuietBoot": false})).0,
        StatusCode::OK
    );
    boot(&mut kept);
    assert_eq!(current(&mut kept, "QuietBoot"), true);
}

#[test]
fn apply_times_are_checked_and_can_be_refused() {
    let body = |time: &str| json!({"Attributes": {"QuietBoot": false}, "@Redfish.SettingsApplyTime": {"ApplyTime": time}});
    let mut bench = bench("");
    assert_eq!(bench.patch(SETTINGS, &body("OnReset")).0, StatusCode::OK);
    assert_eq!(
        keys(&bench.patch(SETTINGS, &body("Immediate")).1),
        ["PropertyValueNotInList"]
    );
    let mut refuses = super::support::bench("[bios_settings]\napply_time = \"refused\"");
    assert_eq!(
        keys(&refuses.patch(SETTINGS, &body("OnReset")).1),
        ["PropertyUnknown"]
    );
}

#[test]
fn post_can_lock_settings_and_blank_them() {
    let mut bench = bench("[bios_settings]\npost_lock = true\nempty_after_boot = \"60s\"");
    bench.reset("ForceRestart");
    bench.wait(10);
    let (status, answer) = write(&mut bench, &json!({"QuietBoot": false}));
    assert_eq!(
        (status, keys(&answer)),
        (
            StatusCode::SERVICE_UNAVAILABLE,
            vec!["UnableToModifyDuringSystemPOST".to_owned()]
        )
    );
    bench.wait(240);
    assert_eq!(bench.get(BIOS)["Attributes"], json!({}));
    bench.wait(60);
    assert_eq!(current(&mut bench, "QuietBoot"), true);
}

#[test]
fn a_write_can_make_a_job_that_the_boot_ends_and_a_deletion_withdraws() {
    let mut bench = bench("[bios_settings]\njob = true");
    assert_eq!(
        write(&mut bench, &json!({"QuietBoot": false})).0,
        StatusCode::ACCEPTED
    );
    let job = "/redfish/v1/JobService/Jobs/JID_000001";
    assert_eq!(bench.get(job)["JobState"], "Pending");
    boot(&mut bench);
    assert_eq!(bench.get(job)["JobState"], "Completed");
    write(&mut bench, &json!({"QuietBoot": true}));
    let second = "/redfish/v1/JobService/Jobs/JID_000002";
    assert_eq!(
        bench.json(Method::DELETE, second, &json!({})).0,
        StatusCode::NO_CONTENT
    );
    assert_eq!(bench.get(SETTINGS)["Attributes"], json!({}));
}

#[test]
fn settings_without_an_object_are_written_on_the_bios_itself() {
    let mut bench = bench("[bios_settings]\nsettings_object = false");
    assert!(bench.get(BIOS).get("@Redfish.Settings").is_none());
    assert_eq!(
        bench
            .patch(BIOS, &json!({"Attributes": {"QuietBoot": false}}))
            .0,
        StatusCode::OK
    );
    assert_eq!(current(&mut bench, "QuietBoot"), true);
    boot(&mut bench);
    assert_eq!(current(&mut bench, "QuietBoot"), false);
}

#[test]
fn the_registry_can_be_missing_or_misnamed() {
    let mut missing = bench("[bios_settings]\nregistry = \"missing\"");
    assert!(missing.get(BIOS).get("AttributeRegistry").is_none());
    let mut misnamed = bench("[bios_settings]\nregistry = \"wrong-name\"");
    assert_eq!(
        misnamed.get(BIOS)["AttributeRegistry"],
        "BiosAttributeRegistryX9.v9_9_9"
    );
}

#[test]
fn defaults_wait_for_a_boot_too() {
    let mut bench = bench(
        "[[system]]\nid = \"1\"\nattributes = { QuietBoot = false, BootMode = \"LegacyBios\" }",
    );
    let path = format!("{BIOS}/Actions/Bios.ResetBios");
    assert_eq!(bench.post(&path, &json!({})).0, StatusCode::NO_CONTENT);
    assert_eq!(
        bench.get(SETTINGS)["Attributes"],
        json!({"QuietBoot": true, "BootMode": "Uefi"})
    );
    boot(&mut bench);
    assert_eq!(current(&mut bench, "BootMode"), "Uefi");
}

#[test]
fn other_hands_are_seen_as_other_people() {
    let mut bench = bench("[[system]]\nid = \"1\"\npending = { BootMode = \"LegacyBios\" }");
    assert_eq!(
        bench.get(SETTINGS)["Attributes"],
        json!({"BootMode": "LegacyBios"})
    );
    bench.bmc.set_pending(0, "QuietBoot", json!(false));
    bench.bmc.set_attribute(0, "AssetNote", json!("by hand"));
    bench.bmc.set_bmc_version("9.9");
    bench.bmc.set_bios_version(0, "8.8");
    assert_eq!(bench.get(SETTINGS)["Attributes"]["QuietBoot"], false);
    assert_eq!(current(&mut bench, "AssetNote"), "by hand");
    assert_eq!(bench.get(MANAGER)["FirmwareVersion"], "9.9");
    assert_eq!(bench.get("/redfish/v1/Systems/1")["BiosVersion"], "8.8");
}
