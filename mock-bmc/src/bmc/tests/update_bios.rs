//! This room proves what becomes of a BIOS image: staged, activated by a boot, one system at a time, and torn.
//!
//! It deliberately reads versions from documents, as a client does.

use http::{Method, StatusCode};
use serde_json::json;

use super::support::{Bench, MANAGER, SYSTEM, bench, bench_of};
use crate::image::Component;

const STAGED: &str = "/redfish/v1/UpdateService/FirmwareInventory/BIOS_1_Staged";

fn version(bench: &mut Bench, system: usize) -> String {
    let uri = format!("/redfish/v1/Systems/{system}");
    bench.get(&uri)["BiosVersion"]
        .as_str()
        .unwrap_or("-")
        .to_owned()
}

fn staged(script: &str) -> Bench {
    let mut bench = bench(script);
    bench.update(Component::Bios, "2.20", &[SYSTEM]);
    bench.wait(120);
    bench
}

/// Restarts the host and waits until its POST has ended.
fn restart(bench: &mut Bench) {
    assert_eq!(bench.reset("GracefulRestart"), StatusCode::NO_CONTENT);
    bench.wait(60 + 6 * 60);
}

#[test]
fn an_image_is_staged_shown_and_activated_by_the_next_boot() {
    let mut bench = staged("");
    let task = bench.get("/redfish/v1/TaskService/Tasks/1");
    assert_eq!(
        (task["TaskState"].as_str(), task["TaskStatus"].as_str()),
        (Some("Completed"), Some("OK"))
    );
    assert!(
        task["Messages"]
            .to_string()
            .contains("Update.1.0.AwaitToActivate")
    );
    let member = bench.get(STAGED);
    assert_eq!(
        (member["Version"].as_str(), member["Staged"].as_bool()),
        (Some("2.20"), Some(true))
    );
    assert_eq!(version(&mut bench, 1), "2.10");
    bench.reset("GracefulRestart");
    bench.wait(60 + 359);
    assert_eq!(version(&mut bench, 1), "2.10");
    assert_eq!(
        bench.get(SYSTEM)["BootProgress"]["LastState"],
        "PrimaryProcessorInitializationStarted"
    );
    assert!(bench.state().systems[0].flashing);
    bench.wait(1);
    assert_eq!(version(&mut bench, 1), "2.20");
    assert_eq!(
        bench.get("/redfish/v1/UpdateService/FirmwareInventory/BIOS_1")["Version"],
        "2.20"
    );
    assert_eq!(bench.status(STAGED), StatusCode::NOT_FOUND);
    let story = bench.story();
    let from = story
        .iter()
        .position(|line| line == "post 1 begins")
        .unwrap();
    assert_eq!(
        story[from..],
        [
            "post 1 begins",
            "bios 1 flash begins 2.20",
            "bios 1 version 2.10 -> 2.20",
            "post 1 ends"
        ]
    );
}

#[test]
fn a_task_can_wait_with_its_image() {
    for state in ["pending", "stopping"] {
        let mut bench = staged(&format!("[update]\nstaged_task = \"{state}\""));
        let shown = bench.get("/redfish/v1/TaskService/Tasks/1")["TaskState"]
            .as_str()
            .unwrap()
            .to_lowercase();
        assert_eq!(shown, state);
        restart(&mut bench);
        assert_eq!(
            bench.get("/redfish/v1/TaskService/Tasks/1")["TaskState"],
            "Completed"
        );
    }
}

#[test]
fn a_forced_act_during_the_flashing_post_bricks_the_system() {
    for kind in ["ForceOff", "ForceRestart", "PowerCycle"] {
        let mut bench = staged("");
        bench.reset("GracefulRestart");
        bench.wait(60 + 60);
        bench.reset(kind);
        bench.wait(3600);
        assert!(bench.has("bricked 1"), "{kind}");
        assert!(bench.state().systems[0].bricked);
        assert_eq!(bench.get(SYSTEM)["BiosVersion"], json!(null));
    }
}

#[test]
fn a_graceful_act_during_the_flashing_post_is_not_heard() {
    let mut bench = staged("");
    bench.reset("GracefulRestart");
    bench.wait(60 + 60);
    assert_eq!(bench.reset("GracefulShutdown"), StatusCode::NO_CONTENT);
    bench.wait(3600);
    assert_eq!(version(&mut bench, 1), "2.20");
    assert_eq!(bench.get(SYSTEM)["PowerState"], "On");
}

#[test]
fn a_manager_that_goes_during_the_flashing_post_bricks_the_system() {
    let mut bench = staged("");
    bench.reset("GracefulRestart");
    bench.wait(60 + 60);
    bench.post(
        &format!("{MANAGER}/Actions/Manager.Reset"),
        &json!({"ResetType": "GracefulRestart"}),
    );
    bench.wait(300);
    assert!(bench.has("bricked 1"));
}

#[test]
fn activation_can_need_off_and_on() {
    let mut bench = staged("[update]\nactivation = \"off-on\"");
    restart(&mut bench);
    assert_eq!(version(&mut bench, 1), "2.10");
    bench.reset("GracefulShutdown");
    bench.wait(60);
    assert_eq!(bench.get(SYSTEM)["PowerState"], "Off");
    bench.reset("On");
    bench.wait(2 + 360);
    assert_eq!(version(&mut bench, 1), "2.20");
}

#[test]
fn activation_can_need_a_reset_of_the_manager_first() {
    let mut bench = staged("[update]\nactivation = \"manager-reset\"");
    restart(&mut bench);
    assert_eq!(version(&mut bench, 1), "2.10");
    bench.post(
        &format!("{MANAGER}/Actions/Manager.Reset"),
        &json!({"ResetType": "GracefulRestart"}),
    );
    bench.wait(121);
    restart(&mut bench);
    assert_eq!(version(&mut bench, 1), "2.20");
}

