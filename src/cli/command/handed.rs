//! Orders handed to a daemon that serves on the state, and followed to their end.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use crate::api::{
    Caller, Fate, Followed, Generation, OnBmc, Ordered, Serving, Unheard, VERSION, socket_beside,
};
use crate::cli::args::ApplyArgs;
use crate::cli::command::apply;
use crate::cli::exit::Exit;
use crate::cli::progress::{self, Screen};
use crate::cli::shell::{Chosen, Shell};
use crate::cli::signals::Signals;
use crate::daemon::{ApplyReport, Engine, Progress, Replay, RunEnd, Stop, history, orders};
use crate::model::{BmcName, Fault, Order, PipelineName, Verb};
use crate::pipeline::Pipeline;

/// Between two looks at how an order goes: the socket is local, people read slowly.
const FOLLOW: Duration = Duration::from_millis(300);

/// For a daemon to read its files anew.
const RELOAD: Duration = Duration::from_secs(20);

/// A daemon that answers.
pub(crate) struct Daemon {
    caller: Caller,
    process: String,
}

/// The daemon that serves on the state; `None` where nobody does, and an error where it cannot be understood.
pub(crate) async fn find(shell: &Shell) -> Result<Option<Daemon>, Exit> {
    let caller = Caller::new(socket_beside(&shell.state_path()?));
    let socket = caller.socket().display().to_string();
    let hint = "stop that process, or start it anew by this redpipe; then order again";
    match caller.get::<Serving>("/v1/daemon").await {
        Ok(serving) if serving.version == VERSION => Ok(Some(Daemon {
            caller,
            process: serving.process,
        })),
        Ok(serving) => {
            let Serving {
                version, process, ..
            } = serving;
            let message = format!(
                "the daemon on `{socket}` ({process}) is redpipe {version}, and this is {VERSION}"
            );
            Err(shell.refuse(Exit::Usage, "daemon-differs", &message, Some(hint)))
        }
        Err(Unheard::Nobody) => Ok(None),
        Err(error) => {
            let message =
                format!("`{socket}` is served, and by no daemon of this redpipe: {error}");
            Err(shell.refuse(Exit::Usage, "daemon-differs", &message, Some(hint)))
        }
    }
}

/// The same for a word that must get through: the state carries it where no daemon is understood.
pub(crate) async fn find_for_word(shell: &Shell) -> Option<Daemon> {
    let path: PathBuf = socket_beside(&shell.state_path().ok()?);
    let caller = Caller::new(path);
    match caller.get::<Serving>("/v1/daemon").await {
        Ok(serving) if serving.version == VERSION => Some(Daemon {
            caller,
            process: serving.process,
        }),
        Ok(_) | Err(Unheard::Silent(_) | Unheard::Refused { .. }) => {
            let socket = caller.socket().display();
            shell.printer.note(&format!(
                "`{socket}` is served, and by no daemon of this redpipe: the order goes by the state alone"
            ));
            None
        }
        Err(Unheard::Nobody) => None,
    }
}

impl Daemon {
    /// Says who has it now.
    pub(crate) fn tell(&self, shell: &Shell, what: &str) {
        let (process, socket) = (&self.process, self.caller.socket().display());
        shell.printer.note(&format!(
            "handed to the daemon ({process}, `{socket}`): {what}"
        ));
    }

    /// Orders something; a refusal is told.
    pub(crate) async fn order(
        &self,
        shell: &Shell,
        path: &str,
        body: Value,
    ) -> Result<Ordered, Exit> {
        let mut said = body;
        said["by"] = json!(shell.user());
        let answer = self.caller.post(path, &said).await;
        answer.map_err(|error| self.unheard(shell, &error))
    }

    fn unheard(&self, shell: &Shell, error: &Unheard) -> Exit {
        match error {
            Unheard::Refused {
                status,
                kind,
                message,
                hint,
            } => {
                let exit = match status {
                    404 => Exit::NothingMatched,
                    500.. => Exit::Bug,
                    _ => Exit::Usage,
                };
                shell.refuse(
                    exit,
                    kind,
                    &format!("the daemon refuses: {message}"),
                    hint.as_deref(),
                )
            }
            Unheard::Nobody | Unheard::Silent(_) => {
                let process = &self.process;
                let message = format!("the daemon ({process}) answers no more: {error}");
                let hint = "`redpipe status` tells how the runs stand; the next daemon carries them on, as does `redpipe apply`";
                shell.refuse(Exit::Interrupted, "daemon-gone", &message, Some(hint))
            }
        }
    }

