//! Settings of a BMC that come by an attribute registry.

use redpipe::plan::PlanAction;
use redpipe::run::record::RunPhase;
use serde_json::json;

use crate::claims::{
    BMC, assert_completed, assert_failed, assert_held, bmc_attribute, bodies, journal, pipeline,
    stage, stage_text, told,
};
use crate::common::first;
use crate::support::world::World;

const ATTRIBUTES: &str = "/redfish/v1/Managers/BMC/Oem/MockBmc/Attributes";

fn settings(wanted: &str) -> String {
    pipeline(&stage_text(
        "time",
        "bmc-settings",
        &format!("settings = {{ {wanted} }}"),
    ))
}

/// Scenario 35.
#[tokio::test(start_paused = true)]
async fn attributes_are_written_once_and_the_stage_is_completed_by_a_later_read() {
    let world = World::one(1, "");
    let text = settings("\"NtpEnable\" = \"Enabled\", \"NtpMaxDistance\" = 32");

    let report = world.apply(&[&text]).await;

    assert_completed(&report, "time", "applied");
    assert_eq!(world.writes(BMC), [format!("PATCH {ATTRIBUTES} 200")]);
    assert_eq!(bmc_attribute(&world, "NtpEnable"), "Enabled");
    assert_eq!(bmc_attribute(&world, "NtpMaxDistance"), 32);
    let ledger = world.ledger(BMC);
    let is = |method: &str, line: &mock_bmc::ledger::LedgerLine| {
        line.method.as_deref() == Some(method) && line.path.as_deref() == Some(ATTRIBUTES)
    };
    let written = ledger.iter().rposition(|line| is("PATCH", line)).unwrap();
    let read = ledger.iter().rposition(|line| is("GET", line)).unwrap();
    assert!(
        read > written,
        "the values were read before they were written, and not after"
    );
}

/// Scenario 35, where values only come into effect by a reset of the BMC: there is one, and it is read back after it.
#[tokio::test(start_paused = true)]
async fn attributes_that_need_a_reset_of_the_bmc_get_exactly_one() {
    let world = World::one(1, "");
    let text = settings("\"SshMaxSessions\" = 4, \"WebTlsProtocol\" = \"TLS13\"");

    let report = world.apply(&[&text]).await;

    assert_completed(&report, "time", "applied");
    assert_eq!(world.caused(BMC, "settings accepted").len(), 1);
    assert_eq!(
        world.caused(BMC, "reset "),
        ["reset /redfish/v1/Managers/BMC GracefulRestart"]
    );
    assert_eq!(bmc_attribute(&world, "SshMaxSessions"), 4);
    assert_eq!(
        told(&world, &["power ", "post "]),
        [""; 0],
        "the host was disturbed"
    );
}

/// Scenario 36.
#[tokio::test(start_paused = true)]
async fn a_refused_write_fails_the_stage_with_the_words_of_the_bmc() {
    let world = World::one(
        1,
        r#"
        [[fault]]
        method = "PATCH"
        path = "*/Oem/MockBmc/Attributes"
        status = 400
        message_id = "MockBmc.1.0.NtpIsManagedElsewhere"
        message = "NTP is managed by the enclosure."
        "#,
    );
    let after = stage_text(
        "after",
        "bmc-settings",
        "settings = { \"SyslogPort\" = 1514 }",
    );
    let text = settings("\"NtpEnable\" = \"Enabled\"") + &after;

    let report = world.apply(&[&text]).await;

    assert_failed(&report, "time", &["NTP is managed by the enclosure."]);
    assert_eq!(stage(&report, "after").phase, RunPhase::Pending);
    assert_eq!(world.writes(BMC), [format!("PATCH {ATTRIBUTES} 400")]);
}

/// Scenario 36, where the BMC says yes and does nothing.
#[tokio::test(start_paused = true)]
async fn a_value_that_is_accepted_and_not_kept_fails_the_stage_by_name() {
    let world = World::one(1, "[bmc_settings]\nsilently_kept = [\"NtpMaxDistance\"]");
    let text = settings("\"NtpEnable\" = \"Enabled\", \"NtpMaxDistance\" = 32");

    let report = world.apply(&[&text]).await;

    assert_failed(&report, "time", &["`NtpMaxDistance` is 16 instead of 32"]);
    assert!(
        !first(&report).reason.contains("NTPEnable"),
        "{}",
        first(&report).reason
    );
    assert_eq!(world.caused(BMC, "settings accepted").len(), 1);
    assert_eq!(world.caused(BMC, "reset "), [""; 0]);
}

/// Scenario 37.
#[tokio::test(start_paused = true)]
async fn where_nothing_differs_nothing_is_written_and_nothing_is_reset() {
    let world = World::one(1, "");
    let text = settings(
        "\"SshMaxSessions\" = 2, \"IpmiOverLan\" = false, \"SyslogPort\" = \"514\"",
    ) + &stage_text(
        "plain",
        "bmc-settings",
        "  [[stage.flow]]\n  name = \"ssh\"\n  priority = 1\n  resources = [{ uri = \"{manager}/NetworkProtocol\", set = { SSH = { ProtocolEnabled = true, Port = 22 } } }]",
    );

    let report = world.apply(&[&text]).await;

    assert_completed(&report, "time", "already-there");
    assert_completed(&report, "plain", "already-there");
    assert_eq!(world.writes(BMC), [""; 0]);
}

