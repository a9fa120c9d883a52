//! Values that are put together from what stands elsewhere.

use redpipe::daemon::RunEnd;

use crate::claims::{BMC, assert_completed, bmc_attribute, pipeline, stage_text};
use crate::common::PIPELINE;
use crate::support::world::{World, end};

/// A BMC with a label, and a folder with files.
fn world() -> World {
    let mut world = World::one(1, "");
    let labels = "labels = { site = \"fra\" }".to_owned();
    world.extra.insert(BMC.to_owned(), labels);
    std::fs::write(world.folder.path().join("ntp"), "192.0.2.7\n").unwrap();
    world
}

/// Scenario 40: values of a file, of labels, of the BMC's name and of its own facts, alone and put together, are written
/// as they are then.
#[tokio::test(start_paused = true)]
async fn what_is_written_is_what_variables_stand_for() {
    let world = world();
    let file = world.folder.path().join("ntp");
    let body = format!(
        "settings = {{ NtpServer1 = \"${{file.{}}}\", NtpServer2 = \"ntp.${{label.site}}.lab\", SyslogServer = \"${{bmc.name}}-${{label.redfish.bmc_version}}.${{label.site}}.lab\" }}",
        file.display()
    );

    let report = world
        .apply(&[&pipeline(&stage_text("time", "bmc-settings", &body))])
        .await;

    assert_completed(&report, "time", "applied");
    let wanted = [
        ("NtpServer1", "192.0.2.7"),
        ("NtpServer2", "ntp.fra.lab"),
        ("SyslogServer", "mock-1-1.50.fra.lab"),
    ];
    for (name, value) in wanted {
        assert_eq!(bmc_attribute(&world, name), value, "{name}");
    }
}

/// Scenario 40: a variable that stands for nothing is told, and nothing of its stage is written, nor of any other.
#[tokio::test(start_paused = true)]
async fn a_variable_that_stands_for_nothing_stops_the_run_before_any_write() {
    let world = world();
    let stages = stage_text("first", "bmc-settings", "settings = { SyslogPort = 515 }")
        + &stage_text(
            "second",
            "bmc-settings",
            "settings = { NtpServer1 = \"ntp.${label.nowhere}.lab\" }",
        );

    let report = world.apply(&[&pipeline(&stages)]).await;

    let kept = end(&report, PIPELINE, BMC);
    assert!(
        matches!(kept, RunEnd::NotStarted(fault) if fault.to_string().contains("label.nowhere")),
        "{kept:?}"
    );
    assert_eq!(world.writes(BMC), [""; 0]);
}
