//! What was ordered of this daemon and how far it came, for whoever ordered it and waits for the end.
//!
//! The orders themselves are rows of the state; this is only what one process knows of carrying them out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::model::{BmcName, Fault, PipelineName};

/// Errands kept for whoever asks late: more than people order in a day.
const ERRANDS_MAX: usize = 1_000;

/// Shared by the service (who carries out) and its faces (who order and ask).
#[derive(Clone)]
pub(super) struct Desk {
    errands: Arc<Mutex<Errands>>,
    woken: watch::Sender<u64>,
}

#[derive(Default)]
struct Errands {
    /// Orders up to this one were given before the process began.
    first: u64,
    by_order: BTreeMap<u64, Errand>,
    is_reload_wanted: bool,
}

/// One order as it is carried out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Errand {
    /// Every BMC that it is about.
    pub bmcs: BTreeMap<(PipelineName, BmcName), Progress>,
    /// Why nothing of it is done.
    pub refused: Option<Fault>,
}

/// How far an order came on one BMC.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum Progress {
    /// It waits for its turn, or is at work.
    Open,
    /// The run is over.
    Over,
    /// The run is held: a person, or another tool, ends what it waits for.
    Held,
    /// No run has begun.
    NotStarted {
        /// Why.
        fault: Fault,
        /// Whether it is tried again by itself.
        again: bool,
    },
    /// No run begins: the failure budget is spent, or no canary has shown what is needed.
    Halted {
        /// The BMCs that have spent the budget.
        spent: BTreeSet<BmcName>,
    },
}

/// What is known of an order.
#[derive(Debug, Clone, PartialEq)]
pub enum Known {
    /// It will be taken up.
    Waits,
    /// It was given before this process began, and is carried on without being followed.
    Older,
    /// It was taken up.
    Taken(Errand),
}

impl Errand {
    /// Whether nothing more comes of it without anybody doing something.
    pub fn is_at_rest(&self) -> bool {
        self.refused.is_some() || self.bmcs.values().all(|each| *each != Progress::Open)
    }
}

impl Desk {
    pub(super) fn new() -> Self {
        Self {
            errands: Arc::default(),
            woken: watch::channel(0).0,
        }
    }

    /// Something was ordered: whoever drives and serves in this process sees it now.
    pub(super) fn wake(&self) {
        self.woken
            .send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Moves whenever somebody wakes.
    pub(super) fn woken(&self) -> watch::Receiver<u64> {
        self.woken.subscribe()
    }

    /// The files are to be read anew.
    pub(super) fn want_reload(&self) {
        self.lock().is_reload_wanted = true;
        self.wake();
    }

    pub(super) fn take_reload(&self) -> bool {
        std::mem::take(&mut self.lock().is_reload_wanted)
    }

    /// Orders up to this one are older than the process.
    pub(super) fn begin(&self, last_order: u64) {
        self.lock().first = last_order;
    }

    /// What is known of an order.
    pub(super) fn known(&self, order: u64) -> Known {
        let errands = self.lock();
        match errands.by_order.get(&order) {
            Some(errand) => Known::Taken(errand.clone()),
            None if order <= errands.first => Known::Older,
            None => Known::Waits,
        }
    }

    /// An order is taken up, for these BMCs.
    pub(super) fn take(&self, order: u64, bmcs: BTreeMap<(PipelineName, BmcName), Progress>) {
        let mut errands = self.lock();
        let errand = Errand {
            bmcs,
            refused: None,
        };
        errands.by_order.insert(order, errand);
        while errands.by_order.len() > ERRANDS_MAX {
            errands.by_order.pop_first();
        }
    }

    /// Nothing of an order is done.
    pub(super) fn refuse(&self, order: u64, fault: Fault) {
        let mut errands = self.lock();
        errands.by_order.entry(order).or_default().refused = Some(fault);
    }

    /// Orders of which something on a BMC is not over: they hear of whatever comes next.
    pub(super) fn open(&self, name: &(PipelineName, BmcName)) -> Vec<u64> {
        let errands = self.lock();
        let of_it = |errand: &Errand| {
            let progress = errand.bmcs.get(name);
            progress.is_some_and(|progress| *progress != Progress::Over)
        };
        let open = errands.by_order.iter();
        open.filter(|(_, errand)| of_it(errand))
            .map(|(order, _)| *order)
            .collect()
    }

    /// All that orders wait for now.
    pub(super) fn all_open(&self) -> BTreeSet<(PipelineName, BmcName)> {
        let errands = self.lock();
        let all = errands
            .by_order
            .values()
            .flat_map(|errand| errand.bmcs.iter());
        all.filter(|(_, progress)| **progress == Progress::Open)
            .map(|(name, _)| name.clone())
            .collect()
    }

    /// Some orders have come to something on a BMC.
    pub(super) fn settle(
        &self,
        orders: &[u64],
        name: &(PipelineName, BmcName),
        progress: &Progress,
    ) {
        let mut errands = self.lock();
        for order in orders {
            let errand = errands.by_order.get_mut(order);
            if let Some(known) = errand.and_then(|errand| errand.bmcs.get_mut(name)) {
                known.clone_from(progress);
            }
        }
    }

    /// Some orders turn out not to be about a BMC.
    pub(super) fn dismiss(&self, orders: &[u64], name: &(PipelineName, BmcName)) {
        let mut errands = self.lock();
        for order in orders {
            if let Some(errand) = errands.by_order.get_mut(order) {
                errand.bmcs.remove(name);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Errands> {
        // Every change under this lock is whole by itself.
        self.errands.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
