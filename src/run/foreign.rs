//! The look before every update and every reset: is anybody else at work on this BMC?

use super::record::{Intent, Place};
use super::state::{RunState, WorkStatus};
use crate::model::look::{JobView, SoftwareView, SystemView, TaskView};
use crate::model::{Look, Outcome, ServerName, Target};

/// What is on the BMC that is not this run's, in words that name it; `None` = nothing.
pub(super) fn foreign_work(state: &RunState, look: &Look) -> Option<String> {
    foreign_task(state, look)
        .map(|task| {
            format!(
                "task {} `{}` is {}",
                task.uri,
                task.name.as_deref().unwrap_or("?"),
                word(task.state.as_ref())
            )
        })
        .or_else(|| {
            foreign_job(state, look).map(|job| {
                format!(
                    "job {} `{}` is {}",
                    job.uri,
                    job.name.as_deref().unwrap_or("?"),
                    word(job.state.as_ref())
                )
            })
        })
        .or_else(|| {
            foreign_staged(state, look).map(|software| {
                format!(
                    "staged component: {} holds {}",
                    software.uri,
                    word(software.version.as_ref())
                )
            })
        })
        .or_else(|| foreign_pending(state, look))
}

fn word(text: Option<&String>) -> &str {
    text.map_or("(no word)", String::as_str)
}

/// An unfinished task that none of our intents started.
pub(super) fn foreign_task<'a>(state: &RunState, look: &'a Look) -> Option<&'a TaskView> {
    look.tasks
        .iter()
        .find(|task| !task.is_finished() && !is_our_task(state, task))
}

fn is_our_task(state: &RunState, task: &TaskView) -> bool {
    state.works.values().any(|work| {
        let followed = work.task.as_ref().and_then(|track| track.handle.as_ref());
        let answered = work.acts.iter().filter_map(|act| match &act.outcome {
            Some(Outcome::Accepted { task, .. }) => task.as_ref(),
            Some(Outcome::NotSent { .. } | Outcome::Refused { .. } | Outcome::Lost { .. })
            | None => None,
        });
        followed.into_iter().chain(answered).any(|handle| {
            let same_task = handle.task.as_deref() == Some(task.uri.as_str());
            let same_monitor = handle.monitor.is_some() && handle.monitor == task.monitor;
            let same_start = handle.start_time.is_none() || handle.start_time == task.start_time;
            (same_task || same_monitor) && same_start
        })
    })
}

fn foreign_job<'a>(state: &RunState, look: &'a Look) -> Option<&'a JobView> {
    look.jobs.iter().find(|job| {
        let ours = state.works.values().any(|work| {
            work.acts.iter().any(|act| match &act.outcome {
                Some(Outcome::Accepted {
                    task: Some(handle), ..
                }) => [&handle.task, &handle.monitor]
                    .into_iter()
                    .flatten()
                    .any(|uri| last(uri) == last(&job.uri)),
                Some(_) | None => false,
            })
        });
        !ours
    })
}

fn last(uri: &str) -> &str {
    uri.trim_end_matches('/').rsplit('/').next().unwrap_or(uri)
}

fn foreign_staged<'a>(state: &RunState, look: &'a Look) -> Option<&'a SoftwareView> {
    let ours = state.works.values().any(super::state::Work::is_flashing);
    look.software
        .iter()
        .find(|software| software.staged && !ours)
}

fn foreign_pending(state: &RunState, look: &Look) -> Option<String> {
    let named = look
        .systems
        .iter()
        .map(|(name, system)| (Some(name), system));
    let others = look.other_systems.iter().map(|system| (None, system));
    named.chain(others).find_map(|(name, system)| {
        let foreign = unknown_pending(state, name, system);
        (!foreign.is_empty()).then(|| {
            let who = name.map_or_else(|| system.uri.clone(), ToString::to_string);
            format!(
                "settings of somebody else are pending on `{who}`: {}",
                foreign.join(", ")
            )
        })
    })
}

fn unknown_pending(
    state: &RunState,
    name: Option<&ServerName>,
    system: &SystemView,
) -> Vec<String> {
    let ours = name
        .map(|name| our_names(state, &Target::Server(name.clone())))
        .unwrap_or_default();
    system
        .pending
        .iter()
        .filter(|pending| !ours.contains(pending))
        .cloned()
        .collect()
}

/// Attributes that an active settings stage of ours wrote on a target.
pub(super) fn our_names<'a>(state: &'a RunState, target: &Target) -> Vec<&'a String> {
    state
        .works
        .iter()
        .filter(|(place, work)| place.target == *target && work.status == WorkStatus::Active)
        .flat_map(|(_, work)| &work.acts)
        .filter_map(|act| match &act.intent {
            Intent::Attributes { names, .. } => Some(names),
            Intent::Update { .. }
            | Intent::ResetSystem { .. }
            | Intent::ResetManager { .. }
            | Intent::Resource { .. } => None,
        })
        .flatten()
        .collect()
}

/// A system that boots, by name, of all systems behind the BMC.
pub(super) fn system_in_post(look: &Look) -> Option<String> {
    let named = look
        .systems
        .iter()
        .map(|(name, system)| (name.to_string(), system));
    let others = look
        .other_systems
        .iter()
        .map(|system| (system.uri.clone(), system));
    named
        .chain(others)
        .find(|(_, system)| system.in_post == Some(true))
        .map(|(name, _)| name)
}

/// What ties a task to an update intent: its payload names our image or our target. A start time that stood there
/// before the intent, or no payload at all, ties nothing.
pub(super) fn tie(task: &TaskView, intent: &Intent) -> Option<String> {
    let Intent::Update {
        image,
        targets,
        known_tasks,
        ..
    } = intent
    else {
        return None;
    };
    if known_tasks.contains(&known(task)) {
        return None;
    }
    let body = task.payload_body.as_deref()?;
    let unescaped = body.replace("\\/", "/");
    let shown = image.rsplit('@').next().unwrap_or(image);
    if unescaped.contains(shown) {
        return Some(format!("its payload names the image `{image}`"));
    }
    let named = |target: &&String| unescaped.contains(&format!("\"{target}\""));
    targets
        .iter()
        .find(named)
        .map(|target| format!("its payload names the target `{target}`"))
}

/// How a task that stood there before is remembered.
pub(super) fn known(task: &TaskView) -> String {
    format!("{}@{}", task.uri, task.start_time.as_deref().unwrap_or(""))
}

/// Where a place's system stands.
pub(super) fn system<'a>(look: &'a Look, place: &Place) -> Option<&'a SystemView> {
    place
        .target
        .server()
        .and_then(|server| look.systems.get(server))
}
