//! `status`: how runs stand, from the journal alone.

use serde::Serialize;

use crate::cli::exit::Exit;
use crate::cli::shell::Shell;
use crate::cli::table;
use crate::daemon::history;
use crate::run::RunPhase;
use crate::run::status::{RunStatus, StageStatus};

/// The document of `status`, `apply` and `demo`.
#[derive(Debug, Serialize)]
pub(crate) struct StatusDocument {
    /// Every run.
    pub(crate) runs: Vec<RunStatus>,
    /// Every pipeline.
    pub(crate) pipelines: Vec<PipelineStatus>,
}

/// One pipeline over its BMCs.
#[derive(Debug, Serialize)]
pub(crate) struct PipelineStatus {
    /// Its name.
    pub(crate) pipeline: String,
    /// `Completed` only where every selected BMC has a completed run.
    pub(crate) phase: String,
    /// Runs begun.
    pub(crate) runs: usize,
    /// Selected BMCs without a run yet.
    pub(crate) waiting: usize,
}

/// Phase of a pipeline from the latest runs of its BMCs and the number of BMCs that wait.
pub(crate) fn pipeline_status(
    name: &str,
    latest: &[&RunStatus],
    waiting: usize,
    halted: bool,
) -> PipelineStatus {
    let any = |phase: RunPhase| latest.iter().any(|run| run.phase == phase);
    let phase = if halted {
        "Halted"
    } else if any(RunPhase::InProgress) || (waiting > 0 && !any(RunPhase::Failed)) {
        "Active"
    } else if any(RunPhase::Failed) {
        "Failed"
    } else if any(RunPhase::Held) || any(RunPhase::Pending) {
        "Held"
    } else if any(RunPhase::Cancelled) {
        "Cancelled"
    } else {
        "Completed"
    };
    PipelineStatus {
        pipeline: name.to_owned(),
        phase: phase.to_owned(),
        runs: latest.len(),
        waiting,
    }
}

/// Prints one run in full, or all in short.
pub(crate) fn run(shell: &Shell, wanted: Option<&str>) -> Exit {
    let engine = match shell.engine(0) {
        Ok(engine) => engine,
        Err(exit) => return exit,
    };
    let mut runs = match history::runs(engine.store().as_ref()) {
        Ok(runs) => runs,
        Err(fault) => return shell.failed("", &fault, Exit::Bug),
    };
    if let Some(wanted) = wanted {
        runs.retain(|run| {
            run.id == wanted || (wanted.contains('#') && format!("{}#", run.id).starts_with(wanted))
        });
        if runs.is_empty() {
            shell.printer.error(&format!(
                "error: there is no run `{wanted}`\n\nhint: `redpipe status` lists all"
            ));
            return Exit::NothingMatched;
        }
    }
    let full = wanted.is_some();
    for line in if full {
        runs.iter().flat_map(in_full).collect()
    } else {
        in_short(&runs)
    } {
        shell.printer.text(&line);
    }
    shell.printer.json(&document(runs));
    Exit::Done
}

/// All runs with their pipelines; what waits is known only to a process that holds the files.
fn document(runs: Vec<RunStatus>) -> StatusDocument {
    let mut names: Vec<String> = runs.iter().map(|run| run.pipeline.clone()).collect();
    names.sort();
    names.dedup();
    let pipelines = names
        .iter()
        .map(|name| {
            let latest: Vec<&RunStatus> = runs
                .iter()
                .filter(|run| run.pipeline == *name && !run.id.contains('#'))
                .collect();
            pipeline_status(name, &latest, 0, false)
        })
        .collect();
    StatusDocument { runs, pipelines }
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
            "  since {since}, servers: {}",
            run.servers.join(", ")
        ));
    }
    if let Some(deadline) = run.deadline {
        lines.push(format!("  nearest deadline {deadline}"));
    }
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

fn stage_rows(stage: &StageStatus) -> Vec<Vec<String>> {
    let row = |target: &str, phase: RunPhase, how: Option<&str>, reason: &str| {
        let percent = stage.percent.filter(|_| phase == RunPhase::InProgress);
        let percent = percent
            .map(|percent| format!("{percent} % "))
            .unwrap_or_default();
        vec![
            stage.name.clone(),
            stage.kind.to_owned(),
            target.to_owned(),
            phase.as_str().to_owned(),
            how.unwrap_or("-").to_owned(),
            format!("{percent}{reason}"),
        ]
    };
    if stage.servers.is_empty() {
        return vec![row("bmc", stage.phase, stage.how, &stage.reason)];
    }
    stage
        .servers
        .iter()
        .map(|server| row(&server.server, server.phase, server.how, &server.reason))
        .collect()
}
