//! What every command needs: the global arguments, the printer, the environment, and files taken up.

use std::future::Future;
use std::io::IsTerminal as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::args::{Args, Command};
use super::exit::Exit;
use super::files::{self, FilesError};
use super::printer::Printer;
use super::progress::{self, Screen};
use super::report;
use super::signals::{READING, Signals};
use super::told::{ErrorRow, Told};
use crate::daemon::{
    self, Assignment, Awaited, Engine, Env, OpenOptions, Selected, Stop, assign_run, open,
    prepare_images, read_given, select, state_path,
};
use crate::model::{BmcName, Fault, RunKey};
use crate::pipeline::{Diagnostics, Given, Loaded, Needs, Pipeline, Selector, UnusableImage};

/// What a command is about.
pub(crate) struct Chosen {
    /// The state, opened.
    pub(crate) engine: Engine,
    /// By pipeline and BMC name.
    pub(crate) assignments: Vec<Assignment>,
    /// Where it is not known whether the pipeline selects the BMC, and why.
    pub(crate) unheard: Vec<(Assignment, Fault)>,
}

/// A selection as far as the files alone tell.
struct Selecting {
    limit: Option<Selector>,
    given: Arc<Given>,
    pipelines: Vec<Arc<Pipeline>>,
    found: Selected,
}

/// One invocation.
pub(crate) struct Shell {
    /// Writes to stdout and stderr.
    pub(crate) printer: Printer,
    /// `--inventory`.
    pub(crate) inventory: Vec<PathBuf>,
    /// `--state`.
    pub(crate) state: Option<String>,
    /// `--image-server`.
    pub(crate) image_server: Option<SocketAddr>,
    /// The environment.
    pub(crate) env: Env,
    /// What goes into the JSON document.
    pub(crate) told: Arc<Told>,
}

