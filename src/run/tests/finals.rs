//! What an earlier stage reached is read once more at the end; what a later one undid is applied again, once.

use serde_json::json;

use super::bench::Bench;
use super::texts::{bios_hop, bios_settings, bmc_hop, name};
use crate::run::{Record, RunPhase};

fn quiet_then_hop(options: &str) -> Bench {
    let settings = bios_settings(
        "quiet",
        &format!("{options}\nsettings = {{ QuietBoot = false }}"),
    );
    let mut bench = Bench::one(&(settings + &bios_hop("2.20")));
    let resets = &mut bench.model.habits.flash_resets;
    resets.insert("QuietBoot".to_owned(), json!(true));
    bench
}

fn done_times(bench: &Bench, stage: &str) -> usize {
    let records = bench.journal.iter();
    records
        .filter(
            |(_, record)| matches!(record, Record::Done { at, .. } if at.stage.as_str() == stage),
        )
        .count()
}

#[test]
fn what_a_flash_undid_is_applied_again_once() {
    let mut bench = quiet_then_hop("");
    bench.completes(&[
        "patch server:s1 QuietBoot",
        "GracefulRestart s1",
        "update server:s1 to 2.20",
        "GracefulShutdown s1",
        "On s1",
        "patch server:s1 QuietBoot",
        "GracefulRestart s1",
    ]);
    assert_eq!(
        bench.model.hosts[&name("s1")].attributes["QuietBoot"],
        json!(false)
    );
    let names_the_hop = |record: &Record| matches!(record, Record::Reopened { after: Some(stage), .. } if stage.as_str() == "bios-2.20");
    assert!(bench.has(names_the_hop), "{}", bench.story());
}

#[test]
fn a_second_loss_is_a_failure_that_names_both_stages() {
    let mut bench = quiet_then_hop("");
    bench.until("done twice", |bench| done_times(bench, "quiet") == 2);
    bench
        .model
        .host("s1")
        .attributes
        .insert("QuietBoot".to_owned(), json!(true));
    bench.fails("what stage `quiet` had set was undone");
    assert_eq!(bench.sent("patch"), 2);
}

#[test]
fn a_process_that_dies_after_the_first_loss_still_fails_by_the_second() {
    let mut bench = quiet_then_hop("");
    bench.until("opened again", |bench| {
        bench.has(|r| matches!(r, Record::Reopened { .. }))
    });
    bench.restart();
    bench.until("done twice", |bench| done_times(bench, "quiet") == 2);
    bench.restart();
    bench
        .model
        .host("s1")
        .attributes
        .insert("QuietBoot".to_owned(), json!(true));
    bench.fails("is undone once more");
}

#[test]
fn what_is_transient_is_not_put_back() {
    let mut bench = quiet_then_hop("transient = true");
    assert_eq!(bench.run(), RunPhase::Completed, "{}", bench.story());
    assert_eq!(bench.sent("patch"), 1);
}

#[test]
fn a_key_that_a_later_stage_sets_again_is_that_stages_business() {
    let first = bios_settings("first", "settings = { QuietBoot = false }");
    let later = bios_settings("later", "settings = { QuietBoot = true }");
    let mut bench = Bench::one(&(first + &later));
    assert_eq!(bench.run(), RunPhase::Completed, "{}", bench.story());
    assert_eq!(
        bench.model.hosts[&name("s1")].attributes["QuietBoot"],
        json!(true)
    );
}

#[test]
fn a_version_that_fell_back_is_a_failure_and_is_not_flashed_again() {
    let quiet = bios_settings("quiet", "settings = { QuietBoot = false }");
    let mut bench = Bench::one(&(bmc_hop("1.60") + &quiet));
    bench.until("written", |bench| bench.sent("patch") == 1);
    bench.model.bmc = "1.50".to_owned();
    bench.fails("`1.60` was reached, and `1.50` runs now");
    assert_eq!(bench.sent("update"), 1);
}

#[test]
fn what_is_not_shown_at_the_end_is_told_and_is_no_failure() {
    let mut bench = quiet_then_hop("");
    bench.model.habits.flash_resets.clear();
    bench.until_sent("update");
    bench.model.habits.shows_no_attributes = true;
    assert_eq!(bench.run(), RunPhase::Completed, "{}", bench.story());
    let told = |record: &Record| matches!(record, Record::Notice { text, .. } if text.contains("not observable any more"));
    assert!(bench.has(told), "{}", bench.story());
}

#[test]
fn a_run_that_wrote_nothing_ends_by_its_first_look() {
    let mut bench = quiet_then_hop("");
    bench
        .model
        .host("s1")
        .attributes
        .insert("QuietBoot".to_owned(), json!(false));
    bench.model.host("s1").bios = "2.20".to_owned();
    bench.completes(&[]);
}