#[test]
fn the_bmc_can_reboot_the_host_by_itself() {
    let mut bench = staged("[update]\nactivation = \"self-reboot\"");
    bench.wait(2 + 360);
    assert_eq!(version(&mut bench, 1), "2.20");
    assert!(!bench.story().iter().any(|line| line.starts_with("reset ")));
}

#[test]
fn only_the_named_system_changes() {
    let mut bench = bench_of("", 3);
    bench.update(Component::Bios, "2.20", &["/redfish/v1/Systems/2/Bios"]);
    bench.wait(120);
    for system in 1..=3 {
        let path = format!("/redfish/v1/Systems/{system}/Actions/ComputerSystem.Reset");
        bench.post(&path, &json!({"ResetType": "ForceRestart"}));
    }
    bench.wait(600);
    let versions: Vec<String> = (1..=3).map(|system| version(&mut bench, system)).collect();
    assert_eq!(versions, ["2.10", "2.20", "2.10"]);
}

#[test]
fn a_service_that_ignores_targets_flashes_every_system() {
    let mut bench = bench_of(
        "[update]\ntargets = \"ignored\"\nactivation = \"self-reboot\"",
        2,
    );
    bench.update(Component::Bios, "2.20", &["/redfish/v1/Systems/1"]);
    bench.wait(120 + 2 + 360);
    let versions: Vec<String> = (1..=2).map(|system| version(&mut bench, system)).collect();
    assert_eq!(versions, ["2.20", "2.20"]);
}

#[test]
fn a_pull_without_a_target_fails_late_where_several_systems_are() {
    let mut bench = bench_of("", 2);
    let task = bench.update(Component::Bios, "2.20", &[]);
    bench.wait(10);
    let shown = bench.get(&task);
    assert_eq!(shown["TaskState"], "Exception");
    assert!(
        shown["Messages"]
            .to_string()
            .contains("ActionParameterMissing")
    );
}

#[test]
fn outcomes_can_differ_per_system() {
    let script = "[update]\nactivation = \"self-reboot\"\n[[system]]\nid = \"2\"\nbios_outcome = \"unchanged\"\n[[system]]\nid = \"3\"\nbios_outcome = \"failed\"";
    let mut bench = bench_of(script, 3);
    for system in 1..=3 {
        let target = format!("/redfish/v1/UpdateService/FirmwareInventory/BIOS_{system}");
        bench.update(Component::Bios, "2.20", &[&target]);
        bench.wait(120);
    }
    bench.wait(600);
    let versions: Vec<String> = (1..=3).map(|system| version(&mut bench, system)).collect();
    assert_eq!(versions, ["2.20", "2.10", "2.10"]);
    assert_eq!(
        bench.get("/redfish/v1/TaskService/Tasks/3")["TaskState"],
        "Exception"
    );
    assert_eq!(
        bench.get("/redfish/v1/TaskService/Tasks/2")["TaskState"],
        "Completed"
    );
}

#[test]
fn the_new_version_can_show_late_and_settings_can_fall_back() {
    let script = "[update]\nactivation = \"self-reboot\"\nbios_late_for = \"2m\"\nresets_bios_settings = true\n[[system]]\nid = \"1\"\nattributes = { QuietBoot = false }";
    let mut bench = staged(script);
    assert_eq!(
        bench.get("/redfish/v1/Systems/1/Bios")["Attributes"]["QuietBoot"],
        false
    );
    bench.wait(2 + 360);
    assert_eq!(version(&mut bench, 1), "2.10");
    assert_eq!(
        bench.get("/redfish/v1/Systems/1/Bios")["Attributes"]["QuietBoot"],
        true
    );
    bench.wait(120);
    assert_eq!(version(&mut bench, 1), "2.20");
}

#[test]
fn a_later_image_takes_the_place_of_a_staged_one() {
    let mut bench = staged("");
    bench.update(Component::Bios, "2.30", &[]);
    bench.wait(120);
    assert!(bench.has("bios 1 unstaged 2.20"));
    restart(&mut bench);
    assert_eq!(version(&mut bench, 1), "2.30");
}

#[test]
fn a_waiting_task_is_deleted_with_its_image_but_not_while_it_is_written() {
    let task = "/redfish/v1/TaskService/Tasks/1";
    let mut bench = staged("[update]\nstaged_task = \"pending\"");
    let answer = bench.json(Method::DELETE, task, &json!({}));
    assert_eq!(answer.0, StatusCode::NO_CONTENT);
    assert!(bench.has("bios 1 unstaged 2.20"));
    restart(&mut bench);
    assert_eq!(version(&mut bench, 1), "2.10");
    let mut late = staged("[update]\nstaged_task = \"pending\"");
    late.reset("ForceRestart");
    late.wait(10);
    let answer = late.json(Method::DELETE, task, &json!({}));
    assert_eq!(answer.0, StatusCode::CONFLICT);
}

#[test]
fn an_image_can_be_staged_by_somebody_else_from_the_start() {
    let mut bench =
        bench("[[system]]\nid = \"1\"\nstaged = \"2.15\"\npower = \"Off\"\nbios = \"2.05\"");
    assert_eq!(bench.get(STAGED)["Version"], "2.15");
    assert_eq!(version(&mut bench, 1), "2.05");
    bench.reset("On");
    bench.wait(400);
    assert_eq!(version(&mut bench, 1), "2.15");
}
