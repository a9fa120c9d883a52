//! What a person sees of a run, line by line.

use jiff::Timestamp;

use super::{awaited_lines, lines};
use crate::daemon::board::Row;
use crate::model::{Fault, FaultKind, Retry};
use crate::run::RunPhase;
use crate::run::status::{RunStatus, ServerStatus, StageStatus};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn stage(name: &str, phase: RunPhase, reason: &str) -> StageStatus {
    StageStatus {
        name: name.to_owned(),
        kind: "bmc-version",
        phase,
        how: None,
        reason: reason.to_owned(),
        task: None,
        percent: None,
        servers: Vec::new(),
    }
}

fn server(name: &str, phase: RunPhase, reason: &str) -> ServerStatus {
    ServerStatus {
        server: name.to_owned(),
        phase,
        how: None,
        reason: reason.to_owned(),
        percent: None,
    }
}

/// A run of three stages, the first of them done.
fn run(phase: RunPhase, second: StageStatus) -> RunStatus {
    RunStatus {
        waits: Vec::new(),
        id: "p/b1".to_owned(),
        pipeline: "p".to_owned(),
        bmc: "b1".to_owned(),
        servers: Vec::new(),
        phase,
        reason: String::new(),
        total_stages: 3,
        pending_stages: 1,
        active_stages: 1,
        completed_stages: 1,
        failed_stages: 0,
        stages: vec![
            stage("base", RunPhase::Completed, ""),
            second,
            stage("post", RunPhase::Pending, ""),
        ],
        since: None,
        deadline: None,
        next_wake: None,
        conditions: Vec::new(),
    }
}

fn shown(status: RunStatus) -> Vec<String> {
    shown_in(200, row(status))
}

fn row(status: RunStatus) -> Row {
    Row {
        status: Some(status),
        not_started: None,
        upload: None,
    }
}

fn shown_in(columns: usize, row: Row) -> Vec<String> {
    lines(&[("p/b1".to_owned(), row)], columns, NOW)
}

fn after(seconds: i64) -> Option<Timestamp> {
    Timestamp::from_second(seconds).ok()
}

#[test]
fn whoever_waits_for_bmcs_sees_which_and_how_many_are_read() {
    let left = ["b2".into(), "b9".into()];
    assert_eq!(
        awaited_lines(7, &left, 80),
        ["read 5 of 7 BMCs; waits for b2, b9"]
    );
    assert_eq!(awaited_lines(7, &left, 12), ["read 5 of 7…"]);
    assert_eq!(awaited_lines(7, &[], 80), [""; 0]);
}

#[test]
fn a_run_that_has_not_looked_yet_says_so() {
    let row = Row {
        status: None,
        not_started: None,
        upload: None,
    };
    assert_eq!(shown_in(80, row), ["p/b1  first contact"]);
}

#[test]
fn a_running_stage_shows_its_number_name_percent_and_what_it_waits_for() {
    let mut second = stage("fw-160", RunPhase::InProgress, "task is Running");
    second.percent = Some(40);
    assert_eq!(
        shown(run(RunPhase::InProgress, second)),
        [
            "p/b1  InProgress  1 of 3 stages",
            "  bmc  stage 2 of 3 fw-160 40 %  task is Running"
        ]
    );
}

#[test]
fn an_upload_shows_how_much_of_it_is_sent() {
    let second = stage("fw-160", RunPhase::InProgress, "");
    let mut row = row(run(RunPhase::InProgress, second));
    row.upload = Some((512 * 1024, 2048 * 1024));
    assert_eq!(
        shown_in(80, row),
        [
            "p/b1  InProgress  1 of 3 stages  upload 512 of 2048 KiB",
            "  bmc  stage 2 of 3 fw-160  begins"
        ]
    );
}

#[test]
fn a_wait_shows_how_long_its_deadline_is_away_until_it_has_passed() {
    let waiting = |seconds| {
        let mut status = run(
            RunPhase::InProgress,
            stage("fw-160", RunPhase::InProgress, "the BMC is away"),
        );
        status.deadline = after(seconds);
        shown(status).swap_remove(0)
    };
    let head = "p/b1  InProgress  1 of 3 stages";
    assert_eq!(waiting(59), format!("{head}  deadline in 59s"));
    assert_eq!(waiting(61), format!("{head}  deadline in 1m01s"));
    assert_eq!(waiting(7260), format!("{head}  deadline in 2h01m"));
    assert_eq!(waiting(-1), head);
}

