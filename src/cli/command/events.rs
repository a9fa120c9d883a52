//! `events`: the journal as a person reads it.

use std::time::Duration;

use serde_json::json;

use crate::cli::exit::Exit;
use crate::cli::shell::Shell;
use crate::cli::signals::Signals;
use crate::daemon::history::{self, Happened};
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
        let page = match history::events_after(engine.store().as_ref(), cursor, PAGE) {
            Ok(page) => page,
            Err(fault) => return shell.failed("", &fault, Exit::Bug),
        };
        let full = page.len() == PAGE;
        for event in page {
            cursor = event.cursor;
            if !is_wanted(&event, wanted) {
                continue;
            }
            match (shell.printer.is_json(), follow) {
                (true, true) => shell.printer.data(&json!(event.line()).to_string()),
                (true, false) => document.push(event.line()),
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

fn is_wanted(event: &Happened, wanted: Option<&str>) -> bool {
    wanted.is_none_or(|wanted| {
        wanted == event.key.to_string()
            || wanted == format!("{}/{}", event.key.pipeline, event.key.bmc)
    })
}

fn as_text(event: &Happened) -> Option<String> {
    let text = match &event.record {
        Some(record) => sentence(record)?,
        None => "written by a newer redpipe; this one cannot read it".to_owned(),
    };
    Some(format!(
        "{}  {}  {text}",
        event.at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        event.key
    ))
}
