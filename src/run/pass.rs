//! One pass of decisions over one look: records accumulate on a copy of the state, so that each decision sees the one
//! before it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;

use super::deadline::{after, elapsed};
use super::hold::HookCall;
use super::order::paused;
use super::record::{How, Intent, Place, Record, ResetPurpose, TaskFate, Wait};
use super::state::{RunState, Step, Work, WorkStatus};
use crate::model::{Action, Fault, FaultKind, IntentId, Look, LookRequest, Retry, Target};
use crate::plan::{Remembered, RunSpec, fingerprint};

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
    /// Pending attributes that this look shows at exactly the values that a stage wants: ours, whoever wrote them.
    pub(super) adopted: BTreeMap<Target, BTreeSet<String>>,
    pub(super) records: Vec<Record>,
    /// An outdated stage ended: what the file wants now is looked at next.
    pub(super) is_over: bool,
    pub(super) act: Option<(IntentId, Action)>,
    pub(super) hook: Option<HookCall>,
    /// Whether a step that was granted does not fit into what is left of the window.
    pub(super) shut: bool,
}

/// Hexadecimal digits of a path that nobody can guess: 128 bits.
const SECRET_DIGITS: usize = 32;

/// What an operator reads while redpipe begins nothing any more.
pub(super) const STOPPING: &str = "stopping: no further step is begun";

