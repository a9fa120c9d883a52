//! Runs as the journal alone tells them: for `status` and `events`, with no BMC and no lease.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::folds::Folds;
use super::journal::{load_known, read_event};
use super::story::sentence;
use crate::model::{BmcName, Fault, FaultKind, PipelineName, Retry, RunKey};
use crate::run::record::Wait;
use crate::run::status::{RunStatus, status, whole_milliseconds};
use crate::run::{Record, RunState};
use crate::store::{EventRow, RunRow, Store};

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
    let mut folds = Folds::default();
    let runs = folds.all(store)?.into_iter();
    Ok(runs.map(|fold| fold.status.clone()).collect())
}

/// Status of the latest run of a pair.
pub fn latest(
    store: &dyn Store,
    pipeline: &PipelineName,
    bmc: &BmcName,
) -> Result<Option<RunStatus>, Fault> {
    let row = store.latest_run(pipeline, bmc);
    row.map_err(|error| error.fault())?
        .map(|row| one(store, &row, true))
        .transpose()
}

/// Status of one run.
pub fn of(store: &dyn Store, key: &RunKey) -> Result<RunStatus, Fault> {
    let latest = store.latest_run(&key.pipeline, &key.bmc);
    let latest = latest.map_err(|error| error.fault())?;
    let is_latest = latest.is_some_and(|row| row.key == *key);
    Ok(status(key, &state_of(store, key)?, is_latest))
}

/// State of one run, as its journal tells it.
pub fn state_of(store: &dyn Store, key: &RunKey) -> Result<RunState, Fault> {
    let row = store.run(&key.id()).map_err(|error| error.fault())?;
    match row {
        Some(row) => folded(store, &row),
        None => Ok(RunState::default()),
    }
}

fn one(store: &dyn Store, row: &RunRow, latest: bool) -> Result<RunStatus, Fault> {
    Ok(status(&row.key, &folded(store, row)?, latest))
}

pub(super) fn folded(store: &dyn Store, row: &RunRow) -> Result<RunState, Fault> {
    let known = load_known(store, row).map_err(|error| {
        let fault = Fault::new(FaultKind::Bug, Retry::Operator, error.to_string());
        std::error::Error::source(&error)
            .map_or(fault.clone(), |cause| fault.with_cause(cause.to_string()))
    })?;
    let mut state = RunState::default();
    for (at, record) in &known.records {
        state.apply(*at, record);
    }
    if let Some((at, unknown)) = known.newer {
        let wait = Wait {
            reason: format!("{unknown}; what follows is not shown"),
            until: None,
            held: true,
        };
        state.apply(at, &Record::RunWaiting { wait });
    }
    Ok(state)
}

/// At most `limit` lines after a cursor (0 = from the start), oldest first.
pub fn events_after(store: &dyn Store, cursor: i64, limit: usize) -> Result<Vec<Happened>, Fault> {
    let rows = store.events_after(cursor, limit);
    Ok(happened(rows.map_err(|error| error.fault())?))
}

/// The same of one run.
pub fn events_of(
    store: &dyn Store,
    run: &RunKey,
    cursor: i64,
    limit: usize,
) -> Result<Vec<Happened>, Fault> {
    let rows = store.events_of(&run.id(), cursor, limit);
    Ok(happened(rows.map_err(|error| error.fault())?))
}

/// One line of the stream of all that happens.
#[derive(Debug, Clone, PartialEq)]
pub enum Line {
    /// A record of a run.
    Run(Box<Happened>),
    /// Something outside any run.
    Fleet(FleetLine),
}

/// Something that happened outside any run, in JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FleetLine {
    /// Ask for what comes after it.
    pub cursor: i64,
    /// Which BMC; `None` = the daemon itself.
    pub bmc: Option<BmcName>,
    /// When.
    pub at: Timestamp,
    /// A stable word; see [`FleetEvent`](super::fleet::FleetEvent).
    pub kind: String,
    /// For people.
    pub message: String,
}

impl Line {
    /// Ask for what comes after it.
    pub fn cursor(&self) -> i64 {
        match self {
            Self::Run(happened) => happened.cursor,
            Self::Fleet(line) => line.cursor,
        }
    }
}

/// At most `limit` lines of all that happened after a cursor (0 = from the start), runs or not, oldest first.
pub fn all_after(store: &dyn Store, cursor: i64, limit: usize) -> Result<Vec<Line>, Fault> {
    // Both kinds are numbered as one, as they are committed: up to here none is missing from what is read below.
    let last = store.last_cursor().map_err(|error| error.fault())?;
    let told = store.happenings_after(cursor, limit);
    let told = told.map_err(|error| error.fault())?.into_iter();
    let fleet = told.map(|row| {
        Line::Fleet(FleetLine {
            cursor: row.cursor,
            bmc: row.bmc,
            at: whole_milliseconds(row.at),
            kind: row.kind,
            message: row.message,
        })
    });
    let runs = events_after(store, cursor, limit)?.into_iter();
    let runs = runs.map(|happened| Line::Run(Box::new(happened)));
    let mut lines: Vec<Line> = fleet.chain(runs).collect();
    lines.retain(|line| line.cursor() <= last);
    lines.sort_by_key(Line::cursor);
    lines.truncate(limit);
    Ok(lines)
}

fn happened(rows: Vec<EventRow>) -> Vec<Happened> {
    let line = |row: EventRow| Happened {
        cursor: row.cursor,
        record: read_event(&row),
        key: row.key,
        at: row.record.at,
    };
    rows.into_iter().map(line).collect()
}

/// One line of the journal in JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EventLine {
    /// Ask for what comes after it.
    pub cursor: i64,
    /// `PIPELINE/BMC#N`.
    pub run: String,
    /// The run's pipeline.
    pub pipeline: String,
    /// The run's BMC.
    pub bmc: String,
    /// When.
    pub at: Timestamp,
    /// What, in a sentence; `None` for records that only count.
    pub message: Option<String>,
    /// What; `None` where a newer redpipe wrote it.
    pub record: Option<Value>,
}

impl Happened {
    /// The line in JSON.
    pub fn line(&self) -> EventLine {
        let record = self.record.as_ref();
        EventLine {
            cursor: self.cursor,
            run: self.key.to_string(),
            pipeline: self.key.pipeline.to_string(),
            bmc: self.key.bmc.to_string(),
            at: whole_milliseconds(self.at),
            message: record.and_then(sentence),
            record: record.and_then(|record| serde_json::to_value(record).ok()),
        }
    }
}
