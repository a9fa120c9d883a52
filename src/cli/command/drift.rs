//! `drift`: one observation of the fleet against what its pipelines want in the end.

use crate::cli::args::PlanArgs;
use crate::cli::command::inventory_check::exit_of;
use crate::cli::exit::Exit;
use crate::cli::report;
use crate::cli::shell::Shell;
use crate::daemon::{Awaited, BmcDrift, DriftDocument, DriftLine, Stop, drift};
use crate::drift::DriftState;
use crate::model::Fault;

/// Observes and prints; writes nothing.
pub(crate) async fn run(shell: &Shell, args: &PlanArgs) -> Exit {
    let loaded = match shell.files(&args.pipelines.pipelines) {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    let chosen = match shell.chosen_to_read(&loaded, args.limit.as_deref()).await {
        Ok(chosen) => chosen,
        Err(exit) => return exit,
    };
    let stop = Stop::new();
    let awaited = Awaited::default();
    let work = drift(&chosen.engine, &chosen.assignments, &stop, &awaited);
    let mut found = match shell.reading(&stop, &awaited, work).await {
        Ok(found) => found,
        Err(exit) => return exit,
    };
    for (each, fault) in chosen.unheard {
        let unread = BmcDrift::unread(&each.bmc.name, &fault);
        match found.iter_mut().find(|(known, _)| known.bmc == unread.bmc) {
            Some((known, _)) => known.problems.extend(unread.problems),
            None => found.push((unread, Some(fault))),
        }
    }
    found.sort_by(|(a, _), (b, _)| a.bmc.cmp(&b.bmc));
    let exits: Vec<Exit> = found.iter().map(|one| show(shell, one)).collect();
    shell.document(&DriftDocument {
        bmcs: found.into_iter().map(|(bmc, _)| bmc).collect(),
    });
    Exit::worst(exits)
}

fn show(shell: &Shell, (bmc, fault): &(BmcDrift, Option<Fault>)) -> Exit {
    shell
        .printer
        .text(&format!("{}  {}", bmc.bmc, bmc.state.as_str()));
    for line in &bmc.items {
        shell.printer.text(&format!("  {}", text(line)));
    }
    if let Some(fault) = fault {
        let context = format!("bmc `{}`", bmc.bmc);
        shell.printer.error(&report::fault(&context, fault));
        return exit_of(fault);
    }
    for problem in &bmc.problems {
        shell
            .printer
            .text(&format!("  {}: {}", problem.kind, problem.message));
    }
    match bmc.state {
        DriftState::Drifted => Exit::Changes,
        DriftState::Unreachable => Exit::Unreachable,
        DriftState::InSync | DriftState::Ahead => Exit::Done,
    }
}

fn text(line: &DriftLine) -> String {
    let target = line.target.name();
    let DriftLine {
        pipeline,
        stage,
        name,
        expected,
        actual,
        ..
    } = line;
    format!("{target}  {name}: is {actual}, and `{stage}` of `{pipeline}` wants {expected}")
}
