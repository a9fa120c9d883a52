//! Live progress on a terminal, plain lines elsewhere.

use std::time::Duration;

use console::Term;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use jiff::Timestamp;

use super::live::{awaited_lines, lines};
use super::printer::Printer;
use crate::daemon::board::{Event, Row};
use crate::daemon::story::sentence;
use crate::daemon::{Awaited, Board};

/// Between two drawings; fast enough to feel live, slow enough to cost nothing.
const REDRAW: Duration = Duration::from_millis(200);

/// Where progress is shown: what else is said meanwhile must not be drawn over.
#[derive(Clone)]
pub(crate) struct Screen {
    printer: Printer,
    drawn: Option<MultiProgress>,
}

impl Screen {
    /// Live where a person watches.
    pub(crate) fn new(printer: Printer) -> Self {
        Self {
            printer,
            drawn: printer.is_live().then(MultiProgress::new),
        }
    }

    /// Tells what happened, where nothing is drawn that shows it.
    pub(crate) fn note(&self, text: &str) {
        if self.drawn.is_none() {
            self.printer.note(text);
        }
    }

    /// Says something above what is drawn.
    pub(crate) fn say(&self, text: &str) {
        match &self.drawn {
            Some(drawn) => drawn.suspend(|| self.printer.error(text)),
            None => self.printer.error(text),
        }
    }
}

/// Shows what happens until it is dropped together with the future it is raced against.
pub(crate) async fn watch(board: Board, screen: &Screen, now: impl Fn() -> Timestamp) {
    match &screen.drawn {
        Some(drawn) => draw(board, drawn, now).await,
        None => tell(board, screen.printer).await,
    }
}

/// Shows how runs stand where a person watches; what happens is told by others.
pub(crate) async fn show(board: Board, screen: &Screen, now: impl Fn() -> Timestamp) {
    match &screen.drawn {
        Some(drawn) => draw(board, drawn, now).await,
        None => std::future::pending().await,
    }
}

async fn draw(board: Board, screen: &MultiProgress, now: impl Fn() -> Timestamp) {
    let shown = |columns| {
        let rows: Vec<(String, Row)> = board
            .rows()
            .into_iter()
            .map(|((pipeline, bmc), row)| (format!("{pipeline}/{bmc}"), row))
            .collect();
        lines(&rows, columns, now())
    };
    redraw(screen, shown).await;
}

/// Shows which BMCs have not told everything yet, where a person watches, until it is dropped.
pub(crate) async fn wait(awaited: &Awaited, screen: &Screen) {
    match &screen.drawn {
        Some(drawn) => {
            let shown = |columns| {
                let (all, left) = awaited.left();
                awaited_lines(all, &left, columns)
            };
            redraw(drawn, shown).await;
        }
        None => std::future::pending().await,
    }
}

async fn redraw(screen: &MultiProgress, lines: impl Fn(usize) -> Vec<String>) {
    let terminal = Term::stderr();
    let plain =
        ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
    let mut drawn = Drawn {
        screen,
        bars: Vec::new(),
    };
    let bars = &mut drawn.bars;
    loop {
        // Asked each time: a window changes its size.
        let (_, columns) = terminal.size();
        // The terminal's `^C` pushes the cursor a line down, and one line too few is taken off then: an empty one.
        let mut shown = vec![" ".to_owned()];
        shown.extend(lines(usize::from(columns)));
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

/// Takes its lines off the screen when it goes, so that the summary stands alone.
struct Drawn<'a> {
    screen: &'a MultiProgress,
    bars: Vec<ProgressBar>,
}

impl Drop for Drawn<'_> {
    fn drop(&mut self) {
        for bar in &self.bars {
            bar.finish_and_clear();
        }
        self.screen.clear().ok();
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
