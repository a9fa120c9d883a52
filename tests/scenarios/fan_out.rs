//! Several servers behind one BMC: each its own work, siblings left alone, barriers kept.

use redpipe::run::RunPhase;
use redpipe::run::status::RunStatus;

use super::common::{
    bios_hop, bmc_hop, completed, first, hop, pipeline, row, settings, stage, targets, words,
};
use super::support::world::World;

/// The phases of a stage's servers.
fn phases(run: &RunStatus, name: &str) -> Vec<RunPhase> {
    let servers = stage(run, name).servers.iter();
    servers.map(|server| server.phase).collect()
}

/// Scenario 58.
#[tokio::test(start_paused = true)]
async fn three_servers_are_three_independent_units_of_work() {
    let world = World::one(3, "");
    let report = world.apply(&[&pipeline(&[bios_hop(&world, "2.20")])]).await;
    let run = completed(&world, &report);
    let hop = stage(run, "bios-2.20");
    let servers: Vec<_> = hop
        .servers
        .iter()
        .map(|each| each.server.as_str())
        .collect();
    assert_eq!(servers, ["mock-1-s1", "mock-1-s2", "mock-1-s3"]);
    assert_eq!(
        targets(&world, "mock-1"),
        ["1", "2", "3"],
        "one update each"
    );
    for system in world.bmc("mock-1", |bmc| bmc.state()).systems {
        assert_eq!(system.bios_version.as_deref(), Some("2.20"));
    }
}

/// Scenario 59.
#[tokio::test(start_paused = true)]
async fn a_server_at_the_hop_gets_no_request_while_its_sibling_is_updated() {
    let world = World::one(2, "[[system]]\nid = \"1\"\nbios = \"2.20\"\n");
    let mut early = Vec::new();
    let report = world
        .apply_watched(&[&pipeline(&[bios_hop(&world, "2.20")])], |world, rows| {
            let run = row(rows, "mock-1");
            if let Some(run) = run.filter(|_| !world.writes("mock-1").is_empty()) {
                let hop = stage(&run, "bios-2.20");
                if hop.servers[1].phase == RunPhase::InProgress {
                    early.push((hop.servers[0].how, hop.phase));
                }
            }
            true
        })
        .await
        .unwrap();
    let hop = stage(completed(&world, &report), "bios-2.20");
    assert_eq!(hop.servers[0].how, Some("already-there"));
    assert_eq!(hop.servers[1].how, Some("applied"));
    assert_eq!(targets(&world, "mock-1"), ["2"]);
    for write in world.writes("mock-1") {
        assert!(!write.contains("/Systems/1"), "{write}");
    }
    assert!(early.len() > 60, "{early:?}");
    for seen in early {
        assert_eq!(seen, (Some("already-there"), RunPhase::InProgress));
    }
}

/// Scenario 60.
#[tokio::test(start_paused = true)]
async fn a_stage_is_in_progress_until_its_last_server_is_done() {
    let world = World::one(2, "");
    let mut halfway = 0;
    let report = world
        .apply_watched(&[&pipeline(&[bios_hop(&world, "2.20")])], |_, rows| {
            let Some(run) = row(rows, "mock-1") else {
                return true;
            };
            let done = phases(&run, "bios-2.20");
            let completed = done.iter().filter(|phase| **phase == RunPhase::Completed);
            if completed.count() == 1 {
                assert_eq!(stage(&run, "bios-2.20").phase, RunPhase::InProgress);
                assert_eq!(run.phase, RunPhase::InProgress);
                halfway += 1;
            }
            true
        })
        .await
        .unwrap();
    assert!(halfway > 60, "{halfway}");
    let run = completed(&world, &report);
    assert_eq!(phases(run, "bios-2.20"), [RunPhase::Completed; 2]);
    assert_eq!(stage(run, "bios-2.20").phase, RunPhase::Completed);
}

