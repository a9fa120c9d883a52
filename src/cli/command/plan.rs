//! `plan`: read the BMCs, print per target what would happen and why.

use crate::cli::args::PlanArgs;
use crate::cli::command::inventory_check::exit_of;
use crate::cli::exit::Exit;
use crate::cli::report;
use crate::cli::shell::{Chosen, Shell};
use crate::daemon::{Awaited, Planned, Stop, plan};
use crate::plan::{
    Conflict, PlanAction, PlanProblem, PlanReport, RunReport, RunSpec, TargetReport, conflicts,
};

/// Plans and prints; writes nothing.
pub(crate) async fn run(shell: &Shell, args: &PlanArgs) -> Exit {
    let loaded = match shell.files(&args.pipelines.pipelines) {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    let chosen = match shell.chosen(&loaded, args.limit.as_deref()).await {
        Ok(chosen) => chosen,
        Err(exit) => return exit,
    };
    let planned = match read(shell, &chosen).await {
        Ok(planned) => planned,
        Err(exit) => return exit,
    };
    let exit = show(shell, &planned);
    shell.document(&document(&planned));
    exit
}

/// Plans what was chosen, and tells of what else the selection could not be known.
pub(crate) async fn read(shell: &Shell, chosen: &Chosen) -> Result<Vec<Planned>, Exit> {
    let (stop, awaited) = (Stop::new(), Awaited::default());
    let work = plan(&chosen.engine, &chosen.assignments, &stop, &awaited);
    let mut planned = shell.reading(&stop, &awaited, work).await?;
    planned.extend(chosen.unheard.iter().map(|(each, fault)| Planned {
        pipeline: each.pipeline.name.clone(),
        bmc: each.bmc.name.clone(),
        spec: None,
        report: Err(fault.clone()),
    }));
    Ok(planned)
}

/// Plans as a person reads them, with what is odd about the BMCs below.
pub(crate) fn lines(planned: &[Planned]) -> Vec<String> {
    let document = document(planned);
    let problems = document.problems.iter().map(|problem| {
        let (bmc, kind, message) = (&problem.bmc, &problem.kind, &problem.message);
        format!("problem: {bmc}: {kind}: {message}")
    });
    let runs = document.runs.iter().flat_map(text);
    runs.chain(problems).collect()
}

/// Prints plans and faults for people, and says what they mean.
pub(crate) fn show(shell: &Shell, planned: &[Planned]) -> Exit {
    let mut exits = Vec::new();
    for line in lines(planned) {
        shell.printer.text(&line);
    }
    for one in planned {
        match &one.report {
            Err(fault) => {
                shell
                    .printer
                    .error(&report::fault(&format!("bmc `{}`", one.bmc), fault));
                exits.push(exit_of(fault));
            }
            Ok((report, _)) => {
                if report.is_blocked() {
                    exits.push(Exit::Held);
                } else if report.has_changes() {
                    exits.push(Exit::Changes);
                }
            }
        }
    }
    for conflict in contradictions(planned) {
        exits.push(shell.refuse(Exit::Usage, "conflict", &conflict.to_string(), None));
    }
    Exit::worst(exits)
}

/// Two pipelines that want different values for one thing on one BMC.
pub(crate) fn contradictions(planned: &[Planned]) -> Vec<Conflict> {
    let specs: Vec<&RunSpec> = planned.iter().filter_map(|one| one.spec.as_ref()).collect();
    conflicts(&specs)
}

/// The JSON document.
pub(crate) fn document(planned: &[Planned]) -> PlanReport {
    let mut document = PlanReport::default();
    for one in planned {
        match &one.report {
            Ok((report, problems)) => {
                document.runs.push(report.clone());
                document.problems.extend(problems.iter().cloned());
            }
            Err(fault) => document.problems.push(PlanProblem {
                bmc: one.bmc.clone(),
                kind: fault.kind.as_str().to_owned(),
                message: fault.to_string(),
            }),
        }
    }
    document
}

fn text(report: &RunReport) -> Vec<String> {
    let servers: Vec<&str> = report
        .servers
        .iter()
        .map(crate::model::ServerName::as_str)
        .collect();
    let mut lines = vec![format!(
        "{}/{}  servers: {}",
        report.pipeline,
        report.bmc,
        servers.join(", ")
    )];
    for stage in &report.stages {
        lines.push(format!("  {}  ({})", stage.name, stage.kind));
        lines.extend(stage.targets.iter().flat_map(target_lines));
    }
    let holds = report.holds.iter();
    lines.extend(holds.map(|hold| format!("  {}: {}", hold.kind.as_str(), hold.message)));
    lines.push(String::new());
    lines
}

fn target_lines(target: &TargetReport) -> Vec<String> {
    let name = target.target.name();
    let mut words = vec![format!("    {name}"), target.action.as_str().to_owned()];
    if let (PlanAction::Update, Some(from), Some(to)) = (target.action, &target.from, &target.to) {
        words.push(format!("`{from}` -> `{to}`"));
    }
    words.extend(
        target
            .method
            .map(|method| format!("by {}", method.as_str())),
    );
    words.extend(target.outage.clone());
    if !target.disturbs.is_empty() {
        let names: Vec<&str> = target
            .disturbs
            .iter()
            .map(crate::model::ServerName::as_str)
            .collect();
        words.push(format!("disturbs {}", names.join(", ")));
    }
    words.extend(target.reason.as_ref().map(|reason| format!("({reason})")));
    let changes = target.changes.iter();
    let changes =
        changes.map(|change| format!("      {}: {} -> {}", change.name, change.from, change.to));
    std::iter::once(words.join("  ")).chain(changes).collect()
}
