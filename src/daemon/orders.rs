//! What people order: written down for whoever drives the run, and carried out here where nobody does and no BMC has to
//! be looked at for it.

use super::engine::Engine;
use super::history;
use super::journal::{Journal, JournalError};
use super::lease::LEASE_LIFE;
use crate::model::order::concerning;
use crate::model::{About, BmcName, Fault, FaultKind, Order, PipelineName, Retry, RunKey, Verb};
use crate::pipeline::Pipeline;
use crate::run::status::RunStatus;
use crate::run::{RunPhase, RunState};
use crate::store::{LeaseEpoch, LeaseError, RunRow, Store};

/// How far an order came at once.
#[derive(Debug, Clone)]
pub enum Reached {
    /// The run is over, by it or before it.
    Over(Box<RunStatus>),
    /// A process drives the run, and takes the order up at its next turn: who it is.
    Driven(String),
    /// Nobody drives the run; the order is in its journal, and what follows needs a look at the BMC.
    Waits(Box<RunStatus>),
}

/// A run by the name that people give it: `PIPELINE/BMC` is the latest of the pair, `PIPELINE/BMC#N` any.
pub fn find(store: &dyn Store, name: &str) -> Result<Option<(RunKey, RunStatus)>, Fault> {
    let rows = store.runs().map_err(|error| error.fault())?;
    let is_named = |row: &&RunRow| {
        let key = &row.key;
        key.to_string() == name || format!("{}/{}", key.pipeline, key.bmc) == name
    };
    let found = rows
        .iter()
        .filter(is_named)
        .max_by_key(|row| row.key.number);
    let Some(row) = found else { return Ok(None) };
    let status = history::of(store, &row.key)?;
    Ok(Some((row.key.clone(), status)))
}

/// Whether a pipeline was ever applied on this state.
pub fn knows(engine: &Engine, pipeline: &PipelineName) -> Result<bool, Fault> {
    let store = engine.store();
    let failed = |error: crate::store::StoreError| error.fault();
    if store.selections().map_err(failed)?.contains_key(pipeline) {
        return Ok(true);
    }
    let runs = store.runs().map_err(failed)?;
    Ok(runs.iter().any(|row| row.key.pipeline == *pipeline))
}

/// Writes an order down, where every process on the state sees it.
pub fn place(engine: &Engine, user: &str, about: &About, verb: &Verb) -> Result<Order, Fault> {
    let host = engine.owner().host.split('/').next().unwrap_or_default();
    let by = format!("{user}@{host}");
    engine
        .store()
        .place_order(engine.clock().now(), &by, about, verb)
        .map_err(|error| error.fault())
}

/// The word by which a daemon is told to apply a pipeline as it stands in a file.
pub fn to_apply(engine: &Engine, pipeline: &Pipeline, limit: Option<&str>) -> Result<Verb, Fault> {
    Ok(Verb::Apply {
        generation: engine.generation(pipeline)?,
        limit: limit.map(ToOwned::to_owned),
    })
}

/// Carries out what was ordered of a run, as far as its journal alone allows, unless a process drives it.
pub fn carry_out(engine: &Engine, key: &RunKey) -> Result<Reached, Fault> {
    let (store, now) = (engine.store(), engine.clock().now());
    let row = store.run(&key.id()).map_err(|error| error.fault())?;
    let Some(row) = row.filter(|row| row.finished_at.is_none()) else {
        return history::of(store.as_ref(), key).map(|status| Reached::Over(Box::new(status)));
    };
    let lease = match store.acquire_lease(&key.bmc, engine.owner(), now, LEASE_LIFE) {
        Ok(lease) => lease,
        Err(LeaseError::HeldBy { held, .. }) => return Ok(Reached::Driven(held.owner.to_string())),
        Err(error @ (LeaseError::Lost { .. } | LeaseError::Store(_))) => return Err(error.fault()),
    };
    let written = write(engine, row, lease.epoch);
    if let Err(error) = store.release_lease(&lease) {
        tracing::debug!(%error, "the lease was lost before it was given back");
    }
    written?;
    let status = Box::new(history::of(store.as_ref(), key)?);
    Ok(if status.phase.is_terminal() {
        Reached::Over(status)
    } else {
        Reached::Waits(status)
    })
}