/// Scenario 61.
#[tokio::test(start_paused = true)]
async fn one_failed_server_fails_the_stage_and_its_sibling_walks_on_to_the_barrier() {
    let world = World::one(2, "[[system]]\nid = \"1\"\nbios_outcome = \"failed\"\n");
    let text = pipeline(&[
        bios_hop(&world, "2.20"),
        settings("quiet", "bios", "QuietBoot = false"),
        bmc_hop(&world, "1.60"),
    ]);
    let report = world.apply(&[&text]).await;
    let run = first(&report);
    assert_eq!(run.phase, RunPhase::Failed, "{run:#?}");
    assert_eq!(
        phases(run, "bios-2.20"),
        [RunPhase::Failed, RunPhase::Completed]
    );
    assert_eq!(stage(run, "bios-2.20").phase, RunPhase::Failed);
    assert_eq!(
        phases(run, "quiet"),
        [RunPhase::Pending, RunPhase::Completed]
    );
    assert_eq!(stage(run, "bmc-1.60").phase, RunPhase::Pending);
    assert_eq!(words(&world, "mock-1", &["update accepted bmc"]), [""; 0]);
    assert!(run.reason.contains("mock-1-s1"), "{}", run.reason);
}

/// Scenario 62.
#[tokio::test(start_paused = true)]
async fn a_sibling_that_flashes_while_another_fails_is_followed_to_its_real_end() {
    let script = "[durations]\nbios_flash_post = \"25m\"\n[bios_settings]\nsilently_kept = [\"QuietBoot\"]\n[[system]]\nid = \"2\"\nbios = \"2.20\"\n";
    let world = World::one(2, script);
    let text = pipeline(&[
        bios_hop(&world, "2.20"),
        settings("quiet", "bios", "QuietBoot = false"),
    ]);
    let mut meanwhile = 0;
    let report = world
        .apply_watched(&[&text], |world, rows| {
            let Some(run) = row(rows, "mock-1") else {
                return true;
            };
            let is_flashing = !words(world, "mock-1", &["bios 1 flash begins"]).is_empty()
                && words(world, "mock-1", &["bios 1 version"]).is_empty();
            if is_flashing && phases(&run, "quiet")[1] == RunPhase::Failed {
                assert_eq!(phases(&run, "bios-2.20")[0], RunPhase::InProgress);
                assert_ne!(run.phase, RunPhase::Failed, "the run left a flash alone");
                meanwhile += 1;
            }
            true
        })
        .await
        .unwrap();
    assert!(meanwhile > 60, "nobody failed during the flash");
    let run = first(&report);
    assert_eq!(run.phase, RunPhase::Failed, "{run:#?}");
    let hop = stage(run, "bios-2.20");
    assert_eq!(hop.servers[0].phase, RunPhase::Completed);
    assert_eq!(hop.servers[0].how, Some("applied"));
    let system = world.bmc("mock-1", |bmc| bmc.state().systems.remove(0));
    assert_eq!(system.bios_version.as_deref(), Some("2.20"));
}

/// Scenario 65.
#[tokio::test(start_paused = true)]
async fn a_bmc_that_takes_one_update_at_a_time_refuses_none_of_ours() {
    let world = World::one(3, "[update]\nmultipart = false\nhttp_push = false\n");
    let image = world.uri_image("bios", "2.20");
    let text = pipeline(&[hop("bios", "2.20", &image, "")]);
    let report = world.apply(&[&text]).await;
    let run = completed(&world, &report);
    assert_eq!(phases(run, "bios-2.20"), [RunPhase::Completed; 3]);
    let updates = world
        .writes("mock-1")
        .into_iter()
        .filter(|write| write.contains("SimpleUpdate"));
    let wanted = "POST /redfish/v1/UpdateService/Actions/UpdateService.SimpleUpdate 202";
    assert_eq!(updates.collect::<Vec<_>>(), [wanted; 3]);
    let story = words(&world, "mock-1", &["update accepted", "bios "]);
    let is_end = |line: &&String| line.contains(" version ");
    let order: Vec<bool> = story
        .iter()
        .filter(|line| line.starts_with("update accepted") || is_end(line))
        .map(|line| is_end(&line))
        .collect();
    assert_eq!(order, [false, true, false, true, false, true], "{story:#?}");
}

