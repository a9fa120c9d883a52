//! This file brings a database to the newest schema.
//!
//! It never changes a database of a newer redpipe, nor one that is somebody else's.

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// Marks the file as ours (`application_id`, "rdpp").
const APPLICATION_ID: i64 = 0x7264_7070;

/// What each schema adds to the one before; a step is never edited once released.
const STEPS: [&str; SCHEMA as usize] = [
    "CREATE TABLE runs (
        run_id      TEXT NOT NULL PRIMARY KEY,
        pipeline    TEXT NOT NULL,
        bmc         TEXT NOT NULL,
        number      INTEGER NOT NULL,
        phase       TEXT NOT NULL,
        opened_at   TEXT NOT NULL,
        changed_at  TEXT NOT NULL,
        finished_at TEXT,
        last_seq    INTEGER NOT NULL,
        record_version INTEGER NOT NULL,
        UNIQUE (pipeline, bmc, number)
    ) STRICT;
    CREATE UNIQUE INDEX one_unfinished_run_per_bmc ON runs (bmc) WHERE finished_at IS NULL;
    CREATE TABLE journal (
        cursor         INTEGER PRIMARY KEY AUTOINCREMENT,
        run_id         TEXT NOT NULL REFERENCES runs (run_id),
        seq            INTEGER NOT NULL,
        at             TEXT NOT NULL,
        lease_epoch    INTEGER NOT NULL,
        record_version INTEGER NOT NULL,
        body           TEXT NOT NULL,
        UNIQUE (run_id, seq)
    ) STRICT;
    CREATE TABLE leases (
        bmc         TEXT NOT NULL PRIMARY KEY,
        epoch       INTEGER NOT NULL,
        host        TEXT,
        pid         INTEGER,
        lock_file   TEXT,
        acquired_at TEXT,
        renewed_at  TEXT,
        expires_at  TEXT
    ) STRICT;
    CREATE TABLE facts (
        kind    TEXT NOT NULL,
        about   TEXT NOT NULL,
        subject TEXT NOT NULL,
        body    TEXT NOT NULL,
        PRIMARY KEY (kind, about, subject)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX facts_by_subject ON facts (kind, subject);",
    "CREATE TABLE orders (
        id       INTEGER PRIMARY KEY AUTOINCREMENT,
        at       TEXT NOT NULL,
        by       TEXT NOT NULL,
        pipeline TEXT NOT NULL,
        bmc      TEXT,
        number   INTEGER,
        verb     TEXT NOT NULL
    ) STRICT;
    CREATE INDEX orders_by_pipeline ON orders (pipeline);",
    "CREATE TABLE happenings (
        id      INTEGER PRIMARY KEY AUTOINCREMENT,
        cursor  INTEGER NOT NULL UNIQUE,
        at      TEXT NOT NULL,
        bmc     TEXT,
        kind    TEXT NOT NULL,
        message TEXT NOT NULL
    ) STRICT;",
];

/// The schema that this redpipe writes.
pub(super) const SCHEMA: u32 = 3;

/// What a database was found to be.
pub(super) enum Found {
    /// At our schema now.
    Ours,
    /// Written by a newer redpipe: its schema.
    Newer(u32),
    /// Not redpipe's.
    Foreign,
}

/// Brings the database to [`SCHEMA`], one step after the other, all or none.
pub(super) fn migrate(connection: &mut Connection) -> rusqlite::Result<Found> {
    let (application, version) = look(connection)?;
    if version == SCHEMA && application == APPLICATION_ID {
        return Ok(Found::Ours);
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Looked at again under the lock: another process may have been first.
    let (application, version) = look(&transaction)?;
    let is_new = application == 0 && version == 0 && is_empty(&transaction)?;
    if application != APPLICATION_ID && !is_new {
        return Ok(Found::Foreign);
    }
    if version > SCHEMA {
        return Ok(Found::Newer(version));
    }
    let done = usize::try_from(version).unwrap_or(usize::MAX);
    for step in STEPS.iter().skip(done) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", SCHEMA)?;
    transaction.commit()?;
    Ok(Found::Ours)
}

fn look(connection: &Connection) -> rusqlite::Result<(i64, u32)> {
    let application = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let version = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    Ok((application, version))
}

fn is_empty(transaction: &Transaction<'_>) -> rusqlite::Result<bool> {
    transaction.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| {
        row.get(0)
    })
}
