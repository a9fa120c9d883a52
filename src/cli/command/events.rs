//! `events`: the journal as a person reads it.

use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::exit::Exit;
use crate::cli::shell::Shell;
use crate::cli::signals::Signals;
use crate::daemon::history::{self, Line};
use crate::daemon::story::sentence;

/// Lines read from the store at once.
const PAGE: usize = 500;

/// Between two looks for news: the store is local, people read slowly.
const FOLLOW: Duration = Duration::from_millis(500);

/// Prints what happened, and with `follow` what happens.
pub(crate) async fn run(shell: &Shell, wanted: Option<&str>, follow: bool) -> Exit {
    let engine = match shell.engine(0) {
        Ok(engine) => engine,
        Err(exit) => return exit,
    };
    let (mut cursor, mut document) = (0, Vec::new());
    let mut signals = follow.then(Signals::listen);
    loop {
        let page = match history::all_after(engine.store().as_ref(), cursor, PAGE) {
            Ok(page) => page,
            Err(fault) => return shell.failed("", &fault, Exit::Bug),
        };
        let full = page.len() == PAGE;
        for event in page {
            cursor = event.cursor();
            if !is_wanted(&event, wanted) {
                continue;
            }
            match (shell.printer.is_json(), follow) {
                (true, true) => shell.printer.data(&as_json(&event).to_string()),
                (true, false) => document.push(as_json(&event)),
                (false, _) => {
                    if let Some(line) = as_text(&event) {
                        shell.printer.data(&line);
                    }
                }
            }
        }
        if full {
            continue;
        }
        let Some(signals) = &mut signals else {
            shell.document(&json!({ "events": document }));
            return Exit::Done;
        };
        tokio::select! {
            () = tokio::time::sleep(FOLLOW) => {}
            () = signals.next() => {
                shell.told.end();
                return Exit::Done;
            }
        }
    }
}

/// Whoever names a run wants that run; else what happens outside runs is told too.
fn is_wanted(line: &Line, wanted: Option<&str>) -> bool {
    let Some(wanted) = wanted else { return true };
    match line {
        Line::Run(event) => {
            wanted == event.key.to_string()
                || wanted == format!("{}/{}", event.key.pipeline, event.key.bmc)
        }
        Line::Fleet(_) => false,
    }
}

fn as_json(line: &Line) -> Value {
    match line {
        Line::Run(event) => json!(event.line()),
        Line::Fleet(line) => json!(line),
    }
}

fn as_text(line: &Line) -> Option<String> {
    let (at, who, text) = match line {
        Line::Run(event) => {
            let text = match &event.record {
                Some(record) => sentence(record)?,
                None => "written by a newer redpipe; this one cannot read it".to_owned(),
            };
            (event.at, event.key.to_string(), text)
        }
        Line::Fleet(line) => {
            let who = line.bmc.as_ref().map_or("daemon", |bmc| bmc.as_str());
            let text = format!("{}: {}", line.kind, line.message);
            (line.at, who.to_owned(), text)
        }
    };
    Some(format!(
        "{}  {who}  {text}",
        at.strftime("%Y-%m-%dT%H:%M:%SZ")
    ))
}
