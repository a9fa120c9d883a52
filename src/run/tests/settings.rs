//! Settings: a typed difference against current and pending, written once, read back, and nobody else's touched.

use serde_json::json;

use super::bench::Bench;
use super::texts::{bios_settings, bmc_resources, name};
use crate::model::setting::{AttributeDefinition, AttributeType};
use crate::run::{How, Record, RunPhase};

fn quiet() -> Bench {
    Bench::one(&bios_settings("quiet", "settings = { QuietBoot = false }"))
}

const WRITTEN: [&str; 2] = ["patch server:s1 QuietBoot", "GracefulRestart s1"];

const NTP: &str =
    r#"{ uri = "{manager}/NetworkProtocol", set = { NTP = { ProtocolEnabled = true } } }"#;
const SSDP: &str =
    r#"{ uri = "{manager}/NetworkProtocol", set = { SSDP = { ProtocolEnabled = false } } }"#;

fn definition(kind: AttributeType) -> AttributeDefinition {
    AttributeDefinition {
        kind: Some(kind),
        ..AttributeDefinition::default()
    }
}

#[test]
fn settings_that_are_there_are_not_written() {
    let mut bench = quiet();
    bench
        .model
        .host("s1")
        .attributes
        .insert("QuietBoot".to_owned(), json!(false));
    bench.completes(&[]);
    assert!(bench.has(|r| matches!(
        r,
        Record::Done {
            how: How::AlreadyThere,
            ..
        }
    )));
}

#[test]
fn each_item_is_read_back_before_the_next_is_written() {
    let items = "[[stage.flow]]\nname = \"late\"\npriority = 2\nsettings = { QuietBoot = false }\n[[stage.flow]]\nname = \"early\"\npriority = 1\nsettings = { Boost = \"On\" }";
    let mut bench = Bench::one(&bios_settings("flow", items));
    bench.completes(&[
        "patch server:s1 Boost",
        "GracefulRestart s1",
        "patch server:s1 QuietBoot",
        "GracefulRestart s1",
    ]);
}

#[test]
fn our_own_pending_values_are_adopted_and_only_reset_for() {
    let mut bench = quiet();
    bench
        .model
        .host("s1")
        .pending
        .insert("QuietBoot".to_owned(), json!(false));
    bench.completes(&["GracefulRestart s1"]);
}

#[test]
fn pending_values_of_somebody_else_are_never_flushed() {
    let mut bench = quiet();
    let theirs = [("Turbo".to_owned(), json!(1))];
    bench
        .model
        .strangers
        .pending
        .insert(name("s1"), theirs.into());
    bench.holds("Turbo");
    assert!(bench.model.ledger.is_empty());
    bench.model.strangers.pending.clear();
    bench.until("awake", |bench| bench.phase() != RunPhase::Held);
    bench.completes(&WRITTEN);
}

#[test]
fn all_findings_of_a_stage_are_told_before_its_first_write() {
    let items = "[[stage.flow]]\nname = \"good\"\npriority = 1\nsettings = { QuietBoot = false }\n[[stage.flow]]\nname = \"bad\"\npriority = 2\nsettings = { Nonsense = 1, Boost = 7 }";
    let mut bench = Bench::one(&bios_settings("flow", items));
    bench.model.definitions = [
        ("QuietBoot".to_owned(), definition(AttributeType::Boolean)),
        ("Boost".to_owned(), definition(AttributeType::String)),
    ]
    .into();
    bench.fails("Nonsense");
    assert!(
        bench.status().reason.contains("Boost"),
        "{}",
        bench.status().reason
    );
    assert!(bench.model.ledger.is_empty());
}

