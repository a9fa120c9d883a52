//! Settings of a BMC that cannot be read back, and those whose answer asks for a reset.

use std::fs;
use std::path::Path;

use crate::claims::{BMC, assert_completed, journal, pipeline, stage_text};
use crate::support::world::World;

const ATTRIBUTES: &str = "PATCH /redfish/v1/Managers/BMC/Oem/MockBmc/Attributes 200";

fn password(value: &str) -> String {
    let body = format!("settings = {{ OperatorPassword = \"{value}\" }}");
    pipeline(&stage_text("operator", "bmc-settings", &body))
}

/// Whether a text stands anywhere in the files of a folder, as bytes.
fn holds(folder: &Path, text: &str) -> bool {
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if fs::read(&path)
                .unwrap()
                .windows(text.len())
                .any(|bytes| bytes == text.as_bytes())
            {
                return true;
            }
        }
    }
    false
}

/// Scenario 46: written once, not again while the author says the same, and again when he says something else. What is
/// kept of it is a salted hash: no file of the state and no record holds the value.
#[tokio::test(start_paused = true)]
async fn a_write_only_value_is_written_once_and_again_when_it_changes() {
    let world = World::one(1, "");

    let first = world.apply(&[&password("swordfish")]).await;
    assert_completed(&first, "operator", "applied");
    assert_eq!(world.writes(BMC), [ATTRIBUTES]);

    for _ in 0..2 {
        let again = world.apply(&[&password("swordfish")]).await;
        assert_completed(&again, "operator", "already-there");
    }
    assert_eq!(world.writes(BMC), [ATTRIBUTES], "the same value again");

    let other = world.apply(&[&password("marlinspike")]).await;
    assert_completed(&other, "operator", "applied");
    assert_eq!(world.writes(BMC), [ATTRIBUTES; 2]);

    // The state is in this folder, and names what was written.
    assert!(holds(world.folder.path(), "OperatorPassword"));
    let records = format!("{:?}", journal(&world));
    for value in ["swordfish", "marlinspike"] {
        assert!(!records.contains(value), "a record holds the value");
        assert!(!holds(world.folder.path(), value), "a file holds the value");
    }
}

/// Scenario 48: two answers of one flow item ask for a reset, and exactly one follows, after both writes.
#[tokio::test(start_paused = true)]
async fn answers_that_ask_for_a_reset_lead_to_one_after_all_writes_of_the_item() {
    let world = World::one(1, "[bmc_settings]\nneeds_reset = [\"*/NetworkProtocol\"]");
    let body = "
  [[stage.flow]]
  name = \"ports\"
  resources = [
    { uri = \"{manager}/NetworkProtocol\", set = { SNMP = { Port = 1161 } } },
    { uri = \"{manager}/NetworkProtocol\", set = { IPMI = { Port = 1623 } } },
  ]";

    let report = world
        .apply(&[&pipeline(&stage_text("plain", "bmc-settings", body))])
        .await;

    assert_completed(&report, "plain", "applied");
    let protocol = "PATCH /redfish/v1/Managers/BMC/NetworkProtocol 200";
    let writes = world.writes(BMC);
    assert_eq!(writes[..2], [protocol, protocol]);
    assert_eq!(writes.len(), 3, "{writes:?}");
    assert_eq!(
        world.caused(BMC, "reset "),
        ["reset /redfish/v1/Managers/BMC GracefulRestart"]
    );
}
