//! What the records say is true now: a fold, and nothing else.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::record::{
    How, Intent, Milestone, Place, Record, ResetPurpose, RunPhase, ServerBox, StageHead, TaskFate,
    TaskSeen, Wait,
};
use crate::model::look::{Identity, Power};
use crate::model::{
    Fault, FaultKind, IntentId, Outcome, Retry, RunKey, ServerName, Target, TaskHandle,
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
    /// The BMC does not answer, since then.
    pub gone_since: Option<Timestamp>,
    /// Whether that is inside a declared outage.
    pub gone_as_expected: bool,
    /// Good reads of the service root since the BMC is away.
    pub root_good: Option<GoodReads>,
    /// When the BMC last came back from a declared outage.
    pub back_at: Option<Timestamp>,
    /// Whether any request that changes something may have left us.
    pub has_written: bool,
    /// Things a person should know.
    pub notices: Vec<String>,
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
}

/// One stage on one target.
#[derive(Debug, Clone, PartialEq)]
pub struct Work {
    /// Where it stands.
    pub status: WorkStatus,
    /// What happens next.
    pub step: Step,
    /// 1 for the first try.
    pub attempt: u32,
    /// When this try began.
    pub since: Timestamp,
    /// When the current step began.
    pub step_since: Timestamp,
    /// What it waits for.
    pub wait: Option<(Wait, Timestamp)>,
    /// All intents of all tries, oldest first.
    pub acts: Vec<Act>,
    /// The task of the last update intent.
    pub task: Option<Track>,
    /// Consecutive good reads: first, last, count.
    pub good: Option<GoodReads>,
    /// Power before our first power act.
    pub power_before: Option<Power>,
    /// Whether our last power act on this host has to be undone at the end.
    pub power_changed: bool,
    /// A boot of ours began: nothing is forced from here on.
    pub boot_began: bool,
    /// Flow items read back as wanted.
    pub items_done: usize,
    /// Whether anything was written in this stage.
    pub written: bool,
    /// Whether the answer to a write of the current item asked for a reset.
    pub reset_asked: bool,
    /// Whether the reset of the current item was made.
    pub reset_made: bool,
    /// Salted hashes of write-only members written.
    pub write_only: BTreeMap<String, String>,
    /// New intents after a doubt that ended in "did not happen".
    pub resends: u32,
    /// Whether a handle was found by search.
    pub adopted: bool,
}

/// Where a stage stands on a target.
#[derive(Debug, Clone, PartialEq)]
pub enum WorkStatus {
    /// Being worked on, or held: see `wait`.
    Active,
    /// Read back as wanted.
    Done {
        /// How.
        how: How,
        /// Why.
        reason: String,
        /// When.
        at: Timestamp,
    },
    /// Final.
    Failed {
        /// Why.
        fault: Fault,
        /// When.
        at: Timestamp,
    },
}

/// What happens next in a stage on a target. Each variant says what is true and what ends it.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Nothing is under way; the next full look decides.
    Check,
    /// A request is out; its outcome ends this.
    Acting(IntentId),
    /// The outcome of a request is unknown; evidence or time ends this.
    Doubt(IntentId),
    /// The update was accepted; the task's end, or the wanted version, ends this.
    Follow(IntentId),
    /// The task ended or vanished; version, staged image or time ends this.
    Ended(IntentId),
    /// The host was asked to go down; Off, or the graceful time, ends this.
    GoingDown,
    /// The host is off for an activation; the task's end and a power-on end this.
    Off,
    /// The host was asked to restart; a boot, or the graceful time, ends this.
    Restarting,
    /// The host boots; the end of POST ends this.
    Booting,
    /// The BMC was asked to reset; good reads over the settle time end this.
    BmcReset,
    /// Everything was done; good reads of what is wanted end this.
    Verify,
    /// The stage's aim is reached; power goes back to what it was.
    Restoring,
}

/// One intent and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Act {
    /// Its id.
    pub id: IntentId,
    /// What.
    pub intent: Intent,
    /// When it was decided.
    pub at: Timestamp,
    /// The try it belongs to.
    pub attempt: u32,
    /// `None` = in flight, or lost with the process.
    pub outcome: Option<Outcome>,
    /// A doubt ended in certainty that the BMC never got it.
    pub never_arrived: bool,
}

