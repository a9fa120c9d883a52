//! Files that are edited while a run is under way: what has begun is ended as it was begun, then the files count.

use std::time::Duration;

use redpipe::run::RunPhase;
use redpipe::run::status::RunStatus;

use super::common::{
    PIPELINE, bios_hop, bmc_hop, completed, first, named, pipeline, settings, stage, stages, words,
};
use super::support::world::World;

const QUIET: &str = "QuietBoot = false";

/// Applies until something of `what` happened on the BMC, then kills the process.
async fn killed_when(world: &World, text: &str, what: &str) {
    let report = world
        .apply_watched(&[text], |world, _| {
            words(world, "mock-1", &[what]).is_empty()
        })
        .await;
    assert!(report.is_none(), "{what} never happened: {report:#?}");
}

fn edits(world: &World) -> usize {
    let edited = |line: &String| line.contains("\"record\":\"edited\"");
    world
        .journal("mock-1")
        .iter()
        .filter(|line| edited(line))
        .count()
}

/// Which servers a stage is shown with: `NAME PHASE`.
fn servers(run: &RunStatus, name: &str) -> Vec<String> {
    let servers = stage(run, name).servers.iter();
    servers
        .map(|server| format!("{} {}", server.server, server.phase.as_str()))
        .collect()
}

/// Scenario 79.
#[tokio::test(start_paused = true)]
async fn a_hop_under_way_is_ended_though_the_file_wants_another_by_now() {
    let world = World::one(1, "");
    let before = pipeline(&[bmc_hop(&world, "1.60"), bmc_hop(&world, "1.70")]);
    killed_when(&world, &before, "update accepted").await;
    let after = pipeline(&[settings("quiet", "bios", QUIET), bmc_hop(&world, "1.80")]);
    let report = world.apply(&[&after]).await;
    let run = completed(&world, &report);
    assert_eq!(
        stages(run),
        ["quiet Completed applied", "bmc-1.80 Completed applied"]
    );
    let story = words(
        &world,
        "mock-1",
        &["update accepted", "bmc version", "settings accepted"],
    );
    assert_eq!(
        story,
        [
            "update accepted bmc 1.60",
            "bmc version 1.50 -> 1.60",
            "settings accepted /redfish/v1/Systems/1/Bios/Settings QuietBoot",
            "update accepted bmc 1.80",
            "bmc version 1.60 -> 1.80",
        ]
    );
    assert_eq!(edits(&world), 1, "the change is an event");
}

/// Scenario 79.
#[tokio::test(start_paused = true)]
async fn a_hop_whose_version_was_edited_under_its_name_is_ended_and_then_goes_on() {
    let world = World::one(1, "");
    let before = pipeline(&[bmc_hop(&world, "1.60")]);
    killed_when(&world, &before, "update accepted").await;
    let after = pipeline(&[bmc_hop(&world, "1.80").replace("\"bmc-1.80\"", "\"bmc-1.60\"")]);
    let report = world.apply(&[&after]).await;
    completed(&world, &report);
    let story = words(&world, "mock-1", &["update accepted", "bmc version"]);
    assert_eq!(
        story,
        [
            "update accepted bmc 1.60",
            "bmc version 1.50 -> 1.60",
            "update accepted bmc 1.80",
            "bmc version 1.60 -> 1.80",
        ]
    );
}

/// Scenario 79.
#[tokio::test(start_paused = true)]
async fn what_was_done_is_looked_at_anew_where_the_file_wants_something_else() {
    let world = World::one(1, "");
    let stages_of =
        |quiet: &str| pipeline(&[settings("quiet", "bios", quiet), bmc_hop(&world, "1.60")]);
    killed_when(&world, &stages_of(QUIET), "update accepted").await;
    let report = world.apply(&[&stages_of("AssetNote = \"new\"")]).await;
    completed(&world, &report);
    let story = words(&world, "mock-1", &["settings accepted", "bmc version"]);
    assert_eq!(
        story,
        [
            "settings accepted /redfish/v1/Systems/1/Bios/Settings QuietBoot",
            "bmc version 1.50 -> 1.60",
            "settings accepted /redfish/v1/Systems/1/Bios/Settings AssetNote",
        ]
    );
    let same = world.apply(&[&stages_of("AssetNote = \"new\"")]).await;
    completed(&world, &same);
    assert_eq!(edits(&world), 1);
}

