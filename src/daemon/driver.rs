//! One run on one BMC, from look to look: decide, write down, act, write down what came of it.
//!
//! One loop per BMC: nothing on a BMC ever happens beside it. A request that changes something is sent only after its
//! intent is durable and while the lease is young.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use super::board::Event;
use super::engine::Engine;
use super::journal::{Journal, JournalError};
use super::lease::{LEASE_LIFE, LeaseKeeper};
use super::prepare::Assignment;
use super::stop::Stop;
use crate::model::inventory::Bmc;
use crate::model::{Action, Fault, FaultKind, IntentId, LookRequest, Outcome, Retry, RunKey, Seen};
use crate::plan::{Remembered, RunSpec};
use crate::redfish::Client;
use crate::run::status::{RunStatus, status};
use crate::run::{Decision, Input, Permits, Record, RunMachine, RunPhase};
use crate::store::{RunRow, Taken};

/// Longest time a request of a former owner may still be under way; a taker waits for it before its first probe.
const FOREIGN_REQUEST_MAX: Duration = Duration::from_mins(2);

/// How driving one run ended.
#[derive(Debug, Clone)]
pub enum RunEnd {
    /// Completed, failed or cancelled.
    Over(Box<RunStatus>),
    /// Held: only a person, or another tool, can end what the reason names.
    Held(Box<RunStatus>),
    /// Nothing was written to the BMC, and the run has not begun.
    NotStarted(Fault),
    /// Stopped at a safe point; the next process carries on.
    Interrupted(Option<Box<RunStatus>>),
}

/// What drives one run.
pub(super) struct Driver<'a> {
    engine: &'a Engine,
    assignment: &'a Assignment,
    bmc: &'a Bmc,
    client: Client,
    lease: LeaseKeeper,
    stop: &'a Stop,
    permits: &'a (dyn Fn() -> bool + Send + Sync),
}

/// Why a run cannot go on in this process.
enum Halt {
    /// The machine is at rest for this process.
    End(RunEnd),
    /// The journal or the lease was lost; nothing more is sent.
    Broken(Fault),
}

impl From<JournalError> for Halt {
    fn from(error: JournalError) -> Self {
        let causes = std::error::Error::source(&error).map(ToString::to_string);
        let mut fault = Fault::new(FaultKind::LeaseHeld, Retry::Operator, error.to_string());
        fault.causes.extend(causes);
        Self::Broken(fault)
    }
}

/// Drives one assignment to its end, or to where this process has to stop.
pub(super) async fn drive(
    engine: &Engine,
    assignment: &Assignment,
    stop: &Stop,
    may_begin_versions: &(dyn Fn() -> bool + Send + Sync),
) -> RunEnd {
    let bmc = &assignment.bmc;
    let lease =
        match LeaseKeeper::acquire(engine.store(), engine.clock(), &bmc.name, engine.owner()) {
            Ok(lease) => lease,
            Err(fault) => return RunEnd::NotStarted(fault),
        };
    let client = match engine.client(bmc) {
        Ok(client) => client,
        Err(fault) => {
            lease.release();
            return RunEnd::NotStarted(fault);
        }
    };
    let board = engine.board().clone();
    let (pipeline, name) = (assignment.pipeline.name.clone(), bmc.name.clone());
    client.set_progress(Some(Arc::new(move |sent, total| {
        board.update(&pipeline, &name, |row| row.upload = Some((sent, total)));
    })));
    let driver = Driver {
        engine,
        assignment,
        bmc,
        client,
        lease,
        stop,
        permits: may_begin_versions,
    };
    let keeper = driver.lease.clone();
    let end = tokio::select! {
        // Cancel-safe where it matters: a lost lease means that nothing of ours may be written any more.
        fault = keeper.keep() => RunEnd::NotStarted(fault),
        end = driver.run() => end,
    };
    driver.client.close().await;
    driver.lease.release();
    end
}