/// A followed task.
#[derive(Debug, Clone, PartialEq)]
pub struct Track {
    /// How to follow it.
    pub handle: Option<TaskHandle>,
    /// What it last said.
    pub seen: TaskSeen,
    /// When that last changed.
    pub changed_at: Timestamp,
}

/// Consecutive agreeing reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GoodReads {
    /// When the first of them was.
    pub first_at: Timestamp,
    /// When the last was.
    pub last_at: Timestamp,
    /// How many.
    pub count: u32,
}

impl GoodReads {
    fn counted(before: Option<Self>, count: u32, at: Timestamp) -> Option<Self> {
        match (count, before) {
            (0, _) => None,
            (count, Some(good)) if count > 1 => Some(Self {
                last_at: at,
                count,
                ..good
            }),
            (count, _) => Some(Self {
                first_at: at,
                last_at: at,
                count,
            }),
        }
    }
}

impl Work {
    /// A stage on a target that has not begun.
    pub fn fresh() -> Self {
        Self::new(1, Timestamp::UNIX_EPOCH)
    }

    fn new(attempt: u32, at: Timestamp) -> Self {
        Self {
            status: WorkStatus::Active,
            step: Step::Check,
            attempt,
            since: at,
            step_since: at,
            wait: None,
            acts: Vec::new(),
            task: None,
            good: None,
            power_before: None,
            power_changed: false,
            boot_began: false,
            items_done: 0,
            written: false,
            reset_asked: false,
            reset_made: false,
            write_only: BTreeMap::new(),
            resends: 0,
            adopted: false,
        }
    }

    /// The intent with this id.
    pub fn act(&self, id: &IntentId) -> Option<&Act> {
        self.acts.iter().rev().find(|act| act.id == *id)
    }

    /// The last update intent of the current try.
    pub fn update(&self) -> Option<&Act> {
        self.acts
            .iter()
            .rev()
            .find(|act| act.attempt == self.attempt && matches!(act.intent, Intent::Update { .. }))
    }

    /// Whether an update of ours may be on the BMC, from its intent until this stage is over on this target.
    pub fn is_flashing(&self) -> bool {
        self.status == WorkStatus::Active
            && self.update().is_some_and(|act| {
                !matches!(
                    act.outcome,
                    Some(Outcome::NotSent { .. } | Outcome::Refused { .. })
                )
            })
            && self.step != Step::Restoring
    }

    fn go(&mut self, step: Step, at: Timestamp) {
        if self.step != step {
            self.step = step;
            self.step_since = at;
            self.good = None;
        }
        self.wait = None;
    }
}

impl RunState {
    /// Adds one record. Live and on restore alike, this is the only way state changes.
    pub fn apply(&mut self, at: Timestamp, record: &Record) {
        match record {
            Record::Started {
                key,
                servers,
                stages,
                digest,
                baselines,
                identity,
                boxes,
            } => {
                self.start = Some(Start {
                    key: key.clone(),
                    at,
                    servers: servers.clone(),
                    stages: stages.clone(),
                    baselines: baselines.clone(),
                    identity: identity.clone(),
                    boxes: boxes.clone(),
                    digest: digest.clone(),
                });
            }
            Record::Resumed { digest, stages } => {
                if let Some(start) = &mut self.start {
                    start.digest.clone_from(digest);
                    start.stages.clone_from(stages);
                }
            }
            Record::StageStarted { at: place, attempt } => {
                self.works
                    .entry(place.clone())
                    .or_insert_with(|| Work::new(*attempt, at));
            }
            Record::RootGood { count } => {
                self.root_good = GoodReads::counted(self.root_good, *count, at);
            }
            Record::Outage { gone, expected, .. } => self.outage(at, *gone, *expected),
            Record::Notice { text, .. } => self.notices.push(text.clone()),
            Record::Ended { phase, reason } => self.end = Some((*phase, reason.clone(), at)),
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
            | Record::Failed { at: place, .. } => self.apply_to_work(at, place, record),
        }
    }