    /// Makes sure that the daemon goes by the same files; it reads them anew where it does not.
    async fn agree(
        &self,
        shell: &Shell,
        engine: &Engine,
        pipelines: &[&Pipeline],
    ) -> Result<(), Exit> {
        let before = self.serving(shell).await?;
        if missing(shell, engine, pipelines, &before)?.is_empty() {
            return Ok(());
        }
        shell
            .printer
            .note("the daemon goes by other files, and reads them anew");
        let asked = self.caller.post::<Value>("/v1/reload", &json!({})).await;
        asked.map_err(|error| self.unheard(shell, &error))?;
        let reading = async {
            loop {
                let now = self.serving(shell).await?;
                if now.files.reads > before.files.reads {
                    return Ok(now);
                }
                tokio::time::sleep(FOLLOW).await;
            }
        };
        let now = tokio::time::timeout(RELOAD, reading).await.map_err(|_| {
            let late = Unheard::Silent("it does not read its files".to_owned());
            self.unheard(shell, &late)
        })??;
        let missing = missing(shell, engine, pipelines, &now)?;
        if missing.is_empty() {
            return Ok(());
        }
        let why = now.files.refused.map_or_else(String::new, |why| {
            format!("; it does not take its files up:\n{why}")
        });
        let names = missing.join(", ");
        let message = format!("the daemon's files do not have {names} as these do{why}");
        let hint = "give the daemon and this command the same files, or stop it, and this command drives the runs itself";
        Err(shell.refuse(Exit::Usage, "daemon-differs", &message, Some(hint)))
    }

    async fn serving(&self, shell: &Shell) -> Result<Serving, Exit> {
        let serving = self.caller.get("/v1/daemon").await;
        serving.map_err(|error| self.unheard(shell, &error))
    }

    /// Follows orders to their end; what happens is shown as if it happened here.
    pub(crate) async fn follow(
        &self,
        shell: &Shell,
        engine: &Engine,
        orders: &[Order],
        wanted: &BTreeSet<(PipelineName, BmcName)>,
        wait: bool,
    ) -> Result<(ApplyReport, Exit), Exit> {
        let screen = Screen::new(shell.printer);
        let clock = engine.clock();
        let shown = progress::show(engine.board().clone(), &screen, move || clock.now());
        let mut signals = Signals::listen();
        let found = tokio::select! {
            found = self.to_rest(shell, engine, orders, wanted, wait, &screen) => found?,
            () = shown => Vec::new(),
            () = signals.next() => {
                let message = "followed no longer: the daemon goes on";
                let hint = "`redpipe status` tells how the runs stand, `redpipe cancel RUN` ends one, `redpipe pause PIPELINE` holds all";
                return Err(shell.refuse(Exit::Interrupted, "interrupted", message, Some(hint)));
            }
        };
        for followed in &found {
            if let Some(fault) = &followed.refused {
                return Err(shell.failed("the daemon", fault, Exit::Usage));
            }
        }
        let bmcs = found.into_iter().flat_map(|followed| followed.bmcs);
        let report = ended(engine, bmcs).map_err(|fault| shell.failed("", &fault, Exit::Bug))?;
        let exit = apply::tell(shell, &report, &Stop::new());
        Ok((report, exit))
    }

    async fn to_rest(
        &self,
        shell: &Shell,
        engine: &Engine,
        orders: &[Order],
        wanted: &BTreeSet<(PipelineName, BmcName)>,
        wait: bool,
        screen: &Screen,
    ) -> Result<Vec<Followed>, Exit> {
        let failed = |fault: Fault| shell.failed("", &fault, Exit::Bug);
        let mut replay = Replay::begin(engine, wanted).map_err(failed)?;
        loop {
            let mut found = Vec::new();
            for order in orders {
                let path = format!("/v1/orders/{}", order.id);
                let followed: Result<Followed, Unheard> = self.caller.get(&path).await;
                let followed = followed.map_err(|error| self.unheard(shell, &error))?;
                if followed.taken == Fate::Older {
                    let gone = Unheard::Silent("another one has begun meanwhile".to_owned());
                    return Err(self.unheard(shell, &gone));
                }
                found.push(followed);
            }
            // After the question: what led to its answer is in the journal by now.
            for event in replay.news().map_err(failed)? {
                if let Some(line) = progress::line(&event) {
                    screen.note(&line);
                }
            }
            if found.iter().all(|followed| is_at_rest(followed, wait)) {
                return Ok(found);
            }
            tokio::time::sleep(FOLLOW).await;
        }
    }
}

