//! What is brought back by itself, in which order, how often, and what is left to a person.

use std::time::Duration;

use redpipe::drift::DriftState;
use redpipe::model::{About, Verb};
use serde_json::json;

use crate::common::{bios_hop, bmc_hop, completed, named, settings};
use crate::support::daemon::{Files, Running};
use crate::support::world::World;

const MINUTE: Duration = Duration::from_mins(1);
const HOUR: Duration = Duration::from_hours(1);

fn reconciling(stages: &[String]) -> String {
    named("p", "", stages).replace("name = \"p\"", "name = \"p\"\ndrift_policy = \"reconcile\"")
}

fn in_sync(daemon: &Running) -> bool {
    let bmcs = daemon.fleet.bmcs();
    bmcs.iter()
        .all(|bmc| bmc.state == Some(DriftState::InSync) && !bmc.driven)
}

fn is_recovering(daemon: &Running) -> bool {
    !daemon.happened("recovery").is_empty()
}

/// A daemon over `mock-1`, which a pipeline was applied to and which is as that wants it.
async fn applied(world: &World, text: &str) -> Running {
    completed(world, &world.apply(&[text]).await);
    let mut daemon = Running::start(world, &Files::new(world, &[text]));
    daemon.until(MINUTE, in_sync).await;
    daemon
}

/// Everything that a whole machine life sets, in order.
fn whole(world: &World) -> String {
    reconciling(&[
        settings("ntp", "bmc", "SshMaxSessions = 4"),
        bmc_hop(world, "1.60"),
        bmc_hop(world, "1.70"),
        bmc_hop(world, "1.80"),
        settings("pre", "bios", "QuietBoot = false"),
        bios_hop(world, "2.30"),
        bios_hop(world, "2.50"),
        settings("post", "bios", "BootMode = \"LegacyBios\""),
    ])
}

/// What updates and settings writes there were since, in order.
fn since(world: &World, before: usize) -> Vec<String> {
    let lines = world.ledger("mock-1").into_iter().skip(before);
    let caused = lines.flat_map(|line| line.caused);
    caused
        .filter(|what| what.starts_with("update accepted") || what.starts_with("settings accepted"))
        .collect()
}

/// Scenarios 34 and 84: given a finished pipeline whose BMC is rolled back outside, then the hop is run again, and clean
/// stages are not rewritten.
#[tokio::test(start_paused = true)]
async fn a_bmc_that_is_rolled_back_is_brought_forward_by_its_hop_alone() {
    let world = World::one(1, "");
    let text = whole(&world);
    let mut daemon = applied(&world, &text).await;
    let before = world.ledger("mock-1").len();
    world.bmc("mock-1", |bmc| bmc.set_bmc_version("1.70"));
    daemon.until(HOUR, is_recovering).await;
    daemon.until(3 * HOUR, in_sync).await;
    let done = since(&world, before);
    assert_eq!(done.len(), 1, "{done:?}");
    assert!(done[0].contains("1.80"), "{done:?}");
    assert_eq!(
        world.bmc("mock-1", |bmc| bmc.state().bmc_version),
        Some("1.80".to_owned())
    );
    daemon.end().await;
}

/// Scenarios 85 and 86: given a full factory reset (settings, BMC 1.50, BIOS 2.10), then every stage runs again in order.
#[tokio::test(start_paused = true)]
async fn a_factory_reset_machine_is_walked_back_up_every_hop_in_order() {
    let world = World::one(1, "");
    let text = whole(&world);
    let mut daemon = applied(&world, &text).await;
    let before = world.ledger("mock-1").len();
    world.bmc("mock-1", |bmc| {
        bmc.set_bmc_version("1.50");
        bmc.set_bios_version(0, "2.10");
        bmc.set_attribute(0, "QuietBoot", json!(true));
        bmc.set_attribute(0, "BootMode", json!("Uefi"));
        bmc.set_bmc_attribute("SshMaxSessions", &json!(8));
    });
    daemon.until(HOUR, is_recovering).await;
    daemon.until(6 * HOUR, in_sync).await;
    let done = since(&world, before);
    let wanted = [
        "SshMaxSessions",
        "1.60",
        "1.70",
        "1.80",
        "QuietBoot",
        "2.30",
        "2.50",
        "BootMode",
    ];
    assert_eq!(done.len(), wanted.len(), "{done:?}");
    for (done, wanted) in done.iter().zip(wanted) {
        assert!(done.contains(wanted), "{done} and {wanted}");
    }
    daemon.end().await;
}

