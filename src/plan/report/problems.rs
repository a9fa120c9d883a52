//! What is worth telling beside the steps, and at them: somebody at work, the wrong box, an unusual order.

use std::collections::{BTreeMap, BTreeSet};

use super::shape::PlanProblem;
use crate::model::inventory::Expect;
use crate::model::look::{SystemView, TaskView};
use crate::model::{Look, ServerName, StageName, Target};
use crate::plan::conflict::keys;
use crate::plan::spec::{RunSpec, ServerSpec, StageSpec};

/// Everything about this run and this BMC that a person should know before the first step.
pub fn problems(spec: &RunSpec, look: &Look) -> Vec<PlanProblem> {
    let told = look
        .problems
        .iter()
        .map(|problem| (problem.kind.clone(), problem.message.clone()));
    let mut found: Vec<(String, String)> = told.collect();
    let mut tell = |kind: &str, message: String| found.push((kind.to_owned(), message));
    for (server, message) in wrong_boxes(spec, look) {
        tell("wrong-box", format!("server `{server}`: {message}"));
    }
    for server in spec
        .servers
        .iter()
        .filter(|server| !look.systems.contains_key(&server.name))
    {
        tell(
            "system-missing",
            format!("the BMC does not show the system of `{}` now", server.name),
        );
    }
    for (server, names) in pending_of_others(spec, look) {
        tell(
            "settings-pending",
            format!(
                "settings wait on `{server}` that are not this run's: {}",
                names.join(", ")
            ),
        );
    }
    found.extend(at_work(look));
    let problem = |(kind, message)| PlanProblem {
        bmc: spec.bmc.clone(),
        kind,
        message,
    };
    found.into_iter().map(problem).collect()
}

/// Who is at work on this BMC, and what is staged: kind and words of each.
pub(super) fn at_work(look: &Look) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut tell = |kind: &str, message: String| found.push((kind.to_owned(), message));
    for task in look.tasks.iter().filter(|task| !task.is_finished()) {
        tell("task-active", task_described(task));
    }
    for job in &look.jobs {
        let name = job.name.as_deref().unwrap_or("without a name");
        let state = job.state.as_deref().unwrap_or("unknown");
        tell(
            "job-open",
            format!("job `{}` ({name}) is not finished: {state}", job.uri),
        );
    }
    for software in look.software.iter().filter(|software| software.staged) {
        let version = software.version.as_deref().unwrap_or("unknown");
        tell(
            "image-staged",
            format!(
                "an image with version `{version}` is staged at `{}`",
                software.uri
            ),
        );
    }
    found
}

/// Servers whose system is not the one that the inventory expects, with what differs.
pub fn wrong_boxes(spec: &RunSpec, look: &Look) -> BTreeMap<ServerName, String> {
    let wrong = |server: &ServerSpec| {
        let system = look.systems.get(&server.name)?;
        Some((server.name.clone(), differing_fact(&server.expect, system)?))
    };
    spec.servers.iter().filter_map(wrong).collect()
}

/// What of a system is not as the inventory expects.
pub(super) fn differing_fact(expect: &Expect, system: &SystemView) -> Option<String> {
    let facts = [
        ("serial", &expect.serial, &system.serial),
        ("model", &expect.model, &system.model),
    ];
    facts.iter().find_map(|(name, expected, found)| {
        let expected = expected.as_deref()?;
        let found = found.as_deref().map_or("", str::trim);
        (found != expected.trim()).then(|| {
            let found = if found.is_empty() {
                "none".to_owned()
            } else {
                format!("`{found}`")
            };
            format!("wrong box: {name} `{expected}` is expected, and the system shows {found}")
        })
    })
}

/// Attributes that wait for a reset of a system and that no stage sets there.
fn pending_of_others(spec: &RunSpec, look: &Look) -> Vec<(ServerName, Vec<String>)> {
    let wanted = |server: &ServerName| -> BTreeSet<String> {
        let target = Target::Server(server.clone());
        let settings = spec
            .stages
            .iter()
            .filter_map(|stage| stage.kind.settings(&target));
        settings.flat_map(keys).map(|(key, _)| key).collect()
    };
    let others = look.systems.iter().map(|(server, system)| {
        let wanted = wanted(server);
        let names = system
            .pending
            .iter()
            .filter(|name| !wanted.contains(*name))
            .map(|name| format!("`{name}`"));
        (server.clone(), names.collect::<Vec<_>>())
    });
    others.filter(|(_, names)| !names.is_empty()).collect()
}

fn task_described(task: &TaskView) -> String {
    let name = task.name.as_deref().unwrap_or("without a name");
    let state = task.state.as_deref().unwrap_or("unknown");
    let percent = task
        .percent
        .map(|percent| format!(", {percent} %"))
        .unwrap_or_default();
    format!(
        "task `{}` ({name}) is not finished: {state}{percent}",
        task.uri
    )
}

/// The order is the author's; these are the orders that field reports regret, by the hop that is better not made yet.
pub(super) fn unusual_order(spec: &RunSpec) -> BTreeMap<StageName, Vec<String>> {
    let mut found: BTreeMap<StageName, Vec<String>> = BTreeMap::new();
    let mut note = |hop: &StageSpec, text: String| {
        found.entry(hop.name.clone()).or_default().push(text);
    };
    for (index, stage) in spec.stages.iter().enumerate() {
        let mut later = spec.stages.iter().skip(index + 1);
        if stage.kind.is_version() && !stage.kind.is_bmc() {
            if let Some(bmc) = later.find(|later| later.kind.is_version() && later.kind.is_bmc()) {
                let text = format!("unusual order: BIOS hop `{}` stands before it", stage.name);
                note(bmc, text);
            }
        } else if !stage.kind.is_version()
            && !stage.transient
            && let Some((hop, after)) = next_hop_of_component(spec, index, stage)
            && is_left_behind(stage, after)
        {
            let text = format!(
                "unusual order: it may reset settings `{}`, and no later stage sets them again",
                stage.name
            );
            note(hop, text);
        }
    }
    found
}

fn next_hop_of_component<'a>(
    spec: &'a RunSpec,
    index: usize,
    stage: &StageSpec,
) -> Option<(&'a StageSpec, &'a [StageSpec])> {
    let rest = spec.stages.get(index + 1..)?;
    let position = rest
        .iter()
        .position(|hop| hop.kind.is_version() && hop.kind.is_bmc() == stage.kind.is_bmc())?;
    Some((rest.get(position)?, rest.get(position + 1..)?))
}

/// Whether something that the stage sets is set by none of the stages behind the hop.
fn is_left_behind(stage: &StageSpec, after: &[StageSpec]) -> bool {
    let all_keys = |stage: &StageSpec| -> BTreeSet<String> {
        let settings = stage
            .kind
            .targets()
            .into_iter()
            .filter_map(|target| stage.kind.settings(target));
        settings.flat_map(keys).map(|(key, _)| key).collect()
    };
    let set_again: BTreeSet<String> = after
        .iter()
        .filter(|later| later.kind.is_bmc() == stage.kind.is_bmc())
        .flat_map(all_keys)
        .collect();
    all_keys(stage).iter().any(|key| !set_again.contains(key))
}
