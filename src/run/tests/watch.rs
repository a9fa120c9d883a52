//! What must be true after every look of every test.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::model::IntentId;
use crate::run::record::{Intent, Place, ResetPurpose};
use crate::run::state::{Step, Work};
use crate::run::{Decision, Record, RunMachine};

/// Waits without a deadline that say who ends them.
const BLOCKERS: [&str; 4] = [
    "is being updated by stage",
    "stopping: no further step is begun",
    "looking again",
    "the last try may still be flashing",
];

/// What it has seen so far.
#[derive(Clone, Default)]
pub(super) struct Watch {
    sent: BTreeSet<IntentId>,
}

impl Watch {
    /// A request leaves.
    pub(super) fn sent(&mut self, id: &IntentId) {
        assert!(self.sent.insert(id.clone()), "intent {id} is sent twice");
    }

    /// A look was decided about.
    pub(super) fn decided(&self, now: Timestamp, machine: &RunMachine, decision: &Decision) {
        for record in &decision.records {
            if let Record::Done { at, .. } = record {
                done_is_newer_than_the_last_write(now, machine, at);
            }
            if let Record::Intent { at, intent, id } = record {
                assert!(!self.sent.contains(id), "intent {id} is decided twice");
                no_power_while_a_boot_of_ours_flashes(machine, at, intent, id);
            }
        }
        one_request_at_a_time(machine);
        if decision.records.is_empty() {
            every_wait_has_an_end(now, machine);
        }
    }
}

fn done_is_newer_than_the_last_write(now: Timestamp, machine: &RunMachine, place: &Place) {
    let work = &machine.state().works[place];
    if let Some(last) = work.acts.last() {
        assert!(
            last.at < now,
            "{place:?} is done without a look after {last:?}"
        );
    }
}

/// Between the power-on of an activation and the verified version nothing is asked of that host.
fn no_power_while_a_boot_of_ours_flashes(
    machine: &RunMachine,
    place: &Place,
    intent: &Intent,
    id: &IntentId,
) {
    let Intent::ResetSystem { purpose, .. } = intent else {
        return;
    };
    if *purpose == ResetPurpose::Restore {
        // The version is verified by then, and the box itself watches what it does.
        return;
    }
    let began = |work: &Work| {
        work.is_flashing()
            && work.acts.iter().any(|act| {
                act.id != *id
                    && act.attempt == work.attempt
                    && act.may_have_happened()
                    && matches!(
                        act.intent,
                        Intent::ResetSystem {
                            purpose: ResetPurpose::Up,
                            ..
                        }
                    )
            })
    };
    let works = machine.state().works.iter();
    for (other, work) in works.filter(|(other, _)| other.target == place.target) {
        assert!(
            !began(work),
            "{intent:?} goes to a host that {other:?} has switched on to flash"
        );
    }
}

fn one_request_at_a_time(machine: &RunMachine) {
    let works = machine.state().works.values();
    let open = works
        .filter(|work| matches!(work.step, Step::Acting(_)))
        .count();
    assert!(open <= 1, "{open} requests are in flight at once");
}

/// Every target that nothing happens to says what it waits for, and until when or for whom.
fn every_wait_has_an_end(now: Timestamp, machine: &RunMachine) {
    let state = machine.state();
    if state.gone_since.is_some() && state.root_good.is_some() {
        return;
    }
    for place in state.active() {
        let Some(work) = state.works.get(&place) else {
            continue;
        };
        let Some((wait, _)) = &work.wait else {
            panic!("{place:?} waits and does not say for what: {:?}", work.step);
        };
        let named = BLOCKERS.iter().any(|words| wait.reason.contains(words));
        assert!(
            wait.held || wait.until.is_some() || named,
            "{place:?} waits without end: {wait:?}"
        );
        assert!(
            wait.held || wait.until.is_none_or(|until| now < until),
            "{place:?} still waits though its time is over: {wait:?}"
        );
    }
}
