//! Runs as the journal alone tells them: for `status` and `events`, with no BMC and no lease.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::journal::{load, read_event};
use crate::model::{Fault, FaultKind, Retry, RunKey};
use crate::run::status::{RunStatus, status};
use crate::run::{Record, RunState};
use crate::store::{RunRow, Store};

/// One line of the journal of all runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Happened {
    /// Ask for what comes after it.
    pub cursor: i64,
    /// Which run.
    pub key: RunKey,
    /// When.
    pub at: Timestamp,
    /// What; `None` where a newer redpipe wrote it in a shape that this one does not know.
    pub record: Option<Record>,
}

/// Status of every run, by pipeline, BMC and number.
pub fn runs(store: &dyn Store) -> Result<Vec<RunStatus>, Fault> {
    let rows = store.runs().map_err(|error| error.fault())?;
    let mut latest: BTreeMap<_, u32> = BTreeMap::new();
    for row in &rows {
        let number = latest
            .entry((row.key.pipeline.clone(), row.key.bmc.clone()))
            .or_default();
        *number = row.key.number.max(*number);
    }
    rows.iter()
        .map(|row| {
            let is_latest = latest.get(&(row.key.pipeline.clone(), row.key.bmc.clone()))
                == Some(&row.key.number);
            one(store, row, is_latest)
        })
        .collect()
}

fn one(store: &dyn Store, row: &RunRow, latest: bool) -> Result<RunStatus, Fault> {
    let records = load(store, row).map_err(|error| {
        let fault = Fault::new(FaultKind::Bug, Retry::Operator, error.to_string());
        std::error::Error::source(&error)
            .map_or(fault.clone(), |cause| fault.with_cause(cause.to_string()))
    })?;
    let mut state = RunState::default();
    for (at, record) in &records {
        state.apply(*at, record);
    }
    Ok(status(&row.key, &state, latest))
}

/// At most `limit` lines after a cursor (0 = from the start), oldest first.
pub fn events_after(store: &dyn Store, cursor: i64, limit: usize) -> Result<Vec<Happened>, Fault> {
    let rows = store
        .events_after(cursor, limit)
        .map_err(|error| error.fault())?;
    Ok(rows
        .into_iter()
        .map(|row| Happened {
            cursor: row.cursor,
            record: read_event(&row),
            key: row.key,
            at: row.record.at,
        })
        .collect())
}
