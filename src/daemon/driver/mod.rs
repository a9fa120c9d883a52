//! One run on one BMC, from look to look: decide, write down, act, write down what came of it.
//!
//! One loop per BMC: nothing on a BMC ever happens beside it. A request that changes something is sent only after its
//! intent is durable and while the lease is young.

mod hook;
mod orders;
mod serve;
mod start;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use self::serve::Standing;
use crate::daemon::board::Event;
use crate::daemon::engine::Engine;
use crate::daemon::history;
use crate::daemon::journal::{Journal, JournalError};
use crate::daemon::lease::{LEASE_LIFE, LeaseKeeper};
use crate::daemon::line::Cause;
use crate::daemon::prepare::Assignment;
use crate::daemon::rollout::Rollout;
use crate::daemon::stop::Stop;
use crate::model::inventory::Bmc;
use crate::model::{Action, Fault, FaultKind, IntentId, LookRequest, Outcome, Retry, Seen};
use crate::redfish::Client;
use crate::run::status::{RunStatus, status};
use crate::run::{Decision, HookCall, Input, Permits, Record, RunMachine, RunPhase};
use crate::store::Taken;

/// Longest time a request of a former owner may still be under way; a taker waits for it before its first probe.
const FOREIGN_REQUEST_MAX: Duration = Duration::from_mins(2);

/// Between two looks for orders that other processes wrote down, where a wait is longer: a person who types `cancel` sees
/// it taken up.
const ORDERS_POLL: Duration = Duration::from_secs(5);

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
    client: Arc<Client>,
    lease: LeaseKeeper,
    stop: &'a Stop,
    rollout: &'a Rollout,
    cause: &'a Cause,
    /// What the BMC may fetch from us.
    standing: Mutex<Option<Standing>>,
}

/// Why a run cannot go on in this process.
enum Halt {
    /// The machine is at rest for this process.
    End(RunEnd),
    /// The journal or the lease was lost; nothing more is sent.
    Broken(Fault),
    /// It cannot begin yet.
    Later(Later),
}

/// What driving came to.
#[derive(Debug)]
pub(in crate::daemon) enum Drive {
    /// An end.
    End(RunEnd),
    /// No run was opened, and one may be later.
    Later(Later),
}

/// Why a run cannot begin yet.
#[derive(Debug)]
pub(in crate::daemon) enum Later {
    /// Others have to show first that what it needs works.
    Canary,
    /// Something that a person or another process ends: a pause, or a lease.
    Waits(Fault),
}

/// What follows from a decision once its records are durable.
struct Next {
    act: Option<(IntentId, Action)>,
    hook: Option<HookCall>,
}

impl From<JournalError> for Halt {
    fn from(error: JournalError) -> Self {
        let causes = std::error::Error::source(&error).map(ToString::to_string);
        let mut fault = Fault::new(FaultKind::LeaseHeld, Retry::Operator, error.to_string());
        fault.causes.extend(causes);
        fault.hint = error.hint();
        Self::Broken(fault)
    }
}

/// Drives one assignment to its end, or to where this process has to stop.
pub(in crate::daemon) async fn drive(
    engine: &Engine,
    assignment: &Assignment,
    stop: &Stop,
    rollout: &Rollout,
    cause: &Cause,
) -> Drive {
    let assignment = &carrying(engine, assignment);
    let bmc = &assignment.bmc;
    let lease =
        match LeaseKeeper::acquire(engine.store(), engine.clock(), &bmc.name, engine.owner()) {
            Ok(lease) => lease,
            Err(fault) if fault.kind == FaultKind::LeaseHeld => {
                return Drive::Later(Later::Waits(fault));
            }
            Err(fault) => return Drive::End(RunEnd::NotStarted(fault)),
        };
    let client = match engine.shared_client(bmc) {
        Ok(client) => client,
        Err(fault) => {
            lease.release();
            return Drive::End(RunEnd::NotStarted(fault));
        }
    };
    let board = engine.board().clone();
    let (pipeline, name) = (assignment.pipeline.name.clone(), bmc.name.clone());
    client.set_progress(Some(Arc::new(move |sent, total| {
        board.update(&pipeline, &name, |row| row.upload = Some((sent, total)));
    })));
    let guard = lease.clone();
    client.set_guard(Some(Arc::new(move || {
        guard.ensure_young().map_err(|fault| fault.to_string())
    })));
    client.keep_documents(true);
    let driver = Driver {
        engine,
        assignment,
        bmc,
        client,
        lease,
        stop,
        rollout,
        cause,
        standing: Mutex::new(None),
    };
    let keeper = driver.lease.clone();
    let end = tokio::select! {
        // Cancel-safe where it matters: a lost lease means that nothing of ours may be written any more.
        fault = keeper.keep() => Drive::End(RunEnd::NotStarted(fault)),
        end = driver.run() => end,
    };
    engine.keep_links(&bmc.name, &driver.client);
    driver.client.keep_documents(false);
    driver.client.set_guard(None);
    driver.client.set_progress(None);
    driver.client.outage(false);
    driver.client.close().await;
    driver.lease.release();
    end
}

/// The assignment with what a run under way has that the files have no more. What cannot be read here is told when the
/// run is taken up.
fn carrying(engine: &Engine, assignment: &Assignment) -> Assignment {
    let store = engine.store();
    let open = store.unfinished_run(&assignment.bmc.name).ok().flatten();
    let ours = open.filter(|row| row.key.pipeline == assignment.pipeline.name);
    let state = ours.and_then(|row| history::state_of(store.as_ref(), &row.key).ok());
    let kept = assignment
        .needs_facts
        .then(|| engine.kept_facts(&assignment.bmc.name));
    let assignment = assignment.knowing(kept.flatten());
    match state {
        Some(state) => assignment.carrying(&state),
        None => assignment,
    }
}

