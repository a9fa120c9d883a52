//! Generated histories: the two stores, which share no code but the rules, answer alike.

use proptest::prelude::*;
use redpipe::store::{Journal, MemoryStore, RunMark, SqliteStore, Store};
use tempfile::TempDir;

use crate::world::{TTL, at, epoch, owner, record};

#[derive(Debug, Clone)]
enum Step {
    Acquire {
        bmc: u8,
        pid: u32,
        now: i64,
    },
    Release {
        bmc: u8,
    },
    Open {
        pipeline: u8,
        bmc: u8,
        epoch: u64,
        records: u64,
    },
    Append {
        pipeline: u8,
        bmc: u8,
        number: u32,
        epoch: u64,
        seq: u64,
        records: u64,
        finish: bool,
    },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..2u8, 1..3u32, 0..90i64).prop_map(|(bmc, pid, now)| Step::Acquire { bmc, pid, now }),
        (0..2u8).prop_map(|bmc| Step::Release { bmc }),
        (0..2u8, 0..2u8, 1..3u64, 0..3u64).prop_map(|(pipeline, bmc, epoch, records)| Step::Open {
            pipeline,
            bmc,
            epoch,
            records
        }),
        (
            0..2u8,
            0..2u8,
            1..3u32,
            1..3u64,
            0..4u64,
            0..3u64,
            any::<bool>()
        )
            .prop_map(|(pipeline, bmc, number, epoch, seq, records, finish)| {
                Step::Append {
                    pipeline,
                    bmc,
                    number,
                    epoch,
                    seq,
                    records,
                    finish,
                }
            }),
    ]
}

/// Does a step and says what came of it, in words.
fn answer(store: &dyn Store, step: &Step) -> String {
    let name = |letter: &str, number: u8| format!("{letter}{number}");
    let records = |count: u64| (0..count).map(record).collect::<Vec<_>>();
    match step {
        Step::Acquire { bmc, pid, now } => {
            format!(
                "{:?}",
                store.acquire_lease(&name("b", *bmc).into(), &owner(*pid), at(*now), TTL)
            )
        }
        Step::Release { bmc } => {
            let lease = store
                .leases()
                .unwrap()
                .into_iter()
                .find(|lease| lease.bmc.as_str() == name("b", *bmc));
            format!("{:?}", lease.map(|lease| store.release_lease(&lease)))
        }
        Step::Open {
            pipeline,
            bmc,
            epoch: number,
            records: count,
        } => {
            let (pipeline, bmc) = (name("p", *pipeline).into(), name("b", *bmc).into());
            format!(
                "{:?}",
                store.open_run(&pipeline, &bmc, &epoch(*number), at(0), &records(*count))
            )
        }
        Step::Append {
            pipeline,
            bmc,
            number,
            epoch: under,
            seq,
            records: count,
            finish,
        } => {
            let key = redpipe::model::RunKey {
                pipeline: name("p", *pipeline).into(),
                bmc: name("b", *bmc).into(),
                number: *number,
            };
            let mark = RunMark {
                phase: "Completed".to_owned(),
                finished: *finish,
                at: at(1),
            };
            format!(
                "{:?}",
                store.append_and_mark(
                    &key.id(),
                    &epoch(*under),
                    *seq,
                    &records(*count),
                    Some(&mark)
                )
            )
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_stores_answer_any_history_alike(steps in prop::collection::vec(step(), 1..40)) {
        let folder = TempDir::new().unwrap();
        let sqlite = SqliteStore::open(&folder.path().join("state.db")).unwrap();
        let memory = MemoryStore::new();
        for step in &steps {
            prop_assert_eq!(answer(&sqlite, step), answer(&memory, step), "{:?}", step);
        }
        prop_assert_eq!(sqlite.runs().unwrap(), memory.runs().unwrap());
        prop_assert_eq!(sqlite.events_after(0, 1000).unwrap(), memory.events_after(0, 1000).unwrap());
    }
}