impl Shell {
    /// As the arguments say.
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the environment"
    )]
    pub(crate) fn new(args: &Args) -> Self {
        // A daemon has no other way to tell what it does.
        let least = u8::from(matches!(args.command, Command::Daemon(_)));
        start_log(args.verbose.max(least));
        Self {
            printer: Printer::new(args.output, args.verbose, args.quiet),
            inventory: args.inventory.clone(),
            state: args.state.clone(),
            image_server: args.image_server,
            env: Arc::new(|name| std::env::var_os(name)),
            told: Arc::default(),
        }
    }

    /// Runs a command that talks to BMCs.
    pub(crate) fn block_on(&self, command: impl Future<Output = Exit>) -> Exit {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build();
        match runtime {
            Ok(runtime) => {
                let exit = runtime.block_on(command);
                // A question that nobody answers must not keep an interrupted process alive.
                runtime.shutdown_background();
                exit
            }
            Err(error) => {
                let message = format!("the runtime does not start: {error}");
                self.refuse(Exit::Bug, "bug", &message, None)
            }
        }
    }

    /// Does work that only reads BMCs; a signal ends it in order. `None` = it was interrupted.
    pub(crate) async fn reading<T>(
        &self,
        stop: &Stop,
        awaited: &Awaited,
        work: impl Future<Output = Option<T>>,
    ) -> Result<T, Exit> {
        let screen = Screen::new(self.printer);
        let signals = Signals::listen().ask(stop, READING, |text| screen.say(text));
        let done = tokio::select! {
            done = work => done,
            () = signals => None,
            () = progress::wait(awaited, &screen) => None,
        };
        done.ok_or_else(|| {
            let message = "interrupted before every BMC was read";
            self.refuse(Exit::Interrupted, "interrupted", message, None)
        })
    }

    /// Reads and checks all files; findings are printed.
    pub(crate) fn files(&self, pipelines: &[PathBuf]) -> Result<Loaded, Exit> {
        let loaded =
            files::read(&self.inventory, pipelines).map_err(|error| self.files_error(&error))?;
        self.warn(&loaded.warnings);
        Ok(loaded)
    }

    /// Reads and checks the inventory alone.
    pub(crate) fn inventory(&self) -> Result<Loaded, Exit> {
        let loaded =
            files::read_inventory(&self.inventory).map_err(|error| self.files_error(&error))?;
        self.warn(&loaded.warnings);
        Ok(loaded)
    }

    fn warn(&self, warnings: &Diagnostics) {
        if !warnings.findings.is_empty() {
            self.printer.note(&report::findings(warnings));
        }
    }

    fn files_error(&self, error: &FilesError) -> Exit {
        match error {
            FilesError::Unreadable(message) => {
                self.refuse(Exit::Usage, "unreadable-file", message, None)
            }
            FilesError::Invalid(diagnostics) => self.invalid(diagnostics),
        }
    }

    /// Prints the findings in files, and passes the exit on.
    pub(crate) fn invalid(&self, diagnostics: &Diagnostics) -> Exit {
        self.printer.error(&report::findings(diagnostics));
        for row in ErrorRow::of_files(diagnostics) {
            self.told.error(row);
        }
        Exit::Usage
    }

    /// Opens the state.
    pub(crate) fn engine(&self, fleet: usize) -> Result<Engine, Exit> {
        open(&self.open_options(fleet)).map_err(|fault| self.failed("", &fault, Exit::Usage))
    }

    /// Where the state lies.
    pub(crate) fn state_path(&self) -> Result<PathBuf, Exit> {
        state_path(&self.open_options(0)).map_err(|fault| self.failed("", &fault, Exit::Usage))
    }

    fn open_options(&self, fleet: usize) -> OpenOptions {
        OpenOptions {
            state: self.state.clone(),
            image_server: self.image_server,
            env: Arc::clone(&self.env),
            fleet,
        }
    }

    /// Files, values and images of the selected servers, all checked before any BMC is contacted; but where the selection
    /// hangs on what hardware says of itself, that is heard first.
    pub(crate) async fn chosen(
        &self,
        loaded: &Loaded,
        limit: Option<&str>,
    ) -> Result<Chosen, Exit> {
        let mut selecting = self.selecting(loaded, limit)?;
        let found = std::mem::take(&mut selecting.found);
        selecting.found.undecided = found.undecided;
        selecting.found.assignments = self.with_images(loaded, found.assignments).await?;
        let mut chosen = self.decide(loaded, selecting).await?;
        let (new, ready): (Vec<_>, Vec<_>) = chosen
            .assignments
            .into_iter()
            .partition(|each| each.needs_facts);
        chosen.assignments = ready;
        chosen
            .assignments
            .extend(self.with_images(loaded, new).await?);
        chosen.assignments.sort_by(by_name);
        Ok(chosen)
    }

    /// The same without images, for what sends none.
    pub(crate) async fn chosen_to_read(
        &self,
        loaded: &Loaded,
        limit: Option<&str>,
    ) -> Result<Chosen, Exit> {
        let selecting = self.selecting(loaded, limit)?;
        self.decide(loaded, selecting).await
    }

    /// What the files alone say of the selection.
    fn selecting(&self, loaded: &Loaded, limit: Option<&str>) -> Result<Selecting, Exit> {
        let limit = limit.map(Selector::parse).transpose().map_err(|message| {
            self.refuse(Exit::Usage, "usage", &format!("--limit: {message}"), None)
        })?;
        let (given, pipelines) = (Arc::new(self.given(loaded)?), shared(loaded));
        let found = select(
            &loaded.inventory,
            &pipelines,
            limit.as_ref(),
            &given,
            &|_| None,
        );
        Ok(Selecting {
            limit,
            given,
            pipelines,
            found,
        })
    }

    /// Hears what hardware says of itself where the selection hangs on it.
    async fn decide(&self, loaded: &Loaded, selecting: Selecting) -> Result<Chosen, Exit> {
        let Selecting {
            limit,
            given,
            pipelines,
            mut found,
        } = selecting;
        let mut unheard = Vec::new();
        let engine = self.engine(loaded.inventory.bmcs.len())?;
        if !found.undecided.is_empty() {
            let (stop, awaited) = (Stop::new(), Awaited::default());
            let work = daemon::hear(&engine, &found.undecided, &stop, &awaited);
            let heard = self.reading(&stop, &awaited, work).await?;
            let facts = |bmc: &BmcName| heard.get(bmc)?.as_ref().ok().cloned();
            let again = select(
                &loaded.inventory,
                &pipelines,
                limit.as_ref(),
                &given,
                &facts,
            );
            let mut known = found.assignments;
            known.extend(
                again
                    .assignments
                    .into_iter()
                    .filter(|each| each.needs_facts),
            );
            known.sort_by(by_name);
            found.assignments = known;
            let left = again.undecided.into_iter();
            unheard.extend(left.map(|each| {
                let fault = daemon::unheard(&each, &heard);
                (each, fault)
            }));
        }
        if found.assignments.is_empty() && unheard.is_empty() {
            let hint = "compare `[selector]` and `--limit` with the labels in the inventory";
            let message = "no server of the inventory matches";
            return Err(self.refuse(Exit::NothingMatched, "nothing-matched", message, Some(hint)));
        }
        Ok(Chosen {
            engine,
            assignments: found.assignments,
            unheard,
        })
    }

    /// The same for the pipeline and the BMC of one run, whatever is selected now.
    pub(crate) async fn assignment_of(
        &self,
        loaded: &Loaded,
        key: &RunKey,
    ) -> Result<Vec<Assignment>, Exit> {
        let given = Arc::new(self.given(loaded)?);
        let Some(assignment) = assign_run(&loaded.inventory, &shared(loaded), key, &given) else {
            let message = format!(
                "the files do not name pipeline `{}` and bmc `{}`, and run `{key}` cannot be driven without",
                key.pipeline, key.bmc
            );
            let hint = "give the inventory by `-i` and the pipeline's file as an argument";
            return Err(self.refuse(
                Exit::NothingMatched,
                "nothing-matched",
                &message,
                Some(hint),
            ));
        };
        self.with_images(loaded, vec![assignment]).await
    }

    fn given(&self, loaded: &Loaded) -> Result<Given, Exit> {
        let given = read_given(&loaded.needs(), &self.env);
        loaded
            .check_given(&given)
            .map_err(|diagnostics| self.invalid(&diagnostics))?;
        Ok(given)
    }

    async fn with_images(
        &self,
        loaded: &Loaded,
        mut assignments: Vec<Assignment>,
    ) -> Result<Vec<Assignment>, Exit> {
        if let Err(faults) = prepare_images(&mut assignments, &self.env).await {
            for fault in &faults.others {
                self.failed("", fault, Exit::Usage);
            }
            self.image_files(loaded, &faults.files)?;
            return Err(Exit::Usage);
        }
        Ok(assignments)
    }

    /// Tells every hook that cannot be run with the place that names it.
    pub(crate) fn hooks(&self, loaded: &Loaded) -> Result<(), Exit> {
        let needs = Needs {
            hooks: loaded.needs().hooks,
            ..Needs::default()
        };
        loaded
            .check_hooks(&read_given(&needs, &self.env))
            .map_err(|diagnostics| self.invalid(&diagnostics))
    }

    /// Tells every unusable image file with the place that names it.
    pub(crate) fn image_files(
        &self,
        loaded: &Loaded,
        unusable: &[UnusableImage],
    ) -> Result<(), Exit> {
        loaded
            .check_images(unusable)
            .map_err(|diagnostics| self.invalid(&diagnostics))
    }

    /// Who is at the keyboard, as orders name them.
    pub(crate) fn user(&self) -> String {
        let named = ["USER", "LOGNAME"]
            .iter()
            .find_map(|name| (self.env)(name)?.into_string().ok());
        named
            .filter(|name| !name.is_empty())
            .unwrap_or_else(|| "somebody".to_owned())
    }

    /// Tells a fault that keeps the command from its work, and passes the exit on.
    pub(crate) fn failed(&self, context: &str, fault: &Fault, exit: Exit) -> Exit {
        self.printer.error(&report::fault(context, fault));
        self.told.error(ErrorRow::of_fault(fault));
        exit
    }

    /// Tells what else keeps the command from its work, and passes the exit on.
    pub(crate) fn refuse(&self, exit: Exit, kind: &str, message: &str, hint: Option<&str>) -> Exit {
        let hinted = hint.map_or_else(String::new, |hint| format!("\n\nhint: {hint}"));
        self.printer.error(&format!("error: {message}{hinted}"));
        self.told.error(ErrorRow::new(kind, message, hint));
        exit
    }

    /// Prints the command's document; nothing in text mode.
    pub(crate) fn document(&self, found: &impl Serialize) {
        if self.printer.is_json() {
            self.printer.json(&self.told.document(found));
        }
    }

    /// In JSON mode no command ends without a document; one of lines says its last word in a line.
    pub(crate) fn finish(&self, nothing: &Value) {
        let is_line = nothing.as_object().is_some_and(serde_json::Map::is_empty);
        if let (true, Some(document)) = (self.printer.is_json(), self.told.rest(nothing)) {
            if is_line {
                self.printer.data(&document.to_string());
            } else {
                self.printer.json(&document);
            }
        }
    }
}

fn by_name(a: &Assignment, b: &Assignment) -> std::cmp::Ordering {
    (&a.pipeline.name, &a.bmc.name).cmp(&(&b.pipeline.name, &b.bmc.name))
}

fn shared(loaded: &Loaded) -> Vec<Arc<Pipeline>> {
    loaded.pipelines.iter().cloned().map(Arc::new).collect()
}

/// One subscriber for the process: quiet unless asked, never a secret (those are types that do not print).
fn start_log(verbose: u8) {
    let level = match verbose {
        0 => "error",
        1 => "redpipe=info",
        2 => "redpipe=debug",
        _ => "redpipe=trace",
    };
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::new(level))
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .without_time()
        .try_init()
        .ok();
}
