//! Live progress: a pure function from the board to lines, and the thin thing that draws them.

use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use jiff::Timestamp;

use super::printer::Printer;
use super::story::sentence;
use crate::daemon::Board;
use crate::daemon::board::{Event, Row};
use crate::run::RunPhase;
use crate::run::status::{RunStatus, StageStatus};

/// Between two drawings; fast enough to feel live, slow enough to cost nothing.
const REDRAW: Duration = Duration::from_millis(200);

/// Lines for every run: one for the BMC, one for each server that is at work.
pub(crate) fn lines(rows: &[(String, Row)], width: usize, now: Timestamp) -> Vec<String> {
    rows.iter()
        .flat_map(|(name, row)| run_lines(name, row, now))
        .map(|line| cut(&line, width))
        .collect()
}

fn run_lines(name: &str, row: &Row, now: Timestamp) -> Vec<String> {
    if let Some(fault) = &row.not_started {
        return vec![format!("{name}  not started: {}", fault.message)];
    }
    let Some(status) = &row.status else {
        return vec![format!("{name}  first contact")];
    };
    let done = status.completed_stages;
    let mut first = vec![format!(
        "{name}  {}  {done} of {} stages",
        status.phase.as_str(),
        status.total_stages
    )];
    if status.phase.is_terminal() {
        return first;
    }
    let mut lines = Vec::new();
    for stage in status.stages.iter().filter(|stage| is_open(stage.phase)) {
        lines.extend(stage_lines(status, stage));
    }
    if let Some((sent, total)) = row.upload {
        first.push(format!("upload {} of {} KiB", sent / 1024, total / 1024));
    }
    if let Some(left) = status
        .deadline
        .map(|deadline| deadline.duration_since(now))
        .filter(jiff::SignedDuration::is_positive)
    {
        first.push(format!("deadline in {}", span(left.unsigned_abs())));
    }
    std::iter::once(first.join("  ")).chain(lines).collect()
}

fn stage_lines(status: &RunStatus, stage: &StageStatus) -> Vec<String> {
    let number = status
        .stages
        .iter()
        .position(|other| other.name == stage.name)
        .map_or(0, |at| at + 1);
    let head = format!("stage {number} of {} {}", status.total_stages, stage.name);
    let percent = stage
        .percent
        .map(|percent| format!(" {percent} %"))
        .unwrap_or_default();
    if stage.servers.is_empty() {
        return vec![format!("  bmc  {head}{percent}  {}", stage.reason)];
    }
    stage
        .servers
        .iter()
        .filter(|server| is_open(server.phase))
        .map(|server| format!("  {}  {head}{percent}  {}", server.server, server.reason))
        .collect()
}

fn is_open(phase: RunPhase) -> bool {
    matches!(phase, RunPhase::InProgress | RunPhase::Held)
}

fn span(left: Duration) -> String {
    let seconds = left.as_secs();
    if seconds >= 60 {
        format!("{}m{:02}s", seconds / 60, seconds % 60)
    } else {
        format!("{seconds}s")
    }
}

fn cut(line: &str, width: usize) -> String {
    if line.chars().count() <= width {
        return line.to_owned();
    }
    line.chars()
        .take(width.saturating_sub(1))
        .chain(['…'])
        .collect()
}

/// Shows what happens until it is dropped together with the future it is raced against.
pub(crate) async fn watch(board: Board, printer: Printer, now: impl Fn() -> Timestamp) {
    if printer.is_live() {
        draw(board, now).await;
    } else {
        tell(board, printer).await;
    }
}

async fn draw(board: Board, now: impl Fn() -> Timestamp) {
    let screen = MultiProgress::new();
    let mut bars: Vec<ProgressBar> = Vec::new();
    let plain =
        ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
    let _cleared = Cleared(screen.clone());
    loop {
        let rows: Vec<(String, Row)> = board
            .rows()
            .into_iter()
            .map(|((pipeline, bmc), row)| (format!("{pipeline}/{bmc}"), row))
            .collect();
        let shown = lines(&rows, usize::from(console_width()), now());
        while bars.len() < shown.len() {
            let bar = screen.add(ProgressBar::new_spinner());
            bar.set_style(plain.clone());
            bars.push(bar);
        }
        for bar in bars.drain(shown.len()..) {
            bar.finish_and_clear();
            screen.remove(&bar);
        }
        for (bar, line) in bars.iter().zip(shown) {
            bar.set_message(line);
            bar.tick();
        }
        tokio::time::sleep(REDRAW).await;
    }
}

/// Takes the lines off the screen, so that the summary stands alone.
struct Cleared(MultiProgress);

impl Drop for Cleared {
    fn drop(&mut self) {
        self.0.clear().ok();
    }
}

/// Columns drawn: a terminal narrower than this wraps, which indicatif's own cutting prevents.
fn console_width() -> u16 {
    160
}

async fn tell(board: Board, printer: Printer) {
    let mut events = board.subscribe();
    loop {
        match events.recv().await {
            Ok(event) => {
                if let Some(line) = line(&event) {
                    printer.note(&line);
                }
            }
            Err(tokio::sync::broadcast::error::RecvError::Lagged(missed)) => {
                printer.note(&format!(
                    "({missed} events are not shown; `redpipe events` has them)"
                ));
            }
            Err(tokio::sync::broadcast::error::RecvError::Closed) => return,
        }
    }
}

/// One event as a line.
pub(crate) fn line(event: &Event) -> Option<String> {
    let text = sentence(&event.record)?;
    Some(format!(
        "{} {}/{} {text}",
        event.at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        event.key.pipeline,
        event.key.bmc
    ))
}
