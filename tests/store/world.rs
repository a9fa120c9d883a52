//! What the tests share: times, owners, records, and each kind of store.

use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use redpipe::store::{Lease, LeaseEpoch, MemoryStore, Owner, SqliteStore, Store, StoredRecord};
use serde_json::json;
use tempfile::TempDir;

pub(crate) const TTL: Duration = Duration::from_secs(30);

pub(crate) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

pub(crate) fn record(number: u64) -> StoredRecord {
    StoredRecord {
        at: at(0),
        version: 1,
        body: json!({ "type": "noted", "number": number }),
    }
}

/// An owner whose lock file does not exist: alive as far as anybody can tell.
pub(crate) fn owner(pid: u32) -> Owner {
    Owner {
        host: "h".to_owned(),
        pid,
        lock_file: PathBuf::from(format!("/nonexistent/{pid}.lock")),
    }
}

pub(crate) fn lease(store: &dyn Store, bmc: &str) -> Lease {
    store
        .acquire_lease(&bmc.into(), &owner(1), at(0), TTL)
        .unwrap()
}

pub(crate) fn epoch(number: u64) -> LeaseEpoch {
    LeaseEpoch(number)
}

/// Runs a claim against every kind of store.
pub(crate) fn each(claim: impl Fn(&dyn Store)) {
    claim(&MemoryStore::new());
    let folder = TempDir::new().unwrap();
    claim(&SqliteStore::open(&folder.path().join("state.db")).unwrap());
}
