//! Live progress on a terminal, plain lines elsewhere.

use std::time::Duration;

use console::Term;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use jiff::Timestamp;

use super::live::lines;
use super::printer::Printer;
use super::story::sentence;
use crate::daemon::Board;
use crate::daemon::board::{Event, Row};

/// Between two drawings; fast enough to feel live, slow enough to cost nothing.
const REDRAW: Duration = Duration::from_millis(200);

/// Shows what happens until it is dropped together with the future it is raced against.
pub(crate) async fn watch(board: Board, printer: Printer, now: impl Fn() -> Timestamp) {
    if printer.is_live() {
        draw(board, now).await;
    } else {
        tell(board, printer).await;
    }
}

async fn draw(board: Board, now: impl Fn() -> Timestamp) {
    let (screen, terminal) = (MultiProgress::new(), Term::stderr());
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
        // Asked each time: a window changes its size.
        let (_, columns) = terminal.size();
        let shown = lines(&rows, usize::from(columns), now());
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
