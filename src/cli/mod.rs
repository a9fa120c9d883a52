//! This room is the command line: it reads arguments and files, asks the daemon room to work, and prints what came of
//! it.
//!
//! It decides nothing about hardware and never talks to a BMC or to the store itself.

mod args;
mod command;
mod exit;
mod files;
mod live;
mod printer;
mod progress;
mod report;
mod shell;
mod signals;
mod table;
mod told;
mod written;

use std::process::ExitCode;

use args::{Args, Command, InventoryCommand};
use clap::Parser as _;
use command::{
    apply, daemon, demo, drift, events, inventory_check, inventory_import, order, plan, schema,
    snapshot, status, trust, validate, versions,
};
use exit::Exit;
use shell::Shell;

/// Parses the command line, runs it, and says how it ended.
pub fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            // Help and version are data, and no failure.
            error.print().ok();
            return if error.use_stderr() {
                Exit::Usage.into()
            } else {
                Exit::Done.into()
            };
        }
    };
    let shell = Shell::new(&args);
    let nothing = told::empty(&args.command);
    let end = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(&shell, args.command)));
    let exit = end.unwrap_or_else(|_| {
        let hint = "this is a bug of redpipe: report it with what stands above";
        shell.refuse(
            Exit::Bug,
            "bug",
            "redpipe broke a promise of its own",
            Some(hint),
        )
    });
    shell.finish(&nothing);
    exit.into()
}

fn run(shell: &Shell, command: Command) -> Exit {
    match command {
        Command::Validate(args) => shell.block_on(validate::run(shell, &args)),
        Command::Plan(args) => shell.block_on(plan::run(shell, &args)),
        Command::Drift(args) => shell.block_on(drift::run(shell, &args)),
        Command::Apply(args) => shell.block_on(apply::run(shell, &args)),
        Command::Status { run } => status::run(shell, run.as_deref()),
        Command::Events { run, follow } => {
            shell.block_on(events::run(shell, run.as_deref(), follow))
        }
        Command::Approve { run } => shell.block_on(order::approve(shell, &run)),
        Command::Retry(args) => shell.block_on(order::retry(shell, &args)),
        Command::Cancel(args) => shell.block_on(order::cancel(shell, &args)),
        Command::Release { run, leave: _ } => shell.block_on(order::release(shell, &run)),
        Command::Pause { pipeline } => shell.block_on(order::pause(shell, &pipeline)),
        Command::Resume { pipeline } => shell.block_on(order::resume(shell, &pipeline)),
        Command::Inventory {
            command: InventoryCommand::Check,
        } => shell.block_on(inventory_check::run(shell)),
        Command::Inventory {
            command: InventoryCommand::Import(args),
        } => inventory_import::run(shell, &args),
        Command::Snapshot(args) => shell.block_on(snapshot::run(shell, &args)),
        Command::Trust(args) => trust::run(shell, &args),
        Command::Schema { kind } => schema::run(shell, kind),
        Command::Versions {
            a,
            b,
            platform,
            component,
        } => versions::run(shell, &a, &b, platform.as_deref(), component),
        Command::Daemon(args) => shell.block_on(daemon::run(shell, &args)),
        Command::Demo => shell.block_on(demo::run(shell)),
    }
}