/// Scenario 80.
#[tokio::test(start_paused = true)]
async fn a_server_that_was_added_walks_every_server_stage_before_the_next_barrier_opens() {
    let mut world = World::one(2, "");
    world.unlisted.insert("mock-1-s2".to_owned());
    let text = pipeline(&[
        settings("quiet", "bios", QUIET),
        bmc_hop(&world, "1.60"),
        settings("note", "bios", "AssetNote = \"x\""),
        bmc_hop(&world, "1.70"),
    ]);
    killed_when(&world, &text, "update accepted").await;
    world.unlisted.clear();
    let report = world.apply(&[&text]).await;
    let run = completed(&world, &report);
    for name in ["quiet", "note"] {
        assert_eq!(
            servers(run, name),
            ["mock-1-s1 Completed", "mock-1-s2 Completed"]
        );
    }
    let story = words(&world, "mock-1", &["settings accepted", "bmc version"]);
    let place = |what: &str| story.iter().position(|line| line.contains(what)).unwrap();
    let second = "Systems/2/Bios/Settings";
    assert!(
        place("-> 1.60") < place(second),
        "what was under way came first: {story:#?}"
    );
    assert!(
        place(&format!("{second} AssetNote")) < place("-> 1.70"),
        "{story:#?}"
    );
    assert_eq!(edits(&world), 1);
}

/// Scenario 81.
#[tokio::test(start_paused = true)]
async fn a_server_that_left_the_inventory_is_removed_and_blocks_nothing() {
    let mut world = World::one(2, "[[system]]\nid = \"2\"\nbios = \"U54 v2.10\"\n");
    let text = pipeline(&[bios_hop(&world, "2.20"), bmc_hop(&world, "1.60")]);
    let report = world.apply(&[&text]).await;
    let held = first(&report);
    assert_eq!(
        servers(held, "bios-2.20"),
        ["mock-1-s1 Completed", "mock-1-s2 Held"]
    );
    world.unlisted.insert("mock-1-s2".to_owned());
    let report = world.apply(&[&text]).await;
    let run = completed(&world, &report);
    assert_eq!(
        servers(run, "bios-2.20"),
        ["mock-1-s1 Completed", "mock-1-s2 Cancelled"]
    );
    assert_eq!(
        stage(run, "bios-2.20").servers[1].reason,
        "removed from the inventory"
    );
    assert_eq!(edits(&world), 1);
}

/// Scenarios 80 and 81.
#[tokio::test(start_paused = true)]
async fn a_server_that_left_the_inventory_and_came_back_walks_what_it_had_not_done() {
    let mut world = World::one(2, "");
    let text = pipeline(&[bios_hop(&world, "2.20")]);
    killed_when(&world, &text, "bios 1 staged").await;
    world.unlisted.insert("mock-1-s2".to_owned());
    killed_when(&world, &text, "bios 1 version").await;
    world.unlisted.clear();
    let report = world.apply(&[&text]).await;
    let run = completed(&world, &report);
    assert_eq!(
        servers(run, "bios-2.20"),
        ["mock-1-s1 Completed", "mock-1-s2 Completed"]
    );
    assert_eq!(
        words(&world, "mock-1", &["bios 2 version"]),
        ["bios 2 version 2.10 -> 2.20"]
    );
}

/// Scenarios 81 and 140.
#[tokio::test(start_paused = true)]
async fn no_bmc_stage_starts_before_the_flash_of_a_removed_server_has_ended() {
    let mut world = World::one(2, "");
    let text = pipeline(&[
        bios_hop(&world, "2.20"),
        settings("quiet", "bios", QUIET),
        bmc_hop(&world, "1.60"),
    ]);
    killed_when(&world, &text, "bios 2 flash begins").await;
    world.unlisted.insert("mock-1-s2".to_owned());
    let report = world.apply(&[&text]).await;
    let run = completed(&world, &report);
    assert_eq!(
        servers(run, "bios-2.20"),
        ["mock-1-s1 Completed", "mock-1-s2 Completed"]
    );
    assert_eq!(
        servers(run, "quiet"),
        ["mock-1-s1 Completed", "mock-1-s2 Cancelled"]
    );
    let story = words(&world, "mock-1", &["update accepted", "bios 2 version"]);
    let place = |what: &str| {
        story
            .iter()
            .position(|line| line.starts_with(what))
            .unwrap()
    };
    assert!(
        place("bios 2 version") < place("update accepted bmc"),
        "{story:#?}"
    );
    let touched = world.write_lines("mock-1").into_iter().filter(|line| {
        let path = line.path.as_deref().unwrap_or_default();
        path.starts_with("/redfish/v1/Systems/2/Bios")
    });
    assert_eq!(touched.count(), 0, "no further stage begins on it");
}