impl Driver<'_> {
    async fn run(&self) -> RunEnd {
        match self.try_run().await {
            Ok(()) => RunEnd::Interrupted(None),
            Err(Halt::End(end)) => end,
            Err(Halt::Broken(fault)) => RunEnd::NotStarted(fault),
        }
    }

    async fn try_run(&self) -> Result<(), Halt> {
        if let Taken::FromExpired(_) = self.lease.taken() {
            self.pause(LEASE_LIFE + FOREIGN_REQUEST_MAX).await?;
        }
        let (mut machine, mut journal, mut last) = match self.unfinished()? {
            Some(row) => self.resume(row)?,
            None => self.begin().await?,
        };
        loop {
            self.rest(&machine)?;
            let request = machine.needs();
            let due = match &last {
                Some((asked, at)) if *asked == request => *at + machine.interval(self.now()),
                Some(_) | None => Instant::now(),
            };
            self.pause_until(due, &machine).await?;
            let seen = self.client.look(&request).await;
            last = Some((request.clone(), Instant::now()));
            let decision = machine.decide(
                self.now(),
                Input::Looked {
                    request: &request,
                    seen: &seen,
                },
                self.permits(),
            );
            let act = self.write_down(&mut machine, &mut journal, decision)?;
            if let Some((id, action)) = act {
                let outcome = self.act(&action).await;
                let input = Input::ActEnded {
                    id: &id,
                    outcome: &outcome,
                };
                let decision = machine.decide(self.now(), input, self.permits());
                self.write_down(&mut machine, &mut journal, decision)?;
                last = Some((machine.needs(), Instant::now()));
            }
        }
    }

    /// The unfinished run of this BMC; one of another pipeline that never wrote anything is closed.
    fn unfinished(&self) -> Result<Option<RunRow>, Halt> {
        let store = self.engine.store();
        let found = store
            .unfinished_run(&self.bmc.name)
            .map_err(|error| Halt::Broken(error.fault()))?;
        let Some(row) = found else { return Ok(None) };
        if row.key.pipeline == self.assignment.pipeline.name {
            return Ok(Some(row));
        }
        let (mut journal, records) = Journal::resume(store, row)?;
        let mut state = crate::run::RunState::default();
        for (at, record) in &records {
            state.apply(*at, record);
        }
        if state.has_written {
            let other = &journal.key().pipeline;
            let message = format!(
                "run `{other}/{}` is not over; two pipelines never act on one BMC",
                self.bmc.name
            );
            let hint = format!("apply `{other}` to its end first");
            let fault = Fault::new(FaultKind::Blocked, Retry::Operator, message).with_hint(hint);
            return Err(Halt::End(RunEnd::NotStarted(fault)));
        }
        let reason = format!(
            "never wrote anything; pipeline `{}` takes its place",
            self.assignment.pipeline.name
        );
        let record = Record::Ended {
            phase: RunPhase::Cancelled,
            reason,
        };
        journal.append(self.lease.epoch(), self.now(), &[record])?;
        Ok(None)
    }

    fn resume(&self, row: RunRow) -> Result<Started, Halt> {
        let (mut journal, records) = Journal::resume(self.engine.store(), row)?;
        let mut state = crate::run::RunState::default();
        for (at, record) in &records {
            state.apply(*at, record);
        }
        let servers = state
            .start
            .as_ref()
            .map(|start| start.servers.clone())
            .unwrap_or_default();
        let spec = self
            .assignment
            .spec(&servers)
            .map_err(|fault| Halt::End(RunEnd::NotStarted(fault)))?;
        if let Some(lost) = state
            .works
            .iter()
            .find(|(place, work)| work.is_flashing() && spec.stage(&place.stage).is_none())
        {
            let message = format!(
                "stage `{}` left the pipeline while its update is open",
                lost.0.stage
            );
            let fault = Fault::new(FaultKind::Blocked, Retry::Operator, message)
                .with_hint("put the stage back until the run is over");
            return Err(Halt::End(RunEnd::NotStarted(fault)));
        }
        let context = self.context(&spec)?;
        let key = journal.key().clone();
        let mut machine = RunMachine::restore(
            key,
            spec,
            context,
            records.iter().map(|(at, record)| (*at, record)),
        );
        let decision = machine.decide(self.now(), Input::Restored, self.permits());
        self.write_down(&mut machine, &mut journal, decision)?;
        Ok((machine, journal, None))
    }

    /// A first good look, before anything is opened: who is there, and is it the right box.
    async fn begin(&self) -> Result<Started, Halt> {
        let request = LookRequest {
            state: true,
            software: true,
            ..LookRequest::default()
        };
        let look = match self.client.look(&request).await {
            Seen::Looked(look) => look,
            Seen::Failed(fault) => return Err(Halt::End(RunEnd::NotStarted(fault))),
        };
        let not_started = |fault| Halt::End(RunEnd::NotStarted(fault));
        let servers = self.assignment.servers(&look).map_err(not_started)?;
        let spec = self.assignment.spec(&servers).map_err(not_started)?;
        self.engine
            .check_identity(self.bmc, &spec, &look)
            .map_err(not_started)?;
        let context = self.context(&spec)?;
        let seen = Seen::Looked(look);
        let now = self.now();
        let permits = self.permits();
        let mut opened = None;
        let decide = |key: &RunKey| {
            let machine = RunMachine::new(key.clone(), spec, context);
            let mut decision = machine.decide(
                now,
                Input::Looked {
                    request: &request,
                    seen: &seen,
                },
                permits,
            );
            decision.act = None;
            opened = Some(machine);
            decision.records
        };
        let (journal, records) = Journal::open(
            self.engine.store(),
            &self.assignment.pipeline.name,
            &self.bmc.name,
            self.lease.epoch(),
            now,
            decide,
        )?;
        let mut machine = opened.expect("the journal was opened with this machine's records");
        self.take_up(&mut machine, now, &records);
        Ok((machine, journal, None))
    }

    fn context(&self, spec: &RunSpec) -> Result<Remembered, Halt> {
        self.engine
            .context(&self.bmc.name, spec)
            .map_err(|error| Halt::Broken(error.fault()))
    }

    /// Append first; only then is anything true, shown or sent.
    fn write_down(
        &self,
        machine: &mut RunMachine,
        journal: &mut Journal,
        decision: Decision,
    ) -> Result<Option<(IntentId, Action)>, Halt> {
        if !decision.records.is_empty() {
            self.lease.ensure_young().map_err(Halt::Broken)?;
        }
        let now = self.now();
        journal.append(self.lease.epoch(), now, &decision.records)?;
        self.take_up(machine, now, &decision.records);
        Ok(decision.act)
    }

    fn take_up(&self, machine: &mut RunMachine, now: Timestamp, records: &[Record]) {
        for record in records {
            machine.apply(now, record);
            self.engine.note(&self.bmc.name, record);
            let event = Event {
                key: machine.key().clone(),
                at: now,
                record: record.clone(),
            };
            self.engine.board().publish(event);
        }
        self.client.outage(machine.state().gone_since.is_some());
        self.show(machine, None);
    }

    async fn act(&self, action: &Action) -> Outcome {
        if let Err(fault) = self.lease.ensure_young() {
            return Outcome::NotSent { fault };
        }
        let outcome = tokio::select! {
            // Dropping the request leaves its outcome unknown, which is what is recorded.
            outcome = self.client.act(action) => outcome,
            () = self.stop.aborted() => {
                let message = "aborted by the operator while the request was open; what the BMC makes of it is unknown";
                Outcome::Lost { fault: Fault::new(FaultKind::Unreachable, Retry::Operator, message) }
            }
        };
        self.engine
            .board()
            .update(&self.assignment.pipeline.name, &self.bmc.name, |row| {
                row.upload = None;
            });
        outcome
    }

    /// Ends this process's part where the run is over, held, or the operator asked to stop.
    fn rest(&self, machine: &RunMachine) -> Result<(), Halt> {
        let now = || Box::new(status(machine.key(), machine.state(), true));
        let phase = machine.state().phase();
        if phase.is_terminal() {
            Err(Halt::End(RunEnd::Over(now())))
        } else if phase == RunPhase::Held {
            Err(Halt::End(RunEnd::Held(now())))
        } else if self.stop.is_abort() || (self.stop.is_asked() && machine.is_at_safe_point()) {
            Err(Halt::End(RunEnd::Interrupted(Some(now()))))
        } else {
            Ok(())
        }
    }

    fn show(&self, machine: &RunMachine, next: Option<Timestamp>) {
        let mut shown = status(machine.key(), machine.state(), true);
        shown.next_wake = next;
        self.engine
            .board()
            .update(&self.assignment.pipeline.name, &self.bmc.name, |row| {
                row.status = Some(shown);
                row.not_started = None;
            });
    }

    async fn pause_until(&self, due: Instant, machine: &RunMachine) -> Result<(), Halt> {
        let wait = due.saturating_duration_since(Instant::now());
        if wait > Duration::ZERO {
            self.show(machine, Some(crate::run::deadline::after(self.now(), wait)));
            tokio::select! {
                () = tokio::time::sleep_until(due) => {}
                () = self.stop.aborted() => return self.rest(machine),
                () = self.stop.asked(), if machine.is_at_safe_point() => return self.rest(machine),
            }
        }
        Ok(())
    }

    async fn pause(&self, wait: Duration) -> Result<(), Halt> {
        tokio::select! {
            () = tokio::time::sleep(wait) => Ok(()),
            () = self.stop.asked() => Err(Halt::End(RunEnd::Interrupted(None))),
        }
    }

    fn permits(&self) -> Permits {
        Permits {
            acts: !self.stop.is_asked(),
            versions: (self.permits)(),
        }
    }

    fn now(&self) -> Timestamp {
        self.engine.clock().now()
    }
}

/// A machine, its journal, and the last look: what was asked and when.
type Started = (RunMachine, Journal, Option<(LookRequest, Instant)>);
