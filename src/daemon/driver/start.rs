//! How a driver comes by its run: taken up from the journal, or opened after a first good look.

use jiff::Timestamp;

use super::{Driver, Halt, Later, RunEnd};
use crate::daemon::history;
use crate::daemon::journal::Journal;
use crate::daemon::rollout::Needs;
use crate::model::facts::Facts;
use crate::model::order::pause;
use crate::model::{Fault, FaultKind, Look, LookRequest, Retry, Seen};
use crate::plan::{Footing, Remembered, RunSpec};
use crate::run::state::Hold;
use crate::run::{Input, Record, RunMachine, RunPhase};

/// A machine, its journal, and whether a look has just been taken.
pub(super) type Started = (RunMachine, Journal, bool);

/// A journal that is not closed, and its records.
pub(super) type Unfinished = (Journal, Vec<(Timestamp, Record)>);

impl Driver<'_> {
    /// The unfinished run of this BMC; one of another pipeline that never wrote anything is closed.
    pub(super) fn unfinished(&self) -> Result<Option<Unfinished>, Halt> {
        let store = self.engine.store();
        let found = store
            .unfinished_run(&self.bmc.name)
            .map_err(|error| Halt::Broken(error.fault()))?;
        let Some(row) = found else { return Ok(None) };
        let is_ours = row.key.pipeline == self.assignment.pipeline.name;
        let (mut journal, records) = Journal::resume(store, row)?;
        if is_ours {
            return Ok(Some((journal, records)));
        }
        let mut state = crate::run::RunState::default();
        for (at, record) in &records {
            state.apply(*at, record);
        }
        if state.has_written || state.hold.as_ref().is_some_and(Hold::is_taken) {
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

    pub(super) fn resume(
        &self,
        mut journal: Journal,
        records: &[(Timestamp, Record)],
    ) -> Result<Started, Halt> {
        let mut state = crate::run::RunState::default();
        for (at, record) in records {
            state.apply(*at, record);
            // A process may have died between the record and what is kept of it.
            self.engine.note(&self.bmc.name, record);
        }
        let mut servers = state
            .start
            .as_ref()
            .map(|start| start.servers.clone())
            .unwrap_or_default();
        if !self.cause.only_resumes() {
            // Whoever applies agrees to servers that came since.
            let listed = self
                .assignment
                .listed()
                .into_iter()
                .map(|server| server.name);
            let new: Vec<_> = listed.filter(|name| !servers.contains(name)).collect();
            servers.extend(new);
        }
        let paths = state.paths();
        let platform = state.start.as_ref().map_or("", |start| &start.platform);
        let footing = Footing::Begun {
            platform,
            paths: &paths,
        };
        let mut spec = self
            .assignment
            .spec(&servers, footing)
            .map_err(|fault| Halt::End(RunEnd::NotStarted(fault)))?;
        if state
            .start
            .as_ref()
            .is_some_and(|start| start.recovery.is_some())
        {
            spec.never_lowers();
        }
        let context = self.context(&spec)?;
        let key = journal.key().clone();
        let mut machine = RunMachine::restore(
            key,
            spec,
            context,
            records.iter().map(|(at, record)| (*at, record)),
        );
        // Before anything is judged anew: an order may be about what the run is held for now.
        self.take_orders(&mut machine, &mut journal)?;
        let decision = machine.decide(self.now(), Input::Restored, self.permits());
        self.write_down(&mut machine, &mut journal, decision)?;
        Ok((machine, journal, false))
    }

    /// A first good look, before anything is written down: who is there, and is it the right box. `opened` = the journal
    /// of a run that is opened already and knows nothing yet.
    pub(super) async fn begin(&self, opened: Option<Journal>) -> Result<Started, Halt> {
        if opened.is_none() {
            self.may_begin()?;
        }
        let request = LookRequest {
            state: true,
            software: true,
            ..LookRequest::default()
        };
        let look = self.first_look(&request).await?;
        self.engine.keep_links(&self.bmc.name, &self.client);
        let not_started = |fault| Halt::End(RunEnd::NotStarted(fault));
        // What it says now is what counts until the run is over.
        let facts = self.engine.keep_facts(&self.bmc.name, Facts::of(&look));
        let assignment = self.assignment.knowing(Some(facts));
        let servers = assignment.servers(&look).map_err(not_started)?;
        let footing = Footing::Now(&look);
        let mut spec = assignment.spec(&servers, footing).map_err(not_started)?;
        if self.cause.recovering().is_some() {
            spec.never_lowers();
        }
        self.engine
            .check_identity(self.bmc, &spec, &look)
            .map_err(not_started)?;
        if !self
            .rollout
            .admits(&self.bmc.name, &Needs::of(&spec, &look))
        {
            return Err(Halt::Later(Later::Canary));
        }
        let context = self.context(&spec)?;
        let seen = Seen::Looked(look);
        let (now, lease) = (self.now(), self.lease.epoch());
        let mut journal = if let Some(journal) = opened {
            journal
        } else {
            let pipeline = &self.assignment.pipeline.name;
            Journal::open(self.engine.store(), pipeline, &self.bmc.name, lease, now)?
        };
        let mut machine = RunMachine::new(journal.key().clone(), spec, context)
            .recovering(self.cause.recovering().cloned());
        // Nothing is sent on the first look: whatever follows from it is decided anew, once the records are durable.
        let input = Input::Looked {
            request: &request,
            seen: &seen,
        };
        let records = machine.decide(now, input, self.permits()).records;
        journal.append(lease, now, &records)?;
        self.take_up(&mut machine, now, &records);
        Ok((machine, journal, true))
    }

    async fn first_look(&self, request: &LookRequest) -> Result<Box<Look>, Halt> {
        let seen = tokio::select! {
            seen = self.client.look(request) => seen,
            () = self.stop.asked() => return Err(Halt::End(RunEnd::Interrupted(None))),
        };
        match seen {
            Seen::Looked(look) => Ok(look),
            Seen::Failed(fault) => Err(Halt::End(RunEnd::NotStarted(fault))),
        }
    }

    /// No run begins while its pipeline is paused, nor where only one that had begun is to be driven.
    fn may_begin(&self) -> Result<(), Halt> {
        let (store, pipeline) = (self.engine.store(), &self.assignment.pipeline.name);
        let broken = |fault| Halt::Broken(fault);
        if self.cause.only_resumes() {
            let end = history::latest(store.as_ref(), pipeline, &self.bmc.name).map_err(broken)?;
            let message = format!("run `{pipeline}/{}` is over", self.bmc.name);
            let none =
                || RunEnd::NotStarted(Fault::new(FaultKind::Blocked, Retry::Operator, message));
            return Err(Halt::End(
                end.map_or_else(none, |status| RunEnd::Over(Box::new(status))),
            ));
        }
        let orders = store
            .orders_about(pipeline)
            .map_err(|error| Halt::Broken(error.fault()))?;
        let Some(order) = pause(&orders, pipeline) else {
            return Ok(());
        };
        let message = format!("pipeline `{pipeline}` is paused {}", order.said());
        let fault = Fault::new(FaultKind::Blocked, Retry::Operator, message)
            .with_hint(format!("`redpipe resume {pipeline}`, then apply again"));
        Err(Halt::Later(Later::Waits(fault)))
    }

    fn context(&self, spec: &RunSpec) -> Result<Remembered, Halt> {
        self.engine
            .context(&self.bmc.name, spec)
            .map_err(|error| Halt::Broken(error.fault()))
    }
}
