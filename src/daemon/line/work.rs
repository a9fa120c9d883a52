//! What a line is about while it is applied: who waits, who is driven, and how many may be at once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::{Cause, Ending, Job, Told, name};
use crate::daemon::driver::Drive;
use crate::daemon::prepare::Assignment;
use crate::daemon::rollout::Rollout;
use crate::daemon::scheduler::ApplyReport;
use crate::model::BmcName;

/// One BMC that waits for its turn.
pub(super) struct Queued {
    pub(super) assignment: Assignment,
    /// Its turn: name order, and behind all others for what has had one.
    place: usize,
    /// Its run has begun: what it has under way does not wait for what has nothing under way.
    pub(super) has_begun: bool,
    /// Not before; `None` = not before another run has ended.
    pub(super) at: Option<Instant>,
    pub(super) cause: Cause,
    /// Orders that hear of what comes of it.
    pub(super) orders: Vec<u64>,
}

/// What a pipeline is about while it is applied.
pub(super) struct Work {
    pub(super) rollout: Arc<Rollout>,
    /// `None` = what there is to do is known.
    pub(super) ends: Option<UnboundedSender<Told>>,
    /// BMCs that are driven now, with the orders that came meanwhile.
    pub(super) driven: BTreeMap<BmcName, Vec<u64>>,
    /// BMCs whose runs have begun and whose jobs are not there yet.
    pub(super) owed: BTreeSet<BmcName>,
    slots: usize,
    pub(super) queue: Vec<Queued>,
    /// The next place behind all others.
    last: usize,
    pub(super) running: JoinSet<(Queued, Drive)>,
    pub(super) report: ApplyReport,
}

impl Queued {
    /// Whose turn it is first.
    pub(super) fn turn(&self) -> impl Ord {
        (!self.has_begun, self.place)
    }
}

impl Work {
    pub(super) fn new(rollout: Arc<Rollout>, slots: usize) -> Self {
        Self {
            rollout,
            ends: None,
            driven: BTreeMap::new(),
            owed: BTreeSet::new(),
            slots,
            queue: Vec::new(),
            last: 0,
            running: JoinSet::new(),
            report: ApplyReport::default(),
        }
    }

    /// Whether there is a slot for it: what has begun is owed one before anything that has not.
    pub(super) fn has_slot(&self, queued: &Queued) -> bool {
        let owed = if queued.has_begun { 0 } else { self.owed.len() };
        self.running.len() + owed < self.slots
    }

    /// A place behind all others: nobody waits for what is tried again.
    fn behind(&mut self) -> usize {
        self.last += 1;
        self.last
    }

    /// Takes a job up. A BMC that is driven already sees by itself what was ordered; one that waits is looked at now.
    pub(super) fn take(&mut self, job: Job, has_begun: bool, now: Instant) {
        let bmc = &job.assignment.bmc.name;
        self.owed.remove(bmc);
        if let Some(came) = self.driven.get_mut(bmc) {
            came.extend(job.orders);
            return;
        }
        let same = |queued: &&mut Queued| queued.assignment.bmc.name == *bmc;
        if let Some(queued) = self.queue.iter_mut().find(same) {
            queued.at = Some(now);
            queued.has_begun = has_begun;
            if !job.cause.only_resumes() {
                queued.cause = job.cause;
            }
            queued.orders.extend(job.orders);
            return;
        }
        let place = self.behind();
        self.queue.push(Queued {
            assignment: job.assignment,
            place,
            has_begun,
            at: Some(now),
            cause: job.cause,
            orders: job.orders,
        });
    }

    /// What waits for others has its chance anew.
    pub(super) fn look_again(&mut self) {
        let now = Instant::now();
        for waiting in self.queue.iter_mut().filter(|queued| queued.at.is_none()) {
            waiting.at = Some(now);
        }
    }

    /// Queues what has had its turn once more. What rests has nothing under way that others would have to wait for.
    pub(super) fn again(&mut self, mut queued: Queued, after: Duration) {
        queued.has_begun &= after.is_zero();
        queued.at = Some(Instant::now() + after);
        queued.place = self.behind();
        self.queue.push(queued);
    }

    /// Tells what became of a job.
    pub(super) fn tell(&self, queued: &Queued, ending: Ending) {
        if let Some(ends) = &self.ends {
            let told = Told {
                name: name(&queued.assignment),
                ending,
                orders: queued.orders.clone(),
            };
            // Nobody listens any more where the process ends.
            ends.send(told).ok();
        }
    }

    /// Tells those who ordered what does not begin by itself.
    pub(super) fn tell_halted(&self) {
        if self.queue.is_empty() {
            return;
        }
        let spent = self.rollout.spent();
        for queued in self.queue.iter().filter(|each| !each.orders.is_empty()) {
            self.tell(queued, Ending::Halted(spent.clone()));
        }
    }
}
