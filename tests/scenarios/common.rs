//! Pipelines and short looks that many scenarios share.

#![allow(dead_code, reason = "modules of scenarios come and go")]
#![allow(
    clippy::allow_attributes,
    reason = "an expectation would be unmet where all is used"
)]

use redpipe::daemon::ApplyReport;
use redpipe::run::RunPhase;
use redpipe::run::status::{RunStatus, StageStatus};

use super::support::world::{World, status};

/// The name of every pipeline here.
pub(crate) const PIPELINE: &str = "p";

/// A pipeline for all servers; `stages` are `[[stage]]` tables.
pub(crate) fn pipeline(stages: &[String]) -> String {
    named(PIPELINE, "", stages)
}

/// A pipeline with more tables (`[rollout]`…) before its stages.
pub(crate) fn named(name: &str, more: &str, stages: &[String]) -> String {
    let stages = stages.concat();
    format!("name = \"{name}\"\n[selector]\nmatch_labels = {{}}\n{more}\n{stages}")
}

/// A BMC hop named `bmc-VERSION`, pushed from a file.
pub(crate) fn bmc_hop(world: &World, version: &str) -> String {
    hop("bmc", version, &world.image("bmc", version), "")
}

/// A BIOS hop named `bios-VERSION`, pushed from a file.
pub(crate) fn bios_hop(world: &World, version: &str) -> String {
    hop("bios", version, &world.image("bios", version), "")
}

/// A hop of any image; `more` are further lines of the stage.
pub(crate) fn hop(component: &str, version: &str, image: &str, more: &str) -> String {
    format!(
        "\n[[stage]]\nname = \"{component}-{version}\"\nkind = \"{component}-version\"\nversion = \"{version}\"\nimage = {image}\n{more}\n"
    )
}

/// A stage of BIOS or BMC attributes: `kind` is `bios` or `bmc`, `settings` the members of a TOML table.
pub(crate) fn settings(name: &str, kind: &str, settings: &str) -> String {
    format!(
        "\n[[stage]]\nname = \"{name}\"\nkind = \"{kind}-settings\"\nsettings = {{ {settings} }}\n"
    )
}

/// The status of the run of [`PIPELINE`] on `mock-1`.
pub(crate) fn first(report: &ApplyReport) -> &RunStatus {
    status(report, PIPELINE, "mock-1")
}

/// One stage of a run.
pub(crate) fn stage<'a>(run: &'a RunStatus, name: &str) -> &'a StageStatus {
    run.stages
        .iter()
        .find(|stage| stage.name == name)
        .unwrap_or_else(|| panic!("no stage {name} in {run:?}"))
}

/// Phases and ways of a run's stages, in order: `NAME PHASE HOW`.
pub(crate) fn stages(run: &RunStatus) -> Vec<String> {
    let words = run.stages.iter().map(|stage| {
        let how = stage.how.unwrap_or("-");
        format!("{} {} {how}", stage.name, stage.phase.as_str())
    });
    words.collect()
}

/// Asserts that the run of `mock-1` is completed; its status and the BMC's writes are in the message otherwise.
#[track_caller]
pub(crate) fn completed<'a>(world: &World, report: &'a ApplyReport) -> &'a RunStatus {
    let run = first(report);
    let writes = world.writes("mock-1");
    assert_eq!(run.phase, RunPhase::Completed, "{run:#?}\n{writes:#?}");
    run
}
