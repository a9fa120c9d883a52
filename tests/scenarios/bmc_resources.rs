//! Settings of a BMC that are plain Redfish resources.

use serde_json::json;

use crate::claims::{BMC, assert_completed, assert_failed, bodies, pipeline, stage_text, told};
use crate::support::world::World;

const PROTOCOL: &str = "/redfish/v1/Managers/BMC/NetworkProtocol";

fn resources(entries: &str) -> String {
    let body =
        format!("  [[stage.flow]]\n  name = \"one\"\n  priority = 1\n  resources = [{entries}]");
    pipeline(&stage_text("plain", "bmc-settings", &body))
}

fn ntp() -> String {
    resources(
        "{ uri = \"{manager}/NetworkProtocol\", set = { NTP = { ProtocolEnabled = true, NTPServers = [\"10.0.0.1\"] } } }",
    )
}

/// Scenario 49.
#[tokio::test(start_paused = true)]
async fn resources_are_written_in_authored_order() {
    let world = World::one(1, "");
    let text = resources(
        "
    { uri = \"{manager}/NetworkProtocol\", set = { SNMP = { Port = 1161 } } },
    { uri = \"{chassis}\", set = { AssetTag = \"r04-07\" } },
    { uri = \"{manager}\", set = { DateTimeLocalOffset = \"+01:00\" } },
    { uri = \"{manager}/NetworkProtocol\", set = { IPMI = { Port = 1623 } } },
  ",
    );

    let report = world.apply(&[&text]).await;

    assert_completed(&report, "plain", "applied");
    let expected = [
        format!("PATCH {PROTOCOL} 200"),
        "PATCH /redfish/v1/Chassis/1 200".to_owned(),
        "PATCH /redfish/v1/Managers/BMC 200".to_owned(),
        format!("PATCH {PROTOCOL} 200"),
    ];
    assert_eq!(world.writes(BMC), expected);
    let sent = bodies(&world, "/NetworkProtocol");
    assert_eq!(
        sent,
        [
            json!({ "SNMP": { "Port": 1161 } }),
            json!({ "IPMI": { "Port": 1623 } })
        ]
    );
}

/// Scenario 49, over flow items: priority goes before the order in the file.
#[tokio::test(start_paused = true)]
async fn a_resource_of_an_item_with_a_lower_priority_is_written_first() {
    let world = World::one(1, "");
    let body = "
  [[stage.flow]]
  name = \"late\"
  priority = 20
  resources = [{ uri = \"{manager}/NetworkProtocol\", set = { SNMP = { Port = 1161 } } }]
  [[stage.flow]]
  name = \"early\"
  priority = 3
  resources = [{ uri = \"{manager}/NetworkProtocol\", set = { IPMI = { Port = 1623 } } }]
";

    let report = world
        .apply(&[&pipeline(&stage_text("plain", "bmc-settings", body))])
        .await;

    assert_completed(&report, "plain", "applied");
    let sent = bodies(&world, "/NetworkProtocol");
    assert_eq!(
        sent,
        [
            json!({ "IPMI": { "Port": 1623 } }),
            json!({ "SNMP": { "Port": 1161 } })
        ]
    );
}

/// Scenario 50.
#[tokio::test(start_paused = true)]
async fn a_failed_precondition_is_read_again_and_the_write_repeated_once() {
    let world = World::one(1, "[etag]\nstyle = \"strong\"\nstale = 1");

    let report = world.apply(&[&ntp()]).await;

    assert_completed(&report, "plain", "applied");
    let ledger = world.ledger(BMC);
    let on_it: Vec<(String, u16)> = ledger
        .into_iter()
        .filter(|line| line.path.as_deref() == Some(PROTOCOL))
        .map(|line| {
            (
                line.method.unwrap_or_default(),
                line.status.unwrap_or_default(),
            )
        })
        .collect();
    let first = on_it
        .iter()
        .position(|(method, _)| method == "PATCH")
        .unwrap();
    let wanted = [("PATCH", 412), ("GET", 200), ("PATCH", 200)];
    let found: Vec<(&str, u16)> = on_it[first..]
        .iter()
        .take(3)
        .map(|(m, s)| (m.as_str(), *s))
        .collect();
    assert_eq!(found, wanted);
    assert_eq!(world.writes(BMC).len(), 2);
}

/// Scenario 50: what was done meanwhile is not done again.
#[tokio::test(start_paused = true)]
async fn a_failed_precondition_on_a_write_that_took_effect_is_not_repeated() {
    let world = World::one(
        1,
        r#"
        [[fault]]
        method = "PATCH"
        path = "*/NetworkProtocol"
        count = 1
        status = 412
        processed = true
        "#,
    );

    let report = world.apply(&[&ntp()]).await;

    assert_completed(&report, "plain", "applied");
    assert_eq!(world.writes(BMC), [format!("PATCH {PROTOCOL} 412")]);
    assert_eq!(told(&world, &["resource changed"]).len(), 1);
}

/// Scenario 50: a precondition that never holds ends.
#[tokio::test(start_paused = true)]
async fn a_precondition_that_never_holds_fails_after_few_tries() {
    let world = World::one(1, "[etag]\nstyle = \"strong\"\nstale = 1000");

    let report = world.apply(&[&ntp()]).await;

    assert_failed(&report, "plain", &["412"]);
    let writes = world.writes(BMC);
    assert!(writes.len() <= 4, "{writes:?}");
    assert_eq!(told(&world, &["resource changed"]), [""; 0]);
}
