//! The SQLite file itself: what is refused, who may read it, who may share it.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use redpipe::store::{Facts, Journal, Leases, SqliteStore, StoreError, this_host};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::world::{TTL, at, epoch, lease, record};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_file_that_is_no_database_is_refused_and_untouched() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("notes.txt");
    let text = "these are my notes, not a database\n".repeat(200);
    fs::write(&path, &text).unwrap();
    let error = SqliteStore::open(&path).unwrap_err();
    assert!(matches!(error, StoreError::Foreign { .. }), "{error:?}");
    assert!(error.hint().unwrap().contains("notes.txt"));
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn a_database_of_something_else_is_refused_and_untouched() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("other.db");
    Connection::open(&path)
        .unwrap()
        .execute_batch("CREATE TABLE mail (body TEXT)")
        .unwrap();
    let before = fs::read(&path).unwrap();
    assert!(matches!(
        SqliteStore::open(&path),
        Err(StoreError::Foreign { .. })
    ));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_newer_schema_is_shown_but_not_written() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("state.db");
    let store = SqliteStore::open(&path).unwrap();
    let lease = lease(&store, "b");
    let run = store
        .open_run(&"p".into(), &"b".into(), &lease.epoch, at(0), &[record(1)])
        .unwrap();
    drop(store);
    Connection::open(&path)
        .unwrap()
        .pragma_update(None, "user_version", 99)
        .unwrap();
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(store.load(&run.id).unwrap().len(), 1);
    assert_eq!(store.runs().unwrap().len(), 1);
    let error = store
        .append(&run.id, &lease.epoch, 1, &[record(2)])
        .unwrap_err();
    assert!(
        matches!(error, StoreError::Newer { found: 99, .. }),
        "{error:?}"
    );
    let fault = error.fault();
    assert!(
        fault.message.contains("state.db") && fault.hint.is_some(),
        "{fault:?}"
    );
    assert!(
        store.remember_pin("h:443", "x").is_err() && store.renew_lease(&lease, at(1), TTL).is_err()
    );
}

#[test]
fn a_database_locked_by_another_process_says_so() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("state.db");
    let store = SqliteStore::open(&path).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = store.remember_pin("h:443", "x").unwrap_err();
    assert!(matches!(error, StoreError::Locked { .. }), "{error:?}");
    assert!(error.to_string().contains("state.db") && error.hint().is_some());
    assert_eq!(store.pin("h:443").unwrap(), None, "reading goes on");
    other.execute_batch("ROLLBACK").unwrap();
    assert!(store.remember_pin("h:443", "x").unwrap());
}

#[test]
fn a_new_database_that_stays_locked_is_given_up() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("state.db");
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let error = SqliteStore::open(&path).unwrap_err();
    assert!(matches!(error, StoreError::Locked { .. }), "{error:?}");
    other.execute_batch("ROLLBACK").unwrap();
    SqliteStore::open(&path).unwrap();
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = TempDir::new().unwrap();
    let in_the_way = folder.path().join("file");
    fs::write(&in_the_way, "").unwrap();
    let error = SqliteStore::open(&in_the_way.join("redpipe/state.db")).unwrap_err();
    assert!(
        matches!(
            error,
            StoreError::File {
                doing: "make folder",
                ..
            }
        ),
        "{error:?}"
    );
    assert!(error.hint().unwrap().contains("--state"));
}

#[test]
fn a_row_that_does_not_read_is_an_error_and_never_a_guess() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("state.db");
    let store = SqliteStore::open(&path).unwrap();
    let lease = lease(&store, "b");
    let run = store
        .open_run(&"p".into(), &"b".into(), &lease.epoch, at(0), &[record(1)])
        .unwrap();
    Connection::open(&path)
        .unwrap()
        .execute("UPDATE journal SET body = '{'", [])
        .unwrap();
    assert!(matches!(
        store.load(&run.id),
        Err(StoreError::Corrupt { .. })
    ));
}

