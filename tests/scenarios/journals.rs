//! Journals of older versions restore for ever; those of newer ones are shown and not written to.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use redpipe::daemon::RunEnd;
use redpipe::daemon::summary::of_store;
use redpipe::run::RunPhase;
use redpipe::run::record::RECORD_VERSION;
use redpipe::run::status::RunStatus;
use redpipe::store::{RunRow, StoredRecord};
use serde_json::{Value, json};

use super::common::{PIPELINE, bmc_hop, first, pipeline, stages};
use super::support::world::{World, end};

/// Longest life of a lease that a test takes by hand.
const LEASE: Duration = Duration::from_secs(30);

/// Every committed journal: version and name, how its run stands, and its stages.
const FIXTURES: [(&str, &str, &[&str]); 7] = [
    (
        "1/completed",
        "Completed",
        &[
            "bmc-1.60 Completed applied",
            "quiet Completed applied",
            "bios-2.20 Completed applied",
        ],
    ),
    (
        "1/failed",
        "Failed",
        &["bmc-1.60 Failed -", "quiet Pending -"],
    ),
    ("1/held-never-returned", "Held", &["bmc-1.60 Held -"]),
    (
        "1/second-hop-in-flight",
        "InProgress",
        &["bmc-1.60 Completed applied", "bmc-1.70 InProgress -"],
    ),
    ("2/released", "Cancelled", &["bmc-1.60 Cancelled -"]),
    ("2/taken-back", "Cancelled", &["bios-2.20 Cancelled -"]),
    (
        "3/edited",
        "Completed",
        &["quiet Completed applied", "bmc-1.60 Completed applied"],
    ),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/journals")
}

/// Puts a committed journal into a state as the first run of [`PIPELINE`] on `mock-1`.
fn put(world: &World, name: &str) -> RunRow {
    let text = std::fs::read_to_string(folder().join(format!("{name}.jsonl"))).unwrap();
    let records: Vec<StoredRecord> = text
        .lines()
        .map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            StoredRecord {
                at: line["at"].as_str().unwrap().parse::<Timestamp>().unwrap(),
                version: u32::try_from(line["version"].as_u64().unwrap()).unwrap(),
                body: line["record"].clone(),
            }
        })
        .collect();
    write(world, &records)
}

fn write(world: &World, records: &[StoredRecord]) -> RunRow {
    let engine = world.engine();
    let store = engine.store();
    let (bmc, now) = ("mock-1".into(), world.wall());
    let owner = world.owner();
    let lease = store.acquire_lease(&bmc, &owner, now, LEASE).unwrap();
    let open = store.unfinished_run(&bmc).unwrap();
    let row = open.unwrap_or_else(|| {
        store
            .open_run(&PIPELINE.into(), &bmc, &lease.epoch, now, &[])
            .unwrap()
    });
    store
        .append(&row.id, &lease.epoch, row.last_seq, records)
        .unwrap();
    store.release_lease(&lease).unwrap();
    row
}

fn shown(world: &World) -> RunStatus {
    of_store(world.engine().store().as_ref())
        .unwrap()
        .runs
        .remove(0)
}

#[tokio::test(start_paused = true)]
async fn every_committed_journal_tells_how_its_run_stands() {
    let mut known = Vec::new();
    for (name, phase, expected) in FIXTURES {
        let world = World::one(2, "");
        put(&world, name);
        let run = shown(&world);
        assert_eq!(
            (run.phase.as_str(), stages(&run)),
            (phase, expected.iter().map(ToString::to_string).collect()),
            "{name}"
        );
        known.push(format!("{name}.jsonl"));
    }
    let mut there = Vec::new();
    for version in std::fs::read_dir(folder()).unwrap() {
        let version = version.unwrap();
        for file in std::fs::read_dir(version.path()).unwrap() {
            let (folder, file) = (version.file_name(), file.unwrap().file_name());
            there.push(format!("{}/{}", folder.display(), file.display()));
        }
    }
    there.sort();
    assert_eq!(there, known, "every file is held to what it says");
    let newest = RECORD_VERSION.to_string();
    let has_newest = there.iter().any(|name| name.starts_with(&newest));
    assert!(
        has_newest,
        "journals of the version that is written now are committed too"
    );
}

#[tokio::test(start_paused = true)]
async fn a_run_of_the_first_version_is_carried_on() {
    let world = World::one(1, "[versions]\nbmc = \"1.60\"\n");
    put(&world, "1/second-hop-in-flight");
    let text = pipeline(&[bmc_hop(&world, "1.60"), bmc_hop(&world, "1.70")]);
    let report = world.apply(&[&text]).await;
    let run = first(&report);
    assert_eq!(
        run.phase,
        RunPhase::Failed,
        "the lost task left nothing behind: {run:#?}"
    );
    assert_eq!(
        stages(run),
        ["bmc-1.60 Completed applied", "bmc-1.70 Failed -"]
    );
    assert!(run.reason.contains("version did not change"), "{run:#?}");
    assert!(
        world.writes("mock-1").is_empty(),
        "and nothing was sent a second time"
    );
}

#[tokio::test(start_paused = true)]
async fn a_run_that_a_newer_redpipe_wrote_to_is_shown_and_refused() {
    let world = World::one(1, "");
    let row = put(&world, "1/second-hop-in-flight");
    let newer = StoredRecord {
        at: world.wall(),
        version: RECORD_VERSION + 1,
        body: json!({ "record": "of-the-future" }),
    };
    write(&world, &[newer]);
    let run = shown(&world);
    assert_eq!(
        stages(&run),
        ["bmc-1.60 Completed applied", "bmc-1.70 InProgress -"]
    );
    let told = run.waits.last().unwrap();
    assert!(
        told.held && told.reason.contains("newer redpipe"),
        "{run:#?}"
    );
    let text = pipeline(&[bmc_hop(&world, "1.60"), bmc_hop(&world, "1.70")]);
    let report = world.apply(&[&text]).await;
    let RunEnd::NotStarted(fault) = end(&report, PIPELINE, "mock-1") else {
        panic!("{report:#?}");
    };
    assert!(fault.message.contains("newer redpipe"), "{fault:?}");
    assert!(world.writes("mock-1").is_empty());
    let store = world.engine().store();
    let last = store.run(&row.id).unwrap().unwrap().last_seq;
    assert_eq!(
        last,
        store.load(&row.id).unwrap().len() as u64,
        "nothing was appended"
    );
}
