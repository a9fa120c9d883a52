//! Nothing is asked of a BMC twice, unless the journal says that the first time did not happen.

use std::collections::BTreeMap;

use redpipe::daemon::history::events_after;
use redpipe::run::Record;
use redpipe::run::record::Intent;
use redpipe::store::Store;

use crate::support::world::World;

/// How often a BMC took each request that does something.
pub(crate) fn asked(world: &World, bmc: &str) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for line in world.ledger(bmc) {
        for phrase in line.caused {
            if kind(&phrase).is_some() {
                *found.entry(essence(&phrase)).or_default() += 1;
            }
        }
    }
    found
}

/// What of a phrase is the same in each life: tasks and jobs are numbered, and what a host ignores was asked all the same.
fn essence(phrase: &str) -> String {
    if phrase.starts_with("job created ") {
        return "job created".to_owned();
    }
    let before = phrase.split(" task ").next().unwrap_or(phrase);
    before.replace("reset ignored ", "reset ")
}

/// Which intent a phrase answers to.
fn kind(phrase: &str) -> Option<&'static str> {
    if phrase.starts_with("update accepted ") {
        Some("update")
    } else if phrase.starts_with("update started ") {
        Some("start")
    } else if phrase.starts_with("reset refused ") {
        None
    } else if phrase.starts_with("resource changed ") && phrase.contains("HttpPushUriTargets") {
        // What a push takes is given back by whoever comes next.
        None
    } else if phrase.starts_with("reset ") {
        Some(if phrase.contains("/Managers/") {
            "manager"
        } else {
            "system"
        })
    } else if phrase.starts_with("task deleted ") || phrase.starts_with("job deleted ") {
        Some("withdraw")
    } else if phrase.starts_with("settings accepted ") || phrase.starts_with("job created ") {
        Some("attributes")
    } else if phrase.starts_with("resource changed ") {
        Some("resource")
    } else if phrase.starts_with("media inserted ") {
        Some("action")
    } else {
        None
    }
}

fn kind_of(intent: &Intent) -> &'static str {
    match intent {
        Intent::Update { .. } => "update",
        Intent::ResetSystem { .. } => "system",
        Intent::ResetManager { .. } => "manager",
        Intent::Withdraw { .. } => "withdraw",
        Intent::Attributes { .. } => "attributes",
        Intent::Resource { .. } => "resource",
        Intent::Call { .. } => "action",
    }
}

/// All records about a BMC.
pub(crate) fn journal(store: &dyn Store, bmc: &str) -> Vec<Record> {
    let events = events_after(store, 0, usize::from(u16::MAX)).unwrap();
    let ours = events
        .into_iter()
        .filter(|event| event.key.bmc.as_str() == bmc);
    ours.filter_map(|event| event.record).collect()
}

/// What a BMC was asked more often than it was without a crash, and without a word that allows it; empty = nothing.
pub(crate) fn repeated(
    usual: &BTreeMap<String, usize>,
    asked: &BTreeMap<String, usize>,
    journal: &[Record],
) -> Vec<String> {
    let intents: BTreeMap<_, _> = journal
        .iter()
        .filter_map(|record| {
            let Record::Intent { id, intent, .. } = record else {
                return None;
            };
            Some((id, kind_of(intent)))
        })
        .collect();
    let never_happened = |kind: &str| {
        let told = journal.iter().filter(|record| {
            matches!(record, Record::NotHappened { id, .. } if intents.get(id) == Some(&kind))
        });
        told.count()
    };
    let mut wrong = Vec::new();
    for (phrase, times) in asked {
        let kind = kind(phrase).unwrap_or_default();
        let allowed = usual.get(phrase).copied().unwrap_or(0) + never_happened(kind);
        if *times > allowed {
            wrong.push(format!("{times} times, not {allowed}: {phrase}"));
        }
    }
    for kind in ["update", "system", "manager", "withdraw", "action"] {
        let requests: usize = asked
            .iter()
            .filter(|(phrase, _)| self::kind(phrase) == Some(kind))
            .map(|(_, times)| times)
            .sum();
        let decided = intents.values().filter(|of| **of == kind).count();
        if requests > decided {
            wrong.push(format!(
                "{requests} requests of kind {kind} for {decided} intents"
            ));
        }
    }
    wrong
}
