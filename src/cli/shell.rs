//! What every command needs: the global arguments, the printer, the environment, and files taken up.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;

use super::args::Args;
use super::exit::Exit;
use super::files::{self, FilesError};
use super::printer::Printer;
use super::report;
use crate::daemon::{
    Assignment, Engine, Env, OpenOptions, assign, open, prepare_images, read_given,
};
use crate::model::Fault;
use crate::pipeline::{Diagnostics, Loaded, Selector};

/// One invocation.
pub(crate) struct Shell {
    /// Writes to stdout and stderr.
    pub(crate) printer: Printer,
    /// `--inventory`.
    pub(crate) inventory: Vec<PathBuf>,
    /// `--state`.
    pub(crate) state: Option<String>,
    /// The environment.
    pub(crate) env: Env,
}

impl Shell {
    /// As the arguments say.
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the environment"
    )]
    pub(crate) fn new(args: &Args) -> Self {
        start_log(args.verbose);
        Self {
            printer: Printer::new(args.output, args.verbose, args.quiet),
            inventory: args.inventory.clone(),
            state: args.state.clone(),
            env: Arc::new(|name| std::env::var_os(name)),
        }
    }

    /// Runs a command that talks to BMCs.
    pub(crate) fn block_on(&self, command: impl Future<Output = Exit>) -> Exit {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build();
        match runtime {
            Ok(runtime) => runtime.block_on(command),
            Err(error) => {
                self.printer
                    .error(&format!("error: the runtime does not start: {error}"));
                Exit::Bug
            }
        }
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
            FilesError::Unreadable(message) => self.printer.error(&format!("error: {message}")),
            FilesError::Invalid(diagnostics) => self.printer.error(&report::findings(diagnostics)),
        }
        Exit::Usage
    }

    /// Opens the state.
    pub(crate) fn engine(&self, fleet: usize) -> Result<Engine, Exit> {
        let options = OpenOptions {
            state: self.state.clone(),
            env: Arc::clone(&self.env),
            fleet,
        };
        open(&options).map_err(|fault| self.failed("", &fault, Exit::Usage))
    }

    /// Files, values and images of the selected servers, all checked before any BMC is contacted.
    pub(crate) async fn assignments(
        &self,
        loaded: &Loaded,
        limit: Option<&str>,
    ) -> Result<Vec<Assignment>, Exit> {
        let limit = limit.map(Selector::parse).transpose().map_err(|message| {
            self.printer.error(&format!("error: --limit: {message}"));
            Exit::Usage
        })?;
        let given = read_given(&loaded.needs(), &self.env);
        if let Err(diagnostics) = loaded.check_given(&given) {
            self.printer.error(&report::findings(&diagnostics));
            return Err(Exit::Usage);
        }
        let pipelines: Vec<_> = loaded.pipelines.iter().cloned().map(Arc::new).collect();
        let mut assignments = assign(
            &loaded.inventory,
            &pipelines,
            limit.as_ref(),
            &Arc::new(given),
        );
        if assignments.is_empty() {
            self.printer.error("error: no server of the inventory matches\n\nhint: compare `[selector]` and `--limit` with the labels in the inventory");
            return Err(Exit::NothingMatched);
        }
        if let Err(faults) = prepare_images(&mut assignments, &self.env).await {
            for fault in &faults {
                self.printer.error(&report::fault("", fault));
            }
            return Err(Exit::Usage);
        }
        Ok(assignments)
    }

    /// Prints a fault and passes the exit on.
    pub(crate) fn failed(&self, context: &str, fault: &Fault, exit: Exit) -> Exit {
        self.printer.error(&report::fault(context, fault));
        exit
    }
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
        .without_time()
        .try_init()
        .ok();
}
