//! A thousand BMCs more, each with the journal of one that is done.

use redpipe::daemon::Engine;
use redpipe::store::{RunMark, StoredRecord};

use crate::lab;
use crate::support::world::World;

/// BMCs beside the lab's own.
pub(crate) const COPIES: usize = 1000;

/// Gives each copy the run of `mock-3`.
pub(crate) fn copies(world: &World) {
    let engine: Engine = lab::engine(world);
    let store = engine.store();
    let done = store
        .latest_run(&"sets".into(), &"mock-3".into())
        .unwrap()
        .unwrap();
    let journal = store.load(&done.id).unwrap();
    let at = engine.clock().now();
    for number in 0..COPIES {
        let name = format!("copy-{number:04}");
        let records: Vec<StoredRecord> = journal
            .iter()
            .map(|row| {
                let text = row.record.body.to_string().replace("mock-3", &name);
                StoredRecord {
                    body: serde_json::from_str(&text).unwrap(),
                    ..row.record.clone()
                }
            })
            .collect();
        let bmc = name.as_str().into();
        let owner = world.owner();
        let life = std::time::Duration::from_secs(30);
        let lease = store.acquire_lease(&bmc, &owner, at, life).unwrap();
        let run = store
            .open_run(&"sets".into(), &bmc, &lease.epoch, at, &[])
            .unwrap();
        let mark = RunMark {
            phase: "Completed".to_owned(),
            finished: true,
            at,
        };
        store
            .append_and_mark(&run.id, &lease.epoch, 0, &records, Some(&mark))
            .unwrap();
        store.release_lease(&lease).unwrap();
    }
}
