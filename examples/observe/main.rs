//! What one observation costs, beside the least client that answers the same question:
//! `cargo build --release -p mock-bmc && cargo run --release --example observe -- --bmcs 500`.
//!
//! The BMCs are mocks in a process of their own, over HTTPS. Both sides take turns on one thread; what is measured is the
//! CPU time of that thread.

#![expect(
    clippy::unwrap_used,
    reason = "a measurement that cannot be made has failed"
)]
#![expect(clippy::print_stdout, reason = "a command of its own")]

mod lab;
mod minimal;

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use clap::Parser;
use futures_util::{StreamExt as _, stream};
use lab::Lab;
use minimal::Minimal;
use redpipe::drift::{DriftState, compare, look_request};
use redpipe::model::{LookRequest, Seen};
use redpipe::plan::{Remembered, RunSpec};
use redpipe::redfish::Client;

/// BMCs asked at once, by either side.
const AT_ONCE: usize = 32;

/// Cost of one observation.
#[derive(Parser)]
struct Args {
    /// Mock BMCs with one server each.
    #[arg(long, default_value_t = 500)]
    bmcs: usize,
    /// Rounds of each side; the median is printed.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let args = Args::parse();
    let lab = Lab::start(args.bmcs);
    let engine = lab.engine();
    let bmcs = lab.bmcs();
    let assignments = lab.assignments();
    let specs: Vec<_> = assignments
        .iter()
        .map(|each| {
            let names = each.listed().into_iter().map(|server| server.name);
            each.spec(&names.collect::<Vec<_>>()).unwrap()
        })
        .collect();
    let clients: Vec<Arc<Client>> = bmcs
        .iter()
        .map(|bmc| Arc::new(engine.client(bmc).unwrap()))
        .collect();
    let remembered = Remembered {
        salt: String::new(),
        fingerprints: BTreeMap::new(),
    };
    let looked = |index: usize| {
        let (client, spec) = (Arc::clone(&clients[index]), &specs[index]);
        let request = asked(spec);
        let remembered = &remembered;
        async move {
            let Seen::Looked(look) = client.look(&request).await else {
                panic!("a mock that does not answer")
            };
            assert_eq!(compare(spec, &look, remembered).state(), DriftState::InSync);
        }
    };
    let unchanged = |index: usize| {
        let (client, spec) = (Arc::clone(&clients[index]), &specs[index]);
        let request = asked(spec);
        async move {
            assert!(
                client.is_unchanged(&request).await,
                "a mock that nobody changes"
            )
        }
    };
    let minimal = Minimal::new();
    let first = micros(args.bmcs, looked).await;
    let (sessions, log_in) = lab.log_in(&minimal).await;
    println!(
        "first contact: redpipe {first:.0} us CPU a BMC (discovery, login, registry); minimal {log_in:.0} (login)"
    );
    let before = lab.requests();
    looked(0).await;
    println!(
        "requests of a warm observation: {}",
        lab.requests() - before
    );
    let observed = |index: usize| {
        let (minimal, session) = (&minimal, &sessions[index]);
        async move { assert!(minimal.observe(session).await.unwrap()) }
    };
    let fetched = |index: usize| {
        let (minimal, session) = (&minimal, &sessions[index]);
        async move { assert!(minimal.fetch(session).await.unwrap() > 0) }
    };
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let (mut warm, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..args.rounds {
        ours.push(micros(args.bmcs, looked).await);
        theirs.push(micros(args.bmcs, observed).await);
        warm.push(micros(args.bmcs, unchanged).await);
        bare.push(micros(args.bmcs, fetched).await);
    }
    tell(
        "observation, read and compared (bar 1.5)",
        &mut ours,
        &mut theirs,
    );
    tell(
        "observation, nothing changed (bar 2.0)",
        &mut warm,
        &mut bare,
    );
    for client in &clients {
        client.close().await;
    }
}

fn asked(spec: &RunSpec) -> LookRequest {
    LookRequest {
        brief: true,
        ..look_request(spec, false)
    }
}

/// CPU microseconds a BMC.
async fn micros<F: Future<Output = ()>>(bmcs: usize, one: impl Fn(usize) -> F) -> f64 {
    let before = cpu_nanos();
    stream::iter(0..bmcs)
        .map(&one)
        .buffer_unordered(AT_ONCE)
        .collect::<Vec<()>>()
        .await;
    let spent = cpu_nanos() - before;
    spent as f64 / 1_000.0 / bmcs as f64
}

/// CPU time of this thread so far.
fn cpu_nanos() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split_whitespace().next().unwrap().parse().unwrap()
}

fn tell(what: &str, ours: &mut [f64], theirs: &mut [f64]) {
    let (ours, theirs) = (median(ours), median(theirs));
    println!(
        "{what}: redpipe {ours:.0} us CPU a BMC, minimal {theirs:.0}: {:.2} times",
        ours / theirs
    );
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
