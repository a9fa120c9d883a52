//! Ends that differ because nobody can know better: each with the sentence of the design that says so.

use std::collections::BTreeMap;

use redpipe::run::record::Intent;
use redpipe::run::status::RunStatus;
use redpipe::run::{Record, RunPhase};

/// Whether every run on a BMC whose end differs is held as it has to be.
pub(crate) fn is_allowed(
    runs: &BTreeMap<String, RunStatus>,
    journals: &BTreeMap<String, Vec<Record>>,
    differs: &[String],
) -> bool {
    journals.iter().all(|(bmc, journal)| {
        let is_same = !differs
            .iter()
            .any(|line| line[2..].starts_with(&format!("{bmc} ")));
        is_same
            || runs
                .get(bmc)
                .is_some_and(|run| is_second_doubt(run, journal) || is_untied(run, journal))
    })
}

/// "Quiet, unchanged and no BMC restart seen: one new intent, counted as an attempt; anything else: held" (§5, the probe).
/// The process died between that one new intent and its request, which never left: that the update did not happen shows
/// as little as the first time, and there is no third.
fn is_second_doubt(run: &RunStatus, journal: &[Record]) -> bool {
    let first = journal
        .iter()
        .position(|record| matches!(record, Record::NotHappened { .. }));
    let after = &journal[first.unwrap_or(journal.len())..];
    let intents = journal.iter().filter(|record| is_update(record)).count();
    died_behind_update(after)
        && intents == 2
        && run.phase == RunPhase::Held
        && run.reason.contains("this stage was in doubt before")
}

/// "*Happened* by a tied task, a version, or a fetch of the intent's own image path; anything else: held" (§5, the probe).
/// The process died while a push was on its way, so no answer named the task. Whatever work the BMC shows now may be
/// somebody else's, and to activate an image that another person pushed is worse than to ask.
fn is_untied(run: &RunStatus, journal: &[Record]) -> bool {
    died_behind_update(journal)
        && run.phase == RunPhase::Held
        && run.reason.contains("nothing ties it to our request")
}

fn died_behind_update(journal: &[Record]) -> bool {
    journal
        .windows(2)
        .any(|two| is_update(&two[0]) && matches!(two[1], Record::Resumed { .. }))
}

fn is_update(record: &Record) -> bool {
    matches!(
        record,
        Record::Intent {
            intent: Intent::Update { .. },
            ..
        }
    )
}
