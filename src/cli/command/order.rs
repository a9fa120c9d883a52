//! `approve`, `retry`, `cancel`, `release`, `pause`, `resume`: an operator's word on a run or a pipeline.

use serde_json::json;

use super::apply;
use crate::cli::args::RunArgs;
use crate::cli::command::status::in_full;
use crate::cli::exit::Exit;
use crate::cli::shell::Shell;
use crate::daemon::orders::{self, Reached};
use crate::daemon::{ApplyOptions, ApplyReport, Engine, RunEnd, history};
use crate::model::{About, PipelineName, RunKey, ServerName, Verb};
use crate::run::RunPhase;
use crate::run::state::Hold;
use crate::run::status::RunStatus;

/// Agrees to what a run asks for: these stages, images and servers, once.
pub(crate) fn approve(shell: &Shell, name: &str) -> Exit {
    let (engine, key, status) = match named(shell, name) {
        Ok(found) => found,
        Err(exit) => return exit,
    };
    let state = match history::state_of(engine.store().as_ref(), &key) {
        Ok(state) => state,
        Err(fault) => return shell.failed("", &fault, Exit::Bug),
    };
    let hold = state.hold.filter(Hold::waits_for_approval);
    let Some(hold) = hold.filter(|_| state.end.is_none()) else {
        let hint = "`redpipe plan` tells which runs need an approval; a run asks for it once `redpipe apply` has begun it";
        return refused(shell, &status, "does not wait for an approval", hint);
    };
    let digest = hold.digest;
    let reached = match give(shell, &engine, &key, &Verb::Approve { digest }) {
        Ok(reached) => reached,
        Err(exit) => return exit,
    };
    let servers: Vec<&str> = hold.servers.iter().map(ServerName::as_str).collect();
    let stages: Vec<&str> = status
        .stages
        .iter()
        .map(|stage| stage.name.as_str())
        .collect();
    shell.printer.note(&format!(
        "approved: run `{key}` may disturb {} for {}",
        servers.join(", "),
        stages.join(", ")
    ));
    match reached {
        Reached::Driven(who) => driven(shell, &key, &who),
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
    let (engine, key, status) = match named(shell, &args.run) {
        Ok(found) => found,
        Err(exit) => return exit,
    };
    if status.phase == RunPhase::Completed {
        let hint = "`redpipe apply` looks whether it still is as it was";
        return refused(shell, &status, "is completed", hint);
    }
    let reached = match give(shell, &engine, &key, &Verb::Retry) {
        Ok(reached) => reached,
        Err(exit) => return exit,
    };
    match reached {
        Reached::Driven(who) => driven(shell, &key, &who),
        Reached::Over(_) | Reached::Waits(_) => {
            let only_resume = !orders::is_given_up(&status);
            match drive(shell, &engine, &key, args, only_resume).await {
                Ok((_, exit)) | Err(exit) => exit,
            }
        }
    }
}

/// Begins no further step of a run, and follows what is under way to its end.
pub(crate) async fn cancel(shell: &Shell, args: &RunArgs) -> Exit {
    let (engine, key, status) = match named(shell, &args.run) {
        Ok(found) => found,
        Err(exit) => return exit,
    };
    if status.phase.is_terminal() {
        return refused(shell, &status, "is over", "there is nothing to cancel");
    }
    let reached = match give(shell, &engine, &key, &Verb::Cancel) {
        Ok(reached) => reached,
        Err(exit) => return exit,
    };
    match reached {
        Reached::Driven(who) => driven(shell, &key, &who),
        Reached::Over(status) => over(shell, &status),
        Reached::Waits(_) => match drive(shell, &engine, &key, args, true).await {
            Ok((report, _)) if report.ends.values().all(is_over_well) => Exit::Done,
            Ok((_, exit)) | Err(exit) => exit,
        },
    }
}

/// Gives a held run up, whatever of it is left.
pub(crate) async fn release(shell: &Shell, args: &RunArgs) -> Exit {
    let (engine, key, status) = match named(shell, &args.run) {
        Ok(found) => found,
        Err(exit) => return exit,
    };
    if status.phase != RunPhase::Held {
        let hint = format!("`redpipe cancel {key}` ends a run that is at work");
        return refused(shell, &status, "is not held", &hint);
    }
    match give(shell, &engine, &key, &Verb::Leave) {
        Ok(Reached::Driven(who)) => driven(shell, &key, &who),
        Ok(Reached::Over(status)) => over(shell, &status),
        // Servers that are held are given back by hooks.
        Ok(Reached::Waits(_)) => match drive(shell, &engine, &key, args, true).await {
            Ok((report, _)) if report.ends.values().all(is_over_well) => Exit::Done,
            Ok((_, exit)) | Err(exit) => exit,
        },
        Err(exit) => exit,
    }
}

/// Begins no run of a pipeline, and holds running ones at their next safe point.
pub(crate) fn pause(shell: &Shell, pipeline: &str) -> Exit {
    about_pipeline(
        shell,
        pipeline,
        &Verb::Pause,
        "no run of it begins, and running ones stop at their next safe point",
    )
}

/// Ends a pause.
pub(crate) fn resume(shell: &Shell, pipeline: &str) -> Exit {
    about_pipeline(
        shell,
        pipeline,
        &Verb::Resume,
        "runs that no process drives go on with `redpipe apply`",
    )
}

fn about_pipeline(shell: &Shell, name: &str, verb: &Verb, means: &str) -> Exit {
    let engine = match shell.engine(0) {
        Ok(engine) => engine,
        Err(exit) => return exit,
    };
    let pipeline = PipelineName::from(name);
    match orders::knows(&engine, &pipeline) {
        Ok(true) => {}
        Ok(false) => {
            let message = format!("nothing is known of a pipeline `{name}`");
            let hint = "give the name in its file, not the file's; `redpipe status` lists those that were applied";
            return shell.refuse(
                Exit::NothingMatched,
                "nothing-matched",
                &message,
                Some(hint),
            );
        }
        Err(fault) => return shell.failed("", &fault, Exit::Bug),
    }
    let about = About::Pipeline(pipeline.clone());
    let placed = orders::place(&engine, &shell.user(), &about, verb);
    let order = match placed {
        Ok(order) => order,
        Err(fault) => return shell.failed("", &fault, Exit::Bug),
    };
    shell.printer.note(&format!(
        "{}: pipeline `{name}`, {}; {means}",
        verb.as_str(),
        order.said()
    ));
    for who in orders::drivers(&engine, None, &pipeline).unwrap_or_default() {
        shell.printer.note(&format!("{who}, and takes it up"));
    }
    shell.document(&json!({ "order": order }));
    Exit::Done
}

/// The engine, and the run of that name.
fn named(shell: &Shell, name: &str) -> Result<(Engine, RunKey, RunStatus), Exit> {
    let engine = shell.engine(0)?;
    let store = engine.store();
    match orders::find(store.as_ref(), name) {
        Ok(Some((key, status))) => Ok((engine, key, status)),
        Ok(None) => {
            let message = format!("there is no run `{name}`");
            let hint = Some("`redpipe status` lists all");
            Err(shell.refuse(Exit::NothingMatched, "nothing-matched", &message, hint))
        }
        Err(fault) => Err(shell.failed("", &fault, Exit::Bug)),
    }
}

/// Writes the order down, and has it carried out as far as no BMC is needed.
fn give(shell: &Shell, engine: &Engine, key: &RunKey, verb: &Verb) -> Result<Reached, Exit> {
    let about = About::Run(key.clone());
    orders::place(engine, &shell.user(), &about, verb)
        .and_then(|_| orders::carry_out(engine, key))
        .map_err(|fault| shell.failed("", &fault, Exit::Bug))
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

fn refused(shell: &Shell, status: &RunStatus, why: &str, hint: &str) -> Exit {
    let message = format!("run `{}` {why} ({})", status.id, status.phase.as_str());
    shell.refuse(Exit::Usage, "usage", &message, Some(hint))
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
