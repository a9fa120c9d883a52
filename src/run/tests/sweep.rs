//! Whatever a run is made of, a process may die and a message may be lost at every one of its turns: the end is the same,
//! and no update is sent twice.

use std::collections::BTreeMap;

use serde_json::Value;

use super::bench::{Bench, Harm};
use super::habit::Ending;
use super::texts::{bios_hop, bios_settings, bmc_hop, bmc_resources};
use crate::model::look::Power;
use crate::run::record::StageWord;
use crate::run::{How, Record, RunPhase};

/// A kind of stage after another, so that the compiler knows one that is missing here.
fn kind_after(kind: Option<StageWord>) -> Option<StageWord> {
    match kind {
        None => Some(StageWord::BmcSettings),
        Some(StageWord::BmcSettings) => Some(StageWord::BmcVersion),
        Some(StageWord::BmcVersion) => Some(StageWord::BiosSettings),
        Some(StageWord::BiosSettings) => Some(StageWord::BiosVersion),
        Some(StageWord::BiosVersion) => None,
    }
}

fn kinds() -> impl Iterator<Item = StageWord> {
    std::iter::successors(kind_after(None), |kind| kind_after(Some(*kind)))
}

/// A stage of a kind.
fn stage(kind: StageWord) -> String {
    match kind {
        StageWord::BmcSettings => bmc_resources(
            "net",
            &[
                r#"{ uri = "{manager}/NetworkProtocol", set = { NTP = { ProtocolEnabled = true } } }"#,
                r#"{ uri = "{manager}/NetworkProtocol", set = { SSDP = { ProtocolEnabled = false } } }"#,
            ],
        ),
        StageWord::BmcVersion => bmc_hop("1.60"),
        StageWord::BiosSettings => bios_settings(
            "quiet",
            "[[stage.flow]]\nname = \"a\"\npriority = 1\nsettings = { QuietBoot = false }\n[[stage.flow]]\nname = \"b\"\npriority = 2\nsettings = { Boost = \"On\" }",
        ),
        StageWord::BiosVersion => bios_hop("2.20"),
    }
}

/// What a box is like.
type Habit = fn(&mut Bench);

/// Boxes on which each kind of stage is swept.
const BOXES: [(&str, Habit); 7] = [
    ("as it comes", |_| {}),
    ("off", |bench| bench.model.host("s1").power = Power::Off),
    ("says when it started", |bench| {
        bench.model.started = Some(bench.model.now);
    }),
    ("forgets its tasks", |bench| {
        bench.model.habits.forgets_tasks = true;
    }),
    ("waits for resets", |bench| {
        bench.model.habits.bmc_waits_for_reset = true;
        bench.model.habits.network_needs_reset = true;
        bench.model.habits.ending = Ending::Waits("Pending");
    }),
    ("flashes by itself", |bench| {
        bench.model.habits.reboots_by_itself = true;
    }),
    ("ignores what is graceful", |bench| {
        let kinds = ["GracefulShutdown", "GracefulRestart"];
        bench.model.habits.ignores = kinds.into();
    }),
];

/// BIOS version, power and attributes of a host.
type HostEnd = (String, Power, BTreeMap<String, Value>);

/// What must be the same whatever happened on the way.
#[derive(Debug, PartialEq)]
struct End {
    phase: RunPhase,
    bmc: String,
    network: Value,
    hosts: BTreeMap<String, HostEnd>,
    updates: Vec<String>,
}

fn end(bench: &Bench) -> End {
    let hosts = bench.model.hosts.iter().map(|(name, host)| {
        let host = (host.bios.clone(), host.power, host.attributes.clone());
        (name.to_string(), host)
    });
    let updates = bench.model.ledger.iter();
    // Siblings take their turns in any order.
    let updates = updates.filter(|line| line.starts_with("update"));
    let mut updates: Vec<String> = updates.cloned().collect();
    updates.sort();
    End {
        phase: bench.phase(),
        bmc: bench.model.bmc.clone(),
        network: bench.model.network.clone(),
        hosts: hosts.collect(),
        updates,
    }
}

/// Lets a run go wrong at each of its turns, `times` in a row. A turn in which nothing is decided is one of a long quiet
/// wait, of which the first is enough.
fn sweep(what: &str, make: impl Fn() -> Bench, harm: Harm, times: usize) {
    let mut quiet = make();
    assert_eq!(
        quiet.run(),
        RunPhase::Completed,
        "{what}: {}",
        quiet.story()
    );
    let wanted = end(&quiet);
    let mut bench = make();
    let mut was_quiet = false;
    while !bench.is_at_rest() {
        let before = bench.journal.len();
        let mut harmed = bench.clone();
        bench.turn();
        let is_quiet = bench.journal.len() == before;
        if is_quiet && was_quiet {
            continue;
        }
        was_quiet = is_quiet;
        let mut has_acted = false;
        for _ in 0..times {
            has_acted |= !harmed.is_at_rest() && harmed.turn_with(harm);
        }
        if harm != Harm::DiesAfterwards && !has_acted {
            // There was no request that could go wrong.
            continue;
        }
        harmed.run();
        let story = || {
            format!(
                "{what}, {harm:?} at {before}: {:#?}\n{}",
                harmed.model.ledger,
                harmed.story()
            )
        };
        assert_eq!(end(&harmed), wanted, "{}", story());
    }
}

fn sweep_all(harm: Harm, times: usize) {
    for kind in kinds() {
        for (name, habit) in BOXES {
            let make = || {
                let mut bench = Bench::one(&stage(kind));
                habit(&mut bench);
                bench
            };
            sweep(&format!("{kind:?} on a box that {name}"), make, harm, times);
        }
    }
    let all: String = kinds().map(stage).collect();
    sweep(
        "all kinds on two servers",
        || Bench::of(&["s1", "s2"], &all),
        harm,
        times,
    );
}

#[test]
fn a_process_that_dies_after_any_turn_is_carried_on_to_the_same_end() {
    sweep_all(Harm::DiesAfterwards, 1);
}

#[test]
fn a_process_that_dies_before_any_request_leaves_is_carried_on_to_the_same_end() {
    sweep_all(Harm::DiesBeforeRequest, 1);
}

#[test]
fn a_process_that_dies_before_any_answer_is_written_down_is_carried_on_to_the_same_end() {
    sweep_all(Harm::DiesBeforeRecord, 1);
}

#[test]
fn a_process_that_dies_twice_in_a_row_is_carried_on_to_the_same_end() {
    sweep_all(Harm::DiesAfterwards, 2);
}

#[test]
fn any_lost_answer_leads_to_the_same_end() {
    sweep_all(Harm::LosesAnswer, 1);
}

#[test]
fn any_lost_request_leads_to_the_same_end() {
    sweep_all(Harm::LosesRequest, 1);
}

#[test]
fn each_kind_of_stage_has_something_to_do_in_the_sweep() {
    for kind in kinds() {
        let mut bench = Bench::one(&stage(kind));
        assert_eq!(bench.run(), RunPhase::Completed, "{}", bench.story());
        let starts = |record: &Record| matches!(record, Record::Started { stages, .. } if stages.iter().all(|s| s.kind == kind));
        assert!(bench.has(starts), "{kind:?}");
        assert!(
            bench.has(|r| matches!(
                r,
                Record::Done {
                    how: How::Applied,
                    ..
                }
            )),
            "{kind:?}"
        );
    }
}