/// Scenarios 85 and 86, with computed hops: a BMC that fell is walked up again by the path from where it fell to.
#[tokio::test(start_paused = true)]
async fn a_bmc_that_fell_is_brought_back_by_hops_computed_from_there() {
    for (fallen, hops) in [
        ("1.50", &["1.60", "1.70", "1.80"][..]),
        ("1.65", &["1.70", "1.80"]),
    ] {
        let world = World::one(1, "");
        let image = |version: &str, requires: &str| {
            let image = world.image("bmc", version);
            format!(
                "[[firmware]]\ncomponent = \"bmc\"\nversion = \"{version}\"\nimage = {image}\n{requires}\n"
            )
        };
        let text = reconciling(&[
            "[[stage]]\nname = \"fw\"\nkind = \"bmc-version\"\nversion = \"1.80\"\npath = \"auto\"\n".to_owned(),
            image("1.60", ""),
            image("1.70", "requires = \">= 1.60\""),
            image("1.80", "requires = \">= 1.70\""),
        ]);
        let mut daemon = applied(&world, &text).await;
        let before = world.ledger("mock-1").len();
        world.bmc("mock-1", |bmc| bmc.set_bmc_version(fallen));
        daemon.until(HOUR, is_recovering).await;
        daemon.until(6 * HOUR, in_sync).await;
        let done = since(&world, before);
        assert_eq!(done.len(), hops.len(), "from {fallen}: {done:?}");
        for (done, hop) in done.iter().zip(hops) {
            assert!(done.contains(hop), "from {fallen}: {done} and {hop}");
        }
        daemon.end().await;
    }
}

/// Scenario 87: given only server a of three regressed, then b, c and the BMC get no write.
#[tokio::test(start_paused = true)]
async fn one_drifted_server_of_three_is_brought_back_alone() {
    let world = World::one(3, "");
    let text = reconciling(&[
        bmc_hop(&world, "1.60"),
        bios_hop(&world, "2.50"),
        settings("post", "bios", "BootMode = \"LegacyBios\""),
    ]);
    let mut daemon = applied(&world, &text).await;
    let before = world.write_lines("mock-1").len();
    world.bmc("mock-1", |bmc| {
        bmc.set_attribute(0, "BootMode", json!("Uefi"));
    });
    daemon.until(HOUR, is_recovering).await;
    daemon.until(2 * HOUR, in_sync).await;
    let writes = world.write_lines("mock-1").split_off(before);
    let paths: Vec<String> = writes.into_iter().filter_map(|line| line.path).collect();
    assert!(!paths.is_empty());
    assert!(
        paths
            .iter()
            .all(|path| path.starts_with("/redfish/v1/Systems/1/")),
        "{paths:?}"
    );
    daemon.end().await;
}

/// Scenario 91: given flapping drift, then recoveries are limited, and a person ends that.
#[tokio::test(start_paused = true)]
async fn flapping_drift_is_stuck_after_three_recoveries_until_a_person_retries() {
    let world = World::one(1, "");
    let text = reconciling(&[settings("post", "bios", "BootMode = \"LegacyBios\"")]);
    let mut daemon = applied(&world, &text).await;
    for round in 1..=3 {
        world.bmc("mock-1", |bmc| {
            bmc.set_attribute(0, "BootMode", json!("Uefi"));
        });
        daemon
            .until(2 * HOUR, |d| d.happened("recovery").len() == round)
            .await;
        daemon.until(2 * HOUR, in_sync).await;
    }
    world.bmc("mock-1", |bmc| {
        bmc.set_attribute(0, "BootMode", json!("Uefi"));
    });
    daemon
        .until(2 * HOUR, |d| !d.happened("drift-stuck").is_empty())
        .await;
    daemon.pass(2 * HOUR).await;
    assert_eq!(daemon.happened("recovery").len(), 3);
    assert_eq!(daemon.happened("drift-stuck").len(), 1, "told once");
    assert_eq!(daemon.bmc("mock-1").state, Some(DriftState::Drifted));

    world.order(&World::run_of("p", "mock-1"), &Verb::Retry);
    daemon.until(2 * HOUR, in_sync).await;
    daemon.end().await;
}