/// The pipelines that a daemon does not have, or not as these files do.
fn missing(
    shell: &Shell,
    engine: &Engine,
    pipelines: &[&Pipeline],
    serving: &Serving,
) -> Result<Vec<String>, Exit> {
    let mut missing = Vec::new();
    for pipeline in pipelines {
        let verb = orders::to_apply(engine, pipeline, None);
        let verb = verb.map_err(|fault| shell.failed("", &fault, Exit::Bug))?;
        let is_it = |known: &Generation| {
            let is_same = |verb: &Verb| matches!(verb, Verb::Apply { generation, .. } if *generation == known.generation);
            known.pipeline == pipeline.name && is_same(&verb)
        };
        if !serving.pipelines.iter().any(is_it) {
            missing.push(format!("`{}`", pipeline.name));
        }
    }
    Ok(missing)
}

/// Whether nothing more comes of an order, or nothing that is waited for.
fn is_at_rest(followed: &Followed, wait: bool) -> bool {
    let goes_on = |bmc: &OnBmc| {
        matches!(
            bmc.progress,
            Progress::Held | Progress::NotStarted { again: true, .. }
        )
    };
    followed.at_rest && !(wait && followed.bmcs.iter().any(goes_on))
}

/// Has a daemon apply what is assigned.
pub(crate) async fn apply(
    shell: &Shell,
    chosen: &Chosen,
    daemon: &Daemon,
    args: &ApplyArgs,
) -> Exit {
    match try_apply(shell, chosen, daemon, args).await {
        Ok(exit) | Err(exit) => exit,
    }
}

async fn try_apply(
    shell: &Shell,
    chosen: &Chosen,
    daemon: &Daemon,
    args: &ApplyArgs,
) -> Result<Exit, Exit> {
    let engine = &chosen.engine;
    // The daemon hears by itself what could not be heard here, and tells what comes of it.
    let unheard = chosen.unheard.iter().map(|(each, _)| each);
    let mut assignments: Vec<_> = chosen.assignments.iter().chain(unheard).collect();
    assignments.sort_by(|a, b| a.pipeline.name.cmp(&b.pipeline.name));
    if args.max_concurrent.is_some() {
        let process = &daemon.process;
        let message = format!(
            "`--max-concurrent` is not for this command to say: the daemon ({process}) drives the runs"
        );
        let hint = "leave it out, or start the daemon with it; without a daemon this command drives the runs itself";
        return Err(shell.refuse(Exit::Usage, "usage", &message, Some(hint)));
    }
    let mut pipelines: Vec<&Pipeline> = assignments.iter().map(|each| &*each.pipeline).collect();
    pipelines.dedup_by(|a, b| a.name == b.name);
    daemon.agree(shell, engine, &pipelines).await?;
    let wanted: BTreeSet<_> = assignments
        .iter()
        .map(|each| (each.pipeline.name.clone(), each.bmc.name.clone()))
        .collect();
    daemon.tell(shell, "it drives the runs, and this command follows them");
    let mut orders = Vec::new();
    for pipeline in pipelines {
        let verb = orders::to_apply(engine, pipeline, args.limit.as_deref());
        let verb = verb.map_err(|fault| shell.failed("", &fault, Exit::Bug))?;
        let Verb::Apply { generation, limit } = verb else {
            continue;
        };
        let path = format!("/v1/pipelines/{}/apply", segment(pipeline.name.as_str()));
        let body = json!({ "generation": generation, "limit": limit });
        orders.push(daemon.order(shell, &path, body).await?.order);
    }
    let (_, exit) = daemon
        .follow(shell, engine, &orders, &wanted, args.wait)
        .await?;
    Ok(exit)
}

/// How it ended, as if it had ended here.
fn ended(engine: &Engine, bmcs: impl Iterator<Item = OnBmc>) -> Result<ApplyReport, Fault> {
    let store = engine.store();
    let mut report = ApplyReport::default();
    for OnBmc {
        pipeline,
        bmc,
        progress,
    } in bmcs
    {
        let name = (pipeline, bmc);
        let status = || history::latest(store.as_ref(), &name.0, &name.1);
        let end = match progress {
            Progress::Over => status()?.map(|status| RunEnd::Over(Box::new(status))),
            Progress::Held => status()?.map(|status| RunEnd::Held(Box::new(status))),
            Progress::NotStarted { fault, .. } => Some(RunEnd::NotStarted(fault)),
            Progress::Open => Some(RunEnd::Interrupted(status()?.map(Box::new))),
            Progress::Halted { spent } => {
                report.spent.insert(name.0.clone(), spent);
                report.halted.insert(name.clone());
                None
            }
        };
        if let Some(end) = end {
            report.ends.insert(name, end);
        }
    }
    Ok(report)
}

/// A name as a segment of a path.
pub(crate) fn segment(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let mut text = String::new();
    for byte in name.bytes() {
        if plain(byte) {
            text.push(char::from(byte));
        } else {
            let _infallible = write!(text, "%{byte:02X}");
        }
    }
    text
}
