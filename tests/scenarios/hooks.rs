//! What runs around disruptive steps: real scripts, told what they are about, repeatable, and never told too early that
//! a server is free.

use std::path::Path;
use std::time::Duration;

use redpipe::daemon::ApplyReport;
use redpipe::model::Verb;
use redpipe::run::RunPhase;
use serde_json::{Value, json};

use crate::common::{PIPELINE, bios_hop, bmc_hop, completed, first, hop, named, settings, words};
use crate::support::script::write_program;
use crate::support::world::World;

const BMC: &str = "mock-1";

/// A script of the lab; returns its path.
fn script(world: &World, name: &str, body: &str) -> String {
    let path = world.folder.path().join(name);
    let log = world.folder.path().join(format!("{name}.log"));
    let text = format!("#!/bin/sh\nset -eu\nLOG='{}'\n{body}\n", log.display());
    write_program(&path, &text);
    path.display().to_string()
}

/// What the script of that name was told, each time it ran to its end.
fn told(world: &World, name: &str) -> Vec<Value> {
    let log = world.folder.path().join(format!("{name}.log"));
    let text = std::fs::read_to_string(log).unwrap_or_default();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

/// Writes down what it is told.
const NOTE: &str = "cat >> \"$LOG\"; echo >> \"$LOG\"; echo noted";

/// A pipeline with hooks `drain` and `undrain` of these bodies; `more` are further lines of `[maintenance]`.
fn hooked(world: &World, drain: &str, undrain: &str, more: &str, stages: &[String]) -> String {
    let before = script(world, "drain", drain);
    let after = script(world, "undrain", undrain);
    let table = format!("[maintenance]\nbefore = [\"{before}\"]\nafter = [\"{after}\"]\n{more}\n");
    named(PIPELINE, &table, stages)
}

#[track_caller]
fn held(report: &ApplyReport, words: &[&str]) {
    let run = first(report);
    assert_eq!(run.phase, RunPhase::Held, "{run:#?}");
    for word in words {
        assert!(run.reason.contains(word), "{word}: {}", run.reason);
    }
}

fn outcomes(document: &Value) -> Vec<String> {
    let all = document["outcomes"].as_array().unwrap().iter();
    all.map(|one| {
        format!(
            "{} {}",
            one["server"].as_str().unwrap(),
            one["outcome"].as_str().unwrap()
        )
    })
    .collect()
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_fails_holds_the_run_with_its_words_and_nothing_is_written() {
    let world = World::one(1, "");
    let stages = [bmc_hop(&world, "1.60")];
    let text = hooked(
        &world,
        "echo 'vm-7 does not move' >&2; exit 3",
        NOTE,
        "",
        &stages,
    );
    held(
        &world.apply(&[&text]).await,
        &["drain` failed: exit code 3: vm-7 does not move"],
    );
    assert_eq!(world.writes(BMC), [""; 0]);

    script(&world, "drain", NOTE);
    completed(&world, &world.apply(&[&text]).await);
    assert_eq!(told(&world, "drain").len(), 1);
    assert_eq!(told(&world, "undrain").len(), 1);
}

/// Scenarios 115 and 126.
#[tokio::test(start_paused = true)]
async fn hooks_run_once_around_all_disruptive_steps_and_are_told_what_they_are_about() {
    let world = World::one(2, "");
    let stages = [
        settings("ntp", "bmc", "\"NtpServer1\" = \"10.0.0.1\""),
        bmc_hop(&world, "1.60"),
        bios_hop(&world, "2.20"),
        settings("quiet", "bios", "QuietBoot = false"),
    ];
    let text = hooked(&world, NOTE, NOTE, "", &stages);
    completed(&world, &world.apply(&[&text]).await);
    let stages = json!([
        { "name": "ntp", "kind": "bmc-settings" },
        { "name": "bmc-1.60", "kind": "bmc-version" },
        { "name": "bios-2.20", "kind": "bios-version" },
        { "name": "quiet", "kind": "bios-settings" },
    ]);
    let mut wanted = json!({
        "hook": "before",
        "pipeline": "p",
        "bmc": "mock-1",
        "run": "p/mock-1#1",
        "servers": ["mock-1-s1", "mock-1-s2"],
        "stages": stages,
        "end": null,
        "outcomes": [],
    });
    assert_eq!(told(&world, "drain"), std::slice::from_ref(&wanted));
    wanted["hook"] = json!("after");
    wanted["end"] = json!("Completed");
    wanted["outcomes"] = json!([
        { "server": "mock-1-s1", "outcome": "completed" },
        { "server": "mock-1-s2", "outcome": "completed" },
    ]);
    assert_eq!(told(&world, "undrain"), [wanted]);
    let journal = world.journal(BMC).join("\n");
    assert!(journal.contains("\"output\":\"noted\""), "{journal}");

    completed(&world, &world.apply(&[&text]).await);
    assert_eq!(
        told(&world, "drain").len(),
        1,
        "a run that disturbs nobody runs no hook"
    );
    assert_eq!(told(&world, "undrain").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn after_a_failure_each_server_comes_back_with_its_real_outcome() {
    let script = "[[fault]]\nmethod = \"PATCH\"\npath = \"/redfish/v1/Systems/2/Bios/Settings\"\nstatus = 400\nmessage_id = \"Base.1.0.Busy\"\nmessage = \"no\"";
    let world = World::one(3, script);
    let stages = [settings("quiet", "bios", "QuietBoot = false")];
    let text = hooked(&world, NOTE, NOTE, "", &stages);
    let report = world.apply(&[&text]).await;
    assert_eq!(first(&report).phase, RunPhase::Failed, "{report:#?}");
    let told = told(&world, "undrain");
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["end"], "Failed");
    assert_eq!(
        outcomes(&told[0]),
        [
            "mock-1-s1 completed",
            "mock-1-s2 failed",
            "mock-1-s3 completed"
        ]
    );
}

/// Scenario 126.
#[tokio::test(start_paused = true)]
async fn servers_that_could_not_be_given_back_are_held_and_only_that_is_tried_again() {
    let world = World::one(1, "");
    let stages = [bmc_hop(&world, "1.60")];
    let text = hooked(
        &world,
        NOTE,
        "echo 'no route to the cluster'; exit 1",
        "",
        &stages,
    );
    held(
        &world.apply(&[&text]).await,
        &[
            "release failed",
            "undrain` failed: exit code 1: no route to the cluster",
        ],
    );
    let writes = world.writes(BMC);
    held(&world.apply(&[&text]).await, &["release failed"]);

    script(&world, "undrain", NOTE);
    completed(&world, &world.apply(&[&text]).await);
    assert_eq!(told(&world, "undrain").len(), 1);
    assert_eq!(told(&world, "drain").len(), 1);
    assert_eq!(world.writes(BMC), writes);
}

/// Told once a file is there. A thread looks for it: time stands still while a hook runs.
fn appears(path: &Path) -> tokio::sync::oneshot::Receiver<()> {
    let (tell, told) = tokio::sync::oneshot::channel();
    let path = path.to_owned();
    std::thread::spawn(move || {
        while !path.exists() && !tell.is_closed() {
            std::thread::yield_now();
        }
        tell.send(()).ok();
    });
    told
}

/// Kills the process while the hook of that name runs, and lets it run to its end in the next one.
async fn killed_in(name: &str) {
    let world = World::one(1, "");
    let stages = [bmc_hop(&world, "1.60")];
    let text = hooked(&world, NOTE, NOTE, "", &stages);
    let begun = world.folder.path().join("begun");
    script(
        &world,
        name,
        &format!("touch '{}'; exec sleep 600", begun.display()),
    );
    let texts = [text.as_str()];
    tokio::select! {
        report = world.apply(&texts) => panic!("{report:?}"),
        told = appears(&begun) => told.unwrap(),
    }
    assert_eq!(told(&world, name).len(), 0);
    script(&world, name, NOTE);
    completed(&world, &world.apply(&[&text]).await);
    assert_eq!(
        (told(&world, "drain").len(), told(&world, "undrain").len()),
        (1, 1)
    );
    assert_eq!(words(&world, BMC, &["update accepted"]).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_was_killed_with_its_process_is_run_again_by_the_next() {
    killed_in("drain").await;
    killed_in("undrain").await;
}

/// A hop that fails while its image is staged.
const LEAVES_BEHIND: &str =
    "[[task_fault]]\ncomponent = \"bios\"\nends_after = \"2m\"\nend_state = \"Exception\"";

/// Scenario 142.
#[tokio::test(start_paused = true)]
async fn no_hook_is_told_that_a_server_is_free_while_something_of_its_update_is_left() {
    let script =
        "[[task_fault]]\ncomponent = \"bios\"\nends_after = \"2m\"\nend_state = \"Exception\"";
    let world = World::one(1, script);
    let stages = [hop("bios", "2.20", &world.image("bios", "2.20"), "")];
    let text = hooked(&world, NOTE, NOTE, "", &stages);
    held(&world.apply(&[&text]).await, &["left behind"]);
    assert_eq!(told(&world, "drain").len(), 1);
    assert_eq!(told(&world, "undrain").len(), 0);
}

/// Scenario 142: a person answers for what is left, and still nobody is told that the server is free.
#[tokio::test(start_paused = true)]
async fn what_is_left_behind_for_good_is_not_given_back() {
    let world = World::one(1, LEAVES_BEHIND);
    let stages = [hop("bios", "2.20", &world.image("bios", "2.20"), "")];
    let text = hooked(&world, NOTE, NOTE, "", &stages);
    held(&world.apply(&[&text]).await, &["left behind"]);
    world.order(&World::run_of(PIPELINE, BMC), &Verb::Leave);
    let report = world.apply(&[&text]).await;
    assert_eq!(first(&report).phase, RunPhase::Cancelled, "{report:#?}");
    assert_eq!(told(&world, "undrain").len(), 0);
    let journal = world.journal(BMC).join("\n");
    assert!(journal.contains("\"outcome\":\"left-behind\""), "{journal}");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_run_gives_its_servers_back_once_its_flash_has_ended() {
    let world = World::one(1, "");
    let stages = [bmc_hop(&world, "1.60"), bmc_hop(&world, "1.70")];
    let text = hooked(&world, NOTE, NOTE, "", &stages);
    world
        .apply_watched(&[&text], |world, _| {
            world.caused(BMC, "update accepted").is_empty()
        })
        .await;
    world.order(&World::run_of(PIPELINE, BMC), &Verb::Cancel);
    let report = world.apply(&[&text]).await;
    assert_eq!(first(&report).phase, RunPhase::Cancelled, "{report:#?}");
    assert_eq!(
        words(&world, BMC, &["bmc version"]),
        ["bmc version 1.50 -> 1.60"]
    );
    let back = told(&world, "undrain");
    assert_eq!(back.len(), 1);
    assert_eq!(back[0]["end"], "Cancelled");
    assert_eq!(outcomes(&back[0]), ["mock-1-s1 unfinished"]);
}

/// Scenario 81: nothing more is asked for a server that left, and what was prepared for it is given back.
#[tokio::test(start_paused = true)]
async fn a_server_that_left_the_inventory_is_given_back_with_the_others() {
    let mut world = World::one(2, "[[system]]\nid = \"2\"\nbios = \"U54 v2.10\"\n");
    let stages = [bios_hop(&world, "2.20"), bmc_hop(&world, "1.60")];
    let text = hooked(&world, NOTE, NOTE, "", &stages);
    held(&world.apply(&[&text]).await, &["blocked: "]);
    world.unlisted.insert("mock-1-s2".to_owned());
    completed(&world, &world.apply(&[&text]).await);
    let back = told(&world, "undrain");
    assert_eq!(back.len(), 1, "{back:#?}");
    assert_eq!(
        outcomes(&back[0]),
        ["mock-1-s1 completed", "mock-1-s2 unfinished"]
    );
    let reason = &back[0]["outcomes"][1]["reason"];
    assert_eq!(reason, "removed from the inventory");
}

/// What was never prepared is not given back either.
#[tokio::test(start_paused = true)]
async fn a_run_that_is_cancelled_while_it_waits_for_its_owner_runs_no_hook() {
    let world = World::one(1, "");
    let stages = [bmc_hop(&world, "1.60")];
    let text = hooked(&world, NOTE, NOTE, "policy = \"owner-approval\"", &stages);
    held(&world.apply(&[&text]).await, &["waits for approval"]);
    world.order(&World::run_of(PIPELINE, BMC), &Verb::Cancel);
    let mut world = world;
    world.options.only_resume = true;
    let report = world.apply(&[&text]).await;
    assert_eq!(first(&report).phase, RunPhase::Cancelled, "{report:#?}");
    assert_eq!(
        (told(&world, "drain").len(), told(&world, "undrain").len()),
        (0, 0)
    );
    assert_eq!(world.writes(BMC), [""; 0]);
}

/// A BIOS hop that lasts longer than half an hour.
const SLOW_BIOS: &str = "[durations]\nbios_stage = \"15m\"\nbios_flash_post = \"20m\"";

/// Between two windows servers go back to their owners.
#[tokio::test(start_paused = true)]
async fn a_window_that_closes_gives_servers_back_and_the_next_one_takes_them_again() {
    let world = World::one(1, SLOW_BIOS);
    let window =
        "window = { days = [\"Sun\"], start = \"10:00\", end = \"10:31\", zone = \"UTC\" }";
    let stages = [bios_hop(&world, "2.20"), bmc_hop(&world, "1.60")];
    let text = hooked(&world, NOTE, NOTE, window, &stages);
    held(&world.apply(&[&text]).await, &["waits for window"]);
    let back = told(&world, "undrain");
    assert_eq!(back.len(), 1);
    assert_eq!(back[0]["end"], Value::Null);
    assert_eq!(outcomes(&back[0]), ["mock-1-s1 unfinished"]);

    tokio::time::advance(Duration::from_hours(7 * 24).saturating_sub(world.elapsed())).await;
    completed(&world, &world.apply(&[&text]).await);
    assert_eq!(told(&world, "drain").len(), 2);
    assert_eq!(
        outcomes(&told(&world, "undrain")[1]),
        ["mock-1-s1 completed"]
    );
}

/// A run that has written something does not wait for ever.
#[tokio::test(start_paused = true)]
async fn a_run_that_is_held_for_too_long_after_a_write_has_failed_and_gives_its_servers_back() {
    let world = World::one(1, "");
    let stages = [bmc_hop(&world, "1.60"), bios_hop(&world, "2.20")];
    let text = hooked(&world, NOTE, NOTE, "held_for = \"5h\"", &stages);
    world
        .apply_watched(&[&text], |world, _| {
            world.caused(BMC, "update accepted").is_empty()
        })
        .await;
    let foreign = serde_json::from_value(json!({ "name": "somebody else's work" })).unwrap();
    world.bmc(BMC, |bmc| drop(bmc.add_foreign_task(&foreign)));
    held(&world.apply(&[&text]).await, &["somebody else's work"]);
    tokio::time::advance(Duration::from_hours(4)).await;
    held(&world.apply(&[&text]).await, &["somebody else's work"]);
    tokio::time::advance(Duration::from_hours(2)).await;
    let report = world.apply(&[&text]).await;
    let run = first(&report);
    assert_eq!(run.phase, RunPhase::Failed, "{run:#?}");
    assert!(run.reason.contains("held for 5 h"), "{}", run.reason);
    assert_eq!(outcomes(&told(&world, "undrain")[0]), ["mock-1-s1 failed"]);
}
