//! The fleet, its drift, and what must be true when it is over.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use redpipe::drift::DriftState;
use serde_json::json;

use crate::support::daemon::{Files, Running};
use crate::support::dice::Dice;
use crate::support::world::World;

/// What is played.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case {
    pub(crate) bmcs: usize,
    pub(crate) hours: u64,
    pub(crate) seed: u64,
}

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct End {
    /// Versions that were set back from outside.
    pub(crate) fell: usize,
    /// Settings that were changed from outside.
    pub(crate) changed: usize,
    /// Updates that BMCs accepted.
    pub(crate) flashes: usize,
    /// Settings writes that BMCs accepted.
    pub(crate) writes: usize,
    /// Requests in all.
    pub(crate) requests: usize,
    /// Whatever should not be so, in words.
    pub(crate) wrong: Vec<String>,
    /// What has fallen once: a second time within the week is a person's.
    fallen: BTreeSet<(String, &'static str)>,
}

/// Every BMC is where the pipeline wants it when the daemon begins.
const SCRIPT: &str = "[versions]\nbmc = \"1.60\"\nbios = \"2.50\"\n";

/// The last hours bring no drift: what was begun can end.
const QUIET_HOURS: u64 = 8;

/// One thing may drift again only after so long: no recovery is one too many.
const AGAIN_AFTER_HOURS: u64 = 13;

pub(crate) async fn days(case: Case) -> End {
    let world = World::of(&vec![1; case.bmcs], SCRIPT);
    let text = pipeline(&world);
    let report = world.apply(&[&text]).await;
    assert_eq!(report.ends.len(), case.bmcs);
    let mut daemon = Running::start(&world, &Files::new(&world, &[&text]));
    daemon.pass(Duration::from_mins(10)).await;
    let (mut end, mut dice) = (End::default(), Dice::new(case.seed));
    count(&world, case, &mut End::default());
    let mut drifted: BTreeMap<usize, u64> = BTreeMap::new();
    // Fewer than a twentieth part of a pipeline, or at most three, may drift within an hour.
    let most = (case.bmcs / 40).clamp(1, 25);
    for hour in 0..case.hours {
        for _ in 0..most {
            daemon
                .pass(Duration::from_hours(1) / u32::try_from(most).unwrap())
                .await;
            if hour + QUIET_HOURS >= case.hours {
                continue;
            }
            let bmc = dice.below(case.bmcs);
            let is_early = drifted
                .get(&bmc)
                .is_some_and(|last| hour < last + AGAIN_AFTER_HOURS);
            if !is_early {
                drifted.insert(bmc, hour);
                drift(&world, bmc, &mut dice, &mut end);
            }
        }
        count(&world, case, &mut end);
    }
    judge(&daemon, &mut end);
    daemon.end().await;
    end
}

fn pipeline(world: &World) -> String {
    let (bmc, bios) = (world.image("bmc", "1.60"), world.image("bios", "2.50"));
    format!(
        r#"
        name = "p"
        drift_policy = "reconcile"
        [selector]
        match_labels = {{}}
        [rollout]
        max_concurrent = 50
        [[stage]]
        name = "bmc"
        kind = "bmc-version"
        version = "1.60"
        image = {bmc}
        [[stage]]
        name = "bios"
        kind = "bios-version"
        version = "2.50"
        image = {bios}
        [[stage]]
        name = "post"
        kind = "bios-settings"
        settings = {{ BootMode = "Uefi" }}
        "#
    )
}

/// Somebody lays hands on a BMC.
fn drift(world: &World, bmc: usize, dice: &mut Dice, end: &mut End) {
    let name = format!("mock-{}", bmc + 1);
    let kind = dice.below(10);
    world.bmc(&name, |bmc| match kind {
        0 if end.fallen.insert((name.clone(), "bmc")) => {
            bmc.set_bmc_version("1.50");
            end.fell += 1;
        }
        1 if end.fallen.insert((name.clone(), "bios")) => {
            bmc.set_bios_version(0, "2.10");
            end.fell += 1;
        }
        _ => {
            bmc.set_attribute(0, "BootMode", json!("LegacyBios"));
            end.changed += 1;
        }
    });
}

/// Counts what happened since it was last counted, and forgets it.
fn count(world: &World, case: Case, end: &mut End) {
    for number in 1..=case.bmcs {
        let lines = world.bmc(&format!("mock-{number}"), mock_bmc::bmc::Bmc::take_ledger);
        for line in &lines {
            end.requests += usize::from(line.method.is_some());
            for caused in &line.caused {
                end.flashes += usize::from(caused.starts_with("update accepted"));
                end.writes += usize::from(caused.starts_with("settings accepted"));
            }
        }
    }
}

fn judge(daemon: &Running, end: &mut End) {
    for bmc in daemon.fleet.bmcs() {
        if bmc.state != Some(DriftState::InSync) {
            end.wrong
                .push(format!("{} is {:?}: {:?}", bmc.bmc, bmc.state, bmc.items));
        }
    }
    if end.flashes != end.fell {
        let words = format!(
            "{} flashes for {} versions that fell",
            end.flashes, end.fell
        );
        end.wrong.push(words);
    }
    if end.writes != end.changed {
        let words = format!("{} writes for {} settings changed", end.writes, end.changed);
        end.wrong.push(words);
    }
    for kind in ["drift-stuck", "mass-drift", "drift-left", "unreachable"] {
        let told = daemon.happened(kind);
        end.wrong
            .extend(told.into_iter().map(|words| format!("{kind}: {words}")));
    }
}
