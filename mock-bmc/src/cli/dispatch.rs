//! This room picks the command and turns its end into an exit code.
//!
//! It deliberately does no work of its own.

use std::io;
use std::process::ExitCode;

use mock_bmc::{platform, script as script_format};

use super::args::{self, Cli, Command, SourceArg};
use super::report::{EXIT_USAGE, Failure};
use super::{image, printer, serve};

/// Runs the command that the process's arguments name.
pub(crate) fn main() -> ExitCode {
    let (cli, sources) = args::parse();
    match run(cli, &sources) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            printer::message(&failure);
            ExitCode::from(failure.code)
        }
    }
}

fn run(cli: Cli, sources: &[SourceArg]) -> Result<(), Failure> {
    match cli.command {
        Command::Serve(args) => serve::run(&args, sources),
        Command::Platforms => platforms().map_err(|error| closed(&error)),
        Command::Script(args) => {
            debug_assert!(args.explain, "clap requires the flag");
            printer::line(script_format::explanation()).map_err(|error| closed(&error))
        }
        Command::Image(args) => image::run(&args),
        Command::Record(_) => Err(Failure::usage("`mock-bmc record` is not supported yet")
            .code(EXIT_USAGE)
            .hint("`mock-bmc serve --tree DIR` takes a tree that another tool recorded")),
    }
}

fn platforms() -> io::Result<()> {
    platform::PLATFORMS
        .iter()
        .try_for_each(|(name, about)| printer::line(format_args!("{name}  {about}")))
}

/// Stdout is gone; nothing that is printed reaches anybody.
pub(crate) fn closed(error: &io::Error) -> Failure {
    Failure::of(error)
}
