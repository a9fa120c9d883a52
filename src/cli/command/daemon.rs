//! `daemon`: observes, tells what drifts, brings back what may be, and carries runs on, until it is told to stop.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use sd_notify::NotifyState;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

use super::face;
use crate::cli::args::DaemonArgs;
use crate::cli::exit::Exit;
use crate::cli::files::{self, FilesError};
use crate::cli::printer::Printer;
use crate::cli::report;
use crate::cli::shell::Shell;
use crate::cli::signals::{Means, Signals};
use crate::daemon::service::{Command, Later, Service, Source, Taken};
use crate::daemon::{Assignment, Env, Fleet, Handle, Readiness, Stop, prepare_images, read_given};
use crate::model::{Fault, FaultKind, Retry};

/// What a signal means to a daemon.
const SERVING: Means = Means {
    first: "stopping: runs come to a safe point, open transfers end first, sessions are ended; a second signal aborts",
    second: "aborting: an open transfer is cut, and what the BMC makes of half an image is unknown; the next start looks before it acts",
};

/// Runs until it is stopped.
pub(crate) async fn run(shell: &Shell, args: &DaemonArgs) -> Exit {
    let source = Files {
        inventory: shell.inventory.clone(),
        pipelines: args.pipelines.pipelines.clone(),
        env: Arc::clone(&shell.env),
        printer: shell.printer,
    };
    let files = match source.read() {
        Ok(files) => files,
        Err(message) => return told(shell, &message),
    };
    let engine = match shell.engine(files.1.inventory.bmcs.len()) {
        Ok(engine) => engine,
        Err(exit) => return exit,
    };
    let api = match face::listen(shell, &args.api).await {
        Ok(api) => api,
        Err(exit) => return exit,
    };
    let (stop, (commands, inbox)) = (Stop::new(), unbounded_channel());
    let (fleet, quiet) = (Fleet::new(), CancellationToken::new());
    let handle = Handle::new(engine.clone(), fleet.clone());
    let limit = args.max_concurrent;
    let service = Service {
        engine,
        fleet,
        source: Arc::new(source),
        files,
        stop: stop.clone(),
        max_concurrent: limit.and_then(|limit| usize::try_from(limit).ok()),
        seed: u64::from(std::process::id()),
        heartbeat: Arc::new(|| notify(&[NotifyState::Watchdog])),
    };
    let serving = api.serve(handle.clone(), quiet.clone());
    let work = async {
        let end = service.run(inbox).await;
        // Whoever watches sees the end of what it watched.
        quiet.cancel();
        end
    };
    let signals = Signals::listen().ask(&stop, SERVING, |text| {
        notify(&[NotifyState::Stopping]);
        handle.set_readiness(Readiness::NotReady("it is stopping".to_owned()));
        shell.printer.error(text);
    });
    let reloads = reload_on_hangup(commands);
    handle.set_readiness(Readiness::Ready);
    notify(&[NotifyState::Ready]);
    let end = tokio::select! {
        (end, ()) = async { tokio::join!(work, serving) } => end,
        () = signals => Ok(()),
        () = reloads => Ok(()),
    };
    match end {
        Ok(()) => Exit::Done,
        Err(message) => told(shell, &message),
    }
}

fn told(shell: &Shell, message: &str) -> Exit {
    shell.refuse(Exit::Usage, "invalid-file", message, None)
}

/// Tells systemd, where it listens; elsewhere nobody does, and that is no failure.
fn notify(states: &[NotifyState<'_>]) {
    sd_notify::notify(states).ok();
}

/// Never ends: every SIGHUP reads the files anew.
async fn reload_on_hangup(commands: UnboundedSender<Command>) {
    let Ok(mut hangups) = signal(SignalKind::hangup()) else {
        return std::future::pending::<()>().await;
    };
    while hangups.recv().await.is_some() {
        if commands.send(Command::Reload).is_err() {
            break;
        }
    }
    std::future::pending::<()>().await;
}

/// The files that the command line names.
struct Files {
    inventory: Vec<PathBuf>,
    pipelines: Vec<PathBuf>,
    env: Env,
    printer: Printer,
}

impl Source for Files {
    fn signature(&self) -> String {
        let mut found = Vec::new();
        for path in files::paths(&self.inventory, "inventory")
            .into_iter()
            .chain(files::paths(&self.pipelines, "pipelines"))
        {
            let seen = std::fs::metadata(&path).ok();
            let changed = seen.as_ref().and_then(|seen| seen.modified().ok());
            let since = changed.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
            let bytes = seen.map(|seen| seen.len());
            found.push(format!("{} {bytes:?} {since:?}", path.display()));
        }
        found.join("\n")
    }

    fn load(&self) -> Result<Taken, String> {
        let text = |error: FilesError| match error {
            FilesError::Unreadable(message) => message,
            FilesError::Invalid(diagnostics) => report::findings(&diagnostics),
        };
        let loaded = files::read(&self.inventory, &self.pipelines).map_err(text)?;
        let given = read_given(&loaded.needs(), &self.env);
        loaded
            .check_given(&given)
            .map_err(|diagnostics| report::findings(&diagnostics))?;
        if !loaded.warnings.findings.is_empty() {
            self.printer.note(&report::findings(&loaded.warnings));
        }
        Ok(Taken {
            inventory: loaded.inventory,
            pipelines: loaded.pipelines.into_iter().map(Arc::new).collect(),
            given: Arc::new(given),
        })
    }

    fn with_images(&self, assignment: Assignment) -> Later<'_, Result<Assignment, Fault>> {
        Box::pin(async move {
            let mut all = [assignment];
            if let Err(faults) = prepare_images(&mut all, &self.env).await {
                let unusable = faults.files.into_iter().map(|file| file.message);
                let others = faults.others.into_iter().map(|fault| fault.to_string());
                let words: Vec<String> = unusable.chain(others).collect();
                let message = words.join("; ");
                return Err(Fault::new(
                    FaultKind::ImageInvalid,
                    Retry::Operator,
                    message,
                ));
            }
            let [assignment] = all;
            Ok(assignment)
        })
    }
}
