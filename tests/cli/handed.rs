//! A daemon serves on the state: commands hand their orders to it, follow them, and end as if they had done it themselves.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixListener;

use crate::lab::{HOPS, Lab, RESTART, SETTING, Setup};
use crate::life::Life;

const SOCKET: &str = "state/redpipe.db.sock";

const OWNED: &str = r#"
[maintenance]
policy = "owner-approval"
[[stage]]
name = "quiet"
kind = "bios-settings"
settings = { QuietBoot = false }
"#;

/// A daemon that answers.
fn daemon(lab: &Lab) -> Life<'_> {
    let mut daemon = lab.start_redpipe(&["daemon"]);
    daemon.until_says("serving `");
    daemon
}

fn stopped(daemon: Life<'_>) {
    daemon.signal("TERM");
    daemon.end().exits(0);
}

#[test]
fn an_apply_is_driven_by_the_daemon_and_told_as_if_it_were_driven_here() {
    let lab = Lab::start(Setup {
        stages: HOPS,
        time_scale: 100,
        ..Setup::default()
    });
    let daemon = daemon(&lab);
    let applied = lab
        .redpipe(&["--output", "json", "apply", "--yes"])
        .exits(0)
        .says(&format!("handed to the daemon (process {}", daemon.pid()))
        .says("p/mock-1 stage bmc-180: done");
    let document = applied.document();
    assert_eq!(document["runs"][0]["phase"], "Completed", "{document}");
    assert_eq!(document["pipelines"][0]["phase"], "Completed", "{document}");
    lab.check_hops("mock-1");
    // What is done is done: the next one says so at once.
    lab.redpipe(&["apply", "--yes"]).exits(0);
    lab.check_hops("mock-1");
    stopped(daemon);
    assert_eq!(lab.sessions("mock-1"), 0);
}

#[test]
fn a_run_that_waits_for_its_owner_is_approved_and_ended_through_the_daemon() {
    let lab = Lab::start(Setup {
        systems: &[1, 1],
        stages: OWNED,
        ..Setup::default()
    });
    let daemon = daemon(&lab);
    lab.redpipe(&["apply", "--yes"])
        .exits(5)
        .says("handed to the daemon")
        .says("held: p/mock-1");
    lab.redpipe(&["approve", "p/mock-1"])
        .exits(0)
        .says("handed to the daemon");
    lab.redpipe(&["cancel", "p/mock-2"])
        .exits(0)
        .says("handed to the daemon");
    lab.redpipe(&["approve", "p/mock-2"])
        .exits(2)
        .says("the daemon refuses: run `p/mock-2` does not wait for an approval");
    lab.redpipe(&["retry", "p/mock-9"]).exits(4);
    lab.redpipe(&["apply", "--yes", "--limit", "nobody=here"])
        .exits(4);
    lab.redpipe(&["pause", "p"])
        .exits(0)
        .says("handed to the daemon");
    // Nothing new begins while it is paused.
    lab.redpipe(&["retry", "p/mock-2"])
        .exits(5)
        .says("is paused");
    lab.redpipe(&["resume", "p"]).exits(0);
    stopped(daemon);
}

#[test]
fn what_fails_and_what_does_not_answer_ends_with_the_codes_of_an_apply_of_its_own() {
    let lab = Lab::start(Setup {
        stages: HOPS,
        script: "[update]\nbmc_outcome = \"failed\"\n",
        ..Setup::default()
    });
    let serving = daemon(&lab);
    lab.redpipe(&["apply", "--yes"])
        .exits(1)
        .says("failed: p/mock-1");
    lab.redpipe(&["retry", "p/mock-1"])
        .exits(1)
        .says("handed to the daemon");
    stopped(serving);

    let lab = Lab::start(Setup::default());
    lab.write_inventory(&["https://127.0.0.1:9".to_owned()], "");
    let serving = daemon(&lab);
    let refused = lab
        .redpipe(&["--output", "json", "apply", "--yes"])
        .exits(6)
        .says("handed to the daemon");
    assert_eq!(refused.document()["problems"][0]["bmc"], "mock-1");
    lab.redpipe(&["apply", "--yes", "--max-concurrent", "2"])
        .exits(2)
        .says("`--max-concurrent` is not for this command to say");
    stopped(serving);
}

