//! Ctrl-C and SIGTERM: the command stops where it is safe, says what goes on without it, and leaves no session; the next
//! one carries on and sends nothing twice.

use crate::lab::{HOPS, Lab, RESTART, Setup};

/// An upload is never answered: the transfer stays open.
const HANGING_UPDATE: &str = "[[fault]]\nmethod = \"POST\"\npath = \"/redfish/v1/UpdateService/*\"\nanswer = \"hang\"\ncount = 1\n";

fn hops() -> Lab {
    Lab::start(Setup {
        stages: HOPS,
        time_scale: 200,
        ..Setup::default()
    })
}

#[test]
fn a_ctrl_c_or_sigterm_while_an_update_is_in_flight_leaves_it_to_the_bmc_and_the_next_apply_carries_on()
 {
    for signal in ["INT", "TERM"] {
        let lab = hops();
        let mut life = lab.start_redpipe(&["apply", "--yes"]);
        life.until("accepted", |lab| {
            !lab.said("mock-1", "update accepted").is_empty()
        });
        life.signal(signal);
        let ended = life
            .end()
            .exits(130)
            .says("stopping at the next safe point");
        let ended = ended.says("stopped: p/mock-1\n  stage `bmc-160` on bmc: ");
        let ended = ended.says("the BMC goes on with task /redfish/v1/TaskService/Tasks/1");
        ended.says("hint: `redpipe apply` carries on");
        assert_eq!(lab.sessions("mock-1"), 0, "{signal}");
        let status = lab
            .redpipe(&["--output", "json", "status"])
            .exits(0)
            .document();
        assert_eq!(status["runs"][0]["phase"], "InProgress");
        lab.redpipe(&["apply", "--yes"]).exits(0);
        lab.check_hops("mock-1");
        assert_eq!(lab.sessions("mock-1"), 0, "{signal}");
    }
}

#[test]
fn a_stop_while_the_host_boots_leaves_no_session_and_no_second_restart() {
    let lab = Lab::start(Setup {
        stages: RESTART,
        time_scale: 100,
        ..Setup::default()
    });
    let resets = |lab: &Lab| {
        lab.ledger("mock-1")
            .iter()
            .filter(|line| {
                let path = line.path.as_deref().unwrap_or_default();
                line.method.as_deref() == Some("POST") && path.ends_with("ComputerSystem.Reset")
            })
            .count()
    };
    let mut life = lab.start_redpipe(&["apply", "--yes"]);
    life.until("reset", |lab| resets(lab) > 0);
    life.signal("TERM");
    let ended = life.end().exits(130);
    ended.says("stopped: p/mock-1\n  stage `quiet` on mock-1-1: ");
    assert_eq!(lab.sessions("mock-1"), 0);
    let before = resets(&lab);
    lab.redpipe(&["apply", "--yes"]).exits(0);
    assert_eq!(resets(&lab), before);
    assert_eq!(lab.sessions("mock-1"), 0);
}

#[test]
fn an_open_transfer_is_waited_for_until_a_second_ctrl_c_which_says_the_risk() {
    let lab = hops();
    lab.script("mock-1", HANGING_UPDATE);
    let mut life = lab.start_redpipe(&["apply", "--yes"]);
    life.until("hanging", |lab| lab.fault_fired("mock-1"));
    life.signal("INT");
    life.until_says("stopping at the next safe point");
    life.signal("INT");
    let ended = life
        .end()
        .exits(130)
        .says("aborting: an open transfer is cut");
    ended.says("stopped: p/mock-1\n  stage `bmc-160` on bmc: ");
    assert_eq!(lab.sessions("mock-1"), 0);
    lab.redpipe(&["apply", "--yes"]).exits(0);
    lab.check_hops("mock-1");
}

#[test]
fn a_run_that_waits_for_somebody_elses_task_stops_at_once() {
    let lab = Lab::start(Setup {
        stages: HOPS,
        script: "[[foreign_task]]\nname = \"Firmware update\"\n",
        ..Setup::default()
    });
    let mut life = lab.start_redpipe(&["--output", "json", "apply", "--yes", "--wait"]);
    life.until_says("held: ");
    life.signal("INT");
    let ended = life.end().exits(130);
    assert_eq!(ended.document()["runs"][0]["phase"], "Held");
    let again = lab.redpipe(&["apply", "--yes"]).exits(5);
    again.says("held: p/mock-1");
    assert_eq!(lab.sessions("mock-1"), 0);
    assert!(lab.said("mock-1", "update accepted").is_empty());
}

#[test]
fn reading_commands_end_their_sessions_when_they_are_stopped() {
    for command in [&["plan"][..], &["inventory", "check"]] {
        let lab = Lab::start(Setup::default());
        lab.script(
            "mock-1",
            "[[fault]]\npath = \"/redfish/v1/Systems\"\nanswer = \"hang\"\ncount = 0\n",
        );
        let mut life = lab.start_redpipe(command);
        life.until("hanging", |lab| lab.fault_fired("mock-1"));
        assert_eq!(lab.sessions("mock-1"), 1, "{command:?}");
        life.signal("INT");
        let ended = life.end().exits(130);
        ended
            .says("stopping: sessions are ended first")
            .says("error: interrupted");
        assert_eq!(lab.sessions("mock-1"), 0, "{command:?}");
    }
}

#[test]
fn following_events_ends_at_a_ctrl_c_and_is_no_failure() {
    let lab = Lab::start(Setup::default());
    lab.redpipe(&["apply", "--yes"]).exits(0);
    let mut life = lab.start_redpipe(&["--output", "json", "events", "--follow"]);
    life.until_prints("\"phase\":\"Completed\"");
    life.signal("INT");
    let ended = life.end().exits(0);
    for line in ended.stdout.lines() {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(event["run"], "p/mock-1#1");
    }
}