#[test]
fn a_held_run_names_the_stage_and_the_reason() {
    let held = stage("fw-160", RunPhase::Held, "task 7 of somebody else");
    assert_eq!(
        shown(run(RunPhase::Held, held)),
        [
            "p/b1  Held  1 of 3 stages",
            "  bmc  stage 2 of 3 fw-160  held: task 7 of somebody else"
        ]
    );
}

#[test]
fn a_run_held_before_any_stage_shows_the_runs_own_reason() {
    let mut status = run(RunPhase::Held, stage("fw-160", RunPhase::Pending, ""));
    status.reason = "blocked: another box?".to_owned();
    assert_eq!(
        shown(status),
        ["p/b1  Held  1 of 3 stages", "  bmc  blocked: another box?"]
    );
}

#[test]
fn a_failed_run_is_one_line_with_the_reason_and_a_completed_one_needs_none() {
    let mut failed = run(RunPhase::Failed, stage("fw-160", RunPhase::Failed, "x"));
    failed.reason = "stage `fw-160` on bmc: the version did not change".to_owned();
    assert_eq!(
        shown(failed),
        ["p/b1  Failed  1 of 3 stages  stage `fw-160` on bmc: the version did not change"]
    );
    let mut done = run(
        RunPhase::Completed,
        stage("fw-160", RunPhase::Completed, ""),
    );
    (done.completed_stages, done.reason) = (3, "all stages are done".to_owned());
    assert_eq!(shown(done), ["p/b1  Completed  3 of 3 stages"]);
}

#[test]
fn a_run_that_did_not_start_says_why() {
    let row = Row {
        status: None,
        not_started: Some(Fault::new(
            FaultKind::Unreachable,
            Retry::Transient,
            "bmc `b1` cannot be reached",
        )),
        upload: None,
    };
    assert_eq!(
        shown_in(80, row),
        ["p/b1  not started: bmc `b1` cannot be reached"]
    );
}

#[test]
fn every_server_at_work_has_a_line_and_its_own_percent() {
    let mut second = stage("bios-220", RunPhase::InProgress, "");
    second.percent = Some(70);
    let mut flashing = server("s1", RunPhase::InProgress, "task is Running");
    flashing.percent = Some(70);
    second.servers = vec![
        flashing,
        server("s2", RunPhase::InProgress, "one update at a time"),
        server("s3", RunPhase::Held, "blocked: no version shown"),
        server("s4", RunPhase::Completed, "read back"),
        server("s5", RunPhase::Pending, ""),
    ];
    assert_eq!(
        shown(run(RunPhase::InProgress, second)),
        [
            "p/b1  InProgress  1 of 3 stages",
            "  s1  stage 2 of 3 bios-220 70 %  task is Running",
            "  s2  stage 2 of 3 bios-220  one update at a time",
            "  s3  stage 2 of 3 bios-220  held: blocked: no version shown",
        ]
    );
}

#[test]
fn a_line_is_cut_to_the_terminal_by_columns_and_never_within_a_character() {
    let reason = "wärtet auf 電源の再投入 🚀🚀🚀 and much more of what a BMC may say";
    let second = stage("größe", RunPhase::InProgress, reason);
    let status = run(RunPhase::InProgress, second);
    for columns in 1..120 {
        for line in shown_in(columns, row(status.clone())) {
            let wide = console::measure_text_width(&line);
            assert!(wide <= columns, "{columns}: {wide}: {line}");
        }
    }
    assert_eq!(
        shown_in(42, row(status))[1],
        "  bmc  stage 2 of 3 größe  wärtet auf 電…"
    );
}

#[test]
fn what_a_bmc_says_cannot_move_the_cursor() {
    let second = stage("fw", RunPhase::InProgress, "a\u{1b}[2Jb\r\nc\td");
    let line = shown(run(RunPhase::InProgress, second)).swap_remove(1);
    assert_eq!(line, "  bmc  stage 2 of 3 fw  a [2Jb  c d");
}
