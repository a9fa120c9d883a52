//! This file keeps runs and their journals.
//!
//! The rule of one unfinished run per BMC is an index of the database, so that no code path can forget it.

use jiff::Timestamp;
use rusqlite::{OptionalExtension, Row, Transaction, params};

use super::convert;
use super::database::{Failure, SqliteStore};
use super::leases::check_lease;
use crate::model::id::{BmcName, PipelineName, RunKey};
use crate::store::error::StoreError;
use crate::store::journal::{EventRow, Journal, JournalRow, OPENED, RunMark, RunRow, StoredRecord};
use crate::store::lease::LeaseEpoch;

impl Journal for SqliteStore {
    fn open_run(
        &self,
        pipeline: &PipelineName,
        bmc: &BmcName,
        lease: &LeaseEpoch,
        at: Timestamp,
        first: &[StoredRecord],
    ) -> Result<RunRow, StoreError> {
        Ok(self.write("open a run", |tx| {
            check_lease(tx, bmc, *lease)?;
            if let Some(open) = unfinished(tx, bmc)? {
                let run = open.key.to_string();
                return Err(StoreError::UnfinishedRun {
                    bmc: bmc.clone(),
                    run,
                }
                .into());
            }
            let run = insert_run(tx, pipeline, bmc, at)?;
            let last_seq = push(tx, &run.id, *lease, 0, first)?;
            Ok(RunRow { last_seq, ..run })
        })?)
    }

    fn append_and_mark(
        &self,
        run_id: &str,
        lease: &LeaseEpoch,
        expected_seq: u64,
        records: &[StoredRecord],
        mark: Option<&RunMark>,
    ) -> Result<u64, StoreError> {
        Ok(self.write("append to the journal", |tx| {
            let run = writable(tx, run_id, *lease)?;
            if run.last_seq != expected_seq {
                let (run, found) = (run.id, run.last_seq);
                return Err(StoreError::Moved {
                    run,
                    expected: expected_seq,
                    found,
                }
                .into());
            }
            check_versions(tx, run_id, records)?;
            let last_seq = push(tx, run_id, *lease, expected_seq, records)?;
            if let Some(mark) = mark {
                set_mark(tx, run_id, mark)?;
            }
            Ok(last_seq)
        })?)
    }

    fn mark_run(&self, run_id: &str, lease: &LeaseEpoch, mark: &RunMark) -> Result<(), StoreError> {
        Ok(self.write("mark a run", |tx| {
            writable(tx, run_id, *lease)?;
            Ok(set_mark(tx, run_id, mark)?)
        })?)
    }

