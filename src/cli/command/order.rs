//! `approve`, `retry`, `cancel`, `release`, `pause`, `resume`: an operator's word on a run or a pipeline.

use std::collections::BTreeSet;

use serde_json::json;

use super::apply;
use super::handed::{self, Daemon, segment};
use crate::cli::args::RunArgs;
use crate::cli::command::status::in_full;
use crate::cli::exit::Exit;
use crate::cli::shell::{Chosen, Shell};
use crate::daemon::orders::{self, Reached};
use crate::daemon::verbs::{self, PipelineWord, Refused, RunWord, Taken};
use crate::daemon::{ApplyOptions, ApplyReport, Engine, RunEnd};
use crate::model::{Order, PipelineName, RunKey, ServerName};
use crate::run::RunPhase;
use crate::run::status::RunStatus;

/// A word that was taken.
enum Said {
    /// Written down by this command, which may have to carry it out.
    Here(Engine, Box<Taken>),
    /// By a daemon, which carries it out.
    Handed(Engine, Daemon, Box<Handed>),
}

/// What a daemon took.
struct Handed {
    key: RunKey,
    before: RunStatus,
    servers: Vec<ServerName>,
    order: Order,
}

/// Agrees to what a run asks for: these stages, images and servers, once.
pub(crate) async fn approve(shell: &Shell, name: &str) -> Exit {
    match say(shell, name, RunWord::Approve).await {
        Err(exit) => exit,
        Ok(Said::Handed(_, daemon, handed)) => {
            approved(shell, &handed.key, &handed.before, &handed.servers);
            daemon.tell(shell, "it carries the run on");
            shell.document(
                &json!({ "runs": [], "pipelines": [], "problems": [], "order": handed.order }),
            );
            Exit::Done
        }
        Ok(Said::Here(_, taken)) => {
            let key = &taken.key;
            approved(shell, key, &taken.before, &taken.servers);
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
    }
}

fn approved(shell: &Shell, key: &RunKey, before: &RunStatus, servers: &[ServerName]) {
    let servers: Vec<&str> = servers.iter().map(ServerName::as_str).collect();
    let stages = before.stages.iter();
    let stages: Vec<&str> = stages.map(|stage| stage.name.as_str()).collect();
    shell.printer.note(&format!(
        "approved: run `{key}` may disturb {} for {}",
        servers.join(", "),
        stages.join(", ")
    ));
}

/// Begins a failed run anew, or looks at a held one again.
pub(crate) async fn retry(shell: &Shell, args: &RunArgs) -> Exit {
    match say(shell, &args.run, RunWord::Retry).await {
        Err(exit) => exit,
        Ok(Said::Handed(engine, daemon, handed)) => {
            match follow(shell, &engine, &daemon, &handed).await {
                Ok((_, exit)) | Err(exit) => exit,
            }
        }
        Ok(Said::Here(engine, taken)) => match taken.reached {
            Reached::Driven(who) => driven(shell, &taken.key, &who),
            Reached::Over(_) | Reached::Waits(_) => {
                let only_resume = !orders::is_given_up(&taken.before);
                match drive(shell, &engine, &taken.key, args, only_resume).await {
                    Ok((_, exit)) | Err(exit) => exit,
                }
            }
        },
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
    let ended = match say(shell, &args.run, word).await {
        Err(exit) => return exit,
        Ok(Said::Handed(engine, daemon, handed)) => follow(shell, &engine, &daemon, &handed).await,
        Ok(Said::Here(engine, taken)) => match taken.reached {
            Reached::Driven(who) => return driven(shell, &taken.key, &who),
            Reached::Over(status) => return over(shell, &status),
            // What is left on the BMC is looked at, and servers that are held are given back by hooks.
            Reached::Waits(_) => drive(shell, &engine, &taken.key, args, true).await,
        },
    };
    match ended {
        Ok((report, _)) if report.ends.values().all(is_over_well) => Exit::Done,
        Ok((_, exit)) | Err(exit) => exit,
    }
}

/// Begins no run of a pipeline, and holds running ones at their next safe point.
pub(crate) async fn pause(shell: &Shell, pipeline: &str) -> Exit {
    about_pipeline(
        shell,
        pipeline,
        PipelineWord::Pause,
        "no run of it begins, and running ones stop at their next safe point",
    )
    .await
}

/// Ends a pause.
pub(crate) async fn resume(shell: &Shell, pipeline: &str) -> Exit {
    about_pipeline(
        shell,
        pipeline,
        PipelineWord::Resume,
        "runs that no process drives go on with `redpipe apply`",
    )
    .await
}

async fn about_pipeline(shell: &Shell, name: &str, word: PipelineWord, means: &str) -> Exit {
    let engine = match shell.engine(0) {
        Ok(engine) => engine,
        Err(exit) => return exit,
    };
    let daemon = handed::find_for_word(shell).await;
    let order = match &daemon {
        Some(daemon) => {
            let verb = match word {
                PipelineWord::Pause => "pause",
                PipelineWord::Resume => "resume",
            };
            let path = format!("/v1/pipelines/{}/{verb}", segment(name));
            match daemon.order(shell, &path, json!({})).await {
                Ok(ordered) => ordered.order,
                Err(exit) => return exit,
            }
        }
        None => match verbs::say_to_pipeline(&engine, &shell.user(), name, word) {
            Ok(order) => order,
            Err(refused) => return refuse(shell, &refused),
        },
    };
    shell.printer.note(&format!(
        "{}: pipeline `{name}`, {}; {means}",
        order.verb.as_str(),
        order.said()
    ));
    if let Some(daemon) = daemon {
        daemon.tell(shell, "it takes the order up at once");
    } else {
        for who in orders::drivers(&engine, None, &PipelineName::from(name)).unwrap_or_default() {
            shell.printer.note(&format!("{who}, and takes it up"));
        }
    }
    shell.document(&json!({ "order": order }));
    Exit::Done
}

/// Says a word to a run: by a daemon where one serves, else by writing it down here.
async fn say(shell: &Shell, name: &str, word: RunWord) -> Result<Said, Exit> {
    let engine = shell.engine(0)?;
    let daemon = handed::find_for_word(shell).await;
    let found = orders::find(engine.store().as_ref(), name);
    let found = found.map_err(|fault| shell.failed("", &fault, Exit::Bug))?;
    if let (Some(daemon), Some((key, before))) = (daemon, found) {
        let verb = match word {
            RunWord::Approve => "approve",
            RunWord::Retry => "retry",
            RunWord::Cancel => "cancel",
            RunWord::Release => "release",
        };
        let (pipeline, bmc) = (segment(key.pipeline.as_str()), segment(key.bmc.as_str()));
        let path = format!("/v1/runs/{pipeline}/{bmc}%23{}/{verb}", key.number);
        let ordered = daemon.order(shell, &path, json!({})).await?;
        let handed = Handed {
            key,
            before,
            servers: ordered.servers,
            order: ordered.order,
        };
        return Ok(Said::Handed(engine, daemon, Box::new(handed)));
    }
    let taken = verbs::say(&engine, &shell.user(), name, word);
    let taken = taken.map_err(|refused| refuse(shell, &refused))?;
    Ok(Said::Here(engine, Box::new(taken)))
}

/// Follows what a daemon carries out.
async fn follow(
    shell: &Shell,
    engine: &Engine,
    daemon: &Daemon,
    handed: &Handed,
) -> Result<(ApplyReport, Exit), Exit> {
    daemon.tell(
        shell,
        "it carries the order out, and this command follows it",
    );
    let wanted = BTreeSet::from([(handed.key.pipeline.clone(), handed.key.bmc.clone())]);
    let orders = std::slice::from_ref(&handed.order);
    daemon.follow(shell, engine, orders, &wanted, false).await
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
    let chosen = Chosen {
        engine: engine.clone(),
        assignments: shell.assignment_of(&loaded, key).await?,
        unheard: Vec::new(),
    };
    let options = ApplyOptions {
        only_resume,
        ..ApplyOptions::default()
    };
    Ok(apply::carry(shell, chosen, options).await)
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
