//! Plays seeds of simulated fleets: `cargo run --release --example sim -- --seeds N [--from K]`.
//!
//! Ends with exit code 1 at the first broken invariant, with the line that plays it again.

#![expect(clippy::unwrap_used, reason = "a test by another name")]
#![expect(clippy::print_stdout, reason = "a command of its own")]

#[path = "../../tests/support/mod.rs"]
mod support;

#[path = "../../tests/sim/case/mod.rs"]
mod case;
#[path = "../../tests/sim/dice.rs"]
mod dice;
#[path = "../../tests/sim/fleet/mod.rs"]
mod fleet;
#[path = "../../tests/sim/hazard.rs"]
mod hazard;
#[path = "../../tests/sim/invariants/mod.rs"]
mod invariants;
#[path = "../../tests/sim/maintenance.rs"]
mod maintenance;
#[path = "../../tests/sim/report.rs"]
mod report;
#[path = "../../tests/sim/saboteurs.rs"]
mod saboteurs;

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::Parser;

/// Simulated fleets.
#[derive(Parser)]
struct Args {
    /// How many seeds.
    #[arg(long, default_value_t = 100)]
    seeds: u64,
    /// The first seed.
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// How many are played at once.
    #[arg(long, default_value_t = 1)]
    jobs: u64,
    /// Plays with each wrong engine until it is caught.
    #[arg(long)]
    saboteurs: bool,
    /// Goes on after a broken invariant.
    #[arg(long)]
    all: bool,
    /// Shows what every seed draws, how it ends, and all that happened where something broke.
    #[arg(long)]
    show: bool,
}

fn all_saboteurs(args: &Args) -> ExitCode {
    let mut free = 0;
    for (saboteur, _) in saboteurs::Saboteur::ALL {
        let seeds = args.from..args.from.saturating_add(args.seeds);
        if let Some((seed, broken)) = report::caught(saboteur, seeds) {
            println!(
                "{saboteur:?}: caught by seed {seed} as {}: {}",
                broken.invariant, broken.how
            );
        } else {
            println!("{saboteur:?}: never caught");
            free += 1;
        }
    }
    ExitCode::from(u8::from(free > 0))
}

/// What the seeds came to so far.
#[derive(Default)]
struct Tally {
    played: u64,
    lines: usize,
    broken: u64,
}

/// Plays seed after seed, as one of several that share them.
fn play(args: &Args, next: &AtomicU64, tally: &Mutex<Tally>) {
    let end = args.from.saturating_add(args.seeds);
    loop {
        let is_over = tally.lock().unwrap().broken > 0 && !args.all;
        let seed = next.fetch_add(1, Ordering::SeqCst);
        if is_over || seed >= end {
            return;
        }
        let told = report::told(seed, None);
        let mut tally = tally.lock().unwrap();
        tally.played += 1;
        tally.lines += told.lines;
        if args.show {
            let case = case::Case::draw(seed);
            println!("{case:#?}\n{:#?}\n{}", told.ends, told.trace);
        }
        if let Some(what) = &told.broken {
            println!("{}", report::line(seed, what));
            tally.broken += 1;
        }
    }
}

fn main() -> ExitCode {
    let args = Args::parse();
    if args.saboteurs {
        return all_saboteurs(&args);
    }
    let (next, tally) = (AtomicU64::new(args.from), Mutex::default());
    std::thread::scope(|scope| {
        for _ in 0..args.jobs.max(1) {
            scope.spawn(|| play(&args, &next, &tally));
        }
    });
    let tally: Tally = tally.into_inner().unwrap();
    println!(
        "{} seeds, {} ledger lines, {} broken",
        tally.played, tally.lines, tally.broken
    );
    ExitCode::from(u8::from(tally.broken > 0))
}