#[test]
fn an_attribute_that_needs_no_reset_gets_none() {
    let mut bench = quiet();
    let quiet = AttributeDefinition {
        reset_required: Some(false),
        ..definition(AttributeType::Boolean)
    };
    bench.model.definitions = [("QuietBoot".to_owned(), quiet)].into();
    bench.until_sent("patch");
    let host = bench.model.host("s1");
    let pending = std::mem::take(&mut host.pending);
    host.attributes.extend(pending);
    bench.completes(&["patch server:s1 QuietBoot"]);
}

#[test]
fn values_that_are_shown_before_any_boot_still_get_their_reset() {
    let mut bench = quiet();
    bench.model.habits.shows_early = true;
    bench.completes(&WRITTEN);
}

#[test]
fn a_value_that_was_accepted_and_kept_is_a_failure_that_names_it() {
    let mut bench = quiet();
    bench.model.habits.silently_kept = ["QuietBoot".to_owned()].into();
    bench.fails(
        "settings were accepted and are not in effect: `QuietBoot` is true instead of false",
    );
    assert_eq!(bench.model.ledger, WRITTEN);
}

#[test]
fn a_value_that_stays_pending_is_a_failure_that_names_it() {
    let mut bench = quiet();
    bench.model.habits.stays_pending = ["QuietBoot".to_owned()].into();
    bench.fails("QuietBoot");
    assert_eq!(bench.model.ledger, WRITTEN);
}

#[test]
fn what_is_not_shown_is_neither_written_nor_believed() {
    let mut bench = quiet();
    bench.model.habits.shows_no_attributes = true;
    bench.holds("blocked: not observable");
    assert!(bench.model.ledger.is_empty());
    bench.model.habits.shows_no_attributes = false;
    bench.until("awake", |bench| bench.phase() != RunPhase::Held);
    bench.completes(&WRITTEN);
}

#[test]
fn a_guard_that_is_not_met_blocks_until_the_version_is_there() {
    let mut bench = Bench::one(&bios_settings(
        "quiet",
        "version = \"2.20\"\nsettings = { QuietBoot = false }",
    ));
    bench.holds("blocked:");
    assert!(bench.model.ledger.is_empty());
    bench.model.host("s1").bios = "2.20".to_owned();
    bench.until("awake", |bench| bench.phase() != RunPhase::Held);
    bench.completes(&WRITTEN);
}

#[test]
fn resources_are_patched_in_order_and_a_bmc_that_asks_for_it_is_reset_once_per_item() {
    let both = format!("{NTP}, {SSDP}");
    let mut bench = Bench::one(&bmc_resources("net", &[&both]));
    bench.model.habits.network_needs_reset = true;
    assert_eq!(bench.run(), RunPhase::Completed, "{}", bench.story());
    let kinds: Vec<_> = bench
        .model
        .ledger
        .iter()
        .map(|line| line.split(' ').next().unwrap())
        .collect();
    assert_eq!(kinds, ["patch", "patch", "GracefulRestart"]);
    assert!(bench.model.ledger[0].contains("NTP"));
    assert_eq!(
        bench.model.network,
        json!({ "NTP": { "ProtocolEnabled": true }, "SSDP": { "ProtocolEnabled": false } })
    );
}

#[test]
fn a_bmc_that_asks_for_no_reset_gets_none() {
    let mut bench = Bench::one(&bmc_resources("net", &[NTP, SSDP]));
    assert_eq!(bench.run(), RunPhase::Completed, "{}", bench.story());
    assert_eq!(bench.sent("patch"), 2);
    assert_eq!(bench.sent("GracefulRestart"), 0);
}

#[test]
fn a_bmc_stage_waits_for_every_server_to_leave_post() {
    let mut bench = Bench::of(&["s1", "s2"], &bmc_resources("net", &[NTP]));
    let long = std::time::Duration::from_mins(10);
    bench.model.host("s2").post_until = Some(crate::run::deadline::after(bench.model.now, long));
    bench.until_told("`s2` is in POST");
    assert!(bench.model.ledger.is_empty());
    assert_eq!(bench.run(), RunPhase::Completed, "{}", bench.story());
}
