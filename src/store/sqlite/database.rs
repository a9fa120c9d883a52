//! This file opens the database and wraps every call into one transaction with errors that name the file.

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

use super::anchor::Anchor;
use super::migrate::{self, Found, SCHEMA};
use crate::store::error::{LeaseError, StoreError};
use crate::store::fact_kind::FactKind;
use crate::store::facts::parse;
use crate::store::lease::Leases;
use crate::store::location;
use crate::store::process::ProcessLock;
use crate::store::session_row::SessionRow;

/// How long a call waits for another process. Calls take milliseconds; whoever holds the file for longer is stuck.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// How often opening is tried before the last try, and how long it rests in between: two seconds at least, and making a
/// database takes some milliseconds.
const OPEN_TRIES: u32 = 200;
const OPEN_PAUSE: Duration = Duration::from_millis(10);

/// A store in one SQLite file: write-ahead log, every commit synced to disk.
#[derive(Debug)]
pub struct SqliteStore {
    connection: Mutex<Connection>,
    path: PathBuf,
    anchor: Anchor,
    /// Schema of the database where it is newer than ours: then nothing is written.
    newer: Option<u32>,
}

impl SqliteStore {
    /// Opens a database, making it and its folders where they are missing, for the owner only.
    ///
    /// A database of a newer redpipe opens for display.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let path = std::path::absolute(path).map_err(|source| StoreError::File {
            doing: "find",
            path: path.to_owned(),
            source,
        })?;
        if let Some(folder) = path.parent() {
            location::private_folder(folder)?;
        }
        // Made before SQLite opens it, so that it and the files that SQLite puts beside it are private from the start.
        drop(location::private_file(&path)?);
        let (connection, found) =
            patiently(|| connect(&path)).map_err(|error| explain(error, &path, "open it"))?;
        let newer = match found {
            Found::Ours => {
                make_private(&path)?;
                patiently(|| use_log(&connection))
                    .map_err(|error| explain(error, &path, "open it"))?;
                None
            }
            Found::Newer(schema) => Some(schema),
            Found::Foreign => return Err(StoreError::Foreign { path }),
        };
        let anchor = Anchor::of(&path).map_err(|source| StoreError::File {
            doing: "find",
            path: path.clone(),
            source,
        })?;
        Ok(Self {
            connection: Mutex::new(connection),
            path,
            anchor,
            newer,
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Locks a file beside the database for the life of this process, and clears away those of dead processes that
    /// nothing refers to. Keep the result until the process ends.
    pub fn lock_process(&self, host: &str) -> Result<ProcessLock, StoreError> {
        let mut keep: BTreeSet<PathBuf> = self
            .leases()?
            .into_iter()
            .map(|lease| lease.owner.lock_file)
            .collect();
        let sessions = self.bodies(FactKind::Session)?;
        keep.extend(
            sessions
                .into_iter()
                .filter_map(parse::<SessionRow>)
                .map(|row| row.owner.lock_file),
        );
        ProcessLock::acquire(&self.path, host, &keep)
    }

    /// Reads under one snapshot.
    pub(super) fn read<T>(
        &self,
        doing: &'static str,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.transact(doing, TransactionBehavior::Deferred, work)
    }

    /// Reads by one statement, which is a snapshot by itself: without a transaction's own two, and compiled once, it takes
    /// a tenth of the time, and every request to a BMC asks for its pin.
    pub(super) fn read_one<T>(
        &self,
        doing: &'static str,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, Failure> {
        let connection = self.connection();
        work(&connection).map_err(|error| Failure::Store(explain(error, &self.path, doing)))
    }

    /// Reads and writes as one step; on disk when it returns.
    pub(super) fn write<T>(
        &self,
        doing: &'static str,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if let Some(found) = self.newer {
            return Err(StoreError::Newer {
                path: self.path.clone(),
                found,
                supported: SCHEMA,
            }
            .into());
        }
        self.anchor.check(&self.path)?;
        // The lock is taken before the first read: what is decided on cannot change before it is written.
        self.transact(doing, TransactionBehavior::Immediate, work)
    }

    fn transact<T>(
        &self,
        doing: &'static str,
        behavior: TransactionBehavior,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut connection = self.connection();
        let named = |error| Failure::Store(explain(error, &self.path, doing));
        let transaction = connection
            .transaction_with_behavior(behavior)
            .map_err(named)?;
        let done = match work(&transaction) {
            Ok(done) => done,
            Err(Failure::Sqlite(error)) => return Err(named(error)),
            Err(other @ (Failure::Store(_) | Failure::Lease(_))) => return Err(other),
        };
        transaction.commit().map_err(named)?;
        Ok(done)
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        // A panic under the lock rolled its transaction back: the connection is as good as before.
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// How a step inside a transaction fails.
pub(super) enum Failure {
    /// SQLite, not yet named.
    Sqlite(rusqlite::Error),
    /// A rule of the store.
    Store(StoreError),
    /// A rule of leases.
    Lease(LeaseError),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<LeaseError> for Failure {
    fn from(error: LeaseError) -> Self {
        Self::Lease(error)
    }
}

impl From<Failure> for LeaseError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Lease(error) => error,
            Failure::Store(error) => Self::Store(error),
            Failure::Sqlite(error) => Self::Store(unnamed(&error)),
        }
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Store(error) | Failure::Lease(LeaseError::Store(error)) => error,
            Failure::Lease(LeaseError::Lost { bmc, epoch }) => Self::LeaseLost { bmc, epoch },
            Failure::Lease(LeaseError::HeldBy { bmc, .. }) => Self::LeaseLost { bmc, epoch: 0 },
            Failure::Sqlite(error) => unnamed(&error),
        }
    }
}

