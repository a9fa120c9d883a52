//! This file says what a store does with runs and their journals.
//!
//! A record's body is JSON that the store carries and never reads.

use jiff::Timestamp;
use serde_json::Value;

use super::error::StoreError;
use super::lease::LeaseEpoch;
use crate::model::id::{BmcName, PipelineName, RunKey};

/// One record as it is handed to the store.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRecord {
    /// When it was decided.
    pub at: Timestamp,
    /// Which shape the body has; counts up over the life of redpipe.
    pub version: u32,
    /// The record, in the shape that `version` names.
    pub body: Value,
}

/// One record of a run, as loaded.
#[derive(Debug, Clone, PartialEq)]
pub struct JournalRow {
    /// 1 for the run's first record, without gaps.
    pub seq: u64,
    /// Epoch of the lease that it was written under.
    pub lease_epoch: LeaseEpoch,
    /// The record.
    pub record: StoredRecord,
}

/// One record of any run, as the event stream shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct EventRow {
    /// Place in the stream over all runs: grows, with gaps; ask for what comes after it.
    pub cursor: i64,
    /// Id of the run.
    pub run_id: String,
    /// Which run.
    pub key: RunKey,
    /// Place in the run's own journal.
    pub seq: u64,
    /// The record.
    pub record: StoredRecord,
}

/// One run, as listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRow {
    /// [`RunKey::id`] of `key`.
    pub id: String,
    /// Which run.
    pub key: RunKey,
    /// The phase last marked, for listings; the journal is the truth.
    pub phase: String,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// When its phase was last marked.
    pub changed_at: Timestamp,
    /// When it ended; `None` = it is the BMC's unfinished run.
    pub finished_at: Option<Timestamp>,
    /// Sequence number of its last record; 0 = none.
    pub last_seq: u64,
}

/// What a listing shall show of a run from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunMark {
    /// The phase's word.
    pub phase: String,
    /// Whether the run is over with this.
    pub finished: bool,
    /// When.
    pub at: Timestamp,
}

/// Phase of a run that has just been opened.
pub(super) const OPENED: &str = "Pending";

/// Runs and their journals. All writes are on disk when the call returns.
pub trait Journal: Send + Sync {
    /// Opens the next run of a pair, with its first records; the store chooses the number.
    ///
    /// Refused with [`StoreError::UnfinishedRun`] while the BMC has an unfinished run, of whatever pipeline.
    fn open_run(
        &self,
        pipeline: &PipelineName,
        bmc: &BmcName,
        lease: &LeaseEpoch,
        at: Timestamp,
        first: &[StoredRecord],
    ) -> Result<RunRow, StoreError>;

    /// Appends records and marks the run, both or neither. Returns the last sequence number.
    ///
    /// `expected_seq` is the last number the caller knows (0 = none). Refused when the journal or the lease has moved,
    /// when the run is finished, or when the journal has records of a newer version than these.
    fn append_and_mark(
        &self,
        run_id: &str,
        lease: &LeaseEpoch,
        expected_seq: u64,
        records: &[StoredRecord],
        mark: Option<&RunMark>,
    ) -> Result<u64, StoreError>;

    /// Marks a run without appending.
    fn mark_run(&self, run_id: &str, lease: &LeaseEpoch, mark: &RunMark) -> Result<(), StoreError>;

    /// All records of a run, in order.
    fn load(&self, run_id: &str) -> Result<Vec<JournalRow>, StoreError>;

    /// At most `limit` records of all runs that come after a cursor (0 = from the start), in the order they were
    /// written.
    fn events_after(&self, cursor: i64, limit: usize) -> Result<Vec<EventRow>, StoreError>;

    /// The same of one run.
    fn events_of(
        &self,
        run_id: &str,
        cursor: i64,
        limit: usize,
    ) -> Result<Vec<EventRow>, StoreError>;

    /// Cursor of the newest record of all runs, or of the newest happening; 0 = there is none.
    fn last_cursor(&self) -> Result<i64, StoreError>;

    /// Every run, by pipeline, BMC and number.
    fn runs(&self) -> Result<Vec<RunRow>, StoreError>;

    /// One run.
    fn run(&self, run_id: &str) -> Result<Option<RunRow>, StoreError>;

    /// The latest run of a pair.
    fn latest_run(
        &self,
        pipeline: &PipelineName,
        bmc: &BmcName,
    ) -> Result<Option<RunRow>, StoreError>;

    /// The BMC's unfinished run.
    fn unfinished_run(&self, bmc: &BmcName) -> Result<Option<RunRow>, StoreError>;

    /// Appends records. See [`Journal::append_and_mark`].
    fn append(
        &self,
        run_id: &str,
        lease: &LeaseEpoch,
        expected_seq: u64,
        records: &[StoredRecord],
    ) -> Result<u64, StoreError> {
        self.append_and_mark(run_id, lease, expected_seq, records, None)
    }

    /// Shows another phase in listings.
    fn set_run_phase(
        &self,
        run_id: &str,
        lease: &LeaseEpoch,
        phase: &str,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        self.mark_run(
            run_id,
            lease,
            &RunMark {
                phase: phase.to_owned(),
                finished: false,
                at,
            },
        )
    }

    /// Ends a run: its journal is closed and the BMC is free for the next.
    fn finish_run(
        &self,
        run_id: &str,
        lease: &LeaseEpoch,
        phase: &str,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        self.mark_run(
            run_id,
            lease,
            &RunMark {
                phase: phase.to_owned(),
                finished: true,
                at,
            },
        )
    }
}
