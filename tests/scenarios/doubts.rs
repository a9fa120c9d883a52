//! What is looked at before anything is sent, or sent again.

use std::sync::{Arc, Mutex};

use mock_bmc::bmc::Bmc;
use redpipe::model::BmcName;
use redpipe::run::{Record, RunPhase};
use redpipe::store::LeaseEpoch;

use crate::common::{PIPELINE, bmc_hop, completed, pipeline, settings, stages, words};
use crate::support::lives::Lives;
use crate::support::process::{Death, Nobody, Process, Watcher};
use crate::support::world::{World, status};

const BMC: &str = "mock-1";

/// More records than any run here has.
const RECORDS_MAX: u32 = 400;

/// A BMC that needs little time, and so few records: each of them costs two runs.
const QUICK: &str = "[durations]\npost = \"30s\"\nbmc_flash = \"20s\"\nbmc_gone = \"30s\"";

/// The requests about updates, in order: what was sent as `POST`, what was looked at as `GET tasks`.
fn sent_and_looked(world: &World) -> Vec<&'static str> {
    let mut story = Vec::new();
    for line in world.ledger(BMC) {
        let path = line.path.unwrap_or_default();
        let word = match line.method.as_deref() {
            Some("POST") if path.starts_with("/redfish/v1/UpdateService") => "POST",
            Some("GET") if path.starts_with("/redfish/v1/TaskService") => "GET tasks",
            _ => continue,
        };
        if story.last() != Some(&word) {
            story.push(word);
        }
    }
    story
}

fn journal_has(world: &World, record: &str) -> bool {
    let word = format!("\"record\":\"{record}\"");
    world.journal(BMC).iter().any(|line| line.contains(&word))
}

/// Scenario 25: between what was planned and the request.
#[tokio::test(start_paused = true)]
async fn what_a_person_flashed_after_the_plan_is_not_flashed_again() {
    let world = World::one(1, "");
    let text = pipeline(&[bmc_hop(&world, "1.60")]);
    let planned = world.plan(&[&text]).await;
    assert!(!planned.is_empty());
    world.bmc(BMC, |bmc| bmc.set_bmc_version("1.60"));
    let report = world.apply(&[&text]).await;
    let run = completed(&world, &report);
    assert_eq!(stages(run), ["bmc-1.60 Completed already-there"]);
    assert_eq!(world.writes(BMC), [""; 0]);
}

/// Somebody who flashes a BMC right after a stage of a run has begun on it.
struct FlashesByHand(Arc<Mutex<Bmc>>);

impl Watcher for FlashesByHand {
    fn appended(&self, _: &Process, _: &BmcName, _: LeaseEpoch, records: &[Record]) {
        let begins = |record: &Record| matches!(record, Record::StageStarted { .. });
        if records.iter().any(begins) {
            self.0.lock().unwrap().set_bmc_version("1.60");
        }
    }
}

/// Scenario 25: while the run is at the stage already.
#[tokio::test(start_paused = true)]
async fn a_version_that_changes_under_a_stage_that_has_begun_is_read_right_before_the_request() {
    let world = World::one(1, "");
    let text = pipeline(&[bmc_hop(&world, "1.60")]);
    let by_hand = FlashesByHand(Arc::clone(&world.bmcs[BMC]));
    let process = Lives::new().start(&world, 1, Death::Never, Arc::new(by_hand));
    let report = process.apply(&world, &[&text]).await.unwrap();
    let run = completed(&world, &report);
    assert_eq!(stages(run), ["bmc-1.60 Completed already-there"]);
    assert_eq!(world.writes(BMC), [""; 0]);
}

/// Scenario 26.
#[tokio::test(start_paused = true)]
async fn a_lost_answer_to_an_update_is_looked_for_and_nothing_is_posted_again() {
    let script = "[[fault]]\nmethod = \"POST\"\npath = \"/redfish/v1/UpdateService*\"\ncount = 1\nanswer = \"drop-after\"";
    let world = World::one(1, script);
    let report = world.apply(&[&pipeline(&[bmc_hop(&world, "1.60")])]).await;
    completed(&world, &report);
    let story = sent_and_looked(&world);
    let posts = story.iter().filter(|word| **word == "POST").count();
    assert_eq!(posts, 1, "{story:?}");
    assert_eq!(story.last(), Some(&"GET tasks"), "its task was looked for");
    assert!(journal_has(&world, "adopted"), "{:#?}", world.journal(BMC));
    assert_eq!(words(&world, BMC, &["update accepted"]).len(), 1);
}

/// Scenario 27.
#[tokio::test(start_paused = true)]
async fn a_process_that_died_before_it_knew_its_task_leaves_an_intent_that_finds_it() {
    let world = World::one(1, "");
    let text = pipeline(&[bmc_hop(&world, "1.60")]);
    let lives = Lives::new();
    let one = lives.start(&world, 1, Death::AfterSend(1), Arc::new(Nobody));
    assert!(one.apply(&world, &[&text]).await.is_none(), "nobody died");
    drop(one);
    assert_eq!(words(&world, BMC, &["update accepted"]).len(), 1);
    let other = lives.start(&world, 2, Death::Never, Arc::new(Nobody));
    let report = other.apply(&world, &[&text]).await.unwrap();
    completed(&world, &report);
    let story = sent_and_looked(&world);
    let posts = story.iter().filter(|word| **word == "POST").count();
    assert_eq!(posts, 1, "{story:?}");
    let records = lives.records(BMC);
    let is_adopted = |record: &Record| matches!(record, Record::Adopted { .. });
    assert!(records.iter().any(is_adopted), "{records:#?}");
}

/// Scenario 15.
#[tokio::test(start_paused = true)]
async fn a_process_killed_after_any_record_leaves_a_run_that_ends_the_same_and_posts_once() {
    let mut killed = 0;
    for record in 1..RECORDS_MAX {
        let world = World::one(1, QUICK);
        let text = pipeline(&[
            bmc_hop(&world, "1.60"),
            settings("quiet", "bios", "QuietBoot = false"),
        ]);
        let lives = Lives::new();
        let one = lives.start(&world, 1, Death::AfterAppend(record), Arc::new(Nobody));
        if one.apply(&world, &[&text]).await.is_some() {
            break;
        }
        killed += 1;
        drop(one);
        let other = lives.start(&world, 2, Death::Never, Arc::new(Nobody));
        let report = other.apply(&world, &[&text]).await.unwrap();
        let run = status(&report, PIPELINE, BMC);
        assert_eq!(run.phase, RunPhase::Completed, "record {record}: {run:#?}");
        let state = world.bmc(BMC, |bmc| bmc.state());
        assert_eq!(state.bmc_version.as_deref(), Some("1.60"));
        for once in ["update accepted", "settings accepted", "reset "] {
            assert_eq!(
                world.caused(BMC, once).len(),
                1,
                "record {record}: {once}: {:#?}",
                world.writes(BMC)
            );
        }
    }
    assert!(
        (10..RECORDS_MAX - 1).contains(&killed),
        "killed {killed} times"
    );
}