/// `transact` names every error of SQLite's; what slips by still must not be lost.
fn unnamed(error: &rusqlite::Error) -> StoreError {
    StoreError::Corrupt {
        place: "the state database".to_owned(),
        what: error.to_string(),
    }
}

/// Tries again while another process makes the same database: SQLite does not wait for that one by itself.
fn patiently<T>(open: impl Fn() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    for _ in 0..OPEN_TRIES {
        match open() {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                std::thread::sleep(OPEN_PAUSE);
            }
            done => return done,
        }
    }
    open()
}

fn connect(path: &Path) -> rusqlite::Result<(Connection, Found)> {
    let mut connection = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    // Short, because opening is tried again and again.
    connection.busy_timeout(OPEN_PAUSE)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    let found = migrate::migrate(&mut connection)?;
    Ok((connection, found))
}

/// Only once the file is known to be ours: this is written into it, and makes files beside it.
fn use_log(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.busy_timeout(BUSY_TIMEOUT)
}

fn make_private(path: &Path) -> Result<(), StoreError> {
    const OTHERS: u32 = 0o077;
    let failed = |doing| {
        move |source| StoreError::File {
            doing,
            path: path.to_owned(),
            source,
        }
    };
    let mode = fs::metadata(path)
        .map_err(failed("look at"))?
        .permissions()
        .mode();
    if mode & OTHERS == 0 {
        return Ok(());
    }
    fs::set_permissions(path, Permissions::from_mode(mode & !OTHERS))
        .map_err(failed("make private"))
}

/// Names the database, and tells what a person can do something about from the rest.
fn explain(source: rusqlite::Error, path: &Path, doing: &'static str) -> StoreError {
    let path = path.to_owned();
    if matches!(
        source,
        rusqlite::Error::FromSqlConversionFailure(..) | rusqlite::Error::InvalidColumnType(..)
    ) {
        return StoreError::Corrupt {
            place: format!("database `{}`", path.display()),
            what: source.to_string(),
        };
    }
    match source.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Locked {
            doing,
            path,
            source,
        },
        Some(ErrorCode::DiskFull) => StoreError::Full {
            doing,
            path,
            source,
        },
        Some(ErrorCode::NotADatabase) => StoreError::Foreign { path },
        Some(ErrorCode::DatabaseCorrupt) => StoreError::Corrupt {
            place: format!("database `{}`", path.display()),
            what: source.to_string(),
        },
        _ => StoreError::Database {
            doing,
            path,
            source,
        },
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use jiff::Timestamp;
    use serde_json::json;

    use super::*;
    use crate::store::{Journal, Owner, StoredRecord};

    fn store() -> (tempfile::TempDir, SqliteStore) {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&folder.path().join("state.db")).unwrap();
        (folder, store)
    }

    #[test]
    fn a_full_disk_is_named_and_what_was_acknowledged_stays() {
        let (_folder, store) = store();
        let (now, bmc) = (Timestamp::UNIX_EPOCH, "b".into());
        let owner = Owner {
            host: "h".to_owned(),
            pid: 1,
            lock_file: "/nonexistent".into(),
        };
        let lease = store
            .acquire_lease(&bmc, &owner, now, Duration::from_secs(30))
            .unwrap();
        let run = store
            .open_run(&"p".into(), &bmc, &lease.epoch, now, &[])
            .unwrap();
        store
            .connection()
            .pragma_update(None, "max_page_count", 40)
            .unwrap();
        let records = vec![
            StoredRecord {
                at: now,
                version: 1,
                body: json!({ "text": "x".repeat(300) })
            };
            20
        ];
        let mut last = 0;
        let error = loop {
            match store.append(&run.id, &lease.epoch, last, &records) {
                Ok(seq) => last = seq,
                Err(error) => break error,
            }
            assert!(last < 100_000, "the limit is met long before");
        };
        assert!(matches!(error, StoreError::Full { .. }), "{error:?}");
        assert!(error.hint().unwrap().contains("free some space"));
        assert!(last > 0 && store.load(&run.id).unwrap().len() == usize::try_from(last).unwrap());
    }

    #[test]
    fn commits_are_synced_to_a_write_ahead_log() {
        let (_folder, store) = store();
        let pragma = |name| -> String {
            let number = |row: &rusqlite::Row<'_>| {
                row.get(0)
                    .or_else(|_| row.get::<_, i64>(0).map(|n| n.to_string()))
            };
            store
                .connection()
                .pragma_query_value(None, name, number)
                .unwrap()
        };
        assert_eq!(
            (
                pragma("journal_mode").as_str(),
                pragma("synchronous").as_str()
            ),
            ("wal", "2")
        );
    }

    #[test]
    fn a_panic_under_the_lock_leaves_nothing_behind() {
        let (_folder, store) = store();
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            store.write("test", |tx| -> Result<(), Failure> {
                tx.execute("INSERT INTO facts VALUES ('pin', 'a', '', '1')", [])?;
                panic!("on purpose")
            })
        }));
        assert!(panicked.is_err());
        assert!(store.bodies(FactKind::Pin).unwrap().is_empty());
    }
}
