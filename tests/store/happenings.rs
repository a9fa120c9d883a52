//! What happens outside runs: numbered as one with all records, and never in the way of one.

use redpipe::store::{Happenings as _, Journal as _, SqliteStore};

use crate::world::{at, each, epoch, lease, record};

#[test]
fn happenings_and_records_are_numbered_as_one() {
    each(|store| {
        assert_eq!(store.last_cursor().unwrap(), 0);
        let first = store
            .add_happening(at(1), None, "files-loaded", "a")
            .unwrap();
        let lease = lease(store, "b");
        let run = store
            .open_run(&"p".into(), &"b".into(), &lease.epoch, at(2), &[record(1)])
            .unwrap();
        let bmc = "b".into();
        let second = store
            .add_happening(at(3), Some(&bmc), "unreachable", "b")
            .unwrap();
        store.append(&run.id, &epoch(1), 1, &[record(2)]).unwrap();
        let records: Vec<i64> = store
            .events_after(0, 9)
            .unwrap()
            .iter()
            .map(|row| row.cursor)
            .collect();
        assert_eq!((first, &records[..], second), (1, &[2, 4][..], 3));
        assert_eq!(store.last_cursor().unwrap(), 4);
        let told = store.happenings_after(first, 9).unwrap();
        assert_eq!(told.len(), 1);
        let row = &told[0];
        assert_eq!(
            (row.at, row.kind.as_str(), row.message.as_str()),
            (at(3), "unreachable", "b")
        );
        assert_eq!(row.bmc, Some(bmc));
        assert_eq!(store.happenings_after(0, 1).unwrap()[0].bmc, None);
    });
}

#[test]
fn what_happened_outlives_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let store = SqliteStore::open(&path).unwrap();
    let cursor = store.add_happening(at(1), None, "mass-drift", "a").unwrap();
    drop(store);
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(store.last_cursor().unwrap(), cursor);
    assert_eq!(store.happenings_after(0, 9).unwrap()[0].cursor, cursor);
}
