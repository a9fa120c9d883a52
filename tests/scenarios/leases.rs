//! Two processes on one state: one drives a BMC, and one that hung while it did can neither write nor send any more.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use mock_bmc::ledger::LedgerLine;
use redpipe::daemon::history::events_after;
use redpipe::daemon::{
    ApplyOptions, ApplyReport, Assignment, Connect, Engine, RunEnd, Stop, apply,
};
use redpipe::model::inventory::Bmc;
use redpipe::model::{Fault, FaultKind};
use redpipe::redfish::{BoxFuture, Clock, Memory, Transport, WireError, WireRequest, WireResponse};
use redpipe::run::RunPhase;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::common::{PIPELINE, bmc_hop, completed, first, pipeline, settings};
use super::support::world::{World, end};

/// A process that can be suspended: its clock stands, and what it is about to send waits.
struct Suspended {
    at: Mutex<Option<Timestamp>>,
    is_over: Mutex<bool>,
    woken: Notify,
    clock: Arc<dyn Clock>,
    connect: Arc<dyn Connect>,
    /// Whether the process is suspended right before this request.
    when: Box<dyn Fn(&WireRequest) -> bool + Send + Sync>,
}

impl Suspended {
    fn is_suspended(&self) -> bool {
        self.at.lock().unwrap().is_some()
    }

    fn wake(&self) {
        *self.is_over.lock().unwrap() = true;
        *self.at.lock().unwrap() = None;
        self.woken.notify_waiters();
    }
}

impl Clock for Suspended {
    fn now(&self) -> Timestamp {
        let at = *self.at.lock().unwrap();
        at.unwrap_or_else(|| self.clock.now())
    }
}

/// The wire of such a process.
struct Wire(Arc<Suspended>, Arc<dyn Transport>);

impl Transport for Wire {
    fn send(&self, request: WireRequest) -> BoxFuture<'_, Result<WireResponse, WireError>> {
        Box::pin(async move {
            let state = &self.0;
            let now = state.clock.now();
            if !*state.is_over.lock().unwrap() && (state.is_suspended() || (state.when)(&request)) {
                let woken = state.woken.notified();
                state.at.lock().unwrap().get_or_insert(now);
                woken.await;
            }
            self.1.send(request).await
        })
    }
}

struct Wires(Arc<Suspended>);

impl Connect for Wires {
    fn transport(&self, bmc: &Bmc, memory: Arc<dyn Memory>) -> Result<Arc<dyn Transport>, Fault> {
        let inner = self.0.connect.transport(bmc, memory)?;
        Ok(Arc::new(Wire(Arc::clone(&self.0), inner)))
    }
}

/// An engine whose process is suspended at a request.
fn suspendable(
    world: &World,
    when: impl Fn(&WireRequest) -> bool + Send + Sync + 'static,
) -> (Arc<Suspended>, Engine) {
    let state = Arc::new(Suspended {
        at: Mutex::default(),
        is_over: Mutex::default(),
        woken: Notify::new(),
        clock: world.clock(),
        connect: world.connect(),
        when: Box::new(when),
    });
    let engine = world.engine_of(
        Arc::clone(&state) as Arc<dyn Clock>,
        Arc::new(Wires(Arc::clone(&state))),
    );
    (state, engine)
}

/// One process beside the test's own.
fn process(engine: Engine, assignments: Vec<Assignment>, wait: bool) -> JoinSet<ApplyReport> {
    let options = ApplyOptions {
        wait,
        ..ApplyOptions::default()
    };
    let mut process = JoinSet::new();
    process
        .spawn(async move { Box::pin(apply(&engine, assignments, options, &Stop::new())).await });
    process
}

async fn ended(mut process: JoinSet<ApplyReport>) -> ApplyReport {
    process.join_next().await.unwrap().unwrap()
}

/// One process is suspended at a request, another takes over and ends the run; then the first wakes.
async fn one_hangs(
    world: &World,
    text: &str,
    when: impl Fn(&WireRequest) -> bool + Send + Sync + 'static,
) -> (ApplyReport, ApplyReport) {
    let (state, hung) = suspendable(world, when);
    let mut first = process(hung, world.assignments(&[text]).await, false);
    while !state.is_suspended() {
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(first.try_join_next().is_none(), "nothing was suspended");
    }
    let second = process(world.engine(), world.assignments(&[text]).await, true);
    // Longer than a lease lives, and shorter than a read may take.
    tokio::time::sleep(Duration::from_secs(45)).await;
    let (writes, held) = (
        world.writes("mock-1"),
        world.engine().store().leases().unwrap(),
    );
    assert_eq!(held.len(), 1);
    state.wake();
    let first = ended(first).await;
    assert_eq!(
        world.writes("mock-1"),
        writes,
        "nothing is sent after the wake"
    );
    let second = ended(second).await;
    (first, second)
}

