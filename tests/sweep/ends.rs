//! What two ways through one story must have in common.

use std::collections::{BTreeMap, BTreeSet};

use mock_bmc::bmc::StateView;
use redpipe::daemon::history;
use redpipe::run::status::RunStatus;
use redpipe::store::Store;

use crate::support::world::World;

/// The end of a story, line by line: first runs and their stages with their phases, and what every BMC really is.
pub(crate) type End = BTreeSet<String>;

/// Where a story ended.
pub(crate) fn end_of(world: &World, store: &dyn Store) -> End {
    let mut lines = End::new();
    for (bmc, status) in first_runs(store) {
        lines.insert(phase_line(&bmc, &status));
        for stage in &status.stages {
            let name = &stage.name;
            let acted = stage.how.map(|how| how != "already-there");
            lines.insert(format!("{bmc} stage {name} {:?}", stage.phase));
            lines.insert(format!("{bmc} stage {name} did something: {acted:?}"));
        }
    }
    for name in world.bmcs.keys() {
        let state = world.bmc(name, |bmc| bmc.state());
        let told = really(state).into_iter();
        lines.extend(told.map(|line| format!("{name} {line}")));
    }
    lines
}

/// How the phase of a run stands in an end.
pub(crate) fn phase_line(bmc: &str, run: &RunStatus) -> String {
    format!("{bmc} {:?}", run.phase)
}

/// The first run on each BMC.
pub(crate) fn first_runs(store: &dyn Store) -> BTreeMap<String, RunStatus> {
    let mut first = BTreeMap::new();
    for run in history::runs(store).unwrap() {
        // By number, and the latest goes without one.
        first.entry(run.bmc.clone()).or_insert(run);
    }
    first
}

/// What a BMC really is, but for the names of sessions and tasks.
fn really(state: StateView) -> Vec<String> {
    let mut lines = vec![
        format!("version {:?}", state.bmc_version),
        format!("listens: {}", state.listening),
        format!("{} open tasks", state.open_tasks.len()),
    ];
    for (name, value) in state.bmc_attributes {
        lines.push(format!("{name} = {value}"));
    }
    for mut system in state.systems {
        let id = system.id.clone();
        for (name, value) in std::mem::take(&mut system.attributes) {
            lines.push(format!("system {id} {name} = {value}"));
        }
        lines.push(format!("{system:?}"));
    }
    lines
}

/// What one end has and another has not.
pub(crate) fn difference(usual: &End, end: &End) -> Vec<String> {
    let missing = usual.difference(end).map(|line| format!("- {line}"));
    let new = end.difference(usual).map(|line| format!("+ {line}"));
    missing.chain(new).collect()
}
