//! This room proves that other people's tasks, jobs and sessions are there when they should be.
//!
//! It deliberately gives them no effect, for they have none.

use http::StatusCode;
use serde_json::json;

use super::support::{UPDATE, bench};

#[test]
fn a_strangers_task_comes_runs_and_ends() {
    let mut bench = bench(
        "[[foreign_task]]\nname = \"PSU update\"\nappears = \"10s\"\nends_after = \"60s\"\npercent = 30\nimage_uri = \"http://other/x.bin\"",
    );
    assert_eq!(
        bench.get("/redfish/v1/TaskService/Tasks")["Members@odata.count"],
        0
    );
    bench.wait(10);
    let task = bench.get("/redfish/v1/TaskService/Tasks/1");
    assert_eq!(
        (
            task["Name"].as_str(),
            task["TaskState"].as_str(),
            task["PercentComplete"].as_u64()
        ),
        (Some("PSU update"), Some("Running"), Some(30))
    );
    assert!(
        task["Payload"]["JsonBody"]
            .as_str()
            .unwrap()
            .contains("http://other/x.bin")
    );
    assert!(bench.state().open_tasks[0].foreign);
    bench.wait(60);
    assert_eq!(
        bench.get("/redfish/v1/TaskService/Tasks/1")["TaskState"],
        "Completed"
    );
    assert!(bench.has("task 1 Running") && bench.has("task 1 Completed"));
}

#[test]
fn a_strangers_task_can_come_with_our_request() {
    let mut bench = bench(
        "[[foreign_task]]\nappears_with_update = 1\n[[fault]]\nmethod = \"POST\"\nanswer = \"status\"\ncount = 0\nprocessed = true",
    );
    let (status, _) = bench.post(UPDATE, &json!({"ImageURI": "http://h/f"}));
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    let open = bench.state().open_tasks;
    assert_eq!(
        open.iter().map(|task| task.foreign).collect::<Vec<_>>(),
        [true, false]
    );
}

#[test]
fn a_strangers_job_waits_for_the_boot() {
    let mut bench = bench(
        "[[foreign_job]]\nname = \"Configure BIOS\"\nstate = \"Pending\"\nruns_at_boot_of = \"1\"\njob_type = \"BIOSConfiguration\"\ntarget = \"/redfish/v1/Systems/1/Bios/Settings\"",
    );
    let uri = "/redfish/v1/JobService/Jobs/JID_000001";
    let job = bench.get(uri);
    assert_eq!(
        (
            job["JobState"].as_str(),
            job["Oem"]["MockBmc"]["JobType"].as_str()
        ),
        (Some("Pending"), Some("BIOSConfiguration"))
    );
    bench.reset("ForceRestart");
    bench.wait(2);
    assert_eq!(bench.get(uri)["JobState"], "Running");
    bench.wait(240);
    assert_eq!(bench.get(uri)["JobState"], "Completed");
}

#[test]
fn strangers_hold_sessions() {
    let mut bench = bench("[sessions]\nforeign = 7");
    assert_eq!(bench.state().sessions.len(), 7);
    let login = json!({"UserName": "root", "Password": "secret"});
    let sessions = "/redfish/v1/SessionService/Sessions";
    assert_eq!(bench.post(sessions, &login).0, StatusCode::CREATED);
    assert_eq!(
        bench.post(sessions, &login).0,
        StatusCode::SERVICE_UNAVAILABLE
    );
}
