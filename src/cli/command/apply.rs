//! `apply`: plan, ask, run to the end in the foreground.

use crate::cli::args::ApplyArgs;
use crate::cli::command::inventory_check::exit_of;
use crate::cli::command::status::in_short;
use crate::cli::command::{handed, plan};
use crate::cli::exit::Exit;
use crate::cli::progress::{self, Screen};
use crate::cli::report;
use crate::cli::shell::{Chosen, Shell};
use crate::cli::signals::{Signals, WRITING};
use crate::daemon::{self, ApplyOptions, ApplyReport, Assignment, RunEnd, Stop, summary};
use crate::run::RunPhase;
use crate::run::status::RunStatus;

/// Plans, asks, applies, and prints what came of it.
pub(crate) async fn run(shell: &Shell, args: &ApplyArgs) -> Exit {
    if !args.yes && !shell.printer.can_ask() {
        let message = "`apply` changes hardware and there is no terminal to ask on";
        return shell.refuse(Exit::Usage, "usage", message, Some("give `--yes`"));
    }
    let loaded = match shell.files(&args.pipelines.pipelines) {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    let chosen = match shell.chosen(&loaded, args.limit.as_deref()).await {
        Ok(chosen) => chosen,
        Err(exit) => return exit,
    };
    if let Some(exit) = contradicting(shell, &chosen.assignments) {
        return exit;
    }
    let daemon = match handed::find(shell).await {
        Ok(daemon) => daemon,
        Err(exit) => return exit,
    };
    if !args.yes {
        match agreed(shell, &chosen).await {
            Ok(()) => {}
            Err(exit) => return exit,
        }
    }
    if let Some(daemon) = daemon {
        return handed::apply(shell, &chosen, &daemon, args).await;
    }
    let max_concurrent = args
        .max_concurrent
        .and_then(|limit| usize::try_from(limit).ok());
    let options = ApplyOptions {
        max_concurrent,
        wait: args.wait,
        only_resume: false,
        serves: false,
    };
    drive(shell, chosen, options).await
}

/// Shows the plan and asks.
async fn agreed(shell: &Shell, chosen: &Chosen) -> Result<(), Exit> {
    let planned = plan::read(shell, chosen).await?;
    if plan::show(shell, &planned) == Exit::Usage {
        return Err(Exit::Usage);
    }
    if shell.printer.is_json() {
        // Stdout is the final document's; who is asked must still see what for.
        for line in plan::lines(&planned) {
            shell.printer.note(&line);
        }
    }
    let printer = shell.printer;
    let asked = tokio::task::spawn_blocking(move || printer.ask("Apply this?"));
    let mut signals = Signals::listen();
    let agreed = tokio::select! {
        answer = asked => answer.unwrap_or(false),
        () = signals.next() => false,
    };
    if agreed {
        return Ok(());
    }
    shell.printer.note("nothing was sent");
    Err(Exit::Interrupted)
}

/// Runs assignments with live progress and prints the final status.
pub(crate) async fn drive(shell: &Shell, chosen: Chosen, options: ApplyOptions) -> Exit {
    if let Some(exit) = contradicting(shell, &chosen.assignments) {
        return exit;
    }
    let (_, exit) = carry(shell, chosen, options).await;
    exit
}

/// The same, for those who judge the end by themselves.
pub(crate) async fn carry(
    shell: &Shell,
    chosen: Chosen,
    options: ApplyOptions,
) -> (ApplyReport, Exit) {
    let Chosen {
        engine,
        assignments,
        unheard,
    } = &chosen;
    let (stop, assignments) = (Stop::new(), assignments.clone());
    let clock = engine.clock();
    let mut report = {
        let work = daemon::apply(engine, assignments, options, &stop);
        let screen = Screen::new(shell.printer);
        let shown = progress::watch(engine.board().clone(), &screen, move || clock.now());
        let signals = Signals::listen().ask(&stop, WRITING, |text| screen.say(text));
        tokio::select! {
            report = work => report,
            () = shown => ApplyReport::default(),
            () = signals => ApplyReport::default(),
        }
    };
    for (each, fault) in unheard {
        let name = (each.pipeline.name.clone(), each.bmc.name.clone());
        let end = RunEnd::NotStarted(fault.clone());
        report.ends.entry(name).or_insert(end);
    }
    let exit = tell(shell, &report, &stop);
    (report, exit)
}

/// Prints how it ended, and says with which exit code.
pub(crate) fn tell(shell: &Shell, report: &ApplyReport, stop: &Stop) -> Exit {
    let document = summary::of_report(report);
    for line in in_short(&document.runs) {
        shell.printer.text(&line);
    }
    shell.document(&document);
    explain(shell, report);
    exit_code(report, stop)
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
            assignment.spec(&names, crate::plan::Footing::End).ok()
        })
        .collect();
    let found = crate::plan::conflicts(&specs.iter().collect::<Vec<_>>());
    for conflict in &found {
        shell.refuse(Exit::Usage, "conflict", &conflict.to_string(), None);
    }
    (!found.is_empty()).then_some(Exit::Usage)
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
                let going_on = going_on(status);
                let hint = "`redpipe apply` carries on";
                let text = format!("stopped: {}{going_on}\n\nhint: {hint}", status.id);
                shell.printer.error(&text);
            }
            RunEnd::Over(_) | RunEnd::Interrupted(None) => {}
        }
    }
    for (pipeline, bmc) in &report.halted {
        let spent = report.spent.get(pipeline).cloned().unwrap_or_default();
        let why = summary::halted(pipeline, &spent);
        shell.printer.error(&format!("halted: {pipeline}/{bmc} was not begun: {why}\n\nhint: `[rollout] max_failures` sets the budget"));
    }
}

