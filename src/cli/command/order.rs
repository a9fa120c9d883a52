//! `approve`, `retry`, `cancel`, `release`, `pause`, `resume`: an operator's word on a run or a pipeline.

use serde_json::json;

use super::apply;
use crate::cli::args::RunArgs;
use crate::cli::command::status::in_full;
use crate::cli::exit::Exit;
use crate::cli::shell::Shell;
use crate::daemon::orders::{self, Reached};
use crate::daemon::verbs::{self, PipelineWord, Refused, RunWord, Taken};
use crate::daemon::{ApplyOptions, ApplyReport, Engine, RunEnd};
use crate::model::{PipelineName, RunKey, ServerName};
use crate::run::RunPhase;
use crate::run::status::RunStatus;

/// Agrees to what a run asks for: these stages, images and servers, once.
pub(crate) fn approve(shell: &Shell, name: &str) -> Exit {
    let taken = match say(shell, name, RunWord::Approve) {
        Ok((_, taken)) => taken,
        Err(exit) => return exit,
    };
    let key = &taken.key;
    let servers: Vec<&str> = taken.servers.iter().map(ServerName::as_str).collect();
    let stages: Vec<&str> = taken
        .before
        .stages
        .iter()
        .map(|stage| stage.name.as_str())
        .collect();
    shell.printer.note(&format!(
        "approved: run `{key}` may disturb {} for {}",
        servers.join(", "),
        stages.join(", ")
    ));
    match taken.reached {
        Reached::Driven(who) => driven(shell, key, &who),
        Reached::Over(status) => over(shell, &status),
        Reached::Waits(status) => {
            shell
                .printer
                .note(&format!("\nhint: `redpipe apply` carries `{key}` on"));
            shell.document(&json!({ "runs": [status], "pipelines": [], "problems": [] }));
            Exit::Done
        }
    }
}

/// Begins a failed run anew, or looks at a held one again.
pub(crate) async fn retry(shell: &Shell, args: &RunArgs) -> Exit {
    let (engine, taken) = match say(shell, &args.run, RunWord::Retry) {
        Ok(said) => said,
        Err(exit) => return exit,
    };
    match taken.reached {
        Reached::Driven(who) => driven(shell, &taken.key, &who),
        Reached::Over(_) | Reached::Waits(_) => {
            let only_resume = !orders::is_given_up(&taken.before);
            match drive(shell, &engine, &taken.key, args, only_resume).await {
                Ok((_, exit)) | Err(exit) => exit,
            }
        }
    }
}

/// Begins no further step of a run, and follows what is under way to its end.
pub(crate) async fn cancel(shell: &Shell, args: &RunArgs) -> Exit {
    end(shell, args, RunWord::Cancel).await
}

/// Gives a held run up, whatever of it is left.
pub(crate) async fn release(shell: &Shell, args: &RunArgs) -> Exit {
    end(shell, args, RunWord::Release).await
}

async fn end(shell: &Shell, args: &RunArgs, word: RunWord) -> Exit {
    let (engine, taken) = match say(shell, &args.run, word) {
        Ok(said) => said,
        Err(exit) => return exit,
    };
    match taken.reached {
        Reached::Driven(who) => driven(shell, &taken.key, &who),
        Reached::Over(status) => over(shell, &status),
        // What is left on the BMC is looked at, and servers that are held are given back by hooks.
        Reached::Waits(_) => match drive(shell, &engine, &taken.key, args, true).await {
            Ok((report, _)) if report.ends.values().all(is_over_well) => Exit::Done,
            Ok((_, exit)) | Err(exit) => exit,
        },
    }
}

/// Begins no run of a pipeline, and holds running ones at their next safe point.
pub(crate) fn pause(shell: &Shell, pipeline: &str) -> Exit {
    about_pipeline(
        shell,
        pipeline,
        PipelineWord::Pause,
        "no run of it begins, and running ones stop at their next safe point",
    )
}

/// Ends a pause.
pub(crate) fn resume(shell: &Shell, pipeline: &str) -> Exit {
    about_pipeline(
        shell,
        pipeline,
        PipelineWord::Resume,
        "runs that no process drives go on with `redpipe apply`",
    )
}

fn about_pipeline(shell: &Shell, name: &str, word: PipelineWord, means: &str) -> Exit {
    let engine = match shell.engine(0) {
        Ok(engine) => engine,
        Err(exit) => return exit,
    };
    let order = match verbs::say_to_pipeline(&engine, &shell.user(), name, word) {
        Ok(order) => order,
        Err(refused) => return refuse(shell, &refused),
    };
    shell.printer.note(&format!(
        "{}: pipeline `{name}`, {}; {means}",
        order.verb.as_str(),
        order.said()
    ));
    for who in orders::drivers(&engine, None, &PipelineName::from(name)).unwrap_or_default() {
        shell.printer.note(&format!("{who}, and takes it up"));
    }
    shell.document(&json!({ "order": order }));
    Exit::Done
}

fn say(shell: &Shell, name: &str, word: RunWord) -> Result<(Engine, Taken), Exit> {
    let engine = shell.engine(0)?;
    let taken = verbs::say(&engine, &shell.user(), name, word);
    let taken = taken.map_err(|refused| refuse(shell, &refused))?;
    Ok((engine, taken))
}

fn refuse(shell: &Shell, refused: &Refused) -> Exit {
    match refused {
        Refused::Unknown { message, hint } => {
            shell.refuse(Exit::NothingMatched, "nothing-matched", message, Some(hint))
        }
        Refused::Unfit { message, hint } => shell.refuse(Exit::Usage, "usage", message, Some(hint)),
        Refused::Failed(fault) => shell.failed("", fault, Exit::Bug),
    }
}

/// Drives the run in the foreground.
async fn drive(
    shell: &Shell,
    engine: &Engine,
    key: &RunKey,
    args: &RunArgs,
    only_resume: bool,
) -> Result<(ApplyReport, Exit), Exit> {
    let loaded = shell.files(&args.pipelines.pipelines)?;
    let assignments = shell.assignment_of(&loaded, key).await?;
    let options = ApplyOptions {
        only_resume,
        ..ApplyOptions::default()
    };
    Ok(apply::carry(shell, engine, assignments, options).await)
}

fn is_over_well(end: &RunEnd) -> bool {
    matches!(end, RunEnd::Over(status) if status.phase != RunPhase::Failed)
}

fn driven(shell: &Shell, key: &RunKey, who: &str) -> Exit {
    let document = json!({ "runs": [], "pipelines": [], "problems": [], "driven_by": who });
    shell.document(&document);
    shell.printer.note(&format!(
        "ordered; {who} drives run `{key}` and takes it up at its next turn\n\nhint: `redpipe events --follow {key}`"
    ));
    Exit::Done
}

fn over(shell: &Shell, status: &RunStatus) -> Exit {
    for line in in_full(status) {
        shell.printer.text(&line);
    }
    shell.document(&json!({ "runs": [status], "pipelines": [], "problems": [] }));
    match status.phase {
        RunPhase::Completed | RunPhase::Cancelled => Exit::Done,
        RunPhase::Failed => Exit::Failed,
        RunPhase::Pending | RunPhase::InProgress | RunPhase::Held => Exit::Held,
    }
}
