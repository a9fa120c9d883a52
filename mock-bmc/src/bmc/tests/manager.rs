//! This room proves what a reset of the manager does.
//!
//! It deliberately has no image in it; updates are proved elsewhere.

use http::StatusCode;
use serde_json::json;

use super::support::{MANAGER, SYSTEM, bench, keys};

#[test]
fn a_reset_takes_the_manager_away_and_its_sessions_with_it() {
    let mut bench = bench("");
    bench.post(
        "/redfish/v1/SessionService/Sessions",
        &json!({"UserName": "root", "Password": "secret"}),
    );
    let path = format!("{MANAGER}/Actions/Manager.Reset");
    assert_eq!(
        keys(&bench.post(&path, &json!({"ResetType": "PowerCycle"})).1),
        ["ActionParameterValueNotInList"]
    );
    assert_eq!(
        bench
            .post(&path, &json!({"ResetType": "GracefulRestart"}))
            .0,
        StatusCode::NO_CONTENT
    );
    assert!(bench.bmc.is_listening(bench.now));
    bench.wait(1);
    assert!(!bench.bmc.is_listening(bench.now) && bench.state().sessions.is_empty());
    bench.wait(119);
    assert!(!bench.bmc.is_listening(bench.now));
    bench.wait(1);
    assert!(bench.bmc.is_listening(bench.now));
    let story = bench.story();
    assert!(story.ends_with(&["manager gone".into(), "manager back".into()]));
    assert_eq!(bench.bmc.certificate_generation(), 0);
}

#[test]
fn hosts_do_not_notice() {
    let mut bench = bench("");
    bench.reset("ForceRestart");
    bench.wait(2);
    bench.post(
        &format!("{MANAGER}/Actions/Manager.Reset"),
        &json!({"ResetType": "ForceRestart"}),
    );
    bench.wait(240);
    assert_eq!(bench.get(SYSTEM)["BootProgress"]["LastState"], "OSRunning");
    assert!(!bench.has("bricked 1"));
}

#[test]
fn time_that_was_overslept_happens_in_its_order() {
    let mut bench = bench("");
    bench.reset("GracefulShutdown");
    bench.post(
        &format!("{MANAGER}/Actions/Manager.Reset"),
        &json!({"ResetType": "ForceRestart"}),
    );
    bench.wait(24 * 3600);
    let at: Vec<u64> = bench.bmc.ledger().iter().map(|line| line.at_ms).collect();
    assert!(at.is_sorted(), "{at:?}");
    let back = bench
        .bmc
        .ledger()
        .iter()
        .find(|line| line.detail.as_deref() == Some("manager back"))
        .unwrap();
    assert_eq!(back.at_ms, 121_000);
}

#[test]
fn the_clock_can_be_far_off() {
    let mut bench = bench("[identity]\nclock = \"1970-01-01T00:00:00Z\"");
    bench.wait(90);
    assert_eq!(bench.get(MANAGER)["DateTime"], "1970-01-01T00:01:30Z");
}
