//! An engine as a process: all that it writes down and sends passes through here, and it dies where a test says.
//!
//! A dead process changes nothing any more: its store refuses and its requests never leave. Whoever runs it drops it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use http::Method;
use jiff::Timestamp;
use redpipe::daemon::Connect;
use redpipe::model::inventory::Bmc as ListedBmc;
use redpipe::model::{About, BmcName, Fault, Order, PipelineName, Verb};
use redpipe::redfish::{BoxFuture, Memory, Transport, WireError, WireRequest, WireResponse};
use redpipe::run::Record;
use redpipe::store::{
    EventRow, FactKind, Facts, HappeningRow, Happenings, Journal, JournalRow, Lease, LeaseEpoch,
    LeaseError, Leases, Orders, Owner, RunMark, RunRow, Store, StoreError, StoredRecord,
};
use serde_json::Value;
use tokio::sync::Notify;

/// Where a process dies. Counts begin at 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Death {
    /// Nowhere.
    Never,
    /// Right after this append to a journal is durable.
    AfterAppend(u32),
    /// Right before this append: what it would have said is lost.
    BeforeAppend(u32),
    /// When the BMC has had this request that changes something, and the answer is on its way.
    AfterSend(u32),
}

/// Sees all that a process does to the world. All of it may be left out.
pub(crate) trait Watcher: Send + Sync {
    /// These records are durable.
    fn appended(&self, process: &Process, bmc: &BmcName, lease: LeaseEpoch, records: &[Record]) {
        let _ = (process, bmc, lease, records);
    }

    /// A request is about to leave.
    fn leaves(&self, process: &Process, bmc: &BmcName, request: &WireRequest) {
        let _ = (process, bmc, request);
    }

    /// The BMC has had a request.
    fn arrived(&self, process: &Process, bmc: &BmcName, request: &WireRequest) {
        let _ = (process, bmc, request);
    }
}

/// Stands between an engine and its process and makes it a wrong one. All of it may be left out.
pub(crate) trait Meddler: Send + Sync {
    /// Whether a record is written down at all; the engine believes so.
    fn keeps(&self, record: &StoredRecord) -> bool {
        let _ = record;
        true
    }

    /// Whether the journal is shorter than the engine believes.
    fn has_lost(&self) -> bool {
        false
    }

    /// Whether it drives a BMC whose lease is another's.
    fn ignores_leases(&self) -> bool {
        false
    }

    /// What it believes that people ordered.
    fn orders(&self, orders: Vec<Order>) -> Vec<Order> {
        orders
    }

    /// Sends a request, or something else.
    fn send<'a>(
        &'a self,
        wire: &'a dyn Transport,
        request: WireRequest,
    ) -> BoxFuture<'a, Result<WireResponse, WireError>> {
        wire.send(request)
    }
}

/// Sees nothing, changes nothing.
pub(crate) struct Nobody;

impl Meddler for Nobody {}

impl Watcher for Nobody {}

/// One life of an engine.
pub(crate) struct Process {
    /// Names it among the processes of one test.
    pub(crate) number: u32,
    death: Death,
    appends: AtomicU32,
    sends: AtomicU32,
    dead: AtomicBool,
    killed: Notify,
    watcher: Arc<dyn Watcher>,
}

impl Process {
    pub(crate) fn new(number: u32, death: Death, watcher: Arc<dyn Watcher>) -> Arc<Self> {
        Arc::new(Self {
            number,
            death,
            appends: AtomicU32::new(0),
            sends: AtomicU32::new(0),
            dead: AtomicBool::new(false),
            killed: Notify::new(),
            watcher,
        })
    }

    /// Appends to journals so far.
    pub(crate) fn appends(&self) -> u32 {
        self.appends.load(Ordering::SeqCst)
    }

    /// Requests that change something so far.
    pub(crate) fn sends(&self) -> u32 {
        self.sends.load(Ordering::SeqCst)
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.dead.load(Ordering::SeqCst)
    }

    /// Ends it here and now.
    pub(crate) fn die(&self) {
        self.dead.store(true, Ordering::SeqCst);
        self.killed.notify_one();
    }

    /// Runs what a process does; `None` where it died meanwhile.
    pub(crate) async fn run<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.killed.notified() => None,
            done = work => (!self.is_dead()).then_some(done),
        }
    }

    fn living(&self) -> Result<(), StoreError> {
        if self.is_dead() {
            return Err(StoreError::Corrupt {
                place: "a process that is dead".to_owned(),
                what: "its memory".to_owned(),
            });
        }
        Ok(())
    }

    /// One append, with the deaths around it.
    fn append<T>(
        &self,
        append: impl FnOnce() -> Result<T, StoreError>,
        tell: impl FnOnce(&T),
    ) -> Result<T, StoreError> {
        self.living()?;
        let count = self.appends.fetch_add(1, Ordering::SeqCst) + 1;
        if self.death == Death::BeforeAppend(count) {
            self.die();
            self.living()?;
        }
        let done = append()?;
        tell(&done);
        if self.death == Death::AfterAppend(count) {
            self.die();
        }
        Ok(done)
    }
}

