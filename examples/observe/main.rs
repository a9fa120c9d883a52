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
use std::time::Duration;

use clap::Parser;
use futures_util::{StreamExt as _, stream};
use lab::Lab;
use minimal::{Minimal, Session};
use redpipe::daemon::Assignment;
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
    let ours = Ours::new(&lab);
    let first = micros(args.bmcs, |index| ours.look(index)).await;
    let minimal = Minimal::new();
    let (sessions, log_in) = lab.log_in(&minimal).await;
    println!(
        "first contact: redpipe {first:.0} us CPU a BMC (discovery, login, registry); minimal {log_in:.0} (login)"
    );
    let before = lab.requests();
    ours.look(0).await;
    println!(
        "requests of a warm observation: {}",
        lab.requests() - before
    );
    let theirs = Theirs { minimal, sessions };
    let mut spent: [Vec<f64>; 4] = Default::default();
    for _ in 0..args.rounds {
        spent[0].push(micros(args.bmcs, |index| ours.look(index)).await);
        spent[1].push(micros(args.bmcs, |index| theirs.look(index)).await);
        spent[2].push(micros(args.bmcs, |index| ours.glance(index)).await);
        spent[3].push(micros(args.bmcs, |index| theirs.fetch(index)).await);
    }
    let [looked, observed, glanced, fetched] = spent.map(median);
    tell("observation, read and compared (bar 1.5)", looked, observed);
    tell("observation, nothing changed (bar 2.0)", glanced, fetched);
    for client in &ours.clients {
        client.close().await;
    }
}

/// redpipe's clients, warm from their first look on.
struct Ours {
    clients: Vec<Client>,
    specs: Vec<RunSpec>,
    remembered: Remembered,
}

impl Ours {
    fn new(lab: &Lab) -> Self {
        let engine = lab.engine();

        let spec = |each: &Assignment| {
            let names = each.listed().into_iter().map(|server| server.name);
            each.spec(&names.collect::<Vec<_>>(), redpipe::plan::Footing::End)
                .unwrap()
        };
        Self {
            clients: lab
                .bmcs()
                .iter()
                .map(|bmc| engine.client(bmc).unwrap())
                .collect(),
            specs: lab.assignments().iter().map(spec).collect(),
            remembered: Remembered {
                salt: String::new(),
                fingerprints: BTreeMap::new(),
            },
        }
    }

    async fn look(&self, index: usize) {
        let spec = &self.specs[index];
        let Seen::Looked(look) = self.clients[index].look(&asked(spec)).await else {
            panic!("a mock that does not answer")
        };
        let found = compare(spec, &look, &self.remembered);
        assert_eq!(found.state(), DriftState::InSync);
    }

    async fn glance(&self, index: usize) {
        let request = asked(&self.specs[index]);
        let unchanged = self.clients[index].is_unchanged(&request).await;
        assert!(unchanged, "nobody changes a mock here");
    }
}

/// The least client, logged in everywhere.
struct Theirs {
    minimal: Minimal,
    sessions: Vec<Session>,
}

impl Theirs {
    async fn look(&self, index: usize) {
        let found = self.minimal.observe(&self.sessions[index]).await;
        assert!(found.unwrap());
    }

    async fn fetch(&self, index: usize) {
        let bytes = self.minimal.fetch(&self.sessions[index]).await;
        assert!(bytes.unwrap() > 0);
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
    let before = cpu();
    let all = stream::iter(0..bmcs).map(&one).buffer_unordered(AT_ONCE);
    all.collect::<Vec<()>>().await;
    a_bmc(cpu().checked_sub(before).unwrap(), bmcs)
}

/// What one BMC has cost, in microseconds.
fn a_bmc(spent: Duration, bmcs: usize) -> f64 {
    spent.as_secs_f64() * 1e6 / f64::from(u32::try_from(bmcs).unwrap())
}

/// CPU time of this thread so far.
fn cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    let nanos = text.split_whitespace().next().unwrap();
    Duration::from_nanos(nanos.parse().unwrap())
}

fn tell(what: &str, ours: f64, theirs: f64) {
    let times = ours / theirs;
    println!("{what}: redpipe {ours:.0} us CPU a BMC, minimal {theirs:.0}: {times:.2} times");
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
