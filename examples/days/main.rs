//! Lets a daemon look after a fleet that drifts at random: `cargo run --release --example days -- --bmcs 1000`.
//!
//! Time is virtual and the BMCs are mocks in memory. Exit code 1 where the fleet does not end in sync, or was flashed
//! beyond what its drift explains.

#![expect(clippy::unwrap_used, reason = "a test by another name")]
#![expect(clippy::print_stdout, reason = "a command of its own")]

#[path = "../../tests/days/fleet.rs"]
mod fleet;
#[path = "../../tests/support/mod.rs"]
mod support;

use std::process::ExitCode;

use clap::Parser;
use fleet::{Case, days};

/// A fleet that drifts at random, and a daemon.
#[derive(Parser)]
struct Args {
    /// BMCs with one server each.
    #[arg(long, default_value_t = 1000)]
    bmcs: usize,
    /// How long, in virtual time.
    #[arg(long, default_value_t = 48)]
    hours: u64,
    /// What drifts when is drawn from it.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let args = Args::parse();
    tokio::time::pause();
    let end = days(Case {
        bmcs: args.bmcs,
        hours: args.hours,
        seed: args.seed,
    })
    .await;
    println!(
        "{} BMCs, {} hours: {} versions fell and {} settings changed; {} flashes, {} settings writes, {} requests",
        args.bmcs, args.hours, end.fell, end.changed, end.flashes, end.writes, end.requests
    );
    for wrong in &end.wrong {
        println!("{wrong}");
    }
    ExitCode::from(u8::from(!end.wrong.is_empty()))
}
