//! The ten invariants, watched at every request, every ledger line and every record.
//!
//! The judge sees what the mocks really are, what is really stored, and which process did it; it believes no status.

mod budget;
mod holds;
mod ledger;
mod orders;
mod seen;
mod wishes;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mock_bmc::bmc::Bmc;
use mock_bmc::ledger::LedgerLine;
use redpipe::model::{BmcName, RunKey};
use redpipe::redfish::{Clock, WireRequest};
use redpipe::run::Record;
use redpipe::run::record::{How, RunPhase};
use redpipe::store::{LeaseEpoch, Store};
use tokio::time::Instant;

use self::seen::Seen;
use crate::case::{Case, Stage};
use crate::support::process::{Process, Watcher, changes};

/// Processes of this number or above make plans: they never change anything.
pub(crate) const PLANNERS: u32 = 1000;

type Mocks = BTreeMap<String, Arc<Mutex<Bmc>>>;

/// What broke, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Broken {
    /// Its number in the list of invariants, or a word.
    pub(crate) invariant: &'static str,
    pub(crate) how: String,
}

/// Watches.
pub(crate) struct Judge {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    mocks: Mocks,
    seen: Mutex<Seen>,
}

impl Judge {
    pub(crate) fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        mocks: Mocks,
        case: &Case,
    ) -> Arc<Self> {
        let mut seen = Seen::of(case, mocks.keys());
        seen.wants(&case.stages);
        for (name, mock) in &mocks {
            let mock = lock(mock);
            let push = |pointer| mock.member("/redfish/v1/UpdateService", pointer);
            let pushes = ["/HttpPushUri", "/MultipartHttpPushUri"].into_iter();
            seen.bmcs.get_mut(name).unwrap().pushes = pushes.filter_map(push).collect();
        }
        Arc::new(Self {
            store,
            clock,
            mocks,
            seen: Mutex::new(seen),
        })
    }

    /// What is wanted from now on.
    pub(crate) fn wants(&self, stages: &[Stage]) {
        self.seen().wants(stages);
    }

    /// Somebody else changed settings of a system.
    pub(crate) fn touched(&self, bmc: &str, system: usize) {
        self.seen().touched.insert((bmc.to_owned(), system));
    }

    /// The run of a BMC that asks for an approval, and the digest that approves it.
    pub(crate) fn asked(&self, bmc: &str) -> Option<(RunKey, String)> {
        self.seen().bmcs[bmc].hold.asks()
    }

    /// The first thing that broke.
    pub(crate) fn broken(&self) -> Option<Broken> {
        self.seen().broken.clone()
    }

    pub(crate) fn breaks(&self, invariant: &'static str, how: impl Into<String>) {
        self.seen().breaks(invariant, how);
    }

    /// Takes up what happened on a BMC since.
    pub(crate) fn look(&self, bmc: &str) {
        let lines: Vec<LedgerLine> = {
            let mock = lock(&self.mocks[bmc]);
            let from = self.seen().bmcs[bmc].lines;
            mock.ledger().get(from..).unwrap_or_default().to_vec()
        };
        let mut seen = self.seen();
        for line in &lines {
            seen.line(bmc, line);
        }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        lock(&self.seen)
    }

    /// Who holds the lease of a BMC.
    fn holder(&self, bmc: &BmcName) -> Option<u32> {
        let leases = self.store.leases().unwrap_or_default();
        leases
            .into_iter()
            .find(|lease| lease.bmc == *bmc)
            .map(|lease| lease.owner.pid)
    }

    /// I4 and the end of a run, against what the mock really is.
    fn done(&self, bmc: &BmcName, record: &Record) {
        let state = || lock(&self.mocks[bmc.as_str()]).state();
        if let Record::Done {
            at,
            how: How::Applied | How::Adopted,
            ..
        } = record
        {
            let state = state();
            self.seen().done(bmc, at, &state);
        } else if let Record::Ended { phase, .. } = record {
            let state = state();
            let mut seen = self.seen();
            seen.given_back(bmc);
            if *phase == RunPhase::Completed {
                seen.completed(bmc, &state);
            }
        }
    }
}

impl Watcher for Judge {
    fn appended(&self, process: &Process, bmc: &BmcName, lease: LeaseEpoch, records: &[Record]) {
        self.look(bmc.as_str());
        self.seen().epoch(process, bmc, lease);
        self.seen().outcome_first(process, bmc, records);
        for record in records {
            if let Record::Started { .. } = record {
                let state = lock(&self.mocks[bmc.as_str()]).state();
                self.seen().powers(bmc, &state);
            }
            self.seen().budget(bmc, record, Instant::now());
            let orders = self.store.orders().unwrap_or_default();
            self.seen().hold(bmc, record, &orders, self.clock.now());
            self.seen().orders(bmc, record, &orders);
            self.seen().record(process, bmc, record);
            self.done(bmc, record);
        }
    }

    fn leaves(&self, process: &Process, bmc: &BmcName, request: &WireRequest) {
        if !changes(request) {
            return;
        }
        let holder = self.holder(bmc);
        let mut seen = self.seen();
        let what = format!("{} {}", request.method, request.path);
        if process.number >= PLANNERS {
            return seen.breaks("I5", format!("a plan sends {what} to {bmc}"));
        }
        seen.may_leave(process, bmc, &what, holder);
    }

    fn arrived(&self, _: &Process, bmc: &BmcName, _: &WireRequest) {
        self.look(bmc.as_str());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The word behind some words.
fn word_after(phrase: &str, before: &str) -> String {
    let rest = phrase.split(before).nth(1).unwrap_or_default();
    rest.split(' ').next().unwrap_or_default().to_owned()
}

/// `1.60` as numbers.
pub(crate) fn number(version: &str) -> Option<(u32, u32)> {
    let (major, minor) = version.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