/// Scenario 63.
#[tokio::test(start_paused = true)]
async fn a_fast_server_enters_the_next_stage_while_a_slow_one_is_still_in_the_first() {
    let world = World::one(2, "[[system]]\nid = \"1\"\nbios = \"2.20\"\n");
    let text = pipeline(&[
        bios_hop(&world, "2.20"),
        settings("quiet", "bios", "QuietBoot = false"),
    ]);
    let mut ahead = 0;
    let report = world
        .apply_watched(&[&text], |_, rows| {
            let Some(run) = row(rows, "mock-1") else {
                return true;
            };
            let (first, second) = (phases(&run, "bios-2.20"), phases(&run, "quiet"));
            if first[1] == RunPhase::InProgress && second[0] == RunPhase::Completed {
                ahead += 1;
            }
            true
        })
        .await
        .unwrap();
    completed(&world, &report);
    assert!(ahead > 0, "the fast server waited for the slow one");
    let story = words(&world, "mock-1", &["settings 1 applied", "bios 2 version"]);
    assert_eq!(
        story,
        [
            "settings 1 applied QuietBoot",
            "bios 2 version 2.10 -> 2.20"
        ]
    );
}

/// Scenario 64.
#[tokio::test(start_paused = true)]
async fn a_bmc_stage_waits_for_all_servers_and_holds_the_next_server_stage_back() {
    let world = World::one(2, "");
    let text = pipeline(&[
        bios_hop(&world, "2.20"),
        bmc_hop(&world, "1.60"),
        bios_hop(&world, "2.30"),
    ]);
    let report = world.apply(&[&text]).await;
    completed(&world, &report);
    let story = words(
        &world,
        "mock-1",
        &[
            "bios 1 version",
            "bios 2 version",
            "update accepted bmc",
            "bmc version",
        ],
    );
    assert_eq!(
        story,
        [
            "bios 1 version 2.10 -> 2.20",
            "bios 2 version 2.10 -> 2.20",
            "update accepted bmc 1.60",
            "bmc version 1.50 -> 1.60",
            "bios 1 version 2.20 -> 2.30",
            "bios 2 version 2.20 -> 2.30",
        ]
    );
    let updates = words(&world, "mock-1", &["update accepted"]);
    assert_eq!(
        updates.iter().position(|word| word.contains(" bmc ")),
        Some(2)
    );
}

/// Two servers in one chassis: while a host of it is in the POST that flashes it, no power request goes to the other, who
/// says what it waits for, and both end as wanted.
#[tokio::test(start_paused = true)]
async fn a_server_is_not_reset_while_a_sibling_in_its_chassis_flashes() {
    let script = "[[system]]\nid = \"2\"\nbios = \"2.20\"\nin_post = true\n[durations]\nbios_stage = \"1s\"\n";
    let world = World::one(2, script);
    let hop = bios_hop(&world, "2.20");
    let quiet = settings("quiet", "bios", "QuietBoot = false");
    let text = pipeline(&[hop, quiet]);
    let mut waited = false;

    let report = world
        .apply_watched(&[&text], |_, rows| {
            let run = row(rows, "mock-1");
            waited |= run.is_some_and(|run| {
                let second = &stage(&run, "quiet").servers[1];
                second.reason.contains("a chassis that both share")
            });
            true
        })
        .await
        .unwrap();

    completed(&world, &report);
    assert!(waited, "the second server says why it waits");
    let told = words(
        &world,
        "mock-1",
        &["reset /redfish/v1/Systems/", "post 1 ", "bios 1 version"],
    );
    let at = |what: &str| told.iter().position(|told| told.starts_with(what));
    let flash = at("post 1 begins").unwrap()..at("post 1 ends").unwrap();
    let meanwhile = &told[flash];
    assert!(
        !meanwhile.iter().any(|told| told.starts_with("reset ")),
        "{told:?}"
    );
}
