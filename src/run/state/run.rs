//! The run as a whole.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::hold::Hold;
use super::work::{GoodReads, Work};
use crate::model::look::Identity;
use crate::model::order::Verb;
use crate::model::{Order, RunKey, ServerName, Target};
use crate::plan::HopPaths;
use crate::run::LOOKING_AGAIN;
use crate::run::deadline::elapsed;
use crate::run::record::{
    HoldStep, Place, Record, Recovering, RunPhase, ServerBox, StageHead, Wait,
};

/// State of one run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunState {
    /// Set by `Started`.
    pub start: Option<Start>,
    /// Every stage on every target that began.
    pub works: BTreeMap<Place, Work>,
    /// Intents so far; numbers the next one.
    pub intents: u32,
    /// Set by `Ended`.
    pub end: Option<(RunPhase, String, Timestamp)>,
    /// What the run waits for while no stage is under way, and since when.
    pub wait: Option<(Wait, Timestamp)>,
    /// The BMC does not answer, since then.
    pub gone_since: Option<Timestamp>,
    /// Whether that is inside a declared outage.
    pub gone_as_expected: bool,
    /// Good reads of the service root since the BMC is away.
    pub root_good: Option<GoodReads>,
    /// The certificate that was last taken inside a declared outage.
    pub certificate: Option<String>,
    /// When the BMC last came back from a declared outage.
    pub back_at: Option<Timestamp>,
    /// When the BMC last answered again after it did not, declared or not.
    pub answered_at: Option<Timestamp>,
    /// Whether any request that changes something may have left us.
    pub has_written: bool,
    /// When the last of them was decided.
    pub last_write_at: Option<Timestamp>,
    /// When whoever drives the run last wrote something down.
    pub last_at: Option<Timestamp>,
    /// Things a person should know.
    pub notices: Vec<String>,
    /// Orders taken up, oldest first.
    pub orders: Vec<Order>,
    /// Whether it was held when anything last moved: looking again moves nothing.
    pub was_held: bool,
    /// Servers asked for, or held.
    pub hold: Option<Hold>,
    /// Numbers of the orders that have served as an approval: each serves once.
    pub approvals_used: BTreeSet<u64>,
    /// Since when nothing has moved because all of it is held.
    pub held_since: Option<Timestamp>,
}

/// What the first good look fixed.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    /// Which run.
    pub key: RunKey,
    /// When.
    pub at: Timestamp,
    /// Its servers.
    pub servers: Vec<ServerName>,
    /// Stages in order.
    pub stages: Vec<StageHead>,
    /// Versions found.
    pub baselines: BTreeMap<Target, Option<String>>,
    /// Who answered.
    pub identity: Identity,
    /// Which boxes.
    pub boxes: BTreeMap<ServerName, ServerBox>,
    /// Digest of the specification last taken up.
    pub digest: String,
    /// Class of machine; empty where an older redpipe did not write it down.
    pub platform: String,
    /// Generation of the file last taken up, salted.
    pub generation: String,
    /// Servers that left the inventory since.
    pub removed: BTreeSet<ServerName>,
    /// What had drifted, where nobody but drift asked for the run.
    pub recovery: Option<Recovering>,
    /// Hops that were computed from what ran.
    pub paths: HopPaths,
}

impl Start {
    fn of(at: Timestamp, record: &Record) -> Option<Self> {
        let Record::Started {
            key,
            servers,
            stages,
            digest,
            baselines,
            identity,
            boxes,
            platform,
            generation,
            recovery,
            paths,
        } = record
        else {
            return None;
        };
        Some(Self {
            key: key.clone(),
            at,
            servers: servers.clone(),
            stages: stages.clone(),
            baselines: baselines.clone(),
            identity: identity.clone(),
            boxes: boxes.clone(),
            digest: digest.clone(),
            platform: platform.clone(),
            generation: generation.clone(),
            removed: BTreeSet::new(),
            recovery: recovery.clone(),
            paths: paths.clone(),
        })
    }
}

impl RunState {
    /// Adds one record. Live and on restore alike, this is the only way state changes.
    pub fn apply(&mut self, at: Timestamp, record: &Record) {
        if let Record::Resumed { .. } = record {
            self.slept(at);
        }
        self.take_up(at, record);
        self.note_hold(record);
        self.note_held(at, record);
        // A person's word says nothing of a process that drives.
        if !matches!(record, Record::Ordered { .. }) {
            self.last_at = Some(at);
        }
    }

