//! This room proves what becomes of a BMC image: its flash, the absence, the return, and every way in which it goes
//! wrong.
//!
//! It deliberately reads versions from documents, as a client does.

use bytes::Bytes;
use http::{Method, StatusCode};
use serde_json::json;

use super::support::{BASIC, Bench, MANAGER, bench, keys, read};
use crate::image::Component;
use crate::message::Reply;

const INVENTORY: &str = "/redfish/v1/UpdateService/FirmwareInventory/BMC";

fn version(bench: &mut Bench) -> String {
    bench.get(MANAGER)["FirmwareVersion"]
        .as_str()
        .unwrap_or("-")
        .to_owned()
}

/// Flashes 1.60 and waits until the manager is back.
fn flashed(script: &str) -> Bench {
    let mut bench = bench(script);
    bench.update(Component::Bmc, "1.60", &[MANAGER]);
    bench.wait(8 * 60);
    bench.wait(3 * 60);
    bench
}

#[test]
fn a_flash_takes_its_time_then_the_manager_is_gone_and_back_with_the_version() {
    let mut bench = bench("");
    bench.post(
        "/redfish/v1/SessionService/Sessions",
        &json!({"UserName": "root", "Password": "secret"}),
    );
    let task = bench.update(Component::Bmc, "1.60", &[MANAGER]);
    bench.wait(4 * 60);
    let shown = bench.get(&task);
    assert_eq!(
        (
            shown["TaskState"].as_str(),
            shown["PercentComplete"].as_u64()
        ),
        (Some("Running"), Some(50))
    );
    bench.wait(4 * 60 - 1);
    assert!(bench.bmc.is_listening(bench.now));
    bench.wait(1);
    assert!(!bench.bmc.is_listening(bench.now));
    assert!(matches!(
        bench.reply(Method::GET, "/redfish/v1", &[], Bytes::new()),
        Reply::Refused
    ));
    assert!(bench.state().sessions.is_empty());
    bench.wait(3 * 60 - 1);
    assert!(!bench.bmc.is_listening(bench.now));
    bench.wait(1);
    assert_eq!(version(&mut bench), "1.60");
    assert_eq!(bench.get(INVENTORY)["Version"], "1.60");
    let shown = bench.get(&task);
    assert_eq!(
        (shown["TaskState"].as_str(), shown["TaskStatus"].as_str()),
        (Some("Completed"), Some("OK"))
    );
    assert!(shown["EndTime"].is_string());
    let story = bench.story();
    let from = story
        .iter()
        .position(|line| line == "bmc flash begins 1.60")
        .unwrap();
    assert_eq!(
        story[from..from + 5],
        [
            "bmc flash begins 1.60",
            "manager gone",
            "bmc version 1.50 -> 1.60",
            "update done task 1",
            "manager back"
        ]
    );
}

#[test]
fn due_leads_through_an_update_without_looking_at_a_clock() {
    let mut bench = bench("");
    bench.update(Component::Bmc, "1.60", &[]);
    while let Some(due) = bench.bmc.due() {
        bench.bmc.advance(due);
        bench.now = due;
    }
    assert_eq!(bench.now.0, 11 * 60 * 1000);
    assert_eq!(bench.state().bmc_version.as_deref(), Some("1.60"));
}