#[test]
fn a_file_that_was_edited_is_read_by_the_daemon_before_it_is_applied() {
    let lab = Lab::start(Setup::default());
    let daemon = daemon(&lab);
    lab.redpipe(&["apply", "--yes"]).exits(0);
    let path = lab.path("pipelines/p.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("10.0.0.1", "10.0.0.2")).unwrap();
    lab.redpipe(&["apply", "--yes"])
        .exits(0)
        .says("reads them anew");
    let told = lab.redpipe(&["--output", "json", "status"]).exits(0);
    assert_eq!(told.document()["runs"].as_array().unwrap().len(), 2);
    // A file that the daemon was never told of is not its to apply.
    let other = lab.path("other.toml");
    let head = "name = \"other\"\n[selector]\nmatch_labels = {}\n";
    std::fs::write(&other, format!("{head}{SETTING}")).unwrap();
    lab.redpipe(&["apply", "--yes", "other.toml"])
        .exits(2)
        .says("the daemon's files do not have `other` as these do");
    stopped(daemon);
}

#[test]
fn a_socket_that_nobody_serves_keeps_no_apply_from_its_work() {
    let lab = Lab::start(Setup::default());
    // The state's folder comes with its first use.
    lab.redpipe(&["status"]).exits(0);
    drop(UnixListener::bind(lab.path(SOCKET)).unwrap());
    assert!(lab.path(SOCKET).exists());
    let applied = lab.redpipe(&["apply", "--yes"]).exits(0);
    assert!(!applied.stderr.contains("handed"), "{}", applied.stderr);
    // A daemon takes the dead one's place.
    stopped(daemon(&lab));
    assert!(!lab.path(SOCKET).exists());
}

#[test]
fn a_daemon_of_another_redpipe_is_told_and_only_words_that_must_get_through_pass_it_by() {
    let lab = Lab::start(Setup {
        stages: RESTART,
        ..Setup::default()
    });
    lab.redpipe(&["apply", "--yes"]).exits(0);
    let listener = UnixListener::bind(lab.path(SOCKET)).unwrap();
    let serving = std::thread::spawn(move || {
        let body =
            r#"{"version":"9.9.9","process":"process 7","files":{"reads":1},"pipelines":[]}"#;
        // One for each command below.
        for _ in 0..2 {
            let (mut stream, _) = listener.accept().unwrap();
            let mut head = [0; 1024];
            assert!(stream.read(&mut head).unwrap() > 0);
            let length = body.len();
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{body}");
            stream.write_all(head.as_bytes()).unwrap();
        }
    });
    lab.redpipe(&["apply", "--yes"])
        .exits(2)
        .says("(process 7) is redpipe 9.9.9, and this is ");
    lab.redpipe(&["pause", "p"])
        .exits(0)
        .says("the order goes by the state alone");
    serving.join().unwrap();
}

#[test]
fn a_daemon_that_dies_under_an_apply_is_told_and_the_next_one_carries_on() {
    let lab = Lab::start(Setup {
        stages: HOPS,
        time_scale: 100,
        ..Setup::default()
    });
    let first = daemon(&lab);
    let mut apply = lab.start_redpipe(&["apply", "--yes"]);
    apply.until("accepted", |lab| {
        !lab.said("mock-1", "update accepted").is_empty()
    });
    // Killed, with no farewell.
    drop(first);
    apply.end().exits(130).says("answers no more");
    let second = daemon(&lab);
    lab.redpipe(&["apply", "--yes"]).exits(0);
    lab.check_hops("mock-1");
    stopped(second);
}

#[test]
fn who_stops_following_stops_nothing() {
    let lab = Lab::start(Setup {
        stages: HOPS,
        time_scale: 100,
        ..Setup::default()
    });
    let daemon = daemon(&lab);
    let mut apply = lab.start_redpipe(&["apply", "--yes"]);
    apply.until("accepted", |lab| {
        !lab.said("mock-1", "update accepted").is_empty()
    });
    apply.signal("INT");
    apply.end().exits(130).says("the daemon goes on");
    lab.redpipe(&["apply", "--yes"]).exits(0);
    lab.check_hops("mock-1");
    stopped(daemon);
}

#[test]
fn a_daemon_tells_what_is_odd_in_its_files_like_every_other_command() {
    let lab = Lab::start(Setup::default());
    let path = lab.path("inventory/lab.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let plain = text.replace("{ file = \"../password\" }", "{ plain = \"kestrel\" }");
    std::fs::write(&path, plain).unwrap();
    let mut daemon = daemon(&lab);
    let warning = "the password of credentials `lab` is written in the file";
    daemon.until_says(warning);
    stopped(daemon);
    lab.redpipe(&["validate"]).exits(0).says(warning);
}