#[test]
fn files_and_folders_are_for_the_owner_only() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("made/redpipe/state.db");
    let store = SqliteStore::open(&path).unwrap();
    lease(&store, "b");
    let lock = store.lock_process("h").unwrap();
    for file in [
        path.clone(),
        path.with_extension("db-wal"),
        path.with_extension("db-shm"),
        lock.owner().lock_file.clone(),
    ] {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
    for folder in ["made", "made/redpipe", "made/redpipe/state.db-owners"] {
        assert_eq!(
            mode(&path.ancestors().nth(3).unwrap().join(folder)),
            0o700,
            "{folder}"
        );
    }
}

#[test]
fn a_file_that_others_may_read_is_made_private() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("state.db");
    drop(SqliteStore::open(&path).unwrap());
    fs::set_permissions(&path, Permissions::from_mode(0o664)).unwrap();
    drop(SqliteStore::open(&path).unwrap());
    assert_eq!(mode(&path), 0o600);
}

#[test]
fn the_database_itself_refuses_a_second_unfinished_run() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("state.db");
    let store = SqliteStore::open(&path).unwrap();
    let lease = lease(&store, "b");
    store
        .open_run(&"p".into(), &"b".into(), &lease.epoch, at(0), &[])
        .unwrap();
    let second = Connection::open(&path).unwrap().execute(
        "INSERT INTO runs SELECT 'x', 'q', bmc, 1, phase, opened_at, changed_at, NULL, 0, 0 FROM runs",
        [],
    );
    assert!(second.unwrap_err().to_string().contains("UNIQUE"));
}

#[test]
fn many_may_open_a_new_database_at_once_and_share_it() {
    for _ in 0..20 {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("state.db");
        let salts: Vec<String> = std::thread::scope(|scope| {
            let open = || SqliteStore::open(&path).unwrap().salt().unwrap();
            let all: Vec<_> = (0..6).map(|_| scope.spawn(open)).collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert!(salts.iter().all(|salt| *salt == salts[0]), "{salts:?}");
    }
}

#[test]
fn of_two_who_append_at_once_one_is_told_that_the_journal_moved() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("state.db");
    let (one, two) = (
        SqliteStore::open(&path).unwrap(),
        SqliteStore::open(&path).unwrap(),
    );
    let lease = lease(&one, "b");
    let run = one
        .open_run(&"p".into(), &"b".into(), &lease.epoch, at(0), &[])
        .unwrap();
    let wins: usize = std::thread::scope(|scope| {
        let (run, one, two) = (&run, &one, &two);
        let race = move |store: &SqliteStore| {
            (0..50)
                .filter(|seq| store.append(&run.id, &epoch(1), *seq, &[record(0)]).is_ok())
                .count()
        };
        let (a, b) = (
            scope.spawn(move || race(one)),
            scope.spawn(move || race(two)),
        );
        a.join().unwrap() + b.join().unwrap()
    });
    assert_eq!(one.load(&run.id).unwrap().len(), wins);
}

#[test]
fn a_process_lock_outlives_sweeps_while_it_is_held_or_named() {
    let folder = TempDir::new().unwrap();
    let store = SqliteStore::open(&folder.path().join("state.db")).unwrap();
    let held = store.lock_process("h").unwrap();
    let named = store.lock_process("h").unwrap();
    let litter = store.lock_process("h").unwrap();
    store
        .acquire_lease(&"b".into(), named.owner(), at(0), TTL)
        .unwrap();
    let files = [
        held.owner().clone(),
        named.owner().clone(),
        litter.owner().clone(),
    ]
    .map(|owner| owner.lock_file);
    drop(named);
    drop(litter);
    let mine = store.lock_process("h").unwrap();
    assert_eq!(
        files.each_ref().map(|file| file.exists()),
        [true, true, false]
    );
    assert!(File::open(&files[0]).unwrap().try_lock_shared().is_err());
    store
        .acquire_lease(&"b".into(), mine.owner(), at(1), TTL)
        .unwrap();
}

#[test]
fn this_host_is_the_same_all_through_one_boot() {
    assert_eq!(this_host(), this_host());
    assert!(this_host().contains('/'));
}
