//! `status`: how runs stand, from the journal alone.

use std::collections::BTreeSet;

use crate::cli::exit::Exit;
use crate::cli::shell::Shell;
use crate::cli::table;
use crate::daemon::{orders, summary};
use crate::run::RunPhase;
use crate::run::status::{RunStatus, StageStatus};
use crate::run::waiting::WaitStatus;

/// Prints one run in full, or all in short.
pub(crate) fn run(shell: &Shell, wanted: Option<&str>) -> Exit {
    let engine = match shell.engine(0) {
        Ok(engine) => engine,
        Err(exit) => return exit,
    };
    let mut summary = match summary::of_store(engine.store().as_ref()) {
        Ok(summary) => summary,
        Err(fault) => return shell.failed("", &fault, Exit::Bug),
    };
    let runs = &mut summary.runs;
    let mut about = Vec::new();
    if let Some(wanted) = wanted {
        let told = orders::find(engine.store().as_ref(), wanted).and_then(|found| {
            let Some((key, status)) = found else {
                return Ok(None);
            };
            Ok(Some((status, orders::about(&engine, &key)?)))
        });
        match told {
            Ok(Some((status, lines))) => (*runs, about) = (vec![status], lines),
            Ok(None) => {
                let message = format!("there is no run `{wanted}`");
                let hint = Some("`redpipe status` lists all");
                return shell.refuse(Exit::NothingMatched, "nothing-matched", &message, hint);
            }
            Err(fault) => return shell.failed("", &fault, Exit::Bug),
        }
    }
    let full = wanted.is_some();
    for line in if full {
        runs.iter().flat_map(in_full).collect()
    } else {
        in_short(runs)
    } {
        shell.printer.text(&line);
    }
    for line in about {
        shell.printer.text(&format!("  {line}"));
    }
    if !full {
        for pipeline in summary.pipelines.iter().filter(|p| !p.reason.is_empty()) {
            shell
                .printer
                .text(&format!("{}: {}", pipeline.pipeline, pipeline.reason));
        }
    }
    let shown: BTreeSet<&String> = summary.runs.iter().map(|run| &run.pipeline).collect();
    if full {
        summary
            .pipelines
            .retain(|pipeline| shown.contains(&pipeline.pipeline));
    }
    shell.document(&summary);
    Exit::Done
}

/// One line for each run.
pub(crate) fn in_short(runs: &[RunStatus]) -> Vec<String> {
    let rows: Vec<Vec<String>> = runs
        .iter()
        .map(|run| {
            let stages = format!("{}/{}", run.completed_stages, run.total_stages);
            vec![
                run.id.clone(),
                run.phase.as_str().to_owned(),
                stages,
                run.reason.clone(),
            ]
        })
        .collect();
    table::lines(&["RUN", "PHASE", "STAGES", "REASON"], &rows)
}

/// A run with its stages and servers.
pub(crate) fn in_full(run: &RunStatus) -> Vec<String> {
    let mut lines = vec![format!(
        "{}  {}  {}",
        run.id,
        run.phase.as_str(),
        run.reason
    )];
    if let Some(since) = run.since {
        lines.push(format!(
            "  since {since:.0}, servers: {}",
            run.servers.join(", ")
        ));
    }
    lines.extend(run.waits.iter().map(wait_line));
    let rows: Vec<Vec<String>> = run.stages.iter().flat_map(stage_rows).collect();
    lines.extend(
        table::lines(
            &["STAGE", "KIND", "TARGET", "PHASE", "HOW", "REASON"],
            &rows,
        )
        .iter()
        .map(|l| format!("  {l}")),
    );
    lines
}

/// What is waited for, since when, until when.
fn wait_line(wait: &WaitStatus) -> String {
    let place = match (&wait.stage, &wait.target) {
        (Some(stage), Some(target)) => format!("stage `{stage}` on {target}"),
        (_, _) => "the run".to_owned(),
    };
    let verb = if wait.held { "is held" } else { "waits" };
    let until = match wait.until {
        Some(until) => format!("until {until:.0}"),
        None if wait.held => "until what is named is ended".to_owned(),
        None => "with no end of its own".to_owned(),
    };
    format!(
        "  {place} {verb} since {:.0} {until}: {}",
        wait.since, wait.reason
    )
}

fn stage_rows(stage: &StageStatus) -> Vec<Vec<String>> {
    let row = |target: &str, phase: RunPhase, how, percent: Option<u8>, reason: &str| {
        let percent = percent
            .filter(|_| phase == RunPhase::InProgress)
            .map(|percent| format!("{percent} % "))
            .unwrap_or_default();
        vec![
            stage.name.clone(),
            stage.kind.to_owned(),
            target.to_owned(),
            phase.as_str().to_owned(),
            Option::<&str>::unwrap_or(how, "-").to_owned(),
            format!("{percent}{reason}"),
        ]
    };
    if stage.servers.is_empty() {
        let percent = stage.percent;
        return vec![row("bmc", stage.phase, stage.how, percent, &stage.reason)];
    }
    let servers = stage.servers.iter().map(|server| {
        let (name, percent) = (&server.server, server.percent);
        row(name, server.phase, server.how, percent, &server.reason)
    });
    servers.collect()
}