    fn take_up(&mut self, at: Timestamp, record: &Record) {
        match record {
            Record::Started { .. } => self.start = Start::of(at, record),
            Record::Resumed {
                digest,
                stages,
                generation,
            } => self.resumed(digest, stages, generation),
            Record::Hold { step } => self.hold_moved(at, step),
            Record::Ordered { order } => self.take_order(order),
            Record::Edited {
                again,
                added,
                removed,
            } => self.edited(at, again, added, removed),
            Record::StageStarted { at: place, attempt } => {
                self.works
                    .entry(place.clone())
                    .or_insert_with(|| Work::new(*attempt, at));
            }
            Record::RootGood { count } => {
                self.root_good = GoodReads::counted(self.root_good, *count, at);
            }
            Record::CertificateAccepted { certificate, .. } => {
                self.certificate = Some(certificate.clone());
            }
            Record::Outage { gone, expected, .. } => self.outage(at, *gone, *expected),
            Record::RunWaiting { wait } => self.wait = Some((wait.clone(), at)),
            Record::Notice { text, .. } => self.notices.push(text.clone()),
            Record::Ended { phase, reason } => {
                self.end = Some((*phase, reason.clone(), at));
                self.wait = None;
            }
            Record::Waiting { at: place, .. }
            | Record::Intent { at: place, .. }
            | Record::Outcome { at: place, .. }
            | Record::Task { at: place, .. }
            | Record::Adopted { at: place, .. }
            | Record::NotHappened { at: place, .. }
            | Record::Happened { at: place, .. }
            | Record::PowerBefore { at: place, .. }
            | Record::Boot { at: place, .. }
            | Record::GoodReads { at: place, .. }
            | Record::ItemDone { at: place, .. }
            | Record::WriteOnly { at: place, .. }
            | Record::Done { at: place, .. }
            | Record::Retrying { at: place, .. }
            | Record::Failing { at: place, .. }
            | Record::Reopened { at: place, .. }
            | Record::Stopped { at: place, .. }
            | Record::Failed { at: place, .. } => self.apply_to_work(at, place, record),
        }
    }

    fn note_hold(&mut self, record: &Record) {
        match record {
            Record::Waiting { wait, .. } | Record::RunWaiting { wait } => {
                self.was_held = wait.held || (self.was_held && wait.reason == LOOKING_AGAIN);
            }
            // Neither is a word of the BMC about what was held.
            Record::Resumed { .. }
            | Record::Ordered { .. }
            | Record::Hold { .. }
            | Record::Edited { .. }
            | Record::Notice { .. }
            | Record::Outage { .. }
            | Record::CertificateAccepted { .. }
            | Record::RootGood { .. } => {}
            Record::Started { .. }
            | Record::StageStarted { .. }
            | Record::Intent { .. }
            | Record::Outcome { .. }
            | Record::Task { .. }
            | Record::Adopted { .. }
            | Record::NotHappened { .. }
            | Record::Happened { .. }
            | Record::PowerBefore { .. }
            | Record::Boot { .. }
            | Record::GoodReads { .. }
            | Record::ItemDone { .. }
            | Record::WriteOnly { .. }
            | Record::Done { .. }
            | Record::Failing { .. }
            | Record::Retrying { .. }
            | Record::Reopened { .. }
            | Record::Stopped { .. }
            | Record::Failed { .. }
            | Record::Ended { .. } => self.was_held = false,
        }
    }

    fn resumed(&mut self, digest: &str, stages: &[StageHead], generation: &str) {
        if let Some(start) = &mut self.start {
            digest.clone_into(&mut start.digest);
            generation.clone_into(&mut start.generation);
            stages.clone_into(&mut start.stages);
        }
        self.wait = None;
        if let Some(hold) = &mut self.hold {
            hold.resumed();
        }
    }

    /// Nobody was there to do anything from the last record on.
    fn slept(&mut self, until: Timestamp) {
        let time = elapsed(self.last_at.unwrap_or(until), until);
        for work in self.works.values_mut() {
            work.sleep(time);
        }
    }

    fn hold_moved(&mut self, at: Timestamp, step: &HoldStep) {
        if let HoldStep::Approved { order, .. } = step {
            self.approvals_used.insert(*order);
        }
        self.hold = Hold::after(self.hold.take(), at, step);
    }

    fn take_order(&mut self, order: &Order) {
        if let (Verb::Retry, Some(hold)) = (&order.verb, &mut self.hold) {
            hold.resumed();
        }
        self.orders.push(order.clone());
    }

    /// A run that a process has just taken up is as held as it was, until a look says otherwise.
    fn note_held(&mut self, at: Timestamp, record: &Record) {
        if self.phase() == RunPhase::Held {
            self.held_since.get_or_insert(at);
        } else if !matches!(record, Record::Resumed { .. }) && self.moves() {
            self.held_since = None;
        }
    }

    /// Whether some place is neither held nor yet to be looked at again.
    fn moves(&self) -> bool {
        let places = self.active();
        let is_idle = |place: &Place| {
            let wait = self.works.get(place).and_then(|work| work.wait.as_ref());
            wait.is_some_and(|(wait, _)| wait.held || wait.reason == LOOKING_AGAIN)
        };
        places.is_empty() || !places.iter().all(is_idle)
    }

    /// Reads before an absence do not agree with those after it, and nothing that was waited for then is waited for now.
    fn outage(&mut self, at: Timestamp, gone: bool, expected: bool) {
        self.root_good = None;
        if gone {
            self.gone_since.get_or_insert(at);
            self.gone_as_expected = expected;
            for work in self.works.values_mut() {
                work.good = None;
            }
            return;
        }
        self.gone_since = None;
        self.wait = None;
        self.answered_at = Some(at);
        if expected {
            self.back_at = Some(at);
        }
        for work in self.works.values_mut() {
            work.end_wait(at);
        }
    }

    fn apply_to_work(&mut self, at: Timestamp, place: &Place, record: &Record) {
        if let Record::Intent { .. } = record {
            self.intents += 1;
            self.has_written = true;
            self.last_write_at = Some(at);
        } else if let Record::Reopened { .. } = record {
            self.wait = None;
        }
        let work = self
            .works
            .entry(place.clone())
            .or_insert_with(|| Work::new(1, at));
        work.apply(at, record);
        if work.outdated && matches!(record, Record::Done { .. }) {
            self.works.remove(place);
        }
    }
}
