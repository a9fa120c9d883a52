//! This room proves how tasks lie when a script tells them to, and that the truth does not follow.
//!
//! It deliberately flashes the same image each time.

use bytes::Bytes;
use http::{Method, StatusCode};

use super::support::{BASIC, Bench, MANAGER, bench};
use crate::image::Component;

const TASK: &str = "/redfish/v1/TaskService/Tasks/1";
const MONITOR: &str = "/redfish/v1/TaskService/TaskMonitors/1";

fn lying(fault: &str) -> Bench {
    let mut bench = bench(&format!("[[task_fault]]\ncomponent = \"bmc\"\n{fault}"));
    bench.update(Component::Bmc, "1.60", &[MANAGER]);
    bench
}

fn seen(bench: &mut Bench) -> (String, String, Option<u64>) {
    let task = bench.get(TASK);
    let text = |name: &str| task[name].as_str().unwrap().to_owned();
    (
        text("TaskState"),
        text("TaskStatus"),
        task["PercentComplete"].as_u64(),
    )
}

#[test]
fn percentages_can_stick_fall_back_or_be_missing() {
    let mut stuck = lying("stuck_at = 40");
    stuck.wait(7 * 60);
    assert_eq!(seen(&mut stuck).2, Some(40));
    let mut back = lying("percent_back = true");
    back.wait(4 * 60 + 30);
    let high = seen(&mut back).2;
    assert!(high.is_some_and(|high| high < 30), "{high:?}");
    assert_eq!(seen(&mut lying("no_percent = true")).2, None);
}

#[test]
fn states_and_verdicts_can_be_anything() {
    assert_eq!(
        seen(&mut lying("running_state = \"Downloading...\"")).0,
        "Downloading..."
    );
    for (fault, state, status) in [
        ("end_status = \"Critical\"", "Completed", "Critical"),
        ("end_status = \"Warning\"", "Completed", "Warning"),
        (
            "end_state = \"Exception\"\nend_status = \"Warning\"",
            "Exception",
            "Warning",
        ),
    ] {
        let mut bench = lying(fault);
        bench.wait(8 * 60);
        bench.wait(3 * 60);
        let (shown, verdict, _) = seen(&mut bench);
        assert_eq!((shown.as_str(), verdict.as_str()), (state, status));
        assert_eq!(bench.state().bmc_version.as_deref(), Some("1.60"));
    }
}

#[test]
fn an_end_that_is_none_leaves_the_flash_running() {
    let mut bench =
        lying("ends_after = \"2m\"\nend_state = \"Cancelled\"\nend_status = \"Warning\"");
    bench.wait(60);
    assert_eq!(seen(&mut bench).0, "Running");
    bench.wait(60);
    assert_eq!(seen(&mut bench).0, "Cancelled");
    bench.wait(6 * 60);
    bench.wait(3 * 60);
    assert_eq!(bench.state().bmc_version.as_deref(), Some("1.60"));
}

#[test]
fn a_task_can_run_for_ever_although_all_is_done() {
    let mut bench = lying("never_ends = true");
    bench.wait(3600);
    assert_eq!(seen(&mut bench).0, "Running");
    assert_eq!(bench.state().bmc_version.as_deref(), Some("1.60"));
}

#[test]
fn a_task_can_vanish_while_it_runs_or_after_its_end() {
    let mut running = lying("vanish = \"running\"\nvanish_after = \"30s\"");
    running.wait(29);
    assert_eq!(running.status(TASK), StatusCode::OK);
    running.wait(1);
    assert_eq!(
        (running.status(TASK), running.status(MONITOR)),
        (StatusCode::NOT_FOUND, StatusCode::NOT_FOUND)
    );
    assert_eq!(
        running.get("/redfish/v1/TaskService/Tasks")["Members@odata.count"],
        0
    );
    let mut ended = lying("vanish = \"ended\"");
    ended.wait(60);
    assert_eq!(ended.status(TASK), StatusCode::OK);
    ended.wait(11 * 60);
    assert_eq!(ended.status(TASK), StatusCode::NOT_FOUND);
    let mut never = lying("vanish = \"running\"");
    assert_eq!(never.status(TASK), StatusCode::NOT_FOUND);
}

#[test]
fn messages_can_be_bare_or_missing() {
    let ids = lying("messages = \"ids\"").get(TASK)["Messages"].clone();
    assert!(ids[0]["MessageId"].is_string() && ids[0].get("Message").is_none());
    assert!(
        lying("messages = \"none\"")
            .get(TASK)
            .get("Messages")
            .is_none()
    );
}

#[test]
fn the_monitor_has_lies_of_its_own() {
    let monitor = |bench: &mut Bench| {
        let response = bench.send(
            Method::GET,
            MONITOR,
            &[("authorization", BASIC)],
            Bytes::new(),
        );
        (response.status, response.body.is_empty())
    };
    assert_eq!(monitor(&mut lying("")), (StatusCode::ACCEPTED, false));
    assert_eq!(
        monitor(&mut lying("monitor_200 = true")),
        (StatusCode::OK, false)
    );
    assert_eq!(
        monitor(&mut lying("monitor_empty = true")),
        (StatusCode::ACCEPTED, true)
    );
    let mut forever = lying("monitor_202_forever = true");
    forever.wait(3600);
    assert_eq!(monitor(&mut forever), (StatusCode::ACCEPTED, false));
}

#[test]
fn only_the_meant_task_lies_and_ended_ones_are_purged() {
    let mut bench = bench(
        "[durations]\ntask_kept = \"30s\"\n[[task_fault]]\nnth = 2\nend_state = \"Exception\"",
    );
    bench.update(Component::Bios, "2.20", &[]);
    bench.wait(120);
    assert_eq!(bench.get(TASK)["TaskState"], "Completed");
    bench.update(Component::Bios, "2.30", &[]);
    bench.wait(29);
    assert_eq!(bench.status(TASK), StatusCode::OK);
    bench.wait(1);
    assert_eq!(bench.status(TASK), StatusCode::NOT_FOUND);
    bench.wait(90);
    assert_eq!(
        bench.get("/redfish/v1/TaskService/Tasks/2")["TaskState"],
        "Exception"
    );
}
