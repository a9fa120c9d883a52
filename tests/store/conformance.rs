//! Runs and journals: the same claims for every store, what is refused first.

use redpipe::model::id::RunKey;
use redpipe::store::{RunMark, RunRow, Store, StoreError, StoredRecord};

use crate::world::{TTL, at, each, epoch, lease, owner, record};

fn open(store: &dyn Store, bmc: &str) -> RunRow {
    let lease = lease(store, bmc);
    store
        .open_run(&"p".into(), &bmc.into(), &lease.epoch, at(0), &[record(1)])
        .unwrap()
}

#[test]
fn append_is_refused_when_the_sequence_has_moved() {
    each(|store| {
        let run = open(store, "b");
        store.append(&run.id, &epoch(1), 1, &[record(2)]).unwrap();
        let late = store.append(&run.id, &epoch(1), 1, &[record(3)]);
        assert!(
            matches!(
                late,
                Err(StoreError::Moved {
                    expected: 1,
                    found: 2,
                    ..
                })
            ),
            "{late:?}"
        );
        let early = store.append(&run.id, &epoch(1), 3, &[record(3)]);
        assert!(
            matches!(
                early,
                Err(StoreError::Moved {
                    expected: 3,
                    found: 2,
                    ..
                })
            ),
            "{early:?}"
        );
        assert_eq!(
            store.load(&run.id).unwrap().len(),
            2,
            "nothing of a refused append is kept"
        );
    });
}

#[test]
fn append_is_refused_under_a_lease_that_was_taken_or_released() {
    each(|store| {
        let run = open(store, "b");
        let taken = store
            .acquire_lease(&"b".into(), &owner(2), at(31), TTL)
            .unwrap();
        let old = store.append(&run.id, &epoch(1), 1, &[record(2)]);
        assert!(
            matches!(old, Err(StoreError::LeaseLost { epoch: 1, .. })),
            "{old:?}"
        );
        store
            .append(&run.id, &taken.epoch, 1, &[record(2)])
            .unwrap();
        store.release_lease(&taken).unwrap();
        let released = store.append(&run.id, &taken.epoch, 2, &[record(3)]);
        assert!(
            matches!(released, Err(StoreError::LeaseLost { epoch: 2, .. })),
            "{released:?}"
        );
    });
}

#[test]
fn append_under_the_lease_of_another_bmc_is_refused() {
    each(|store| {
        let run = open(store, "b");
        let first = lease(store, "c");
        store.release_lease(&first).unwrap();
        let other = lease(store, "c");
        assert!(
            store
                .append(&run.id, &other.epoch, 1, &[record(2)])
                .is_err()
        );
    });
}

#[test]
fn an_append_with_a_mark_is_kept_whole_or_not_at_all() {
    each(|store| {
        let run = open(store, "b");
        let mark = RunMark {
            phase: "Failed".to_owned(),
            finished: true,
            at: at(5),
        };
        store
            .append_and_mark(&run.id, &epoch(1), 7, &[record(2)], Some(&mark))
            .unwrap_err();
        assert_eq!(store.run(&run.id).unwrap().unwrap().phase, "Pending");
        assert_eq!(
            store
                .append_and_mark(&run.id, &epoch(1), 1, &[record(2)], Some(&mark))
                .unwrap(),
            2
        );
        let ended = store.run(&run.id).unwrap().unwrap();
        assert_eq!(
            (ended.phase.as_str(), ended.finished_at, ended.last_seq),
            ("Failed", Some(at(5)), 2)
        );
    });
}

#[test]
fn an_unknown_run_is_named() {
    each(|store| {
        lease(store, "b");
        for error in [
            store.append("nope", &epoch(1), 0, &[]).unwrap_err(),
            store.load("nope").unwrap_err(),
            store
                .set_run_phase("nope", &epoch(1), "Held", at(0))
                .unwrap_err(),
        ] {
            assert_eq!(error.to_string(), "no run `nope`");
        }
        assert_eq!(store.run("nope").unwrap(), None);
    });
}

#[test]
fn a_finished_run_takes_nothing_more() {
    each(|store| {
        let run = open(store, "b");
        store
            .finish_run(&run.id, &epoch(1), "Completed", at(9))
            .unwrap();
        let append = store.append(&run.id, &epoch(1), 1, &[record(2)]);
        assert!(
            matches!(append, Err(StoreError::RunFinished { .. })),
            "{append:?}"
        );
        let mark = store.set_run_phase(&run.id, &epoch(1), "InProgress", at(10));
        assert!(
            matches!(mark, Err(StoreError::RunFinished { .. })),
            "{mark:?}"
        );
    });
}

#[test]
fn a_bmc_has_one_unfinished_run_of_whatever_pipeline() {
    each(|store| {
        let run = open(store, "b");
        let second = store.open_run(&"q".into(), &"b".into(), &epoch(1), at(1), &[]);
        assert!(
            matches!(&second, Err(StoreError::UnfinishedRun { run, .. }) if run == "p/b#1"),
            "{second:?}"
        );
        assert_eq!(
            store.unfinished_run(&"b".into()).unwrap().unwrap().id,
            run.id
        );
        store
            .finish_run(&run.id, &epoch(1), "Completed", at(2))
            .unwrap();
        assert_eq!(store.unfinished_run(&"b".into()).unwrap(), None);
        store
            .open_run(&"q".into(), &"b".into(), &epoch(1), at(3), &[])
            .unwrap();
    });
}