/// A store as one process has it.
pub(crate) struct ProcessStore {
    pub(crate) inner: Arc<dyn Store>,
    pub(crate) process: Arc<Process>,
    pub(crate) meddler: Arc<dyn Meddler>,
}

impl ProcessStore {
    /// The lease and the last number under which a wrong engine's append is taken all the same.
    fn as_it_stands(
        &self,
        run_id: &str,
        lease: LeaseEpoch,
        seq: u64,
        any_lease: bool,
    ) -> (LeaseEpoch, u64) {
        let Ok(Some(row)) = self.inner.run(run_id) else {
            return (lease, seq);
        };
        let held = self.inner.leases().unwrap_or_default();
        let held = held
            .into_iter()
            .find(|held| held.bmc == row.key.bmc && any_lease);
        (held.map_or(lease, |held| held.epoch), row.last_seq)
    }

    fn tell(&self, run: &RunRow, lease: LeaseEpoch, records: &[StoredRecord]) {
        let typed: Vec<Record> = records
            .iter()
            .filter_map(|record| serde_json::from_value(record.body.clone()).ok())
            .collect();
        let watcher = &self.process.watcher;
        watcher.appended(&self.process, &run.key.bmc, lease, &typed);
    }
}

impl Journal for ProcessStore {
    fn open_run(
        &self,
        pipeline: &PipelineName,
        bmc: &BmcName,
        lease: &LeaseEpoch,
        at: Timestamp,
        first: &[StoredRecord],
    ) -> Result<RunRow, StoreError> {
        self.process.append(
            || self.inner.open_run(pipeline, bmc, lease, at, first),
            |row| self.tell(row, *lease, first),
        )
    }

    fn append_and_mark(
        &self,
        run_id: &str,
        lease: &LeaseEpoch,
        expected_seq: u64,
        records: &[StoredRecord],
        mark: Option<&RunMark>,
    ) -> Result<u64, StoreError> {
        let inner = &self.inner;
        let kept: Vec<StoredRecord> = records
            .iter()
            .filter(|record| self.meddler.keeps(record))
            .cloned()
            .collect();
        let wrong = self.meddler.ignores_leases();
        let (lease, seq) = if wrong || kept.len() < records.len() || self.meddler.has_lost() {
            self.as_it_stands(run_id, *lease, expected_seq, wrong)
        } else {
            (*lease, expected_seq)
        };
        if kept.is_empty() {
            return Ok(expected_seq);
        }
        self.process.append(
            || inner.append_and_mark(run_id, &lease, seq, &kept, mark),
            |_| {
                if let Ok(Some(row)) = inner.run(run_id) {
                    self.tell(&row, lease, &kept);
                }
            },
        )
    }

    fn mark_run(&self, run_id: &str, lease: &LeaseEpoch, mark: &RunMark) -> Result<(), StoreError> {
        self.process.living()?;
        self.inner.mark_run(run_id, lease, mark)
    }

    fn load(&self, run_id: &str) -> Result<Vec<JournalRow>, StoreError> {
        self.inner.load(run_id)
    }

    fn events_after(&self, cursor: i64, limit: usize) -> Result<Vec<EventRow>, StoreError> {
        self.inner.events_after(cursor, limit)
    }

    fn events_of(
        &self,
        run_id: &str,
        cursor: i64,
        limit: usize,
    ) -> Result<Vec<EventRow>, StoreError> {
        self.inner.events_of(run_id, cursor, limit)
    }

    fn last_cursor(&self) -> Result<i64, StoreError> {
        self.inner.last_cursor()
    }

    fn runs(&self) -> Result<Vec<RunRow>, StoreError> {
        self.inner.runs()
    }

    fn run(&self, run_id: &str) -> Result<Option<RunRow>, StoreError> {
        self.inner.run(run_id)
    }

    fn latest_run(
        &self,
        pipeline: &PipelineName,
        bmc: &BmcName,
    ) -> Result<Option<RunRow>, StoreError> {
        self.inner.latest_run(pipeline, bmc)
    }

    fn unfinished_run(&self, bmc: &BmcName) -> Result<Option<RunRow>, StoreError> {
        self.inner.unfinished_run(bmc)
    }
}

impl Happenings for ProcessStore {
    fn add_happening(
        &self,
        at: Timestamp,
        bmc: Option<&BmcName>,
        kind: &str,
        message: &str,
    ) -> Result<i64, StoreError> {
        self.process.living()?;
        self.inner.add_happening(at, bmc, kind, message)
    }

    fn happenings_after(&self, cursor: i64, limit: usize) -> Result<Vec<HappeningRow>, StoreError> {
        self.inner.happenings_after(cursor, limit)
    }
}

impl Leases for ProcessStore {
    fn acquire_lease(
        &self,
        bmc: &BmcName,
        owner: &Owner,
        now: Timestamp,
        ttl: Duration,
    ) -> Result<Lease, LeaseError> {
        self.process.living()?;
        let taken = self.inner.acquire_lease(bmc, owner, now, ttl);
        let forged = || {
            let leases = self.inner.leases().unwrap_or_default();
            let held = leases.into_iter().find(|lease| lease.bmc == *bmc)?;
            Some(Lease {
                owner: owner.clone(),
                renewed_at: now,
                ..held
            })
        };
        match forged().filter(|_| taken.is_err() && self.meddler.ignores_leases()) {
            Some(forged) => Ok(forged),
            None => taken,
        }
    }

