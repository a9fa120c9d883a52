//! Names of runs, and versions as vendors write them.

use std::collections::BTreeSet;

use redpipe::daemon::RunEnd;
use redpipe::daemon::history::events_after;
use redpipe::model::RunKey;

use super::common::{completed, hop, named, pipeline, settings, stages, words};
use super::support::world::{World, end};

const BMC: &str = "mock-1";

/// The keys of all runs in the state, told by the journal.
fn keys(world: &World) -> BTreeSet<RunKey> {
    let events = events_after(world.engine().store().as_ref(), 0, 10_000).unwrap();
    events.into_iter().map(|event| event.key).collect()
}

/// Applies a pipeline of that name to its end.
async fn apply_named(world: &World, name: &str) {
    let stage = settings("quiet", "bios", "QuietBoot = false");
    let report = world.apply(&[&named(name, "", &[stage])]).await;
    assert!(matches!(end(&report, name, BMC), RunEnd::Over(_)));
}

/// Scenario 11: another lab with the same names has the same ids, and a run that is taken up again keeps its own.
#[tokio::test(start_paused = true)]
async fn the_same_names_give_the_same_run_ids_in_every_process() {
    let mut seen = Vec::new();
    for _ in 0..2 {
        let world = World::one(1, "");
        apply_named(&world, "a").await;
        let first = keys(&world);
        let before: Vec<_> = first.iter().map(RunKey::id).collect();
        apply_named(&world, "a").await;
        let again = keys(&world);
        assert!(again.is_superset(&first), "{again:?}");
        seen.push(before);
    }
    assert_eq!(seen[0], seen[1]);
}

/// Scenarios 12 and 13: names that join alike, and names of a thousand letters that differ in the last one.
#[tokio::test(start_paused = true)]
async fn names_that_look_alike_are_different_runs() {
    let long = "x".repeat(1000);
    let names = [
        "p".to_owned(),
        format!("p-{BMC}"),
        format!("{long}1"),
        format!("{long}2"),
    ];
    let world = World::one(1, "");
    for name in &names {
        apply_named(&world, name).await;
    }
    let ids: BTreeSet<String> = keys(&world).iter().map(RunKey::id).collect();
    assert_eq!(ids.len(), names.len(), "{ids:?}");
    assert!(ids.iter().all(|id| id.len() <= 96), "{ids:?}");
    let key = |pipeline: &str, bmc: &str| RunKey {
        pipeline: pipeline.into(),
        bmc: bmc.into(),
        number: 1,
    };
    assert_ne!(key("a-b", "c").id(), key("a", "b-c").id());
}

/// An old version, a newer one of the same family, and the component that has them.
const PAIRS: [(&str, &str, &str); 5] = [
    ("bmc", "7.10.30.05", "7.20.60.50"),
    ("bmc", "iLO 6 v1.60", "iLO 6 v1.68"),
    ("bios", "U54 v2.10 (12/31/2025)", "U54 v2.50 (04/22/2025)"),
    ("bios", "IVE160G", "IVE184H"),
    ("bmc", "CDI3A8N 9.92 2024-02-19", "CDI3B4E 9.98 2024-07-31"),
];

/// Scenario 21.
#[tokio::test(start_paused = true)]
async fn versions_in_a_vendors_own_format_are_ordered_and_only_the_older_one_is_flashed() {
    for (component, old, new) in PAIRS {
        for (live, wanted, flashed) in [(old, new, true), (new, old, false)] {
            let world = World::one(1, &format!("[versions]\n{component} = \"{live}\""));
            let image = world.image(component, wanted);
            let named = format!("name = \"{component}-{wanted}\"");
            let stage = hop(component, wanted, &image, "").replace(&named, "name = \"hop\"");
            let text = pipeline(&[stage]);
            let report = world.apply(&[&text]).await;
            let run = completed(&world, &report);
            let how = if flashed { "applied" } else { "already-there" };
            assert_eq!(stages(run), [format!("hop Completed {how}")]);
            let updates = words(&world, BMC, &["update accepted"]).len();
            assert_eq!(updates, usize::from(flashed), "{live} → {wanted}");
        }
    }
}
