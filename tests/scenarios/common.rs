//! Pipelines and short looks that many scenarios share.

use redpipe::daemon::ApplyReport;
use redpipe::model::{BmcName, PipelineName};
use redpipe::run::RunPhase;
use redpipe::run::status::{RunStatus, StageStatus};

use super::support::world::{Rows, World, status};

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

/// The status of the run of [`PIPELINE`] on a BMC as watchers see it, once it has one.
pub(crate) fn row(rows: &Rows, bmc: &str) -> Option<RunStatus> {
    let key = (PipelineName::from(PIPELINE), BmcName::from(bmc));
    rows.get(&key)?.status.clone()
}

/// What happened on a BMC, in order, as far as it begins with one of `what`: what requests caused, and what changed.
/// What the BMC numbers (targets and tasks of updates) is cut off.
pub(crate) fn words(world: &World, bmc: &str, what: &[&str]) -> Vec<String> {
    let lines = world.ledger(bmc).into_iter();
    lines
        .flat_map(|line| line.caused.into_iter().chain(line.detail))
        .filter(|phrase| what.iter().any(|begin| phrase.starts_with(begin)))
        .map(|phrase| match phrase.split_once(" target ") {
            Some((before, _)) => before.to_owned(),
            None => phrase,
        })
        .collect()
}

/// The systems (their ids, in order) that accepted updates name as their target; a target that is no system's is whole.
pub(crate) fn targets(world: &World, bmc: &str) -> Vec<String> {
    let updates = world.caused(bmc, "update accepted").into_iter();
    updates
        .map(|phrase| {
            let target = phrase.split(" target ").nth(1).unwrap_or_default();
            let uri = target.split(' ').next().unwrap_or_default();
            let system = uri
                .strip_prefix("/redfish/v1/Systems/")
                .map(|rest| rest.split('/').next().unwrap_or_default());
            let inventory = uri.strip_prefix("/redfish/v1/UpdateService/FirmwareInventory/BIOS_");
            system.or(inventory).unwrap_or(uri).to_owned()
        })
        .collect()
}
