//! One pass of decisions over one look: records accumulate on a copy of the state, so that each decision sees the one
//! before it.

use std::time::Duration;

use jiff::Timestamp;

use super::deadline::{after, elapsed};
use super::record::{How, Intent, Place, Record, ResetPurpose, TaskFate, Wait};
use super::state::{Act, RunState, Step, Work, WorkStatus};
use crate::model::{Action, Fault, FaultKind, IntentId, Look, LookRequest, Outcome, Retry, Target};
use crate::plan::{Remembered, RunSpec};

/// What the shell allows this run to begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permits {
    /// A request that changes something; off while an operator asked to stop.
    pub acts: bool,
    /// A further version stage; off once the failure budget is spent.
    pub versions: bool,
}

/// The working copy of one decision.
pub(super) struct Pass<'a> {
    pub(super) spec: &'a RunSpec,
    pub(super) context: &'a Remembered,
    pub(super) run_id: &'a str,
    pub(super) now: Timestamp,
    pub(super) permits: Permits,
    pub(super) request: &'a LookRequest,
    pub(super) look: &'a Look,
    pub(super) state: RunState,
    pub(super) records: Vec<Record>,
    pub(super) act: Option<(IntentId, Action)>,
}

impl Pass<'_> {
    pub(super) fn record(&mut self, record: Record) {
        self.state.apply(self.now, &record);
        self.records.push(record);
    }

    /// The work of a place; every place is started before a controller sees it.
    pub(super) fn work(&self, place: &Place) -> &Work {
        &self.state.works[place]
    }

    /// Says what a target waits for, once.
    pub(super) fn wait(
        &mut self,
        place: &Place,
        reason: impl Into<String>,
        until: Option<Timestamp>,
    ) {
        self.set_wait(
            place,
            Wait {
                reason: reason.into(),
                until,
                held: false,
            },
        );
    }

    /// Stops a target on purpose until what the reason names is gone.
    pub(super) fn hold(&mut self, place: &Place, reason: impl Into<String>) {
        self.set_wait(
            place,
            Wait {
                reason: reason.into(),
                until: None,
                held: true,
            },
        );
    }

    fn set_wait(&mut self, place: &Place, wait: Wait) {
        let same = self
            .work(place)
            .wait
            .as_ref()
            .is_some_and(|(old, _)| old.reason == wait.reason && old.held == wait.held);
        if !same {
            self.record(Record::Waiting {
                at: place.clone(),
                wait,
            });
        }
    }

    pub(super) fn done(&mut self, place: &Place, reason: impl Into<String>) {
        let work = self.work(place);
        let how = match (work.written, work.adopted) {
            (_, true) => How::Adopted,
            (true, false) => How::Applied,
            (false, false) => How::AlreadyThere,
        };
        self.record(Record::Done {
            at: place.clone(),
            how,
            reason: reason.into(),
        });
    }

    /// Fails the try; another begins where the stage allows one and time may end the fault.
    pub(super) fn fail(&mut self, place: &Place, fault: Fault) {
        let attempts = self
            .spec
            .stage(&place.stage)
            .map_or(1, |stage| stage.options.attempts);
        let again = self.work(place).attempt < attempts && fault.retry == Retry::Transient;
        self.record(if again {
            Record::Retrying {
                at: place.clone(),
                fault,
            }
        } else {
            Record::Failed {
                at: place.clone(),
                fault,
            }
        });
    }

    /// Writes an intent down and hands its action over; at most one per pass, and none while the operator stops us.
    ///
    /// Returns whether it was written.
    pub(super) fn intend(&mut self, place: &Place, intent: Intent, action: Action) -> bool {
        if self.act.is_some() {
            return false;
        }
        let ends_a_reset = matches!(
            intent,
            Intent::ResetSystem {
                purpose: ResetPurpose::Up | ResetPurpose::ForceDown,
                ..
            }
        );
        if !self.permits.acts && !ends_a_reset {
            self.wait(place, "stopping: no further step is begun", None);
            return false;
        }
        let id = IntentId(format!("{}.{}", self.run_id, self.state.intents + 1));
        self.record(Record::Intent {
            at: place.clone(),
            id: id.clone(),
            intent,
        });
        self.act = Some((id, action));
        true
    }

    /// Counts consecutive reads; true once they are enough and spread over the settle time.
    pub(super) fn agrees(&mut self, place: &Place, good: bool) -> bool {
        let pace = &self.spec.pace;
        let (needed, over) = (pace.settle_reads.max(1), pace.settle_for);
        let before = self.work(place).good;
        let count = match (good, before) {
            (false, None) => return false,
            (false, Some(_)) => 0,
            (true, None) => 1,
            (true, Some(reads)) if elapsed(reads.last_at, self.now) >= spacing(over, needed) => {
                reads.count + 1
            }
            (true, Some(reads)) => reads.count,
        };
        if before.map(|reads| reads.count) != Some(count) {
            self.record(Record::GoodReads {
                at: place.clone(),
                count,
            });
        }
        let Some(reads) = self.work(place).good else {
            return false;
        };
        reads.count >= needed
    }

    /// Time since the current step of a place began.
    pub(super) fn in_step(&self, place: &Place) -> Duration {
        elapsed(self.work(place).step_since, self.now)
    }

    /// The end of a wait that began with the current step.
    pub(super) fn step_until(&self, place: &Place, timeout: Duration) -> Timestamp {
        after(self.work(place).step_since, timeout)
    }

    /// The place whose update is between intent and verified version, if any but `except`.
    pub(super) fn flashing(&self, except: &Place) -> Option<&Place> {
        self.state
            .works
            .iter()
            .find(|(place, work)| *place != except && work.is_flashing())
            .map(|(place, _)| place)
    }

    /// Back-off after a request that did nothing: `None` = go on now.
    ///
    /// Fails the try where the refusal is final or repeating it has no end.
    pub(super) fn after_refusal(&mut self, place: &Place) -> Refusal {
        let work = self.work(place);
        let Some(act) = work
            .acts
            .iter()
            .rev()
            .find(|act| act.attempt == work.attempt)
        else {
            return Refusal::None;
        };
        if act.never_arrived {
            return Refusal::None;
        }
        let did_nothing = |act: &&Act| {
            act.attempt == work.attempt
                && matches!(
                    act.outcome,
                    Some(Outcome::Refused { .. } | Outcome::NotSent { .. })
                )
        };
        let first_at = work
            .acts
            .iter()
            .rev()
            .take_while(did_nothing)
            .last()
            .map_or(act.at, |first| first.at);
        let since_first = elapsed(first_at, self.now);
        let (fault, wait) = match &act.outcome {
            Some(Outcome::Refused {
                fault,
                later: false,
                ..
            }) => (fault.clone(), None),
            Some(Outcome::Refused {
                fault,
                later: true,
                retry_after_secs,
            }) => (
                fault.clone(),
                Some(Duration::from_secs(retry_after_secs.unwrap_or(0))),
            ),
            Some(Outcome::NotSent { fault }) => (fault.clone(), Some(Duration::ZERO)),
            Some(Outcome::Accepted { .. } | Outcome::Lost { .. }) | None => return Refusal::None,
        };
        let Some(wait) = wait else {
            self.fail(place, fault);
            return Refusal::Ended;
        };
        if since_first > super::deadline::LATER_TIMEOUT {
            self.fail(place, fault);
            return Refusal::Ended;
        }
        let until = after(act.at, wait.max(self.spec.pace.task_poll));
        if self.now < until {
            self.wait(place, format!("asked to come later: {fault}"), Some(until));
            return Refusal::Ended;
        }
        Refusal::None
    }

    /// Whether the followed task of a place is over as far as anybody can tell.
    pub(super) fn task_is_over(&self, place: &Place) -> bool {
        self.work(place)
            .task
            .as_ref()
            .is_none_or(|track| match track.seen.fate {
                TaskFate::Good | TaskFate::Bad | TaskFate::Gone => true,
                TaskFate::Running | TaskFate::AwaitsReset => track.handle.is_none(),
            })
    }

    /// Whether a place is still to be worked on.
    pub(super) fn is_active(&self, place: &Place) -> bool {
        self.state
            .works
            .get(place)
            .is_some_and(|work| work.status == WorkStatus::Active)
    }

    /// The step of a place.
    pub(super) fn step(&self, place: &Place) -> Step {
        self.work(place).step.clone()
    }

    /// How people call a target.
    pub(super) fn name(&self, target: &Target) -> String {
        match target {
            Target::Bmc => format!("bmc `{}`", self.spec.bmc),
            Target::Server(server) => format!("server `{server}`"),
        }
    }
}

/// What a refused request leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Nothing was refused, or it is time to ask again.
    None,
    /// The pass for this place is over: it waits or has failed.
    Ended,
}

/// Time between two reads of a row of `reads` spread over `over`.
pub(super) fn spacing(over: Duration, reads: u32) -> Duration {
    over.checked_div(reads.saturating_sub(1).max(1))
        .unwrap_or(over)
}

/// A fault of the run's own making.
pub(super) fn fault(kind: FaultKind, retry: Retry, message: impl Into<String>) -> Fault {
    Fault::new(kind, retry, message)
}
