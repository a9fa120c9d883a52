//! The look before every update and every reset: is anybody else at work on this BMC?

use std::collections::BTreeSet;

use super::pass::Pass;
use super::record::{Intent, Place};
use super::state::{Act, RunState, WorkStatus};
use crate::model::look::{JobView, SoftwareView, SystemView, TaskView};
use crate::model::{Look, Outcome, ServerName, Target, TaskHandle};

/// What is on the BMC that is not this run's, in words that name it; `None` = nothing.
pub(super) fn foreign_work(pass: &Pass<'_>) -> Option<String> {
    foreign_update(pass).or_else(|| foreign_pending(pass))
}

/// The part of it that may be an update under way.
pub(super) fn foreign_update(pass: &Pass<'_>) -> Option<String> {
    let (state, look) = (&pass.state, pass.look);
    let task = foreign_task(state, look).map(|task| {
        format!(
            "task {} is {}",
            called(&task.uri, task.name.as_ref()),
            word(task.state.as_ref())
        )
    });
    let job = || {
        foreign_job(state, look).map(|job| {
            format!(
                "job {} is {}",
                called(&job.uri, job.name.as_ref()),
                word(job.state.as_ref())
            )
        })
    };
    let staged = || {
        foreign_staged(state, look).map(|software| {
            format!(
                "staged component: {} holds {}",
                software.uri,
                word(software.version.as_ref())
            )
        })
    };
    task.or_else(job).or_else(staged)
}

fn called(uri: &str, name: Option<&String>) -> String {
    name.map_or_else(|| uri.to_owned(), |name| format!("{uri} `{name}`"))
}

fn word(text: Option<&String>) -> &str {
    text.map_or("(no word)", String::as_str)
}

/// An unfinished task that none of our intents started.
fn foreign_task<'a>(state: &RunState, look: &'a Look) -> Option<&'a TaskView> {
    look.tasks
        .iter()
        .find(|task| !task.is_finished() && !is_our_task(state, task))
}

/// Handles of everything that we started or found to be ours.
fn our_handles(state: &RunState) -> impl Iterator<Item = &TaskHandle> {
    state.works.values().flat_map(|work| {
        let followed = work.task.as_ref().and_then(|track| track.handle.as_ref());
        let answered = work.acts.iter().filter_map(|act| match &act.outcome {
            Some(Outcome::Accepted { task, .. }) => task.as_ref(),
            Some(Outcome::NotSent { .. } | Outcome::Refused { .. } | Outcome::Lost { .. })
            | None => None,
        });
        followed.into_iter().chain(answered)
    })
}

fn is_our_task(state: &RunState, task: &TaskView) -> bool {
    our_handles(state).any(|handle| is_task_of(handle, task))
}

/// Whether a handle leads to a task: same URI or monitor, and not a later task that got the same one.
pub(super) fn is_task_of(handle: &TaskHandle, task: &TaskView) -> bool {
    let same_task = handle.task.as_deref() == Some(task.uri.as_str());
    let same_monitor = handle.monitor.is_some() && handle.monitor == task.monitor;
    let same_start = handle.start_time.is_none() || handle.start_time == task.start_time;
    (same_task || same_monitor) && same_start
}

fn foreign_job<'a>(state: &RunState, look: &'a Look) -> Option<&'a JobView> {
    look.jobs.iter().find(|job| {
        !our_handles(state).any(|handle| is_job_of(handle, job)) && !applies_our_write(state, job)
    })
}

/// Whether a job came with a write of ours whose answer was lost: it was not there before, and applies what waits where
/// we wrote. What else waits there is looked for beside it.
fn applies_our_write(state: &RunState, job: &JobView) -> bool {
    let is_of = |act: &Act| {
        let Intent::Attributes {
            uris, known_jobs, ..
        } = &act.intent
        else {
            return false;
        };
        let goes_there = |uri: &String| {
            job.about.as_deref().is_some_and(|about| {
                about
                    .trim_end_matches('/')
                    .eq_ignore_ascii_case(uri.trim_end_matches('/'))
            })
        };
        let lost = matches!(act.outcome, Some(Outcome::Lost { .. }));
        lost && !known_jobs.contains(&job.uri) && uris.iter().any(goes_there)
    };
    let active = state
        .works
        .values()
        .filter(|work| work.status == WorkStatus::Active);
    active.flat_map(|work| &work.acts).any(is_of)
}

/// Whether a handle leads to a job: job and task of one thing share their last segment.
pub(super) fn is_job_of(handle: &TaskHandle, job: &JobView) -> bool {
    [&handle.task, &handle.monitor]
        .into_iter()
        .flatten()
        .any(|uri| last(uri) == last(&job.uri))
}

fn last(uri: &str) -> &str {
    uri.trim_end_matches('/').rsplit('/').next().unwrap_or(uri)
}