/// Scenario 153, in small: given too many BMCs of a pipeline drifting within an hour, then nothing is brought back before a
/// person says so.
#[tokio::test(start_paused = true)]
async fn mass_drift_waits_for_a_person() {
    let world = World::of(&[1; 8], "");
    let text = reconciling(&[settings("post", "bios", "BootMode = \"LegacyBios\"")])
        .replace("[selector]", "[rollout]\nmax_concurrent = 8\n[selector]");
    let report = world.apply(&[&text]).await;
    assert_eq!(report.ends.len(), 8);
    let mut daemon = Running::start(&world, &Files::new(&world, &[&text]));
    daemon.until(10 * MINUTE, in_sync).await;
    for number in 1..=8 {
        let name = format!("mock-{number}");
        world.bmc(&name, |bmc| bmc.set_attribute(0, "BootMode", json!("Uefi")));
    }
    daemon
        .until(HOUR, |d| !d.happened("mass-drift").is_empty())
        .await;
    daemon.pass(2 * HOUR).await;
    let recoveries = daemon.happened("recovery").len();
    assert!(recoveries <= 3, "{recoveries}");
    assert_eq!(daemon.fleet.mass_drift().len(), 1);

    world.order(&About::Pipeline("p".into()), &Verb::Resume);
    daemon.until(6 * HOUR, in_sync).await;
    assert!(daemon.fleet.mass_drift().is_empty());
    daemon.end().await;
}

/// What was never applied is not begun by drift: a new file waits for `apply`.
#[tokio::test(start_paused = true)]
async fn what_was_never_applied_is_not_begun_by_a_daemon() {
    let world = World::one(1, "");
    let text = reconciling(&[bios_hop(&world, "2.50")]);
    let mut daemon = Running::start(&world, &Files::new(&world, &[&text]));
    daemon
        .until(HOUR, |d| !d.happened("not-applied").is_empty())
        .await;
    daemon.pass(2 * HOUR).await;
    assert_eq!(world.writes("mock-1"), [""; 0]);
    daemon.end().await;
}

/// An automatic recovery never lowers a version, whatever the file allows a person.
#[tokio::test(start_paused = true)]
async fn a_version_that_rose_is_not_brought_down_by_itself() {
    let world = World::one(1, "");
    let image = world.image("bios", "2.50");
    let exact = crate::common::hop(
        "bios",
        "2.50",
        &image,
        "match = \"exact\"\nallow_downgrade = true",
    );
    let text = reconciling(&[exact]);
    let mut daemon = applied(&world, &text).await;
    let writes = world.writes("mock-1");
    world.bmc("mock-1", |bmc| bmc.set_bios_version(0, "2.70"));
    daemon
        .until(HOUR, |d| !d.happened("drift-left").is_empty())
        .await;
    daemon.pass(2 * HOUR).await;
    assert_eq!(world.writes("mock-1"), writes);
    daemon.end().await;
}

/// Scenario 92: given a settings stage without a version, then at its re-run it goes by what runs now.
#[tokio::test(start_paused = true)]
async fn a_setting_without_a_version_is_put_back_whatever_runs_by_then() {
    let world = World::one(1, "");
    let text = reconciling(&[
        bios_hop(&world, "2.50"),
        settings("post", "bios", "BootMode = \"LegacyBios\""),
    ]);
    let mut daemon = applied(&world, &text).await;
    let before = world.ledger("mock-1").len();
    world.bmc("mock-1", |bmc| {
        bmc.set_bios_version(0, "2.70");
        bmc.set_attribute(0, "BootMode", json!("Uefi"));
    });
    let put_back = |d: &Running| d.bmc("mock-1").state == Some(DriftState::Ahead);
    daemon
        .until(3 * HOUR, |d| !d.happened("recovery").is_empty())
        .await;
    daemon.until(3 * HOUR, put_back).await;
    let done = since(&world, before);
    assert_eq!(done.len(), 1, "{done:?}");
    assert!(done[0].contains("BootMode"), "{done:?}");
    daemon.end().await;
}