impl Driver<'_> {
    async fn run(&self) -> Drive {
        match self.try_run().await {
            Ok(()) => Drive::End(RunEnd::Interrupted(None)),
            Err(Halt::End(end)) => Drive::End(end),
            Err(Halt::Broken(fault)) => Drive::End(RunEnd::NotStarted(fault)),
            Err(Halt::Later(later)) => Drive::Later(later),
        }
    }

    async fn try_run(&self) -> Result<(), Halt> {
        match self.lease.taken() {
            Taken::Free => {}
            Taken::FromDead(_) => {
                let bmc = &self.bmc.name;
                self.engine.abandon_logins(bmc).map_err(Halt::Broken)?;
            }
            Taken::FromExpired(_) => self.pause(LEASE_LIFE + FOREIGN_REQUEST_MAX).await?,
        }
        let (mut machine, mut journal, mut follows) = match self.unfinished()? {
            // A process that died between opening a run and its first record looked at nothing.
            Some((journal, records)) if records.is_empty() => self.begin(Some(journal)).await?,
            Some((journal, records)) => self.resume(journal, &records)?,
            None => self.begin(None).await?,
        };
        let mut last: Option<(LookRequest, Instant)> = None;
        let mut rest = Duration::ZERO;
        loop {
            self.take_orders(&mut machine, &mut journal)?;
            self.rest(&machine)?;
            self.serve_again(&machine).await;
            let request = machine.needs();
            let due = match &last {
                Some((asked, at)) if *asked == request => {
                    *at + machine.interval(self.now()).max(rest)
                }
                Some(_) | None => Instant::now(),
            };
            if !self.pause_until(due, &machine).await? {
                continue;
            }
            let answered_before = self.client.answering();
            let mut seen = tokio::select! {
                seen = self.look(&machine, &request, follows) => seen,
                () = self.stop.aborted() => return self.rest(&machine),
                () = self.stop.asked(), if self.may_leave(&machine) => return self.rest(&machine),
            };
            rest = self.rest_after(self.client.answering().saturating_sub(answered_before));
            self.note_fetched(&mut seen);
            last = Some((request.clone(), Instant::now()));
            follows = true;
            let decision = machine.decide(
                self.now(),
                Input::Looked {
                    request: &request,
                    seen: &seen,
                },
                self.permits(),
            );
            let Next { act, hook } = self.write_down(&mut machine, &mut journal, decision)?;
            if let Some((id, action)) = act {
                let outcome = match self.served(&machine, action).await {
                    Ok(action) => self.act(&action).await,
                    Err(outcome) => outcome,
                };
                let input = Input::ActEnded {
                    id: &id,
                    outcome: &outcome,
                };
                let decision = machine.decide(self.now(), input, self.permits());
                self.write_down(&mut machine, &mut journal, decision)?;
                last = Some((machine.needs(), Instant::now()));
            }
            if let Some(call) = hook {
                self.run_hook(&mut machine, &mut journal, &call).await?;
                (last, follows) = (None, false);
            }
        }
    }

    /// A stage that has just begun asks more than the look that began it; behind a hook everything is read anew.
    async fn look(&self, machine: &RunMachine, request: &LookRequest, follows: bool) -> Seen {
        if follows && machine.may_look_on() {
            self.client.look_on(request).await
        } else {
            self.client.look(request).await
        }
    }

    /// What a BMC gets to itself after a look that cost it so much: polls that are faster than `task_poll` never take more
    /// than the twentieth part of its time.
    fn rest_after(&self, cost: Duration) -> Duration {
        cost.saturating_mul(19).min(self.bmc.pace.task_poll)
    }

    /// Append first; only then is anything true, shown or sent.
    fn write_down(
        &self,
        machine: &mut RunMachine,
        journal: &mut Journal,
        decision: Decision,
    ) -> Result<Next, Halt> {
        if !decision.records.is_empty() {
            self.lease.ensure_young().map_err(Halt::Broken)?;
        }
        let now = self.now();
        journal.append(self.lease.epoch(), now, &decision.records)?;
        self.take_up(machine, now, &decision.records);
        Ok(Next {
            act: decision.act,
            hook: decision.hook,
        })
    }

    fn take_up(&self, machine: &mut RunMachine, now: Timestamp, records: &[Record]) {
        for record in records {
            machine.apply(now, record);
            self.engine.note(&self.bmc.name, record);
            if let Record::CertificateAccepted { certificate, .. } = record {
                self.engine.keep_certificate(self.bmc, certificate);
            }
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
        } else if self.stop.is_abort() || (self.stop.is_asked() && self.may_leave(machine)) {
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

    /// Waits for the next look; false where a person ordered something meanwhile.
    async fn pause_until(&self, due: Instant, machine: &RunMachine) -> Result<bool, Halt> {
        let wait = due.saturating_duration_since(Instant::now());
        if wait == Duration::ZERO {
            return Ok(true);
        }
        self.show(machine, Some(crate::run::deadline::after(self.now(), wait)));
        let known = self.last_order()?;
        let mut woken = self.engine.desk().woken();
        while Instant::now() < due {
            tokio::select! {
                () = tokio::time::sleep_until(due.min(Instant::now() + ORDERS_POLL)) => {}
                Ok(()) = woken.changed() => {}
                () = self.stop.aborted() => return self.rest(machine).map(|()| true),
                () = self.stop.asked(), if self.may_leave(machine) => {
                    return self.rest(machine).map(|()| true);
                }
            }
            if self.last_order()? != known {
                return Ok(false);
            }
        }
        Ok(true)
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
            versions: self.rollout.allows(&self.bmc.name),
        }
    }

    fn now(&self) -> Timestamp {
        self.engine.clock().now()
    }
}
