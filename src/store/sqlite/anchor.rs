//! This file knows whether a database is still where it was opened.
//!
//! SQLite writes happily into a file that was deleted or moved away: nobody could read it afterwards, and whoever opens
//! the path meanwhile would find no lease.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::store::error::StoreError;

/// Which file a path led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Anchor {
    device: u64,
    inode: u64,
}

impl Anchor {
    /// The file that is there now.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let metadata = std::fs::metadata(path)?;
        Ok(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
        })
    }

    /// Whether the path still leads to it. Where the system does not tell, SQLite will.
    pub(super) fn check(self, path: &Path) -> Result<(), StoreError> {
        let gone = match Self::of(path) {
            Ok(found) => found != self,
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        if gone {
            return Err(StoreError::Gone {
                path: path.to_owned(),
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use std::time::Duration;

    use jiff::Timestamp;

    use crate::store::{LeaseError, Leases, Owner, SqliteStore, StoreError};

    #[test]
    fn nothing_is_written_to_a_database_that_was_deleted_or_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.db");
        let store = SqliteStore::open(&path).unwrap();
        let owner = Owner {
            host: "h".to_owned(),
            pid: 1,
            lock_file: "/nonexistent".into(),
        };
        let (now, long) = (Timestamp::UNIX_EPOCH, Duration::from_secs(30));
        store.acquire_lease(&"a".into(), &owner, now, long).unwrap();
        for replaced in [false, true] {
            if replaced {
                drop(SqliteStore::open(&path).unwrap());
            } else {
                std::fs::rename(&path, folder.path().join("moved.db")).unwrap();
            }
            let error = store
                .acquire_lease(&"b".into(), &owner, now, long)
                .unwrap_err();
            let LeaseError::Store(error) = error else {
                panic!("{error:?}");
            };
            assert!(matches!(error, StoreError::Gone { .. }), "{error:?}");
            assert!(error.hint().unwrap().contains("put it back"));
        }
    }
}