/// What goes on without us, line by line.
fn going_on(status: &RunStatus) -> String {
    let mut lines = Vec::new();
    let open = |phase| matches!(phase, RunPhase::InProgress | RunPhase::Held);
    for stage in status.stages.iter().filter(|stage| open(stage.phase)) {
        let name = &stage.name;
        if stage.servers.is_empty() {
            let reason = Some(stage.reason.as_str()).filter(|reason| !reason.is_empty());
            lines.push(format!(
                "stage `{name}` on bmc: {}",
                reason.unwrap_or("begun")
            ));
        }
        for server in stage.servers.iter().filter(|server| open(server.phase)) {
            let reason = Some(server.reason.as_str()).filter(|reason| !reason.is_empty());
            let reason = reason.unwrap_or("begun");
            lines.push(format!("stage `{name}` on {}: {reason}", server.server));
        }
        let running = stage.percent.is_none_or(|percent| percent < 100);
        lines.extend(stage.task.iter().filter(|_| running).map(|task| {
            let percent = stage.percent.map(|percent| format!(", {percent} % done"));
            format!(
                "the BMC goes on with task {task}{}",
                percent.unwrap_or_default()
            )
        }));
    }
    if lines.is_empty() {
        lines.push("nothing of it is under way".to_owned());
    }
    format!("\n  {}", lines.join("\n  "))
}

fn exit_code(report: &ApplyReport, stop: &Stop) -> Exit {
    let ends = report.ends.values().map(|end| match end {
        RunEnd::Over(status) if status.phase == RunPhase::Completed => Exit::Done,
        RunEnd::Over(_) => Exit::Failed,
        // Waited for, until the operator had enough of it.
        RunEnd::Held(_) if stop.is_asked() => Exit::Interrupted,
        RunEnd::Held(_) => Exit::Held,
        RunEnd::NotStarted(fault) => exit_of(fault),
        RunEnd::Interrupted(_) => Exit::Interrupted,
    });
    let halted = report.halted.iter().map(|_| Exit::Failed);
    let waiting = report.waiting.iter().map(|_| Exit::Interrupted);
    Exit::worst(ends.chain(halted).chain(waiting))
}