fn foreign_staged<'a>(state: &RunState, look: &'a Look) -> Option<&'a SoftwareView> {
    look.software.iter().find(|software| {
        let is_ours = |(place, work): (&Place, &super::state::Work)| {
            work.is_flashing() && may_be_staged_for(look, software, &place.target)
        };
        software.staged && !state.works.iter().any(is_ours)
    })
}

/// Whether a staged image may be meant for a target: it is related to it, or to nothing that is not it.
pub(super) fn may_be_staged_for(look: &Look, software: &SoftwareView, target: &Target) -> bool {
    let named = look
        .systems
        .iter()
        .map(|(name, system)| (Some(name), system));
    let others = look.other_systems.iter().map(|system| (None, system));
    let mut of_some_system = false;
    for (name, system) in named.chain(others) {
        if relates_to_system(software, system) {
            if name.is_some() && name == target.server() {
                return true;
            }
            of_some_system = true;
        }
    }
    let of_a_manager = look
        .managers
        .iter()
        .any(|manager| relates(software, &manager.uri));
    !of_some_system && (!of_a_manager || *target == Target::Bmc)
}

fn relates_to_system(software: &SoftwareView, system: &SystemView) -> bool {
    relates(software, &system.uri)
        || system
            .bios_uri
            .as_deref()
            .is_some_and(|bios| relates(software, bios))
}

fn relates(software: &SoftwareView, uri: &str) -> bool {
    software
        .related
        .iter()
        .any(|related| related.eq_ignore_ascii_case(uri))
}

fn foreign_pending(pass: &Pass<'_>) -> Option<String> {
    let named = pass
        .look
        .systems
        .iter()
        .map(|(name, system)| (Some(name), system));
    let others = pass.look.other_systems.iter().map(|system| (None, system));
    named.chain(others).find_map(|(name, system)| {
        let foreign = unknown_pending(pass, name, system);
        (!foreign.is_empty()).then(|| {
            let who = name.map_or_else(|| system.uri.clone(), ToString::to_string);
            format!(
                "settings of somebody else are pending on `{who}`: {}",
                foreign.join(", ")
            )
        })
    })
}

fn unknown_pending(pass: &Pass<'_>, name: Option<&ServerName>, system: &SystemView) -> Vec<String> {
    let ours: BTreeSet<&String> = name.map_or_else(BTreeSet::new, |name| {
        let target = Target::Server(name.clone());
        let adopted = pass.adopted.get(&target).into_iter().flatten();
        our_names(&pass.state, &target)
            .into_iter()
            .chain(adopted)
            .collect()
    });
    system
        .pending
        .iter()
        .filter(|pending| !ours.contains(pending))
        .cloned()
        .collect()
}

/// Attributes that an active settings stage of ours wrote on a target.
fn our_names<'a>(state: &'a RunState, target: &Target) -> Vec<&'a String> {
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
            | Intent::Withdraw { .. }
            | Intent::Resource { .. }
            | Intent::Call { .. } => None,
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
        served,
        ..
    } = intent
    else {
        return None;
    };
    if !is_new(task, intent) {
        return None;
    }
    let body = task.payload_body.as_deref()?;
    let unescaped = body.replace("\\/", "/");
    if served.as_ref().is_some_and(|path| unescaped.contains(path)) {
        return Some("its payload names the path from which we serve the image".to_owned());
    }
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

/// Whether a task was not there when an update was decided.
pub(super) fn is_new(task: &TaskView, intent: &Intent) -> bool {
    match intent {
        Intent::Update { known_tasks, .. } => !known_tasks.contains(&known(task)),
        Intent::ResetSystem { .. }
        | Intent::ResetManager { .. }
        | Intent::Withdraw { .. }
        | Intent::Attributes { .. }
        | Intent::Resource { .. }
        | Intent::Call { .. } => false,
    }
}

/// A task that came after an update was decided and is not known to be ours, be it over or not.
pub(super) fn unexplained_task<'a>(pass: &Pass<'a>, intent: &Intent) -> Option<&'a TaskView> {
    unexplained(pass, intent).next()
}

/// That task, where it is the only one and is not over.
pub(super) fn only_task_since<'a>(pass: &Pass<'a>, intent: &Intent) -> Option<&'a TaskView> {
    let mut unexplained = unexplained(pass, intent);
    let only = unexplained.next().filter(|task| !task.is_finished())?;
    unexplained.next().is_none().then_some(only)
}

fn unexplained<'a>(pass: &Pass<'a>, intent: &Intent) -> impl Iterator<Item = &'a TaskView> {
    pass.look
        .tasks
        .iter()
        .filter(|task| is_new(task, intent) && !is_our_task(&pass.state, task))
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
