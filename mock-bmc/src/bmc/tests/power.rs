//! This room proves what resets do to a host, and when.
//!
//! It deliberately has no image in it; flashing boots are proved elsewhere.

use http::StatusCode;
use serde_json::json;

use super::support::{Bench, MANAGER, SYSTEM, bench, keys};

fn power(bench: &mut Bench) -> String {
    bench.get(SYSTEM)["PowerState"].as_str().unwrap().to_owned()
}

fn progress(bench: &mut Bench) -> String {
    bench.get(SYSTEM)["BootProgress"]["LastState"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn a_graceful_shutdown_takes_the_time_of_the_system() {
    let mut bench = bench("");
    assert_eq!(bench.reset("GracefulShutdown"), StatusCode::NO_CONTENT);
    assert_eq!(power(&mut bench), "PoweringOff");
    bench.wait(59);
    assert_eq!(bench.reset("GracefulShutdown"), StatusCode::NO_CONTENT);
    bench.wait(1);
    assert_eq!(
        (power(&mut bench), progress(&mut bench)),
        ("Off".into(), "None".into())
    );
    assert_eq!(bench.reset("On"), StatusCode::NO_CONTENT);
    assert_eq!(power(&mut bench), "PoweringOn");
    bench.wait(2);
    assert_eq!(
        (power(&mut bench), progress(&mut bench)),
        ("On".into(), "MemoryInitializationStarted".into())
    );
    bench.wait(240);
    assert_eq!(progress(&mut bench), "OSRunning");
}

#[test]
fn a_deaf_system_is_only_moved_by_force() {
    let mut bench = bench("[power]\nignored_graceful = true");
    bench.reset("GracefulShutdown");
    bench.reset("GracefulRestart");
    bench.wait(600);
    assert_eq!(
        (power(&mut bench), progress(&mut bench)),
        ("On".into(), "OSRunning".into())
    );
    assert!(bench.has("reset ignored /redfish/v1/Systems/1 GracefulShutdown"));
    bench.reset("ForceOff");
    bench.wait(2);
    assert_eq!(power(&mut bench), "Off");
}

#[test]
fn restarts_keep_the_power_on_and_a_cycle_does_not() {
    let mut bench = bench("");
    bench.reset("GracefulRestart");
    bench.wait(59);
    assert_eq!(progress(&mut bench), "OSRunning");
    bench.wait(1);
    assert_eq!(
        (power(&mut bench), progress(&mut bench)),
        ("On".into(), "MemoryInitializationStarted".into())
    );
    bench.wait(240);
    bench.reset("PowerCycle");
    bench.wait(2);
    assert_eq!(power(&mut bench), "Off");
    bench.wait(10);
    assert_eq!(power(&mut bench), "On");
    let story = bench.story();
    assert!(
        story.ends_with(&[
            "power 1 Off".into(),
            "power 1 On".into(),
            "post 1 begins".into()
        ]),
        "{story:?}"
    );
}

#[test]
fn a_forced_off_overtakes_a_shutdown_and_ends_a_post() {
    let mut bench = bench("");
    bench.reset("GracefulShutdown");
    bench.reset("ForceOff");
    bench.wait(2);
    assert_eq!(power(&mut bench), "Off");
    bench.wait(120);
    bench.reset("On");
    bench.wait(10);
    bench.reset("ForceOff");
    bench.wait(600);
    assert_eq!(
        (power(&mut bench), progress(&mut bench)),
        ("Off".into(), "None".into())
    );
    assert!(!bench.has("bricked 1"));
}

#[test]
fn a_reset_that_makes_no_sense_is_refused_or_ignored() {
    let mut bench = bench("");
    assert_eq!(bench.reset("On"), StatusCode::NO_CONTENT);
    assert_eq!(bench.reset("Nmi"), StatusCode::BAD_REQUEST);
    let path = format!("{SYSTEM}/Actions/ComputerSystem.Reset");
    assert_eq!(
        keys(&bench.post(&path, &json!({})).1),
        ["ActionParameterMissing"]
    );
    bench.reset("ForceOff");
    bench.wait(2);
    assert_eq!(bench.reset("GracefulRestart"), StatusCode::CONFLICT);
    assert_eq!(bench.reset("GracefulShutdown"), StatusCode::NO_CONTENT);
    assert_eq!(power(&mut bench), "Off");
}

#[test]
fn being_there_already_and_coming_too_soon_can_be_errors() {
    let mut bench =
        bench("[power]\nalready_there = \"conflict\"\nbusy_after_off = \"60s\"\nstate = \"On\"");
    assert_eq!(bench.reset("On"), StatusCode::CONFLICT);
    bench.reset("ForceOff");
    bench.wait(2);
    assert_eq!(bench.reset("On"), StatusCode::CONFLICT);
    bench.wait(60);
    assert_eq!(bench.reset("On"), StatusCode::NO_CONTENT);
}

#[test]
fn the_state_can_lag_and_resets_can_get_lost() {
    let mut bench = bench("[power]\nstate_lag = \"30s\"\nignored_resets = 1");
    bench.reset("ForceOff");
    bench.wait(10);
    assert_eq!(bench.state().systems[0].power, "On");
    bench.reset("ForceOff");
    bench.wait(2);
    assert_eq!(
        (
            bench.state().systems[0].power.as_str(),
            power(&mut bench).as_str()
        ),
        ("Off", "On")
    );
    bench.wait(30);
    assert_eq!(power(&mut bench), "Off");
}

#[test]
fn a_host_can_be_off_or_in_post_from_the_start() {
    let mut off = bench("[power]\nstate = \"Off\"");
    assert_eq!(
        (power(&mut off), progress(&mut off)),
        ("Off".into(), "None".into())
    );
    let mut post = bench("[[system]]\nid = \"1\"\nin_post = true");
    assert!(post.state().systems[0].in_post);
    post.wait(240);
    assert_eq!(progress(&mut post), "OSRunning");
}

#[test]
fn settings_are_applied_by_any_boot() {
    let mut bench = bench("");
    bench.patch(
        super::support::SETTINGS,
        &json!({"Attributes": {"QuietBoot": false}}),
    );
    bench.reset("GracefulShutdown");
    bench.wait(60);
    bench.reset("On");
    bench.wait(2 + 240);
    assert_eq!(
        bench.get("/redfish/v1/Systems/1/Bios")["Attributes"]["QuietBoot"],
        false
    );
    assert!(bench.state().bmc_version.is_some() && bench.status(MANAGER) == StatusCode::OK);
}
