//! redpipe is killed at seeded lines of the ledger, over and over, against a mock in a process of its own: the end is
//! the same, and nothing is sent twice. So is a daemon under the load of a whole fleet.

#![expect(clippy::unwrap_used, reason = "tests")]

mod ears;
mod fleet;
mod lab;
mod ledger;

use std::time::{Duration, Instant};

use ears::Woken;
use lab::{Lab, Setup};

/// Kills over all rounds.
const KILLS: usize = 20;

/// Kills that must hit an update under way.
const KILLS_IN_UPDATE_MIN: usize = 5;

/// Longest time for one life of redpipe; a whole pipeline takes a few seconds at this time scale.
const LIFE_MAX: Duration = Duration::from_mins(2);

/// Rounds (each a fresh fleet and a whole pipeline) in which the kills have to fit.
const ROUNDS_MAX: u64 = 8;

#[test]
fn twenty_kills_change_neither_the_end_nor_the_number_of_updates() {
    let (mut kills, mut in_update) = (0, 0);
    for round in 1..=ROUNDS_MAX {
        let lab = Lab::start(&Setup::default());
        let mut seed = Seed(round);
        loop {
            let until = lab.ledger().len() + seed.lines();
            let end = if kills < KILLS {
                run_and_kill(&lab, until)
            } else {
                End::Ended(lab.apply().end())
            };
            let ledger = lab.ledger();
            ledger.check_updates();
            if let End::Ended(code) = end {
                assert_eq!(code, Some(0), "{}", lab.story());
                break;
            }
            kills += 1;
            in_update += usize::from(ledger.has_update_under_way());
            assert!(
                ledger.sessions_left() <= 1,
                "{} sessions are left",
                ledger.sessions_left()
            );
        }
        let ledger = lab.ledger();
        assert_eq!(ledger.sessions_left(), 0, "a session is left at the end");
        ledger.check_end();
        if kills >= KILLS {
            break;
        }
    }
    assert!(kills >= KILLS, "only {kills} kills found their line");
    assert!(
        in_update >= KILLS_IN_UPDATE_MIN,
        "only {in_update} kills hit an update under way"
    );
}

/// How one process ended.
enum End {
    /// By our hand.
    Killed,
    /// By itself, with this exit code.
    Ended(Option<i32>),
}

/// Starts `apply` and kills it once the ledger has so many lines.
#[expect(
    clippy::disallowed_methods,
    reason = "a deadline in real time, for processes that hang"
)]
fn run_and_kill(lab: &Lab, until: usize) -> End {
    let life = lab.apply();
    let deadline = Instant::now() + LIFE_MAX;
    let is_there = |heard: &ears::Heard| heard.ledger.len() >= until;
    match lab.ears.wait(life.number, deadline, is_there) {
        Woken::Wanted => {
            life.kill();
            End::Killed
        }
        Woken::Over => End::Ended(life.end()),
        Woken::Late => panic!("no line {until} and no end: {}", lab.story()),
    }
}

/// Distances between kills: splitmix64, so that a failing round can be repeated.
struct Seed(u64);

impl Seed {
    fn lines(&mut self) -> usize {
        20 + usize::try_from(self.next() % 90).unwrap()
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
