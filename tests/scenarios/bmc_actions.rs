//! Settings of a BMC that are made by an action, with a probe that says whether it was done.

use redpipe::plan::PlanAction;
use redpipe::run::record::{Intent, Record};
use serde_json::json;

use crate::claims::{
    BMC, assert_completed, assert_failed, assert_held, bodies, journal, pipeline, stage_text, told,
};
use crate::support::world::World;

const SLOT: &str = "/redfish/v1/Managers/BMC/VirtualMedia/CD";
const INSERT: &str =
    "POST /redfish/v1/Managers/BMC/VirtualMedia/CD/Actions/VirtualMedia.InsertMedia";
const IMAGE: &str = "http://images.lab/rescue.iso";

fn insert_where(probe: &str) -> String {
    let body = format!(
        "  [[stage.flow]]
  name = \"rescue\"
  resources = [{{ uri = \"{{manager}}/NetworkProtocol\", set = {{ SNMP = {{ Port = 1161 }} }} }}]
  actions = [{{
    uri = \"{{manager}}/VirtualMedia/CD/Actions/VirtualMedia.InsertMedia\",
    body = {{ Image = \"{IMAGE}\", WriteProtected = true }},
    satisfied_when = {{ uri = \"{{manager}}/VirtualMedia/CD\", set = {{ {probe} }} }},
  }}]"
    );
    pipeline(&stage_text("media", "bmc-settings", &body))
}

fn insert() -> String {
    insert_where(&format!("Image = \"{IMAGE}\", Inserted = true"))
}

fn calls(world: &World) -> Vec<String> {
    let writes = world.writes(BMC).into_iter();
    writes.filter(|line| line.starts_with("POST ")).collect()
}

/// Scenario 47: sent once, after the item's resources, by the target that the BMC names, and read back after it.
#[tokio::test(start_paused = true)]
async fn an_action_is_sent_once_where_its_probe_does_not_hold() {
    let world = World::one(1, "");

    let planned = world.plan(&[&insert()]).await;
    let (run, _) = planned[0].report.as_ref().unwrap();
    let target = &run.stages[0].targets[0];
    assert_eq!(target.action, PlanAction::Apply, "{target:?}");
    let reason = target.reason.as_deref().unwrap_or_default();
    assert!(
        reason.contains("VirtualMedia.InsertMedia` is called"),
        "{reason}"
    );
    assert_eq!(world.writes(BMC), [""; 0], "a plan writes nothing");

    let report = world.apply(&[&insert()]).await;

    assert_completed(&report, "media", "applied");
    let protocol = "PATCH /redfish/v1/Managers/BMC/NetworkProtocol 200";
    assert_eq!(
        world.writes(BMC),
        [protocol.to_owned(), format!("{INSERT} 204")]
    );
    let sent = bodies(&world, "InsertMedia");
    assert_eq!(sent, [json!({"Image": IMAGE, "WriteProtected": true})]);
    let ledger = world.ledger(BMC);
    let at = |method: &str, end: &str| {
        ledger.iter().rposition(|line| {
            line.method.as_deref() == Some(method)
                && line.path.as_deref().is_some_and(|path| path.ends_with(end))
        })
    };
    let (sent, read) = (at("POST", "InsertMedia"), at("GET", SLOT));
    assert!(read > sent, "the probe was not read after the action");

    let report = world.apply(&[&insert()]).await;

    assert_completed(&report, "media", "already-there");
    assert_eq!(calls(&world).len(), 1, "it holds, so nothing is sent");
}

/// Scenario 47: its intent is written down before, with where it goes and none of what it says.
#[tokio::test(start_paused = true)]
async fn the_intent_of_an_action_is_in_the_journal_without_its_body() {
    let world = World::one(1, "");

    world.apply(&[&insert()]).await;

    let intents: Vec<String> = journal(&world)
        .into_iter()
        .filter_map(|record| {
            let Record::Intent {
                intent: Intent::Call { uri, .. },
                ..
            } = record
            else {
                return None;
            };
            Some(uri)
        })
        .collect();
    assert_eq!(
        intents,
        ["{manager}/VirtualMedia/CD/Actions/VirtualMedia.InsertMedia"]
    );
}

/// Scenario 47: the answer is lost and the action was done: the probe says so, and nothing is sent again.
#[tokio::test(start_paused = true)]
async fn an_action_whose_answer_is_lost_is_probed_and_not_sent_again() {
    let world = World::one(
        1,
        r#"
        [[fault]]
        method = "POST"
        path = "*/VirtualMedia.InsertMedia"
        count = 1
        answer = "drop-after"
        "#,
    );

    let report = world.apply(&[&insert()]).await;

    assert_completed(&report, "media", "applied");
    assert_eq!(told(&world, &["media inserted"]).len(), 1);
    assert_eq!(calls(&world).len(), 1);
}

/// Scenario 47: the answer is lost and the action was not done: after several looks one more is sent, and no third.
#[tokio::test(start_paused = true)]
async fn an_action_that_never_arrives_is_sent_a_second_time_and_never_a_third() {
    let world = World::one(
        1,
        r#"
        [[fault]]
        method = "POST"
        path = "*/VirtualMedia.InsertMedia"
        count = 9
        answer = "drop-before"
        "#,
    );

    let report = world.apply(&[&insert()]).await;

    assert_failed(&report, "media", &["the answer was lost 2 times"]);
    assert_eq!(calls(&world).len(), 2);
    assert_eq!(told(&world, &["media inserted"]), [""; 0]);
    let probes = world
        .ledger(BMC)
        .iter()
        .filter(|line| line.path.as_deref() == Some(SLOT) && line.method.as_deref() == Some("GET"))
        .count();
    assert!(probes >= 6, "only {probes} looks at the slot");
}

/// Scenario 47: accepted, and the probe never holds: that is a failure that names what is missing, not a second try.
#[tokio::test(start_paused = true)]
async fn an_action_that_changes_nothing_fails_with_what_its_probe_shows() {
    let world = World::one(1, "");

    let report = world
        .apply(&[&insert_where("Image = \"http://images.lab/other.iso\"")])
        .await;

    assert_failed(&report, "media", &["other.iso", "not in effect"]);
    assert_eq!(calls(&world).len(), 1);
}

/// Scenario 47: what cannot be probed is not sent.
#[tokio::test(start_paused = true)]
async fn an_action_whose_probe_is_not_shown_is_not_sent() {
    let world = World::one(1, "");

    let report = world.apply(&[&insert_where("Oem = { Tag = 1 }")]).await;

    assert_held(&report, &["not observable", "VirtualMedia/CD#/Oem"]);
    assert_eq!(calls(&world), [""; 0]);
}
