//! This file keeps happenings, with cursors of the sequence that numbers the journal.

use jiff::Timestamp;
use rusqlite::{Row, Transaction, params};

use super::convert;
use super::database::SqliteStore;
use crate::model::id::BmcName;
use crate::store::error::StoreError;
use crate::store::happenings::{HAPPENINGS_KEPT, HappeningRow, Happenings};

impl Happenings for SqliteStore {
    fn add_happening(
        &self,
        at: Timestamp,
        bmc: Option<&BmcName>,
        kind: &str,
        message: &str,
    ) -> Result<i64, StoreError> {
        Ok(self.write("tell what happened", |tx| {
            let cursor = next_cursor(tx)?;
            tx.execute(
                "INSERT INTO happenings (cursor, at, bmc, kind, message) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![cursor, at.to_string(), bmc.map(BmcName::as_str), kind, message],
            )?;
            let oldest = tx.last_insert_rowid() - i64::from(HAPPENINGS_KEPT);
            tx.execute("DELETE FROM happenings WHERE id <= ?1", [oldest])?;
            Ok(cursor)
        })?)
    }

    fn happenings_after(&self, cursor: i64, limit: usize) -> Result<Vec<HappeningRow>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        Ok(self.read("read what happened", |tx| {
            let mut query =
                tx.prepare("SELECT * FROM happenings WHERE cursor > ?1 ORDER BY cursor LIMIT ?2")?;
            let rows = query.query_map([cursor, limit], happening)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })?)
    }
}

/// Takes the next number of the journal's sequence, so that no record ever gets it.
fn next_cursor(tx: &Transaction<'_>) -> rusqlite::Result<i64> {
    const NAME: &str = "journal";
    let taken = "UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = ?1";
    if tx.execute(taken, [NAME])? == 0 {
        let first = "INSERT INTO sqlite_sequence (name, seq) VALUES (?1, 1)";
        tx.execute(first, [NAME])?;
    }
    let last = "SELECT seq FROM sqlite_sequence WHERE name = ?1";
    tx.query_row(last, [NAME], |row| row.get(0))
}

fn happening(row: &Row<'_>) -> rusqlite::Result<HappeningRow> {
    let bmc: Option<String> = row.get("bmc")?;
    Ok(HappeningRow {
        cursor: row.get("cursor")?,
        at: convert::parsed(row, "at")?,
        bmc: bmc.map(BmcName::from),
        kind: row.get("kind")?,
        message: row.get("message")?,
    })
}