    fn outage(&mut self, at: Timestamp, gone: bool, expected: bool) {
        self.root_good = None;
        if gone {
            self.gone_since.get_or_insert(at);
            self.gone_as_expected = expected;
            return;
        }
        self.gone_since = None;
        if expected {
            self.back_at = Some(at);
        }
    }

    fn apply_to_work(&mut self, at: Timestamp, place: &Place, record: &Record) {
        if let Record::Intent { .. } = record {
            self.intents += 1;
            self.has_written = true;
        }
        let work = self
            .works
            .entry(place.clone())
            .or_insert_with(|| Work::new(1, at));
        work.apply(at, record);
    }
}

impl Work {
    #[expect(
        clippy::too_many_lines,
        reason = "one arm per record, each short; splitting would hide the fold"
    )]
    fn apply(&mut self, at: Timestamp, record: &Record) {
        match record {
            Record::Waiting { wait, .. } => self.wait = Some((wait.clone(), at)),
            Record::Intent { id, intent, .. } => {
                self.acts.push(Act {
                    id: id.clone(),
                    intent: intent.clone(),
                    at,
                    attempt: self.attempt,
                    outcome: None,
                    never_arrived: false,
                });
                self.go(Step::Acting(id.clone()), at);
                match intent {
                    Intent::Update { .. } => self.task = None,
                    Intent::ResetSystem { purpose, .. } => {
                        self.power_changed = true;
                        self.boot_began |= matches!(
                            purpose,
                            ResetPurpose::Up | ResetPurpose::Restart | ResetPurpose::ForceRestart
                        );
                    }
                    Intent::Attributes { .. } | Intent::Resource { .. } => self.written = true,
                    Intent::ResetManager { .. } => {}
                }
            }
            Record::Outcome { id, outcome, .. } => self.settle_outcome(at, id, outcome),
            Record::Adopted { id, task, .. } => {
                self.adopted = true;
                self.follow(at, id, Some(task.clone()));
            }
            Record::Happened { id, .. } => self.after_act(at, id),
            Record::NotHappened { id, .. } => {
                self.resends += 1;
                if let Some(act) = self.acts.iter_mut().find(|act| act.id == *id) {
                    let fault = Fault::new(
                        FaultKind::Unreachable,
                        Retry::Transient,
                        "the request never arrived",
                    );
                    act.outcome = Some(Outcome::NotSent { fault });
                    act.never_arrived = true;
                }
                self.back_to_before(at, id);
            }
            Record::Task { id, seen, .. } => self.follow_task(at, id, seen),
            Record::PowerBefore { power, .. } => self.power_before = Some(*power),
            Record::Boot { milestone, .. } => match milestone {
                Milestone::Off => self.go(Step::Off, at),
                Milestone::Booting => {
                    self.boot_began = true;
                    self.go(Step::Booting, at);
                }
                Milestone::PostOver => self.go(Step::Verify, at),
                Milestone::Reached => self.go(Step::Restoring, at),
                Milestone::Restored => {
                    self.power_changed = false;
                    self.wait = None;
                }
            },
            Record::GoodReads { count, .. } => {
                self.good = GoodReads::counted(self.good, *count, at);
            }
            Record::ItemDone { item, .. } => {
                self.items_done = item + 1;
                self.reset_asked = false;
                self.reset_made = false;
                self.boot_began = false;
                self.go(Step::Check, at);
            }
            Record::WriteOnly { hashes, .. } => self.write_only.extend(hashes.clone()),
            Record::Done { how, reason, .. } => {
                self.status = WorkStatus::Done {
                    how: *how,
                    reason: reason.clone(),
                    at,
                };
                self.wait = None;
            }
            Record::Failed { fault, .. } => {
                self.status = WorkStatus::Failed {
                    fault: fault.clone(),
                    at,
                };
                self.wait = None;
            }
            Record::Retrying { .. } => {
                self.attempt += 1;
                self.since = at;
                self.task = None;
                self.boot_began = false;
                self.reset_made = false;
                self.go(Step::Check, at);
            }
            Record::Started { .. }
            | Record::Resumed { .. }
            | Record::StageStarted { .. }
            | Record::Outage { .. }
            | Record::RootGood { .. }
            | Record::Notice { .. }
            | Record::Ended { .. } => {}
        }
    }

    fn settle_outcome(&mut self, at: Timestamp, id: &IntentId, outcome: &Outcome) {
        if let Some(act) = self.acts.iter_mut().find(|act| act.id == *id) {
            act.outcome = Some(outcome.clone());
        }
        match outcome {
            Outcome::NotSent { .. } | Outcome::Refused { .. } => self.back_to_before(at, id),
            Outcome::Lost { .. } => self.go(Step::Doubt(id.clone()), at),
            Outcome::Accepted {
                task,
                reset_required,
                ..
            } => {
                self.reset_asked |= *reset_required;
                match self.act(id).map(|act| &act.intent) {
                    Some(Intent::Update { .. }) => self.follow(at, id, task.clone()),
                    _ => self.after_act(at, id),
                }
            }
        }
    }

    /// The step from which an intent that did nothing was decided.
    fn back_to_before(&mut self, at: Timestamp, id: &IntentId) {
        let step = match self.act(id).map(|act| &act.intent) {
            Some(Intent::ResetSystem { purpose, .. }) => match purpose {
                ResetPurpose::Up => Step::Off,
                ResetPurpose::Restore => Step::Restoring,
                ResetPurpose::ForceDown => Step::GoingDown,
                ResetPurpose::ForceRestart => Step::Restarting,
                ResetPurpose::Down | ResetPurpose::Restart => self.before_reset(),
            },
            Some(Intent::ResetManager { .. }) => self.before_reset(),
            Some(Intent::Update { .. } | Intent::Attributes { .. } | Intent::Resource { .. })
            | None => Step::Check,
        };
        if matches!(step, Step::Off | Step::Ended(_) | Step::Check) {
            self.boot_began = false;
        }
        self.go(step, at);
    }

    fn before_reset(&self) -> Step {
        match self.update() {
            Some(update) if self.is_flashing() => Step::Ended(update.id.clone()),
            _ => Step::Check,
        }
    }

    /// The step after an accepted (or evidently happened) request.
    fn after_act(&mut self, at: Timestamp, id: &IntentId) {
        let step = match self.act(id).map(|act| act.intent.clone()) {
            Some(Intent::ResetSystem { purpose, .. }) => match purpose {
                ResetPurpose::Down | ResetPurpose::ForceDown => Step::GoingDown,
                ResetPurpose::Up => Step::Booting,
                ResetPurpose::Restart | ResetPurpose::ForceRestart => Step::Restarting,
                ResetPurpose::Restore => Step::Restoring,
            },
            Some(Intent::ResetManager { .. }) => {
                self.reset_made = true;
                Step::BmcReset
            }
            Some(Intent::Update { .. }) => return self.follow(at, id, None),
            Some(Intent::Attributes { .. } | Intent::Resource { .. }) | None => Step::Check,
        };
        if matches!(step, Step::Booting | Step::Restarting) {
            self.reset_made = true;
        }
        self.go(step, at);
    }

    fn follow(&mut self, at: Timestamp, id: &IntentId, handle: Option<TaskHandle>) {
        self.written = true;
        self.task = Some(Track {
            handle,
            seen: TaskSeen::default(),
            changed_at: at,
        });
        self.go(Step::Follow(id.clone()), at);
    }

    fn follow_task(&mut self, at: Timestamp, id: &IntentId, seen: &TaskSeen) {
        if let Some(track) = &mut self.task {
            if let Some(handle) = &mut track.handle {
                if handle.task.is_none() {
                    handle.task.clone_from(&seen.uri);
                }
                if handle.start_time.is_none() {
                    handle.start_time.clone_from(&seen.start_time);
                }
            }
            track.seen = seen.clone();
            track.changed_at = at;
        }
        if matches!(self.step, Step::Follow(_)) && seen.fate != TaskFate::Running {
            self.go(Step::Ended(id.clone()), at);
        }
    }
}
