//! A daemon that drives a whole fleet over HTTPS is killed again and again: nothing is lost, and nothing is sent twice.
//!
//! `REDPIPE_KILL_BMCS=300 REDPIPE_KILL_TIMES=10 cargo test --release --test kill fleet -- --nocapture` does it to a fleet
//! of that size, and prints what it came to.

use std::time::{Duration, Instant};

use crate::Seed;
use crate::ears::{Heard, Woken};
use crate::lab::{Lab, Life, Setup};

/// One BMC hop, a BIOS setting, and one BIOS hop on each of two servers.
const PIPELINE: &str = r#"
name = "kill"
[selector]
match_labels = {}
[rollout]
max_concurrent = SLOTS
max_failures = 0
[[stage]]
name = "bmc-160"
kind = "bmc-version"
version = "1.60"
image = { file = "bmc-1.60.img" }
[[stage]]
name = "quiet"
kind = "bios-settings"
settings = { QuietBoot = false }
[[stage]]
name = "bios-220"
kind = "bios-version"
version = "2.20"
image = { file = "bios-2.20.img" }
"#;

/// What one BMC has to be told, and how often: nothing of it may be told twice.
const ONCE: [&str; 3] = [
    "update accepted bmc",
    "update accepted bios",
    "settings accepted",
];

/// Lines of ledger that one BMC leaves at the least on its whole way: kills are spread over it.
const LINES_PER_BMC: u64 = 500;

/// For the whole fleet, whatever the machine does beside.
const PATIENCE: Duration = Duration::from_mins(30);

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "a bigger fleet is asked for by the environment, and real processes take real time"
)]
fn a_daemon_with_a_fleet_that_is_killed_again_and_again_loses_and_doubles_nothing() {
    let number = |name: &str, otherwise: u64| {
        std::env::var(name).map_or(otherwise, |text| text.parse().unwrap())
    };
    let (bmcs, kills) = (
        number("REDPIPE_KILL_BMCS", 8),
        number("REDPIPE_KILL_TIMES", 4),
    );
    // Some BMCs wait for their turn whenever the daemon is killed.
    let slots = (bmcs / 3).max(6);
    let began = Instant::now();
    let lab = Lab::start(&Setup {
        bmcs: usize::try_from(bmcs).unwrap(),
        speed: u32::try_from(number("REDPIPE_KILL_SPEED", 300)).unwrap(),
        pipeline: PIPELINE.replace("SLOTS", &slots.to_string()),
    });
    let deadline = began + PATIENCE;
    let mut seed = Seed(bmcs * 1000 + kills);
    let mut daemon = start(&lab, deadline);
    let apply = lab.apply();
    // Without a daemon at the moment it looks for one, it would drive the runs itself.
    let is_begun = |heard: &Heard| heard.ledger.iter().any(|line| line.contains(ONCE[0]));
    wait(&lab, deadline, &daemon, is_begun);
    let mut in_flight = Vec::new();
    for _ in 0..kills {
        let share = bmcs * LINES_PER_BMC / (kills + 1);
        let lines = share / 2 + seed.next() % share;
        let until = lab.ears.heard().ledger.len() + usize::try_from(lines).unwrap();
        wait(&lab, deadline, &daemon, |heard| heard.ledger.len() >= until);
        daemon.kill();
        in_flight.push(open_runs(&lab));
        daemon = start(&lab, deadline);
    }
    // Whoever followed it was left alone by a kill, unless the next daemon was there before it asked again; another one
    // follows it to the end.
    let code = apply.end();
    assert!(matches!(code, Some(0 | 130)), "{code:?}: {}", lab.story());
    let code = lab.apply().end();
    assert_eq!(code, Some(0), "{}", lab.story());
    daemon.kill();
    let requests = check(&lab, bmcs);
    assert!(in_flight.iter().any(|open| *open > 0), "no kill met a run");
    assert!(
        in_flight.iter().all(|open| *open <= slots),
        "{in_flight:?} runs in {slots} slots"
    );
    told(&format!(
        "{bmcs} BMCs, killed {kills} times with {in_flight:?} runs under way: all completed, nothing doubled, {requests} requests, {:.0} s",
        began.elapsed().as_secs_f64()
    ));
}

/// A daemon that serves.
fn start(lab: &Lab, deadline: Instant) -> Life {
    let daemon = lab.redpipe(&["daemon"]);
    let number = daemon.number;
    let is_serving = |heard: &Heard| heard.lives[number].text.contains("serving ");
    wait(lab, deadline, &daemon, is_serving);
    daemon
}

fn wait(lab: &Lab, deadline: Instant, daemon: &Life, wanted: impl Fn(&Heard) -> bool) {
    let woken = lab.ears.wait(daemon.number, deadline, wanted);
    assert_eq!(woken, Woken::Wanted, "{}", lab.story());
}

fn open_runs(lab: &Lab) -> u64 {
    let status = lab.status();
    let runs = status["runs"].as_array().unwrap();
    let is_open = |run: &&serde_json::Value| run["phase"] == "InProgress";
    u64::try_from(runs.iter().filter(is_open).count()).unwrap()
}

/// Every BMC has one run, which is completed, and was told everything once. How many requests it took.
fn check(lab: &Lab, bmcs: u64) -> usize {
    let status = lab.status();
    let runs = status["runs"].as_array().unwrap();
    let mut done = std::collections::BTreeSet::new();
    for run in runs {
        assert_eq!(run["phase"], "Completed", "{run}");
        done.insert(run["bmc"].as_str().unwrap().to_owned());
    }
    let count = usize::try_from(bmcs).unwrap();
    assert_eq!(done.len(), count);
    let ledger = lab.ledger();
    let destructive = ledger.destructive();
    assert_eq!(destructive.len(), count);
    // What one BMC needs is what every other one needs: a reset too many would stand out.
    let usual = destructive.values().next().unwrap();
    for (bmc, told) in &destructive {
        for (what, times) in told {
            let is_once = ONCE.iter().any(|once| what.starts_with(once));
            assert!(!is_once || *times == 1, "{bmc}: {times} times `{what}`");
        }
        assert_eq!(told, usual, "{bmc}");
    }
    ledger.len()
}

#[expect(clippy::print_stdout, reason = "the figure is what it is run for")]
fn told(text: &str) {
    println!("{text}");
}