#[test]
fn a_run_is_not_opened_without_the_lease() {
    each(|store| {
        let opened = store.open_run(&"p".into(), &"b".into(), &epoch(0), at(0), &[record(1)]);
        assert!(
            matches!(opened, Err(StoreError::LeaseLost { .. })),
            "{opened:?}"
        );
        assert!(store.runs().unwrap().is_empty() && store.events_after(0, 10).unwrap().is_empty());
    });
}

#[test]
fn a_journal_with_newer_records_is_shown_but_not_continued() {
    each(|store| {
        let run = open(store, "b");
        let newer = StoredRecord {
            version: 2,
            ..record(2)
        };
        store
            .append(&run.id, &epoch(1), 1, std::slice::from_ref(&newer))
            .unwrap();
        let older = store.append(&run.id, &epoch(1), 2, &[record(3)]);
        assert!(
            matches!(
                older,
                Err(StoreError::NewerRecords {
                    found: 2,
                    written: 1,
                    ..
                })
            ),
            "{older:?}"
        );
        assert_eq!(store.load(&run.id).unwrap()[1].record, newer);
    });
}

#[test]
fn runs_of_a_pair_count_up_and_the_latest_is_found() {
    each(|store| {
        for number in 1..=11 {
            let lease = lease(store, "b");
            let run = store
                .open_run(&"p".into(), &"b".into(), &lease.epoch, at(number), &[])
                .unwrap();
            assert_eq!(
                run.key,
                RunKey {
                    pipeline: "p".into(),
                    bmc: "b".into(),
                    number: u32::try_from(number).unwrap()
                }
            );
            store
                .finish_run(&run.id, &lease.epoch, "Failed", at(number))
                .unwrap();
            store.release_lease(&lease).unwrap();
        }
        assert_eq!(
            store
                .latest_run(&"p".into(), &"b".into())
                .unwrap()
                .unwrap()
                .key
                .number,
            11
        );
        assert_eq!(store.latest_run(&"p".into(), &"c".into()).unwrap(), None);
        let numbers: Vec<u32> = store
            .runs()
            .unwrap()
            .iter()
            .map(|run| run.key.number)
            .collect();
        assert_eq!(numbers, (1..=11).collect::<Vec<_>>());
    });
}

#[test]
fn what_is_loaded_is_what_was_appended_in_order() {
    each(|store| {
        let run = open(store, "b");
        let many: Vec<StoredRecord> = (2..=40).map(record).collect();
        assert_eq!(store.append(&run.id, &epoch(1), 1, &many).unwrap(), 40);
        assert_eq!(store.append(&run.id, &epoch(1), 40, &[]).unwrap(), 40);
        let rows = store.load(&run.id).unwrap();
        let seqs: Vec<u64> = rows.iter().map(|row| row.seq).collect();
        assert_eq!(seqs, (1..=40).collect::<Vec<_>>());
        assert!(
            rows.iter()
                .all(|row| row.record == record(row.seq) && row.lease_epoch == epoch(1))
        );
    });
}

#[test]
fn events_of_all_runs_come_in_the_order_they_were_written_and_resume_at_a_cursor() {
    each(|store| {
        let (one, two) = (open(store, "b"), open(store, "c"));
        store.append(&one.id, &epoch(1), 1, &[record(2)]).unwrap();
        store
            .append(&two.id, &epoch(1), 1, &[record(2), record(3)])
            .unwrap();
        let all = store.events_after(0, 100).unwrap();
        let seen: Vec<(&str, u64)> = all
            .iter()
            .map(|event| (event.key.bmc.as_str(), event.seq))
            .collect();
        assert_eq!(seen, [("b", 1), ("c", 1), ("b", 2), ("c", 2), ("c", 3)]);
        let first = store.events_after(0, 2).unwrap();
        assert_eq!(store.events_after(first[1].cursor, 100).unwrap(), all[2..]);
        assert!(store.events_after(all[4].cursor, 100).unwrap().is_empty());
    });
}

#[test]
fn events_of_one_run_are_the_stream_without_the_others() {
    each(|store| {
        let (one, other) = (open(store, "a"), open(store, "b"));
        store.append(&one.id, &epoch(1), 1, &[record(2)]).unwrap();
        store.append(&other.id, &epoch(1), 1, &[record(3)]).unwrap();
        store.append(&one.id, &epoch(1), 2, &[record(4)]).unwrap();
        let all = store.events_after(0, 100).unwrap();
        let of_one: Vec<_> = all.iter().filter(|row| row.run_id == one.id).collect();
        let told = store.events_of(&one.id, 0, 100).unwrap();
        assert_eq!(told.iter().collect::<Vec<_>>(), of_one);
        let rest = store.events_of(&one.id, told[0].cursor, 1).unwrap();
        assert_eq!(rest, told[1..2]);
        assert_eq!(store.events_of("nobody", 0, 100).unwrap(), []);
    });
}

#[test]
fn the_last_cursor_is_that_of_the_newest_record() {
    each(|store| {
        assert_eq!(store.last_cursor().unwrap(), 0);
        open(store, "a");
        open(store, "b");
        let all = store.events_after(0, 100).unwrap();
        assert_eq!(store.last_cursor().unwrap(), all[1].cursor);
        assert_eq!(store.events_after(all[1].cursor, 100).unwrap(), []);
    });
}
