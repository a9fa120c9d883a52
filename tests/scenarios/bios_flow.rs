//! Flow items of BIOS settings: their order, and what one makes possible for the next.

use redpipe::pipeline::{self, Source};

use crate::claims::{
    BMC, assert_completed, assert_failed, bios_attribute, pipeline, stage_text, told,
};
use crate::support::world::World;

fn item(name: &str, priority: u32, wanted: &str) -> String {
    format!(
        "  [[stage.flow]]\n  name = \"{name}\"\n  priority = {priority}\n  settings = {{ {wanted} }}\n"
    )
}

fn flow(items: &[String]) -> String {
    pipeline(&stage_text("bios", "bios-settings", &items.concat()))
}

fn accepted(names: &str) -> String {
    format!("settings accepted /redfish/v1/Systems/1/Bios/Settings {names}")
}

/// Scenario 103.
#[tokio::test(start_paused = true)]
async fn items_are_applied_by_priority_and_each_is_in_effect_before_the_next_is_written() {
    let world = World::one(1, "");
    let items = [
        item("third", 30, "AssetNote = \"x\""),
        item("first", 1, "QuietBoot = false"),
        item("second", 2, "PostLedEnabled = false"),
        item("as-third", 30, "SriovEnabled = true"),
    ];

    let report = world.apply(&[&flow(&items)]).await;

    assert_completed(&report, "bios", "applied");
    let wanted = [
        accepted("QuietBoot"),
        "settings 1 applied QuietBoot".to_owned(),
        "post 1 ends".to_owned(),
        accepted("PostLedEnabled"),
        accepted("AssetNote"),
        "settings 1 applied AssetNote".to_owned(),
        "post 1 ends".to_owned(),
        accepted("SriovEnabled"),
        "settings 1 applied SriovEnabled".to_owned(),
        "post 1 ends".to_owned(),
    ];
    let told: Vec<String> = told(&world, &["settings ", "post 1 ends"])
        .into_iter()
        .filter(|line| line != "settings 1 applied PostLedEnabled")
        .collect();
    assert_eq!(told, wanted);
}

/// Scenario 103: an item that cannot be brought into effect ends the stage before the next is written.
#[tokio::test(start_paused = true)]
async fn no_item_is_written_after_one_that_is_not_in_effect() {
    let world = World::one(1, "[bios_settings]\nsilently_kept = [\"QuietBoot\"]");
    let items = [
        item("a", 1, "QuietBoot = false"),
        item("b", 2, "SriovEnabled = true"),
    ];

    let report = world.apply(&[&flow(&items)]).await;

    assert_failed(&report, "bios", &["`QuietBoot`"]);
    assert_eq!(
        told(&world, &["settings accepted"]),
        [accepted("QuietBoot")]
    );
    assert_eq!(bios_attribute(&world, "SriovEnabled"), false);
}

/// Scenario 105.
#[test]
fn an_item_name_or_a_key_that_stands_twice_is_rejected_at_load() {
    let inventory = [Source::new("inventory.toml", World::one(1, "").inventory())];
    let load = |items: &[String]| {
        let sources = [Source::new("pipeline.toml", flow(items))];
        match pipeline::load(&inventory, &sources) {
            Ok(_) => panic!("was accepted"),
            Err(findings) => findings.to_string(),
        }
    };

    let names = load(&[
        item("same", 1, "QuietBoot = false"),
        item("same", 2, "SriovEnabled = true"),
    ]);
    assert!(names.contains("same"), "{names}");

    let keys = load(&[
        item("a", 1, "QuietBoot = false"),
        item("b", 2, "QuietBoot = true"),
    ]);
    assert!(keys.contains("QuietBoot"), "{keys}");

    let both = load(&[
        item("same", 1, "QuietBoot = false"),
        item("same", 2, "QuietBoot = true"),
    ]);
    assert!(
        both.contains("same") && both.contains("QuietBoot"),
        "{both}"
    );
}

/// Scenario 109.
#[tokio::test(start_paused = true)]
async fn an_attribute_that_another_one_unlocks_passes_by_the_order_of_the_flow() {
    let world = World::one(1, "");
    let items = [
        item("regulator", 2, "PowerRegulator = \"StaticHigh\""),
        item("profile", 1, "WorkloadProfile = \"Custom\""),
    ];

    let report = world.apply(&[&flow(&items)]).await;

    assert_completed(&report, "bios", "applied");
    assert_eq!(bios_attribute(&world, "PowerRegulator"), "StaticHigh");
    assert_eq!(
        told(&world, &["settings accepted"]),
        [accepted("WorkloadProfile"), accepted("PowerRegulator")]
    );
    assert_eq!(told(&world, &["settings refused"]), [""; 0]);
}

/// Scenario 109, in the wrong order or in one item: told before anything is written, with what helps.
#[tokio::test(start_paused = true)]
async fn an_attribute_that_nothing_has_unlocked_yet_is_an_error_before_any_write() {
    let wrong_order = [
        item("regulator", 1, "PowerRegulator = \"StaticHigh\""),
        item("profile", 2, "WorkloadProfile = \"Custom\""),
    ];
    let together = [item(
        "both",
        1,
        "PowerRegulator = \"StaticHigh\", WorkloadProfile = \"Custom\"",
    )];
    for items in [&wrong_order[..], &together[..]] {
        let world = World::one(1, "");

        let report = world.apply(&[&flow(items)]).await;

        assert_failed(
            &report,
            "bios",
            &["`PowerRegulator` is read-only while `WorkloadProfile` is not `Custom`"],
        );
        assert_eq!(world.writes(BMC), [""; 0]);
    }
}