#[track_caller]
fn lost(report: &ApplyReport) {
    let RunEnd::NotStarted(fault) = end(report, PIPELINE, "mock-1") else {
        panic!("{report:#?}");
    };
    assert_eq!(fault.kind, FaultKind::LeaseHeld, "{fault:?}");
}

/// Nothing of an earlier lease stands behind what was written under a later one.
fn epochs_only_grow(world: &World) {
    let store = world.engine().store();
    let events = events_after(store.as_ref(), 0, usize::MAX >> 1).unwrap();
    let run = events[0].key.id();
    let epochs: Vec<_> = store
        .load(&run)
        .unwrap()
        .into_iter()
        .map(|row| row.lease_epoch)
        .collect();
    assert!(epochs.is_sorted(), "{epochs:?}");
    assert_eq!(
        epochs
            .iter()
            .collect::<std::collections::BTreeSet<_>>()
            .len(),
        2
    );
}

/// Scenario 155.
#[tokio::test(start_paused = true)]
async fn a_process_that_hung_before_its_update_was_sent_neither_writes_nor_sends_when_it_wakes() {
    let world = World::one(1, "");
    let text = pipeline(&[bmc_hop(&world, "1.60")]);
    let when = |request: &WireRequest| request.path.contains("/TaskService/Tasks");
    let (first, second) = one_hangs(&world, &text, when).await;
    lost(&first);
    completed(&world, &second);
    assert_eq!(world.caused("mock-1", "update accepted").len(), 1);
    epochs_only_grow(&world);
}

/// Scenario 155.
#[tokio::test(start_paused = true)]
async fn a_request_whose_intent_is_written_does_not_leave_after_the_lease_is_lost() {
    let world = World::one(1, "");
    let text = pipeline(&[settings("quiet", "bios", "QuietBoot = false")]);
    // The read of the system that a reset begins with comes right after the last read of a look, which is of its BIOS.
    let (bmc, before) = (Arc::clone(&world.bmcs["mock-1"]), Mutex::new(String::new()));
    let when = move |request: &WireRequest| {
        let before = std::mem::replace(&mut *before.lock().unwrap(), request.path.clone());
        let is_patch = |line: &LedgerLine| line.method.as_deref() == Some("PATCH");
        let is_written = bmc.lock().unwrap().ledger().iter().any(is_patch);
        is_written && request.path == "/redfish/v1/Systems/1" && before.contains("/Bios")
    };
    let (first, second) = one_hangs(&world, &text, when).await;
    lost(&first);
    completed(&world, &second);
    assert_eq!(
        world.caused("mock-1", "reset").len(),
        1,
        "{:#?}",
        world.writes("mock-1")
    );
    epochs_only_grow(&world);
}

#[tokio::test(start_paused = true)]
async fn a_second_process_is_told_who_drives_the_bmc_and_can_wait_for_it() {
    let world = World::one(1, "");
    let text = pipeline(&[bmc_hop(&world, "1.60")]);
    let one = process(world.engine(), world.assignments(&[&text]).await, false);
    tokio::time::sleep(Duration::from_mins(2)).await;
    let told = world.apply(&[&text]).await;
    let RunEnd::NotStarted(fault) = end(&told, PIPELINE, "mock-1") else {
        panic!("{told:#?}");
    };
    assert_eq!(fault.kind, FaultKind::LeaseHeld);
    let process = format!("process {} on host", std::process::id());
    assert!(fault.message.contains(&process), "{fault}");
    let logins = world.ledger("mock-1").into_iter().filter(|line| {
        line.method.as_deref() == Some("POST")
            && line
                .path
                .as_deref()
                .is_some_and(|path| path.ends_with("/Sessions"))
    });
    assert_eq!(logins.count(), 1, "the second did not even log in");
    let mut world = world;
    world.options.wait = true;
    let waited = world.apply(&[&text]).await;
    assert_eq!(first(&waited).phase, RunPhase::Completed);
    assert_eq!(
        first(&waited).stages[0].how,
        Some("already-there"),
        "it waited for the end"
    );
    assert_eq!(first(&ended(one).await).phase, RunPhase::Completed);
    assert!(world.engine().store().leases().unwrap().is_empty());
}