fn write(engine: &Engine, row: RunRow, epoch: LeaseEpoch) -> Result<(), Fault> {
    let store = engine.store();
    let key = row.key.clone();
    let orders = store
        .orders_about(&key.pipeline)
        .map_err(|error| error.fault())?;
    let (mut journal, records) = Journal::resume(store, row).map_err(|error| told(&error))?;
    let mut state = RunState::default();
    for (at, record) in &records {
        state.apply(*at, record);
    }
    for order in concerning(&orders, &key) {
        let now = engine.clock().now();
        let records = state.ordered(now, order);
        journal
            .append(epoch, now, &records)
            .map_err(|error| told(&error))?;
        for record in &records {
            state.apply(now, record);
        }
    }
    Ok(())
}

fn told(error: &JournalError) -> Fault {
    let mut fault = Fault::new(FaultKind::Blocked, Retry::Operator, error.to_string());
    fault.hint = error.hint();
    std::error::Error::source(error)
        .map_or(fault.clone(), |cause| fault.with_cause(cause.to_string()))
}

/// The pause of a pipeline that stands.
pub fn pause_of(store: &dyn Store, pipeline: &PipelineName) -> Result<Option<Order>, Fault> {
    let orders = store
        .orders_about(pipeline)
        .map_err(|error| error.fault())?;
    Ok(crate::model::order::pause(&orders, pipeline).cloned())
}

/// Orders about a run that nobody has taken up yet.
pub fn open(store: &dyn Store, key: &RunKey) -> Result<Vec<Order>, Fault> {
    let orders = store
        .orders_about(&key.pipeline)
        .map_err(|error| error.fault())?;
    let state = history::state_of(store, key)?;
    let is_open =
        |order: &&Order| order.about == About::Run(key.clone()) && !state.has_taken_up(order);
    let is_over = state.end.is_some();
    Ok(orders
        .iter()
        .filter(is_open)
        .filter(|_| !is_over)
        .cloned()
        .collect())
}

/// What a person wants to know of a run beside its journal: who drives it, and what was ordered and not yet taken up.
pub fn about(engine: &Engine, key: &RunKey) -> Result<Vec<String>, Fault> {
    let store = engine.store();
    let mut lines = Vec::new();
    if let Some(order) = pause_of(store.as_ref(), &key.pipeline)? {
        lines.push(format!(
            "pipeline `{}` is paused {}",
            key.pipeline,
            order.said()
        ));
    }
    for order in open(store.as_ref(), key)? {
        lines.push(format!(
            "ordered, not yet taken up: {} {}",
            order.verb.as_str(),
            order.said()
        ));
    }
    let row = store.run(&key.id()).map_err(|error| error.fault())?;
    if row.is_some_and(|row| row.finished_at.is_none()) {
        let of_bmc = drivers(engine, Some(&key.bmc), &key.pipeline)?;
        let nobody = || vec!["no process drives it; `redpipe apply` carries on".to_owned()];
        lines.extend(if of_bmc.is_empty() { nobody() } else { of_bmc });
    }
    Ok(lines)
}

/// Who drives runs of a pipeline now, with their BMCs.
pub fn drivers(
    engine: &Engine,
    bmc: Option<&BmcName>,
    pipeline: &PipelineName,
) -> Result<Vec<String>, Fault> {
    let store = engine.store();
    let failed = |error: crate::store::StoreError| error.fault();
    let open: Vec<RunRow> = store
        .runs()
        .map_err(failed)?
        .into_iter()
        .filter(|row| row.finished_at.is_none() && row.key.pipeline == *pipeline)
        .collect();
    let now = engine.clock().now();
    let leases = store.leases().map_err(failed)?.into_iter();
    Ok(leases
        .filter(|lease| lease.expires_at > now && !lease.owner.is_dead(engine.owner()))
        .filter(|lease| bmc.is_none_or(|bmc| lease.bmc == *bmc))
        .filter(|lease| open.iter().any(|row| row.key.bmc == lease.bmc))
        .map(|lease| format!("{} drives `{pipeline}/{}`", lease.owner, lease.bmc))
        .collect())
}

/// Whether a run is one that a person can have begun anew.
pub fn is_given_up(status: &RunStatus) -> bool {
    matches!(status.phase, RunPhase::Failed | RunPhase::Cancelled)
}
