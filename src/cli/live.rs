//! What live progress shows: a pure function from the board to lines of the terminal's width.

use std::time::Duration;

use console::truncate_str;
use jiff::Timestamp;

use crate::daemon::board::Row;
use crate::model::BmcName;
use crate::run::RunPhase;
use crate::run::status::{RunStatus, ServerStatus, StageStatus};

/// Lines for every run: one for the BMC, one for each server that is at work.
pub(crate) fn lines(rows: &[(String, Row)], columns: usize, now: Timestamp) -> Vec<String> {
    rows.iter()
        .flat_map(|(name, row)| run_lines(name, row, now))
        .map(|line| cut(&line, columns))
        .collect()
}

/// One line: how many BMCs have been read, and which have not.
pub(crate) fn awaited_lines(all: usize, left: &[BmcName], columns: usize) -> Vec<String> {
    if left.is_empty() {
        return Vec::new();
    }
    let names: Vec<&str> = left.iter().map(BmcName::as_str).collect();
    let read = all - left.len();
    let line = format!("read {read} of {all} BMCs; waits for {}", names.join(", "));
    vec![cut(&line, columns)]
}

fn run_lines(name: &str, row: &Row, now: Timestamp) -> Vec<String> {
    if let Some(fault) = &row.not_started {
        return vec![format!("{name}  not started: {}", fault.message)];
    }
    let Some(status) = &row.status else {
        return vec![format!("{name}  first contact")];
    };
    let (done, total) = (status.completed_stages, status.total_stages);
    let mut first = vec![format!(
        "{name}  {}  {done} of {total} stages",
        status.phase.as_str()
    )];
    if status.phase.is_terminal() {
        if status.phase != RunPhase::Completed {
            first.push(status.reason.clone());
        }
        return vec![first.join("  ")];
    }
    if let Some((sent, total)) = row.upload {
        first.push(format!("upload {} of {} KiB", sent / 1024, total / 1024));
    }
    first.extend(deadline(status, now));
    let stages = status.stages.iter().filter(|stage| is_open(stage.phase));
    let mut lines: Vec<String> = stages
        .flat_map(|stage| stage_lines(status, stage))
        .collect();
    if lines.is_empty() && !status.reason.is_empty() {
        lines.push(format!("  bmc  {}", status.reason));
    }
    std::iter::once(first.join("  ")).chain(lines).collect()
}

fn deadline(status: &RunStatus, now: Timestamp) -> Option<String> {
    let left = status.deadline?.duration_since(now);
    left.is_positive()
        .then(|| format!("deadline in {}", span(left.unsigned_abs())))
}

fn stage_lines(status: &RunStatus, stage: &StageStatus) -> Vec<String> {
    let same = |other: &StageStatus| other.name == stage.name;
    let number = status.stages.iter().position(same).map_or(0, |at| at + 1);
    let head = format!("stage {number} of {} {}", status.total_stages, stage.name);
    if stage.servers.is_empty() {
        let what = what(stage.phase, stage.percent, &stage.reason);
        return vec![format!("  bmc  {head}{what}")];
    }
    let line = |server: &ServerStatus| {
        let what = what(server.phase, server.percent, &server.reason);
        format!("  {}  {head}{what}", server.server)
    };
    stage
        .servers
        .iter()
        .filter(|server| is_open(server.phase))
        .map(line)
        .collect()
}

/// How far it is and what it waits for.
fn what(phase: RunPhase, percent: Option<u8>, reason: &str) -> String {
    let percent = percent.map(|percent| format!(" {percent} %"));
    let held = if phase == RunPhase::Held {
        "held: "
    } else {
        ""
    };
    let reason = match (reason, percent.is_some()) {
        ("", false) => "begins",
        ("", true) => "at work",
        (reason, _) => reason,
    };
    format!("{}  {held}{reason}", percent.unwrap_or_default())
}

fn is_open(phase: RunPhase) -> bool {
    matches!(phase, RunPhase::InProgress | RunPhase::Held)
}

fn span(left: Duration) -> String {
    let seconds = left.as_secs();
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    if hours > 0 {
        format!("{hours}h{minutes:02}m")
    } else if minutes > 0 {
        format!("{minutes}m{:02}s", seconds % 60)
    } else {
        format!("{seconds}s")
    }
}

/// Cut to so many columns, never within a character. What a BMC says may hold control characters, which would move the
/// cursor: they become spaces.
fn cut(line: &str, columns: usize) -> String {
    let plain: String = line
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    truncate_str(&plain, columns, "…").into_owned()
}

#[cfg(test)]
mod tests;