    fn load(&self, run_id: &str) -> Result<Vec<JournalRow>, StoreError> {
        Ok(self.read("load a journal", |tx| {
            run_by_id(tx, run_id)?.ok_or_else(|| StoreError::UnknownRun {
                run: run_id.to_owned(),
            })?;
            let mut query = tx.prepare("SELECT * FROM journal WHERE run_id = ?1 ORDER BY seq")?;
            let rows = query.query_map([run_id], |row| {
                Ok(JournalRow {
                    seq: convert::count(row, "seq")?,
                    lease_epoch: LeaseEpoch(convert::count(row, "lease_epoch")?),
                    record: record(row)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })?)
    }

    fn events_after(&self, cursor: i64, limit: usize) -> Result<Vec<EventRow>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        Ok(self.read("read events", |tx| {
            let mut query = tx.prepare(
                "SELECT journal.*, pipeline, bmc, number FROM journal JOIN runs USING (run_id)
                 WHERE cursor > ?1 ORDER BY cursor LIMIT ?2",
            )?;
            let rows = query.query_map([cursor, limit], event_row)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })?)
    }

    fn events_of(
        &self,
        run_id: &str,
        cursor: i64,
        limit: usize,
    ) -> Result<Vec<EventRow>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        Ok(self.read("read events", |tx| {
            // Within a run both numbers grow together, and the index is by `seq`.
            let mut query = tx.prepare(
                "SELECT journal.*, pipeline, bmc, number FROM journal JOIN runs USING (run_id)
                 WHERE run_id = ?1 AND cursor > ?2 ORDER BY seq LIMIT ?3",
            )?;
            let rows = query.query_map(params![run_id, cursor, limit], event_row)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })?)
    }

    fn last_cursor(&self) -> Result<i64, StoreError> {
        Ok(self.read("read events", |tx| {
            // Happenings are numbered with it.
            let newest = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'journal'";
            Ok(tx.query_row(newest, [], |row| row.get(0))?)
        })?)
    }

    fn runs(&self) -> Result<Vec<RunRow>, StoreError> {
        Ok(self.read("list runs", |tx| {
            let mut query = tx.prepare("SELECT * FROM runs ORDER BY pipeline, bmc, number")?;
            let rows = query.query_map([], run_row)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })?)
    }

    fn run(&self, run_id: &str) -> Result<Option<RunRow>, StoreError> {
        Ok(self.read("read a run", |tx| Ok(run_by_id(tx, run_id)?))?)
    }

    fn latest_run(
        &self,
        pipeline: &PipelineName,
        bmc: &BmcName,
    ) -> Result<Option<RunRow>, StoreError> {
        Ok(self.read("read a run", |tx| {
            let latest = tx.query_row(
                "SELECT * FROM runs WHERE pipeline = ?1 AND bmc = ?2 ORDER BY number DESC LIMIT 1",
                [pipeline.as_str(), bmc.as_str()],
                run_row,
            );
            Ok(latest.optional()?)
        })?)
    }

    fn unfinished_run(&self, bmc: &BmcName) -> Result<Option<RunRow>, StoreError> {
        Ok(self.read("read a run", |tx| Ok(unfinished(tx, bmc)?))?)
    }
}

fn insert_run(
    tx: &Transaction<'_>,
    pipeline: &PipelineName,
    bmc: &BmcName,
    at: Timestamp,
) -> rusqlite::Result<RunRow> {
    let number: u32 = tx.query_row(
        "SELECT coalesce(max(number), 0) + 1 FROM runs WHERE pipeline = ?1 AND bmc = ?2",
        [pipeline.as_str(), bmc.as_str()],
        |row| row.get(0),
    )?;
    let key = RunKey {
        pipeline: pipeline.clone(),
        bmc: bmc.clone(),
        number,
    };
    let id = key.id();
    tx.execute(
        "INSERT INTO runs (run_id, pipeline, bmc, number, phase, opened_at, changed_at, last_seq, record_version)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, 0, 0)",
        params![
            id,
            pipeline.as_str(),
            bmc.as_str(),
            number,
            OPENED,
            at.to_string()
        ],
    )?;
    let phase = OPENED.to_owned();
    Ok(RunRow {
        id,
        key,
        phase,
        opened_at: at,
        changed_at: at,
        finished_at: None,
        last_seq: 0,
    })
}

/// The run, if it may be written under this lease.
fn writable(tx: &Transaction<'_>, run_id: &str, lease: LeaseEpoch) -> Result<RunRow, Failure> {
    let run = run_by_id(tx, run_id)?.ok_or_else(|| StoreError::UnknownRun {
        run: run_id.to_owned(),
    })?;
    if run.finished_at.is_some() {
        return Err(StoreError::RunFinished { run: run.id }.into());
    }
    check_lease(tx, &run.key.bmc, lease)?;
    Ok(run)
}

/// A journal that a newer redpipe has written to is not continued by an older one.
fn check_versions(
    tx: &Transaction<'_>,
    run_id: &str,
    records: &[StoredRecord],
) -> Result<(), Failure> {
    let Some(written) = records.iter().map(|record| record.version).max() else {
        return Ok(());
    };
    let found: u32 = tx.query_row(
        "SELECT record_version FROM runs WHERE run_id = ?1",
        [run_id],
        |row| row.get(0),
    )?;
    if found > written {
        return Err(StoreError::NewerRecords {
            run: run_id.to_owned(),
            found,
            written,
        }
        .into());
    }
    Ok(())
}

fn push(
    tx: &Transaction<'_>,
    run_id: &str,
    lease: LeaseEpoch,
    from: u64,
    records: &[StoredRecord],
) -> rusqlite::Result<u64> {
    let mut insert = tx.prepare(
        "INSERT INTO journal (run_id, seq, at, lease_epoch, record_version, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    let mut seq = from;
    for record in records {
        seq += 1;
        insert.execute(params![
            run_id,
            convert::stored(seq),
            record.at.to_string(),
            convert::stored(lease.0),
            record.version,
            record.body.to_string(),
        ])?;
    }
    let version = records
        .iter()
        .map(|record| record.version)
        .max()
        .unwrap_or(0);
    tx.execute(
        "UPDATE runs SET last_seq = ?2, record_version = max(record_version, ?3) WHERE run_id = ?1",
        params![run_id, convert::stored(seq), version],
    )?;
    Ok(seq)
}

fn set_mark(tx: &Transaction<'_>, run_id: &str, mark: &RunMark) -> rusqlite::Result<()> {
    let at = mark.at.to_string();
    let finished_at = mark.finished.then_some(&at);
    tx.execute(
        "UPDATE runs SET phase = ?2, changed_at = ?3, finished_at = ?4 WHERE run_id = ?1",
        params![run_id, mark.phase, at, finished_at],
    )?;
    Ok(())
}

fn unfinished(tx: &Transaction<'_>, bmc: &BmcName) -> rusqlite::Result<Option<RunRow>> {
    tx.query_row(
        "SELECT * FROM runs WHERE bmc = ?1 AND finished_at IS NULL",
        [bmc.as_str()],
        run_row,
    )
    .optional()
}

fn run_by_id(tx: &Transaction<'_>, run_id: &str) -> rusqlite::Result<Option<RunRow>> {
    tx.query_row("SELECT * FROM runs WHERE run_id = ?1", [run_id], run_row)
        .optional()
}

fn run_row(row: &Row<'_>) -> rusqlite::Result<RunRow> {
    Ok(RunRow {
        id: row.get("run_id")?,
        key: key(row)?,
        phase: row.get("phase")?,
        opened_at: convert::parsed(row, "opened_at")?,
        changed_at: convert::parsed(row, "changed_at")?,
        finished_at: convert::parsed_if_set(row, "finished_at")?,
        last_seq: convert::count(row, "last_seq")?,
    })
}

fn event_row(row: &Row<'_>) -> rusqlite::Result<EventRow> {
    Ok(EventRow {
        cursor: row.get("cursor")?,
        run_id: row.get("run_id")?,
        key: key(row)?,
        seq: convert::count(row, "seq")?,
        record: record(row)?,
    })
}

fn key(row: &Row<'_>) -> rusqlite::Result<RunKey> {
    let (pipeline, bmc) = (convert::name(row, "pipeline")?, convert::name(row, "bmc")?);
    Ok(RunKey {
        pipeline,
        bmc,
        number: row.get("number")?,
    })
}

fn record(row: &Row<'_>) -> rusqlite::Result<StoredRecord> {
    Ok(StoredRecord {
        at: convert::parsed(row, "at")?,
        version: row.get("record_version")?,
        body: convert::json(row, "body")?,
    })
}
