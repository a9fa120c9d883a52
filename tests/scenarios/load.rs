//! Files that are refused before any BMC is contacted.

use redpipe::pipeline::{Severity, Source};

use super::common::{bios_hop, bmc_hop, pipeline};
use super::support::world::World;

/// Everything that is wrong with a pipeline, one finding per line.
fn findings(world: &World, text: &str) -> Vec<String> {
    let inventory = [Source::new("inventory.toml", world.inventory())];
    let refused = redpipe::pipeline::load(&inventory, &[Source::new("p.toml", text)]);
    let diagnostics = refused.expect_err("the pipeline is refused");
    let errors = diagnostics.findings.into_iter();
    errors
        .filter(|finding| finding.severity == Severity::Error)
        .map(|finding| finding.message)
        .collect()
}

/// A stage of this kind with nothing but its name.
fn bare(kind: &str) -> String {
    pipeline(&[format!("\n[[stage]]\nname = \"bare\"\nkind = \"{kind}\"\n")])
}

/// Asserts that a bare stage is refused by its name, and that each thing that it lacks is named.
#[track_caller]
fn refused(kind: &str, missing: &[&str]) {
    let world = World::one(1, "");
    let found = findings(&world, &bare(kind));
    assert!(!found.is_empty());
    for message in &found {
        assert!(message.contains("`bare`"), "names the stage: {message}");
    }
    let all = found.join("\n");
    for word in missing {
        assert!(all.contains(word), "names {word}: {all}");
    }
    assert!(world.ledger("mock-1").is_empty());
}

/// Scenario 8.
#[tokio::test(start_paused = true)]
async fn a_bmc_version_without_version_and_image_is_refused() {
    refused("bmc-version", &["`version`", "`image`"]);
}

/// Scenario 8.
#[tokio::test(start_paused = true)]
async fn a_bios_version_without_version_and_image_is_refused() {
    refused("bios-version", &["`version`", "`image`"]);
}

/// Scenario 8.
#[tokio::test(start_paused = true)]
async fn bmc_settings_without_settings_or_flow_are_refused() {
    refused("bmc-settings", &["`settings`", "[[stage.flow]]"]);
}

/// Scenario 8.
#[tokio::test(start_paused = true)]
async fn bios_settings_without_settings_or_flow_are_refused() {
    refused("bios-settings", &["`settings`", "[[stage.flow]]"]);
}

/// Scenario 14.
#[tokio::test(start_paused = true)]
async fn two_stages_with_one_name_are_refused() {
    let world = World::one(1, "");
    let twin = bios_hop(&world, "2.20").replace("bios-2.20", "bmc-1.60");
    let found = findings(&world, &pipeline(&[bmc_hop(&world, "1.60"), twin]));
    assert!(
        found.len() == 1 && found.iter().all(|message| message.contains("`bmc-1.60`")),
        "{found:#?}"
    );
}