    fn renew_lease(
        &self,
        lease: &Lease,
        now: Timestamp,
        ttl: Duration,
    ) -> Result<Lease, LeaseError> {
        self.process.living()?;
        if self.meddler.ignores_leases() {
            return Ok(Lease {
                renewed_at: now,
                ..lease.clone()
            });
        }
        self.inner.renew_lease(lease, now, ttl)
    }

    fn release_lease(&self, lease: &Lease) -> Result<(), LeaseError> {
        self.process.living()?;
        self.inner.release_lease(lease)
    }

    fn lease(&self, bmc: &BmcName) -> Result<Option<Lease>, StoreError> {
        self.inner.lease(bmc)
    }

    fn leases(&self) -> Result<Vec<Lease>, StoreError> {
        self.inner.leases()
    }
}

impl Facts for ProcessStore {
    fn fact(
        &self,
        kind: FactKind,
        about: &str,
        subject: &str,
    ) -> Result<Option<Value>, StoreError> {
        self.inner.fact(kind, about, subject)
    }

    fn facts(
        &self,
        kind: FactKind,
        about: &str,
    ) -> Result<std::collections::BTreeMap<String, Value>, StoreError> {
        self.inner.facts(kind, about)
    }

    fn holders(
        &self,
        kind: FactKind,
        subject: &str,
    ) -> Result<std::collections::BTreeSet<String>, StoreError> {
        self.inner.holders(kind, subject)
    }

    fn update_fact(
        &self,
        kind: FactKind,
        about: &str,
        subject: &str,
        change: &mut dyn FnMut(Option<Value>) -> Option<Value>,
    ) -> Result<Option<Value>, StoreError> {
        self.process.living()?;
        self.inner.update_fact(kind, about, subject, change)
    }
}

impl Orders for ProcessStore {
    fn place_order(
        &self,
        at: Timestamp,
        by: &str,
        about: &About,
        verb: &Verb,
    ) -> Result<Order, StoreError> {
        self.process.living()?;
        self.inner.place_order(at, by, about, verb)
    }

    fn orders_about(&self, pipeline: &PipelineName) -> Result<Vec<Order>, StoreError> {
        let orders = self.inner.orders_about(pipeline)?;
        Ok(self.meddler.orders(orders))
    }

    fn orders(&self) -> Result<Vec<Order>, StoreError> {
        self.inner.orders()
    }

    fn last_order(&self) -> Result<u64, StoreError> {
        self.inner.last_order()
    }
}

/// The wires of one process.
pub(crate) struct ProcessConnect {
    pub(crate) inner: Arc<dyn Connect>,
    pub(crate) process: Arc<Process>,
    pub(crate) meddler: Arc<dyn Meddler>,
}

impl Connect for ProcessConnect {
    fn transport(
        &self,
        bmc: &ListedBmc,
        memory: Arc<dyn Memory>,
    ) -> Result<Arc<dyn Transport>, Fault> {
        Ok(Arc::new(MeddledWire {
            inner: ProcessWire {
                inner: self.inner.transport(bmc, memory)?,
                bmc: bmc.name.clone(),
                process: Arc::clone(&self.process),
            },
            meddler: Arc::clone(&self.meddler),
        }))
    }
}

struct MeddledWire {
    inner: ProcessWire,
    meddler: Arc<dyn Meddler>,
}

impl Transport for MeddledWire {
    fn send(&self, request: WireRequest) -> BoxFuture<'_, Result<WireResponse, WireError>> {
        self.meddler.send(&self.inner, request)
    }
}

struct ProcessWire {
    inner: Arc<dyn Transport>,
    bmc: BmcName,
    process: Arc<Process>,
}

impl ProcessWire {
    async fn exchange(&self, request: WireRequest) -> Result<WireResponse, WireError> {
        let process = &self.process;
        if process.is_dead() {
            return std::future::pending().await;
        }
        process.watcher.leaves(process, &self.bmc, &request);
        let head = request.clone();
        let is_last = changes(&request) && {
            let count = process.sends.fetch_add(1, Ordering::SeqCst) + 1;
            process.death == Death::AfterSend(count)
        };
        let answer = self.inner.send(request).await;
        process.watcher.arrived(process, &self.bmc, &head);
        if is_last {
            process.die();
        }
        if process.is_dead() {
            return std::future::pending().await;
        }
        answer
    }
}

impl Transport for ProcessWire {
    fn send(&self, request: WireRequest) -> BoxFuture<'_, Result<WireResponse, WireError>> {
        Box::pin(self.exchange(request))
    }
}

/// Whether a request changes something, sessions aside.
pub(crate) fn changes(request: &WireRequest) -> bool {
    !matches!(request.method, Method::GET | Method::HEAD) && !request.path.contains("/Sessions")
}