/// Scenario 38.
#[tokio::test(start_paused = true)]
async fn an_unmet_version_guard_blocks_visibly_and_a_met_one_lets_the_settings_through() {
    let world = World::one(1, "");
    let body = "version = \"1.60\"\nsettings = { \"NtpEnable\" = \"Enabled\" }";
    let text = pipeline(&stage_text("time", "bmc-settings", body));

    let held = world.apply(&[&text]).await;

    assert_held(&held, &["blocked:", "1.60", "1.50"]);
    assert_eq!(world.writes(BMC), [""; 0]);

    world.bmc(BMC, |bmc| bmc.set_bmc_version("1.60"));
    let done = world.apply(&[&text]).await;

    assert_completed(&done, "time", "applied");
    assert_eq!(world.writes(BMC), [format!("PATCH {ATTRIBUTES} 200")]);
}

/// Scenario 42.
#[tokio::test(start_paused = true)]
async fn an_enumeration_by_display_name_that_is_already_there_is_left_alone() {
    for wanted in ["TLS 1.2 and Higher", "TLS12"] {
        let world = World::one(1, "");

        let report = world
            .apply(&[&settings(&format!("\"WebTlsProtocol\" = \"{wanted}\""))])
            .await;

        assert_completed(&report, "time", "already-there");
        assert_eq!(world.writes(BMC), [""; 0], "wanted {wanted}");
    }
}

/// Scenario 42, the other way round: a display name that differs is written by the name that the registry takes.
#[tokio::test(start_paused = true)]
async fn an_enumeration_by_display_name_is_written_by_its_value_name() {
    let world = World::one(1, "");

    let report = world.apply(&[&settings("\"NtpEnable\" = \"On\"")]).await;

    assert_completed(&report, "time", "applied");
    let sent = &bodies(&world, ATTRIBUTES)[0]["Attributes"];
    assert_eq!(*sent, json!({ "NtpEnable": "Enabled" }));
}

/// Scenario 43.
#[tokio::test(start_paused = true)]
async fn boolean_and_null_attributes_are_compared_and_written_in_their_own_type() {
    let world = World::one(1, "");
    let text = settings(
        "\"IpmiOverLan\" = \"true\", \"NtpServer2\" = \"192.0.2.7\", \"SyslogServer\" = \"\"",
    );

    let report = world.apply(&[&text]).await;

    assert_completed(&report, "time", "applied");
    let sent = bodies(&world, ATTRIBUTES);
    let wanted = json!({ "IpmiOverLan": true, "NtpServer2": "192.0.2.7" });
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0]["Attributes"], wanted);
    assert_eq!(bmc_attribute(&world, "IpmiOverLan"), true);
    assert_eq!(bmc_attribute(&world, "NtpServer2"), "192.0.2.7");

    let again = world.apply(&[&text]).await;

    assert_completed(&again, "time", "already-there");
    assert_eq!(world.writes(BMC).len(), 1);
}

/// Scenario 45.
#[tokio::test(start_paused = true)]
async fn an_unknown_name_fails_the_stage_before_any_write_of_it() {
    let world = World::one(1, "");
    let body = "
  [[stage.flow]]
  name = \"first\"
  priority = 1
  settings = { \"SyslogPort\" = 1514 }
  [[stage.flow]]
  name = \"second\"
  priority = 2
  settings = { \"NtpEnabled\" = \"Enabled\", \"NtpMaxDistance\" = 500 }
";
    let text = pipeline(&stage_text("time", "bmc-settings", body));

    let report = world.apply(&[&text]).await;

    let words = [
        "`NtpEnabled` is no attribute",
        "did you mean `NtpEnable`?",
        "`NtpMaxDistance` is at most 128, not 500",
    ];
    assert_failed(&report, "time", &words);
    assert_eq!(world.writes(BMC), [""; 0]);
    let intents = journal(&world)
        .into_iter()
        .filter(|record| matches!(record, redpipe::run::Record::Intent { .. }));
    assert_eq!(intents.count(), 0);
}

#[tokio::test(start_paused = true)]
async fn what_needs_a_reset_is_not_written_to_a_bmc_that_offers_none() {
    let world = World::one(1, "[power]\nmanager_reset = false");
    let text = settings("\"SshMaxSessions\" = 4");

    let planned = world.plan(&[&text]).await;
    let (plan, _) = planned[0].report.as_ref().unwrap();
    let target = &plan.stages[0].targets[0];
    assert_eq!(target.action, PlanAction::Blocked);
    let reason = target.reason.clone().unwrap();
    assert!(reason.contains("no `#Manager.Reset`"), "{reason}");

    let report = world.apply(&[&text]).await;
    assert_held(&report, &["blocked: ", &reason]);
    assert_eq!(world.writes(BMC), Vec::<String>::new());

    let text = settings("\"NtpEnable\" = \"Enabled\"");
    let report = world.apply(&[&text]).await;
    assert_completed(&report, "time", "applied");
}