/// Scenarios 81 and 140.
#[tokio::test(start_paused = true)]
async fn a_staged_image_of_a_removed_server_keeps_the_barrier_shut() {
    let mut world = World::one(2, "");
    let text = pipeline(&[bios_hop(&world, "2.20"), bmc_hop(&world, "1.60")]);
    killed_when(&world, &text, "bios 2 staged").await;
    world.unlisted.insert("mock-1-s2".to_owned());
    let report = world.apply(&[&text]).await;
    let run = first(&report);
    assert_eq!(run.phase, RunPhase::Held, "{run:#?}");
    assert!(run.reason.contains("left behind: "), "{run:#?}");
    assert!(
        run.reason.contains("removed from the inventory"),
        "{run:#?}"
    );
    let bmc = world.caused("mock-1", "update accepted bmc");
    assert_eq!(bmc, [""; 0], "the barrier stays shut");
}

/// What a server has begun comes first there, and no barrier opens before: a BMC stage of the file may be as new as one of
/// the server.
#[tokio::test(start_paused = true)]
async fn a_flash_under_way_is_ended_before_a_stage_that_was_put_in_front_of_it() {
    let put_first = [
        (settings("quiet", "bios", QUIET), "settings accepted"),
        (
            settings("ssh", "bmc", "SshMaxSessions = 3"),
            "settings accepted",
        ),
    ];
    for (first, word) in put_first {
        for moment in ["update accepted", "bios 1 staged", "power 1 Off"] {
            let world = World::one(1, "");
            let before = pipeline(&[bios_hop(&world, "2.20")]);
            killed_when(&world, &before, moment).await;
            let after = pipeline(&[first.clone(), bios_hop(&world, "2.20")]);
            let report = world
                .apply_for(&[&after], Duration::from_hours(6))
                .await
                .expect("it ends");
            completed(&world, &report);
            let story = words(&world, "mock-1", &["bios 1 version", word]);
            assert_eq!(story.len(), 2, "{moment}: {story:?}");
            assert_eq!(story[0], "bios 1 version 2.10 -> 2.20", "{moment}");
        }
    }
}

/// The same for settings that are written and not read back yet, which is all that is left of their step.
#[tokio::test(start_paused = true)]
async fn settings_are_read_back_before_servers_are_prepared_for_a_stage_that_was_put_in_front_of_them()
 {
    let named = |stages: &[String]| {
        let table = "[maintenance]\nbefore = [\"/bin/true\"]\n";
        named(PIPELINE, table, stages)
    };
    let ssh = || settings("ssh", "bmc", "SshMaxSessions = 3");
    for moment in ["settings accepted", "manager gone", "manager back"] {
        let world = World::one(1, "");
        killed_when(&world, &named(&[ssh()]), moment).await;
        let after = named(&[settings("quiet", "bios", QUIET), ssh()]);
        let report = world
            .apply_for(&[&after], Duration::from_hours(6))
            .await
            .expect("it ends");
        let run = completed(&world, &report);
        assert_eq!(
            stages(run),
            ["quiet Completed applied", "ssh Completed applied"],
            "{moment}"
        );
    }
}

/// A step that an edit takes away is followed to its end, and nobody claims that its values are there.
#[tokio::test(start_paused = true)]
async fn settings_that_an_edit_takes_away_before_they_were_read_back_are_not_claimed() {
    let quiet = || settings("quiet", "bios", QUIET);
    for (moment, script) in [
        ("settings accepted", ""),
        ("reset ignored", "[power]\nignored_resets = 1\n"),
    ] {
        let world = World::one(1, script);
        let before = pipeline(&[settings("ssh", "bmc", "SshMaxSessions = 3"), quiet()]);
        killed_when(&world, &before, moment).await;
        let report = world
            .apply_for(&[&pipeline(&[quiet()])], Duration::from_hours(6))
            .await
            .expect("it ends");
        let run = completed(&world, &report);
        assert_eq!(stages(run), ["quiet Completed applied"], "{moment}");
        let journal = world.journal("mock-1");
        let is_claim = |line: &&String| {
            line.contains("\"record\":\"done\"")
                && line.contains("\"ssh\"")
                && !line.contains("\"how\":\"none\"")
        };
        let claims: Vec<_> = journal.iter().filter(is_claim).collect();
        assert!(claims.is_empty(), "{moment}: {claims:?}");
    }
}
