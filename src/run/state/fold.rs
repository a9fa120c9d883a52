//! What each record changes in the work it is about.

use jiff::Timestamp;

use super::work::{Act, GoodReads, Step, Track, Work, WorkStatus};
use crate::model::{Fault, FaultKind, IntentId, Outcome, Retry, TaskHandle};
use crate::run::record::{Intent, Milestone, Record, ResetPurpose, TaskFate, TaskSeen};

impl Work {
    pub(super) fn apply(&mut self, at: Timestamp, record: &Record) {
        match record {
            Record::Waiting { wait, .. } => {
                self.end_wait(at);
                self.wait = Some((wait.clone(), at));
            }
            Record::Intent { id, intent, .. } => self.intend(at, id, intent),
            Record::Outcome { id, outcome, .. } => self.settle_outcome(at, id, outcome),
            Record::Adopted { id, task, .. } => {
                self.adopted = true;
                self.follow(at, id, Some(task.clone()));
            }
            Record::Happened { id, .. } => self.after_act(at, id),
            Record::NotHappened { id, .. } => self.never_arrived(at, id),
            Record::Task { id, seen, .. } => self.follow_task(at, id, seen),
            Record::PowerBefore { power, .. } => self.power_before = Some(*power),
            Record::Boot { milestone, .. } => self.boot(at, *milestone),
            Record::GoodReads { count, .. } => {
                self.good = GoodReads::counted(self.good, *count, at);
            }
            Record::ItemDone { item, .. } => {
                self.items_done = item + 1;
                self.reset_asked = false;
                self.reset_made = false;
                self.boot_began = false;
                self.enter(Step::Check, at);
                self.item_since = at;
            }
            Record::WriteOnly { hashes, .. } => self.write_only.extend(hashes.clone()),
            Record::Failing { fault, .. } => {
                self.lost = Some(fault.clone());
                self.enter(Step::Failing(fault.clone()), at);
            }
            Record::Done { how, reason, .. } => self.end(WorkStatus::Done {
                how: *how,
                reason: reason.clone(),
                at,
            }),
            Record::Stopped { reason, .. } => self.end(WorkStatus::Stopped {
                reason: reason.clone(),
                at,
            }),
            Record::Failed { fault, .. } => self.end(WorkStatus::Failed {
                fault: fault.clone(),
                at,
            }),
            Record::Retrying { .. } => self.open_again(at),
            Record::Reopened { .. } => {
                self.status = WorkStatus::Active;
                self.open_again(at);
                self.first_attempt = self.attempt;
                self.items_done = 0;
                self.resends = 0;
                self.power_before = None;
                self.power_changed = false;
                self.reopened = true;
            }
            Record::Started { .. }
            | Record::Resumed { .. }
            | Record::Ordered { .. }
            | Record::Edited { .. }
            | Record::StageStarted { .. }
            | Record::Outage { .. }
            | Record::CertificateAccepted { .. }
            | Record::RootGood { .. }
            | Record::RunWaiting { .. }
            | Record::Hold { .. }
            | Record::Notice { .. }
            | Record::Ended { .. } => {}
        }
    }

    fn end(&mut self, status: WorkStatus) {
        self.status = status;
        self.wait = None;
    }

    /// A new try, with what is done so far.
    fn open_again(&mut self, at: Timestamp) {
        self.attempt += 1;
        self.lost = None;
        self.task = None;
        self.boot_began = false;
        self.reset_asked = false;
        self.reset_made = false;
        self.enter(Step::Check, at);
        self.since = at;
        self.item_since = at;
        self.flow_since = at;
    }

    fn intend(&mut self, at: Timestamp, id: &IntentId, intent: &Intent) {
        self.acts.push(Act {
            id: id.clone(),
            intent: intent.clone(),
            at,
            slept: self.slept,
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
            Intent::Attributes { .. } | Intent::Resource { .. } | Intent::Call { .. } => {
                self.written = true;
            }
            Intent::ResetManager { .. } | Intent::Withdraw { .. } => {}
        }
    }

    fn never_arrived(&mut self, at: Timestamp, id: &IntentId) {
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

    fn boot(&mut self, at: Timestamp, milestone: Milestone) {
        match milestone {
            Milestone::Off => self.go(Step::Off, at),
            Milestone::Booting => {
                self.boot_began = true;
                self.reset_made = true;
                self.go(Step::Booting, at);
            }
            Milestone::PostOver => self.go(Step::Verify, at),
            Milestone::Reached => self.go(Step::Restoring, at),
            Milestone::Restored => {
                self.power_changed = false;
                self.end_wait(at);
            }
        }
    }

    fn settle_outcome(&mut self, at: Timestamp, id: &IntentId, outcome: &Outcome) {
        if let Some(act) = self.acts.iter_mut().find(|act| act.id == *id) {
            act.outcome = Some(outcome.clone());
        }
        match outcome {
            Outcome::NotSent { .. } | Outcome::Refused { .. } => self.back_to_before(at, id),
            // Whether it is gone shows by itself, and asking again for what is gone does no harm.
            Outcome::Lost { .. } if self.is_withdrawal(id) => self.after_act(at, id),
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
                ResetPurpose::Up if self.is_flashing() => Step::Off,
                ResetPurpose::Restore => Step::Restoring,
                ResetPurpose::ForceDown => Step::GoingDown,
                ResetPurpose::ForceRestart => Step::Restarting,
                ResetPurpose::Up | ResetPurpose::Down | ResetPurpose::Restart => {
                    self.before_reset()
                }
            },
            Some(Intent::ResetManager { .. }) => self.before_reset(),
            Some(Intent::Withdraw { .. }) => self.after_withdrawal(),
            Some(
                Intent::Update { .. }
                | Intent::Attributes { .. }
                | Intent::Resource { .. }
                | Intent::Call { .. },
            )
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
            Some(Intent::ResetManager { .. }) => Step::BmcReset,
            Some(Intent::Update { .. }) => return self.follow(at, id, None),
            Some(Intent::Withdraw { .. }) => self.after_withdrawal(),
            Some(Intent::Attributes { .. } | Intent::Resource { .. } | Intent::Call { .. })
            | None => Step::Check,
        };
        if matches!(step, Step::Booting | Step::Restarting | Step::BmcReset) {
            self.reset_made = true;
        }
        self.go(step, at);
    }

    fn is_withdrawal(&self, id: &IntentId) -> bool {
        let act = self.act(id);
        act.is_some_and(|act| matches!(act.intent, Intent::Withdraw { .. }))
    }

    fn after_withdrawal(&self) -> Step {
        self.lost.clone().map_or(Step::Check, Step::Failing)
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
