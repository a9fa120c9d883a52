//! The whole crash sweep: `cargo run --release --example sweep`. Every story dies at every moment that its journal knows, and
//! at every request.
//!
//! Ends with exit code 1 where one death changes anything.

#![expect(clippy::unwrap_used, reason = "a test by another name")]
#![expect(clippy::print_stdout, reason = "a command of its own")]

#[path = "../../tests/support/mod.rs"]
mod support;

#[path = "../../tests/sweep/allowed.rs"]
mod allowed;
#[path = "../../tests/sweep/ends.rs"]
mod ends;
#[path = "../../tests/sweep/kinds.rs"]
mod kinds;
#[path = "../../tests/sweep/lab.rs"]
mod lab;
#[path = "../../tests/sweep/once.rs"]
mod once;
#[path = "../../tests/sweep/stories.rs"]
mod stories;
#[path = "../../tests/sweep/sweep.rs"]
mod sweep;

use std::process::ExitCode;

use clap::Parser;

/// Kills redpipe at every moment of every story.
#[derive(Parser)]
struct Args {
    /// Only stories whose names contain this.
    #[arg(long, default_value = "")]
    story: String,
    /// Of so many moments, one.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    step: u32,
    /// Tells everything that happened where a moment changed something.
    #[arg(long)]
    trace: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let step = usize::try_from(args.step).unwrap();
    let swept = sweep::sweep(step, &args.story, args.trace);
    for wrong in &swept.wrong {
        println!("{wrong}");
    }
    let never = match args.story.as_str() {
        "" => swept.never(),
        _ => Vec::new(),
    };
    println!(
        "{} moments of {} stories, {} changed something, never written down: {never:?}",
        swept.moments,
        swept.stories,
        swept.wrong.len()
    );
    ExitCode::from(u8::from(!swept.wrong.is_empty() || !never.is_empty()))
}
