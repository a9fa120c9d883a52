//! One stage on one target: where it stands, what was asked for it, and what came of that.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use crate::model::inventory::Pace;
use crate::model::look::Power;
use crate::model::{Fault, IntentId, Outcome, TaskHandle};
use crate::run::deadline::{after, elapsed};
use crate::run::pass::spacing;
use crate::run::record::{How, Intent, TaskSeen, Wait};

/// One stage on one target.
#[derive(Debug, Clone, PartialEq)]
pub struct Work {
    /// Where it stands.
    pub status: WorkStatus,
    /// What happens next.
    pub step: Step,
    /// 1 for the first try.
    pub attempt: u32,
    /// The first try since the stage was opened, or opened again.
    pub first_attempt: u32,
    /// When this try began, less what it was held.
    pub since: Timestamp,
    /// When the current step began, less what it was held.
    pub step_since: Timestamp,
    /// When the current item of a settings flow began, less what it was held and the time in which no process lived.
    pub item_since: Timestamp,
    /// The same of this try: deadlines on what the BMC does run on `since`, whoever watches; what we ourselves were to do
    /// can only be late while somebody was there to do it.
    pub flow_since: Timestamp,
    /// For how long no process lived since the stage began, in all.
    pub slept: Duration,
    /// What it waits for, and since when.
    pub wait: Option<(Wait, Timestamp)>,
    /// All intents of all tries, oldest first.
    pub acts: Vec<Act>,
    /// The task of the last update intent.
    pub task: Option<Track>,
    /// Consecutive good reads: first, last, count.
    pub good: Option<GoodReads>,
    /// Power before our first power act.
    pub power_before: Option<Power>,
    /// Whether power may differ from what it was before by an act of ours.
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
    /// Why the last try is lost, while what is left of it is looked for.
    pub lost: Option<Fault>,
    /// Whether the file wants something else by now: what is under way is ended as it was begun, then looked at anew.
    pub outdated: bool,
    /// Whether what it had reached was found undone at the end of the run, and is applied again: once.
    pub reopened: bool,
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
    /// Ended by a person before its aim was reached.
    Stopped {
        /// Why, and what is left of it.
        reason: String,
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
    /// The host was asked to go down; Off, a boot, or the graceful time, ends this.
    GoingDown,
    /// The host is off for an activation; the task's end and a power-on end this.
    Off,
    /// The host was asked to restart; a boot, or the graceful time, ends this.
    Restarting,
    /// The host boots; the end of POST ends this.
    Booting,
    /// The BMC was asked to reset; its way down and up, or time, ends this.
    BmcReset,
    /// Everything was done; good reads of what is wanted end this.
    Verify,
    /// The stage's aim is reached; power as it was before ends this.
    Restoring,
    /// The try of a hop is lost; a look that finds nothing of it left on the BMC ends this.
    Failing(Fault),
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
    /// For how long no process had lived by then, since the stage began.
    pub slept: Duration,
    /// The try it belongs to.
    pub attempt: u32,
    /// `None` = in flight, or lost with the process.
    pub outcome: Option<Outcome>,
    /// A doubt ended in certainty that the BMC never got it.
    pub never_arrived: bool,
}

impl Act {
    /// Whether the BMC may have acted on it: all but what was not sent or was refused.
    pub fn may_have_happened(&self) -> bool {
        !matches!(
            self.outcome,
            Some(Outcome::NotSent { .. } | Outcome::Refused { .. })
        )
    }
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
    /// When the next one counts: reads are spread evenly over `settle_for` from the first on, and one that came late does
    /// not put off those behind it by more than half a step.
    pub fn next_at(&self, pace: &Pace) -> Timestamp {
        let step = spacing(pace.settle_for, pace.settle_reads.max(1));
        after(self.first_at, step * self.count).max(after(self.last_at, step / 2))
    }

    pub(super) fn counted(before: Option<Self>, count: u32, at: Timestamp) -> Option<Self> {
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

    pub(super) fn new(attempt: u32, at: Timestamp) -> Self {
        Self {
            status: WorkStatus::Active,
            step: Step::Check,
            attempt,
            first_attempt: attempt,
            since: at,
            step_since: at,
            item_since: at,
            flow_since: at,
            slept: Duration::ZERO,
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
            lost: None,
            outdated: false,
            reopened: false,
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

    /// The last update intent of any try that the BMC may have acted on.
    pub fn update_at_large(&self) -> Option<&Act> {
        self.acts
            .iter()
            .rev()
            .filter(|act| act.attempt >= self.first_attempt && act.may_have_happened())
            .find(|act| matches!(act.intent, Intent::Update { .. }))
    }

    /// Whether an update of ours may be on the BMC, from its intent until this stage is over on this target. A try that
    /// failed proves nothing: its update may still be at work while the next try waits.
    pub fn is_flashing(&self) -> bool {
        self.status == WorkStatus::Active
            && self.step != Step::Restoring
            && self.update_at_large().is_some()
    }

    /// Whether nothing of it is under way, nor owed to its target: no request, no update, power as before.
    pub fn is_at_rest(&self) -> bool {
        let is_idle = matches!(self.step, Step::Check | Step::Verify);
        is_idle && !self.power_changed && self.update_at_large().is_none()
    }

    /// Whether something of it is under way.
    pub fn is_under_way(&self) -> bool {
        self.status == WorkStatus::Active && !self.is_at_rest()
    }

    /// Whole tries so far, and update requests that were sent anew after a doubt: each counts as one.
    pub fn tries(&self) -> u32 {
        let anew = self.acts.iter().filter(|act| {
            act.attempt >= self.first_attempt
                && act.never_arrived
                && matches!(act.intent, Intent::Update { .. })
        });
        let anew = u32::try_from(anew.count()).unwrap_or(u32::MAX);
        (self.attempt - self.first_attempt + 1).saturating_add(anew)
    }

    /// Goes on to a step; a step that goes on keeps its time.
    pub(super) fn go(&mut self, step: Step, at: Timestamp) {
        if self.step == step {
            self.end_wait(at);
        } else {
            self.enter(step, at);
        }
    }

    /// Begins a step, be it the same one.
    pub(super) fn enter(&mut self, step: Step, at: Timestamp) {
        self.end_wait(at);
        self.step = step;
        self.step_since = at;
        self.good = None;
    }

    /// Ends a wait. Time for which it was held on purpose counts against none of our own deadlines.
    pub(super) fn end_wait(&mut self, at: Timestamp) {
        let Some((wait, since)) = self.wait.take() else {
            return;
        };
        if wait.held {
            let held = elapsed(since, at);
            for clock in [
                &mut self.since,
                &mut self.step_since,
                &mut self.item_since,
                &mut self.flow_since,
            ] {
                *clock = after(*clock, held);
            }
        }
    }

    /// No process lived for so long.
    pub(super) fn sleep(&mut self, time: Duration) {
        self.slept += time;
        if self.wait.as_ref().is_none_or(|(wait, _)| !wait.held) {
            self.item_since = after(self.item_since, time);
            self.flow_since = after(self.flow_since, time);
        }
    }
}
