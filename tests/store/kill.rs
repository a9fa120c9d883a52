//! SIGKILL at any moment: what was acknowledged is there, and the dead process is known to be dead.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use redpipe::store::{Journal, Leases, SqliteStore, Taken};
use tempfile::TempDir;

use crate::world::{TTL, at, record};

/// Set in the child only: the database it appends to.
const CHILD_DATABASE: &str = "REDPIPE_TEST_CHILD_DATABASE";
/// How many acknowledged appends each child gets before it is killed.
const KILL_AFTER: [usize; 6] = [1, 2, 5, 17, 60, 200];

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the child is told by its environment"
)]
fn every_acknowledged_append_survives_a_kill() {
    if let Some(path) = std::env::var_os(CHILD_DATABASE) {
        append_until_killed(Path::new(&path));
    }
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("state.db");
    let mut acknowledged = 0;
    for count in KILL_AFTER {
        let mut child = start(&path);
        let lines = BufReader::new(child.stdout.take().unwrap())
            .lines()
            .map_while(Result::ok);
        let mut acknowledgements = lines.filter_map(|line| {
            line.strip_prefix("appended ")
                .map(|seq| seq.parse::<u64>().unwrap())
        });
        for _ in 0..count {
            acknowledged = acknowledgements.next().expect("the child appends");
        }
        child.kill().unwrap();
        child.wait().unwrap();
        acknowledged = acknowledgements.last().unwrap_or(acknowledged);
        check(&path, acknowledged);
    }
}

fn start(path: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "kill::every_acknowledged_append_survives_a_kill",
            "--nocapture",
        ])
        .env(CHILD_DATABASE, path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

fn check(path: &Path, acknowledged: u64) {
    let store = SqliteStore::open(path).unwrap();
    let run = store.unfinished_run(&"b".into()).unwrap().unwrap();
    let rows = store.load(&run.id).unwrap();
    let found = u64::try_from(rows.len()).unwrap();
    // One more than acknowledged may have been written when the child died.
    assert!(
        found >= acknowledged && found <= acknowledged + 2,
        "{found} of {acknowledged}"
    );
    assert!(
        rows.iter()
            .zip(1..)
            .all(|(row, seq)| row.seq == seq && row.record == record(seq))
    );
}

fn append_until_killed(path: &Path) -> ! {
    let store = SqliteStore::open(path).unwrap();
    let lock = store.lock_process("h").unwrap();
    let bmc = "b".into();
    let lease = store.acquire_lease(&bmc, lock.owner(), at(0), TTL).unwrap();
    let run = match store.unfinished_run(&bmc).unwrap() {
        Some(run) => {
            assert!(
                matches!(lease.taken, Taken::FromDead(_)),
                "the one before was killed: {lease:?}"
            );
            run
        }
        None => store
            .open_run(&"p".into(), &bmc, &lease.epoch, at(0), &[])
            .unwrap(),
    };
    let mut seq = run.last_seq;
    loop {
        seq = store
            .append(&run.id, &lease.epoch, seq, &[record(seq + 1)])
            .unwrap();
        let mut out = std::io::stdout().lock();
        writeln!(out, "\nappended {seq}").unwrap();
        out.flush().unwrap();
    }
}