#[test]
fn a_foreign_file_ends_in_an_exception_with_the_version_unchanged() {
    let mut bench = bench("");
    let task = bench.pull(b"\x7fELF".to_vec(), &[MANAGER]);
    bench.wait(10);
    let shown = bench.get(task["@odata.id"].as_str().unwrap());
    assert_eq!(shown["TaskState"], "Exception");
    let last = shown["Messages"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .clone();
    assert!(
        last["MessageId"]
            .as_str()
            .unwrap()
            .starts_with("Update.1.0.VerificationFailed")
    );
    bench.wait(3600);
    assert_eq!(version(&mut bench), "1.50");
}

#[test]
fn a_failed_download_is_a_late_exception_with_the_reason_in_the_ledger() {
    let mut bench = bench("");
    let (status, task) = bench.post(
        super::support::UPDATE,
        &json!({"ImageURI": "http://h/none.bin"}),
    );
    assert_eq!(status, StatusCode::ACCEPTED);
    let fetch = bench.bmc.take_fetches().pop().unwrap();
    bench.wait(5);
    bench.bmc.fetched(
        bench.now,
        fetch.id,
        Err("the image server answered 404".into()),
    );
    let shown = bench.get(task["@odata.id"].as_str().unwrap());
    assert_eq!(shown["TaskState"], "Exception");
    assert!(shown["Messages"].to_string().contains("TransferFailed"));
    let line = bench
        .bmc
        .ledger()
        .iter()
        .find(|line| line.path.as_deref() == Some("http://h/none.bin"))
        .unwrap();
    assert_eq!(
        line.detail.as_deref(),
        Some("the image server answered 404")
    );
}

#[test]
fn each_bad_outcome_is_what_it_says() {
    let cases = [
        ("unchanged", Some("1.50"), "Completed"),
        ("wrong", Some("0.99"), "Completed"),
        ("failed", Some("1.50"), "Exception"),
    ];
    for (outcome, runs, state) in cases {
        let mut bench = flashed(&format!(
            "[update]\nbmc_outcome = \"{outcome}\"\nwrong_version = \"0.99\""
        ));
        assert_eq!(bench.state().bmc_version.as_deref(), runs, "{outcome}");
        assert_eq!(
            bench.get("/redfish/v1/TaskService/Tasks/1")["TaskState"],
            state,
            "{outcome}"
        );
    }
    let mut bench = flashed("[update]\nbmc_outcome = \"never-returns\"");
    bench.wait(24 * 3600);
    assert!(!bench.bmc.is_listening(bench.now) && bench.has("manager dead"));
}

#[test]
fn the_new_version_can_show_late_by_reads_or_by_time() {
    let mut reads = flashed("[update]\nbmc_late_reads = 2\ninventory_first = true");
    assert_eq!(reads.get(INVENTORY)["Version"], "1.60");
    let shown: Vec<String> = (0..3).map(|_| version(&mut reads)).collect();
    assert_eq!(shown, ["1.50", "1.50", "1.60"]);
    let mut time = flashed("[update]\nbmc_late_for = \"4m\"");
    assert_eq!(
        (version(&mut time), time.get(INVENTORY)["Version"].as_str()),
        ("1.50".to_owned(), Some("1.50"))
    );
    time.wait(239);
    assert_eq!(version(&mut time), "1.50");
    time.wait(1);
    assert_eq!(version(&mut time), "1.60");
}

#[test]
fn a_return_can_bring_another_certificate_and_lose_the_tasks() {
    let mut bench = flashed("[update]\nnew_certificate = true\ntasks_survive = false");
    assert_eq!(bench.bmc.certificate_generation(), 1);
    assert_eq!(
        bench.status("/redfish/v1/TaskService/Tasks/1"),
        StatusCode::NOT_FOUND
    );
    assert_eq!(
        bench.get("/redfish/v1/TaskService/Tasks")["Members@odata.count"],
        0
    );
}

#[test]
fn a_reset_of_the_manager_during_its_own_flash_kills_it() {
    let mut bench = bench("");
    bench.update(Component::Bmc, "1.60", &[]);
    bench.wait(60);
    let (status, _) = bench.post(
        &format!("{MANAGER}/Actions/Manager.Reset"),
        &json!({"ResetType": "ForceRestart"}),
    );
    assert_eq!(status, StatusCode::NO_CONTENT);
    bench.wait(24 * 3600);
    assert!(bench.has("bricked bmc"));
    assert_eq!(bench.state().bmc_version, None);
}

#[test]
fn a_reset_of_the_manager_during_staging_loses_the_image() {
    let mut bench = bench("");
    bench.update(Component::Bios, "2.20", &[]);
    bench.wait(60);
    bench.post(
        &format!("{MANAGER}/Actions/Manager.Reset"),
        &json!({"ResetType": "ForceRestart"}),
    );
    bench.wait(300);
    assert_eq!(
        bench.get("/redfish/v1/TaskService/Tasks/1")["TaskState"],
        "Exception"
    );
    assert_eq!(bench.state().systems[0].staged, None);
}

#[test]
fn versions_can_be_hidden() {
    let mut bench = bench("[versions]\nbmc = \"1.70\"\nhide_bmc = true");
    assert_eq!(bench.get(MANAGER)["FirmwareVersion"], json!(null));
    assert_eq!(bench.get(INVENTORY)["Version"], json!(null));
    assert_eq!(bench.state().bmc_version.as_deref(), Some("1.70"));
}

#[test]
fn a_finished_monitor_gives_the_task_and_a_deleted_one_is_gone() {
    let mut bench = flashed("");
    let monitor = "/redfish/v1/TaskService/TaskMonitors/1";
    assert_eq!(bench.get(monitor)["TaskState"], "Completed");
    assert_eq!(
        bench
            .json(
                Method::DELETE,
                "/redfish/v1/TaskService/Tasks/1",
                &json!({})
            )
            .0,
        StatusCode::NO_CONTENT
    );
    assert_eq!(bench.status(monitor), StatusCode::NOT_FOUND);
    bench.update(Component::Bmc, "1.70", &[]);
    let headers = [("authorization", BASIC)];
    let running = bench.send(
        Method::DELETE,
        "/redfish/v1/TaskService/Tasks/2",
        &headers,
        Bytes::new(),
    );
    assert_eq!(
        (running.status, keys(&read(&running))),
        (StatusCode::CONFLICT, vec!["ResourceInUse".to_owned()])
    );
}
