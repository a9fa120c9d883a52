//! Prints what an apply to a seeded fleet takes over its lower bound:
//! `cargo run --release --example makespan -- --bmcs 200 --max-concurrent 20 --seed 1`.
//!
//! Time is virtual and the BMCs are mocks in memory; what is measured is how the engine spends the time of its slots.

#![expect(clippy::unwrap_used, reason = "a test by another name")]
#![expect(clippy::print_stdout, reason = "a command of its own")]

#[path = "../../tests/support/mod.rs"]
mod support;

#[path = "../../tests/makespan/figures.rs"]
mod figures;
#[path = "../../tests/makespan/fleet.rs"]
mod fleet;
#[path = "../../tests/makespan/timeline.rs"]
mod timeline;

use clap::Parser;
use figures::{Figures, minutes, others_end_ms};
use fleet::{Case, FIRST, First, run};

/// Makespan of an apply over its lower bound.
#[derive(Parser)]
struct Args {
    /// BMCs with one server each.
    #[arg(long, default_value_t = 200)]
    bmcs: usize,
    /// BMCs in progress at once.
    #[arg(long, default_value_t = 20)]
    max_concurrent: usize,
    /// What the durations are drawn from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Applies twice instead: with the first BMC hung for ever, and without it; compares when the others end.
    #[arg(long)]
    hung: bool,
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let args = Args::parse();
    tokio::time::pause();
    let case = |first| Case {
        bmcs: args.bmcs,
        max_concurrent: args.max_concurrent,
        seed: args.seed,
        first,
    };
    let about = format!(
        "{} BMCs, {} at once, seed {}",
        args.bmcs, args.max_concurrent, args.seed
    );
    if args.hung {
        let hung = run(case(First::Hangs)).await;
        let with = minutes(others_end_ms(&hung));
        let without = minutes(others_end_ms(&run(case(First::LeftOut)).await));
        println!("{about}, of which {FIRST} hangs for ever in its first hop");
        match hung[FIRST].held_ms {
            Some(held) => println!("it gives its slot back after {:.1} min", minutes(held)),
            None => println!("it never gives its slot back"),
        }
        println!(
            "the others end after {with:.2} min, without it after {without:.2} min: {:.3}",
            with / without
        );
        return;
    }
    let lives = run(case(First::Works)).await;
    let figures = Figures::of(&lives, args.max_concurrent);
    println!("{about}: {} completed", figures.completed);
    print!("{}", figures.table());
}
