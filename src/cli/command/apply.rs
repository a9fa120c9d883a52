//! `apply`: plan, ask, run to the end in the foreground.

use crate::cli::args::ApplyArgs;
use crate::cli::command::inventory_check::exit_of;
use crate::cli::command::plan;
use crate::cli::command::status::in_short;
use crate::cli::exit::Exit;
use crate::cli::shell::Shell;
use crate::cli::{progress, report};
use crate::daemon::{self, ApplyOptions, ApplyReport, Assignment, Engine, RunEnd, Stop, summary};
use crate::run::RunPhase;
use crate::run::status::RunStatus;

/// Plans, asks, applies, and prints what came of it.
pub(crate) async fn run(shell: &Shell, args: &ApplyArgs) -> Exit {
    if !args.yes && !shell.printer.can_ask() {
        shell.printer.error("error: `apply` changes hardware and there is no terminal to ask on\n\nhint: give `--yes`");
        return Exit::Usage;
    }
    let loaded = match shell.files(&args.pipelines.pipelines) {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    let assignments = match shell.assignments(&loaded, args.limit.as_deref()).await {
        Ok(assignments) => assignments,
        Err(exit) => return exit,
    };
    let engine = match shell.engine(loaded.inventory.bmcs.len()) {
        Ok(engine) => engine,
        Err(exit) => return exit,
    };
    if !args.yes {
        let planned = daemon::plan(&engine, &assignments).await;
        if plan::show(shell, &planned) == Exit::Usage {
            return Exit::Usage;
        }
        if !shell.printer.ask("Apply this?") {
            shell.printer.note("nothing was sent");
            return Exit::Interrupted;
        }
    }
    let max_concurrent = args
        .max_concurrent
        .and_then(|limit| usize::try_from(limit).ok());
    drive(
        shell,
        &engine,
        assignments,
        ApplyOptions {
            max_concurrent,
            wait: args.wait,
        },
    )
    .await
}

/// Runs assignments with live progress and prints the final status.
pub(crate) async fn drive(
    shell: &Shell,
    engine: &Engine,
    assignments: Vec<Assignment>,
    options: ApplyOptions,
) -> Exit {
    if let Some(exit) = contradicting(shell, &assignments) {
        return exit;
    }
    let stop = Stop::new();
    let clock = engine.clock();
    let report = {
        let work = daemon::apply(engine, assignments, options, &stop);
        let shown = progress::watch(engine.board().clone(), shell.printer, move || clock.now());
        let signals = interruptions(shell, &stop);
        tokio::select! {
            report = work => report,
            () = shown => ApplyReport::default(),
            () = signals => ApplyReport::default(),
        }
    };
    let document = summary::of_report(&report);
    for line in in_short(&document.runs) {
        shell.printer.text(&line);
    }
    shell.printer.json(&document);
    explain(shell, &report);
    exit_code(&report)
}

/// Pipelines that want different values for one thing, as far as the files alone say.
fn contradicting(shell: &Shell, assignments: &[Assignment]) -> Option<Exit> {
    let specs: Vec<_> = assignments
        .iter()
        .filter_map(|assignment| {
            let names: Vec<_> = assignment
                .listed()
                .into_iter()
                .map(|server| server.name)
                .collect();
            assignment.spec(&names).ok()
        })
        .collect();
    let found = crate::plan::conflicts(&specs.iter().collect::<Vec<_>>());
    for conflict in &found {
        shell.printer.error(&format!("error: {conflict}"));
    }
    (!found.is_empty()).then_some(Exit::Usage)
}

/// Never ends: turns Ctrl-C and SIGTERM into stop requests, and says what they mean.
async fn interruptions(shell: &Shell, stop: &Stop) {
    let mut terminate =
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()).ok();
    loop {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            () = async {
                match &mut terminate {
                    Some(signal) => drop(signal.recv().await),
                    None => std::future::pending().await,
                }
            } => {}
        }
        if stop.ask() {
            shell.printer.error("aborting: an open transfer is cut, and what the BMC makes of half an image is unknown; the next `apply` looks before it acts");
        } else {
            shell.printer.error("stopping at the next safe point: an open transfer ends first, no further step is begun; a second Ctrl-C aborts");
        }
    }
}

fn explain(shell: &Shell, report: &ApplyReport) {
    for ((pipeline, bmc), end) in &report.ends {
        match end {
            RunEnd::NotStarted(fault) => shell
                .printer
                .error(&report::fault(&format!("bmc `{bmc}`"), fault)),
            RunEnd::Held(status) => {
                shell.printer.error(&format!(
                    "held: {}: {}\n\nhint: `redpipe status {pipeline}/{bmc}`",
                    status.id, status.reason
                ));
            }
            RunEnd::Over(status) if status.phase == RunPhase::Failed => {
                let servers = status.servers.join("`, `");
                shell.printer.error(&format!(
                    "failed: {} (servers `{servers}`): {}\n\nhint: `redpipe events {}`",
                    status.id, status.reason, status.id
                ));
            }
            RunEnd::Interrupted(Some(status)) => {
                shell.printer.error(&format!(
                    "stopped: {}: {}; the BMC goes on with what it has; `redpipe apply` carries on",
                    status.id,
                    doing(status)
                ));
            }
            RunEnd::Over(_) | RunEnd::Interrupted(None) => {}
        }
    }
    for (pipeline, bmc) in &report.halted {
        shell.printer.error(&format!("halted: {pipeline}/{bmc} was not begun: the failure budget of the pipeline is spent\n\nhint: mend what failed, then `redpipe apply` again; `[rollout] max_failures` sets the budget"));
    }
}

fn doing(status: &RunStatus) -> String {
    if status.reason.is_empty() {
        status.phase.as_str().to_owned()
    } else {
        status.reason.clone()
    }
}

fn exit_code(report: &ApplyReport) -> Exit {
    let ends = report.ends.values().map(|end| match end {
        RunEnd::Over(status) if status.phase == RunPhase::Completed => Exit::Done,
        RunEnd::Over(_) => Exit::Failed,
        RunEnd::Held(_) => Exit::Held,
        RunEnd::NotStarted(fault) => exit_of(fault),
        RunEnd::Interrupted(_) => Exit::Interrupted,
    });
    let halted = report.halted.iter().map(|_| Exit::Failed);
    let waiting = report.waiting.iter().map(|_| Exit::Interrupted);
    Exit::worst(ends.chain(halted).chain(waiting))
}