impl Pass<'_> {
    pub(super) fn record(&mut self, record: Record) {
        if let Record::Done { at, .. } = &record {
            self.is_over |= self.state.works.get(at).is_some_and(|work| work.outdated);
        }
        self.state.apply(self.now, &record);
        self.records.push(record);
    }

    /// Begins a stage on a target, unless it has begun.
    pub(super) fn start(&mut self, place: &Place) {
        if !self.state.works.contains_key(place) {
            self.record(Record::StageStarted {
                at: place.clone(),
                attempt: 1,
            });
        }
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
        self.hold_until(place, reason, None);
    }

    /// The same where it is known when that will be.
    pub(super) fn hold_until(
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
                held: true,
            },
        );
    }

    /// Waits for something that has no step of its own, and holds once it has been waited for long enough.
    pub(super) fn wait_or_hold(
        &mut self,
        place: &Place,
        reason: impl Into<String>,
        timeout: Duration,
        held: impl Into<String>,
    ) {
        let (reason, held) = (reason.into(), held.into());
        let since = match &self.work(place).wait {
            Some((wait, _)) if wait.held && wait.reason == held => return,
            Some((wait, at)) if wait.reason == reason => *at,
            Some(_) | None => self.now,
        };
        let until = after(since, timeout);
        if self.now < until {
            self.wait(place, reason, Some(until));
        } else {
            self.hold(place, held);
        }
    }

    /// Stops everything.
    pub(super) fn hold_all(&mut self, reason: &str) {
        let places = self.state.active();
        for place in &places {
            self.start(place);
            self.hold(place, reason);
        }
        if places.is_empty() {
            self.run_wait(reason, None, true);
        }
    }

    /// Says what the run waits for while no stage is under way, once.
    pub(super) fn run_wait(&mut self, reason: &str, until: Option<Timestamp>, held: bool) {
        let old = self.state.wait.as_ref();
        if !old.is_some_and(|(old, _)| old.reason == reason && old.held == held) {
            let wait = Wait {
                reason: reason.to_owned(),
                until,
                held,
            };
            self.record(Record::RunWaiting { wait });
        }
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

    /// Fails the try. A hop whose update may be on the BMC first looks for what is left of it there.
    pub(super) fn fail(&mut self, place: &Place, fault: Fault) {
        if self.work(place).update_at_large().is_some() {
            self.record(Record::Failing {
                at: place.clone(),
                fault,
            });
        } else {
            self.fail_now(place, fault);
        }
    }

    /// Fails the try; another begins where the stage allows one and time may end the fault.
    pub(super) fn fail_now(&mut self, place: &Place, fault: Fault) {
        let attempts = self
            .spec
            .stage(&place.stage)
            .map_or(1, |stage| stage.options.attempts);
        let again = self.work(place).tries() < attempts && fault.retry == Retry::Transient;
        let at = place.clone();
        self.record(if again {
            Record::Retrying { at, fault }
        } else {
            Record::Failed { at, fault }
        });
    }

    /// Whether a request may leave; says so where the operator stops us.
    pub(super) fn may_act(&mut self, place: &Place) -> bool {
        if self.act.is_some() || self.hook.is_some() {
            return false;
        }
        if !self.permits.acts {
            self.wait(place, STOPPING, None);
            return false;
        }
        // What a cancel still sends takes back or sets back, and never begins anything.
        if self.state.cancel().is_none()
            && let Some(reason) = self.state.pause().map(paused)
        {
            self.hold(place, reason);
            return false;
        }
        true
    }

    /// Writes an intent down and hands its action over; at most one per pass. While the operator stops us, only what
    /// brings a host back that is down by our doing.
    pub(super) fn intend(&mut self, place: &Place, intent: Intent, action: Action) {
        let ends_a_reset = matches!(
            intent,
            Intent::ResetSystem {
                purpose: ResetPurpose::Up | ResetPurpose::ForceDown,
                ..
            }
        ) && self.work(place).is_flashing();
        if self.act.is_some() || self.hook.is_some() || (!ends_a_reset && !self.may_act(place)) {
            return;
        }
        let id = self.next_intent();
        self.record(Record::Intent {
            at: place.clone(),
            id: id.clone(),
            intent,
        });
        self.act = Some((id, action));
    }

    fn next_intent(&self) -> IntentId {
        IntentId(format!("{}.{}", self.run_id, self.state.intents + 1))
    }

    /// What nobody can guess of the next intent, and every process of this state finds again.
    pub(super) fn next_secret(&self) -> String {
        let id = self.next_intent().0;
        let mut secret = fingerprint(&self.context.salt, "served", &id.into());
        secret.truncate(SECRET_DIGITS);
        secret
    }

    /// Counts consecutive reads; true once they are enough and spread over the settle time.
    pub(super) fn agrees(&mut self, place: &Place, good: bool) -> bool {
        let pace = &self.spec.pace;
        let needed = pace.settle_reads.max(1);
        let before = self.work(place).good;
        let count = match (good, before) {
            (false, None) => return false,
            (false, Some(_)) => 0,
            (true, None) => 1,
            (true, Some(reads)) if self.now >= reads.next_at(pace) => reads.count + 1,
            (true, Some(reads)) => reads.count,
        };
        if before.map(|reads| reads.count) != Some(count) {
            self.record(Record::GoodReads {
                at: place.clone(),
                count,
            });
        }
        count >= needed
    }

    /// Time since the current step of a place began.
    pub(super) fn in_step(&self, place: &Place) -> Duration {
        elapsed(self.work(place).step_since, self.now)
    }

    /// The end of a wait that began with the current step.
    pub(super) fn step_until(&self, place: &Place, timeout: Duration) -> Timestamp {
        after(self.work(place).step_since, timeout)
    }

    /// Whether the followed task of a place is over as far as anybody can tell.
    pub(super) fn task_is_over(&self, place: &Place) -> bool {
        let work = self.work(place);
        work.task
            .as_ref()
            .is_none_or(|track| match track.seen.fate {
                TaskFate::Good | TaskFate::Bad | TaskFate::Gone => true,
                // What it waited for has happened; some never say so.
                TaskFate::AwaitsReset => track.handle.is_none() || work.reset_made,
                TaskFate::Running => track.handle.is_none(),
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

/// Time between two reads of a row of `reads` spread over `over`.
pub(super) fn spacing(over: Duration, reads: u32) -> Duration {
    over.checked_div(reads.saturating_sub(1).max(1))
        .unwrap_or(over)
}

/// A fault of the run's own making.
pub(super) fn fault(kind: FaultKind, retry: Retry, message: impl Into<String>) -> Fault {
    Fault::new(kind, retry, message)
}
