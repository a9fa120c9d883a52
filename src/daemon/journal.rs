//! The journal of one run: typed on this side, JSON in the store.

use std::sync::Arc;

use jiff::Timestamp;

use crate::model::{BmcName, PipelineName, RunKey};
use crate::run::record::RECORD_VERSION;
use crate::run::{Record, RunPhase};
use crate::store::{JournalRow, LeaseEpoch, RunMark, RunRow, Store, StoreError, StoredRecord};

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum JournalError {
    /// The store refused.
    #[error("journal of run `{run}`")]
    Store {
        /// Which run.
        run: String,
        /// Why.
        #[source]
        source: StoreError,
    },
    /// Written by a newer redpipe.
    #[error(
        "run `{run}` was written by a newer redpipe (record version {found}, this one writes {RECORD_VERSION})"
    )]
    Newer {
        /// Which run.
        run: String,
        /// The version found.
        found: u32,
    },
    /// A line that does not read back.
    #[error("record {seq} of run `{run}` cannot be read")]
    Unreadable {
        /// Which run.
        run: String,
        /// Which line.
        seq: u64,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
}

impl JournalError {
    /// What a person can do about it.
    pub(super) fn hint(&self) -> Option<String> {
        match self {
            Self::Store { source, .. } => source.hint(),
            Self::Newer { .. } => Some("use the redpipe that wrote it, or a newer one".to_owned()),
            Self::Unreadable { .. } => None,
        }
    }
}

/// An open journal: knows where it ends.
pub(super) struct Journal {
    store: Arc<dyn Store>,
    row: RunRow,
    seq: u64,
}

impl Journal {
    /// Opens the next run of a pair; a run without records has not begun.
    pub(super) fn open(
        store: Arc<dyn Store>,
        pipeline: &PipelineName,
        bmc: &BmcName,
        lease: LeaseEpoch,
        at: Timestamp,
    ) -> Result<Self, JournalError> {
        let failed = |source| JournalError::Store {
            run: format!("{pipeline}/{bmc}"),
            source,
        };
        let row = store
            .open_run(pipeline, bmc, &lease, at, &[])
            .map_err(failed)?;
        Ok(Self {
            store,
            seq: row.last_seq,
            row,
        })
    }

    /// Takes up an unfinished run with its records.
    pub(super) fn resume(
        store: Arc<dyn Store>,
        row: RunRow,
    ) -> Result<(Self, Vec<(Timestamp, Record)>), JournalError> {
        let records = load(store.as_ref(), &row)?;
        let seq = row
            .last_seq
            .max(u64::try_from(records.len()).unwrap_or(u64::MAX));
        Ok((Self { store, row, seq }, records))
    }

    /// Which run.
    pub(super) fn key(&self) -> &RunKey {
        &self.row.key
    }

    /// Appends records, all or none; the last one may end the run.
    pub(super) fn append(
        &mut self,
        lease: LeaseEpoch,
        at: Timestamp,
        records: &[Record],
    ) -> Result<(), JournalError> {
        if records.is_empty() {
            return Ok(());
        }
        let run = self.row.key.to_string();
        let stored: Vec<StoredRecord> = records.iter().map(|record| stored(at, record)).collect();
        let mark = records.iter().rev().find_map(|record| mark(record, at));
        self.seq = self
            .store
            .append_and_mark(&self.row.id, &lease, self.seq, &stored, mark.as_ref())
            .map_err(|source| JournalError::Store { run, source })?;
        Ok(())
    }
}

/// What a listing shows from a record on.
fn mark(record: &Record, at: Timestamp) -> Option<RunMark> {
    let (phase, finished) = if let Record::Ended { phase, .. } = record {
        (*phase, true)
    } else if let Record::Started { .. } = record {
        (RunPhase::InProgress, false)
    } else {
        return None;
    };
    Some(RunMark {
        phase: phase.as_str().to_owned(),
        finished,
        at,
    })
}

/// All records of a run, typed.
pub(super) fn load(
    store: &dyn Store,
    row: &RunRow,
) -> Result<Vec<(Timestamp, Record)>, JournalError> {
    let run = row.key.to_string();
    let rows = store.load(&row.id).map_err(|source| JournalError::Store {
        run: run.clone(),
        source,
    })?;
    rows.iter()
        .map(|journal_row| read(&run, journal_row))
        .collect()
}

/// What this redpipe knows of a journal.
pub(super) struct Known {
    /// Its records, oldest first.
    pub(super) records: Vec<(Timestamp, Record)>,
    /// When the first that it does not know was written, and what is said of that.
    pub(super) newer: Option<(Timestamp, String)>,
}

/// The records that this redpipe knows, up to the first that a newer one wrote.
pub(super) fn load_known(store: &dyn Store, row: &RunRow) -> Result<Known, JournalError> {
    let run = row.key.to_string();
    let rows = store.load(&row.id).map_err(|source| JournalError::Store {
        run: run.clone(),
        source,
    })?;
    let mut known = Known {
        records: Vec::new(),
        newer: None,
    };
    for journal_row in &rows {
        match read(&run, journal_row) {
            Ok(record) => known.records.push(record),
            Err(error @ JournalError::Newer { .. }) => {
                known.newer = Some((journal_row.record.at, error.to_string()));
                return Ok(known);
            }
            Err(error @ (JournalError::Store { .. } | JournalError::Unreadable { .. })) => {
                return Err(error);
            }
        }
    }
    Ok(known)
}

fn read(run: &str, row: &JournalRow) -> Result<(Timestamp, Record), JournalError> {
    if row.record.version > RECORD_VERSION {
        return Err(JournalError::Newer {
            run: run.to_owned(),
            found: row.record.version,
        });
    }
    let record = serde_json::from_value(row.record.body.clone()).map_err(|source| {
        JournalError::Unreadable {
            run: run.to_owned(),
            seq: row.seq,
            source,
        }
    })?;
    Ok((row.record.at, record))
}

fn stored(at: Timestamp, record: &Record) -> StoredRecord {
    let body = serde_json::to_value(record)
        .expect("records hold only maps with text keys, which JSON can always say");
    StoredRecord {
        at,
        version: RECORD_VERSION,
        body,
    }
}

/// A record of the event stream, where this redpipe knows its shape.
pub(super) fn read_event(row: &crate::store::EventRow) -> Option<Record> {
    (row.record.version <= RECORD_VERSION)
        .then(|| serde_json::from_value(row.record.body.clone()).ok())
        .flatten()
}