/// Scenario 93: given an applied BIOS attribute changed outside, then it is put back under reconcile, and only there.
#[tokio::test(start_paused = true)]
async fn an_attribute_changed_outside_is_put_back_only_under_reconcile() {
    for (policy, writes) in [("reconcile", 1), ("observe", 0)] {
        let world = World::one(1, "");
        let text = reconciling(&[settings("post", "bios", "BootMode = \"LegacyBios\"")])
            .replace("\"reconcile\"", &format!("\"{policy}\""));
        let mut daemon = applied(&world, &text).await;
        let before = world.ledger("mock-1").len();
        world.bmc("mock-1", |bmc| {
            bmc.set_attribute(0, "BootMode", json!("Uefi"));
        });
        daemon.pass(3 * HOUR).await;
        assert_eq!(since(&world, before).len(), writes, "{policy}");
        daemon.end().await;
    }
}

/// Scenario 148: given a transient stage that opens the way for a hop, when the BIOS regresses, then recovery runs that
/// stage before the hop.
#[tokio::test(start_paused = true)]
async fn recovery_at_a_hop_begins_with_the_transient_stage_before_it() {
    let world = World::one(1, "");
    let lock = settings("unlock", "bios", "QuietBoot = false")
        .replace("kind =", "transient = true\nkind =");
    let text = reconciling(&[
        lock,
        bios_hop(&world, "2.50"),
        settings("post", "bios", "QuietBoot = true"),
    ]);
    let mut daemon = applied(&world, &text).await;
    let before = world.ledger("mock-1").len();
    world.bmc("mock-1", |bmc| bmc.set_bios_version(0, "2.10"));
    daemon.until(HOUR, is_recovering).await;
    daemon.until(4 * HOUR, in_sync).await;
    let done = since(&world, before);
    let wanted = ["settings accepted", "update accepted", "settings accepted"];
    assert_eq!(done.len(), wanted.len(), "{done:?}");
    for (done, wanted) in done.iter().zip(wanted) {
        assert!(done.starts_with(wanted), "{done} and {wanted}");
    }
    daemon.end().await;
}

/// Scenario 149: given a later hop that resets what an earlier stage set, then it is put back once before Completed, and a
/// daemon finds nothing to do behind it.
#[tokio::test(start_paused = true)]
async fn what_a_later_hop_undoes_is_put_back_before_the_run_is_completed() {
    let world = World::one(1, "[update]\nresets_bios_settings = true\n");
    let text = reconciling(&[
        settings("pre", "bios", "BootMode = \"LegacyBios\""),
        bios_hop(&world, "2.50"),
    ]);
    completed(&world, &world.apply(&[&text]).await);
    let mode = |bmc: &mut mock_bmc::bmc::Bmc| bmc.state().systems[0].attributes["BootMode"].clone();
    assert_eq!(world.bmc("mock-1", mode), "LegacyBios");
    let writes = world.writes("mock-1");
    let mut daemon = Running::start(&world, &Files::new(&world, &[&text]));
    daemon.pass(3 * HOUR).await;
    assert!(in_sync(&daemon));
    assert_eq!(world.writes("mock-1"), writes);
    daemon.end().await;
}

/// Scenario 89: given hardware that changes while a run is active, then the run's own reads find it at its next step, and
/// what became needless is not done.
#[tokio::test(start_paused = true)]
async fn what_changes_under_a_run_is_found_by_its_own_reads() {
    let world = World::one(1, "");
    let text = reconciling(&[bmc_hop(&world, "1.60"), bios_hop(&world, "2.50")]);
    let mut is_changed = false;
    let report = world
        .apply_watched(&[&text], |world, _| {
            if !is_changed && !world.caused("mock-1", "update accepted").is_empty() {
                world.bmc("mock-1", |bmc| bmc.set_bios_version(0, "2.50"));
                is_changed = true;
            }
            true
        })
        .await;
    let report = report.unwrap();
    let run = completed(&world, &report);
    assert!(is_changed);
    assert_eq!(
        crate::common::stages(run),
        [
            "bmc-1.60 Completed applied",
            "bios-2.50 Completed already-there"
        ]
    );
    assert_eq!(world.caused("mock-1", "update accepted").len(), 1);
}
