//! Following an accepted update: what its task says is evidence, never the verdict.

use std::time::Duration;

use crate::model::look::{Followed, SystemView, TaskView};
use crate::model::{BmcMessage, IntentId, Look, Outcome, TaskHandle};
use crate::run::deadline::{STALL_TIMEOUT, after, elapsed};
use crate::run::foreign::tie;
use crate::run::pass::Pass;
use crate::run::record::{Place, Record, TaskFate, TaskSeen};
use crate::run::state::Work;

/// Message keys by which a task says that it waits for a reset.
const RESET_KEYS: [&str; 9] = [
    "AwaitToActivate",
    "ResetRequired",
    "SystemResetRequired",
    "ResetRecommended",
    "RebootRequired",
    "JCP001",
    "RED014",
    "OnResetRequired",
    "Paused",
];

/// Task states that, next to such a message, mean "waiting for a reset".
const WAITING_STATES: [&str; 6] = [
    "Pending",
    "Stopping",
    "Suspended",
    "UserIntervention",
    "Interrupted",
    "Starting",
];

/// Takes up what the handle of a place answered in this look.
pub(super) fn note_task(pass: &mut Pass<'_>, place: &Place) {
    let work = pass.work(place);
    let Some(track) = &work.task else { return };
    let Some(handle) = &track.handle else { return };
    let Some(index) = pass.request.tasks.iter().position(|asked| asked == handle) else {
        return;
    };
    let Some(followed) = pass.look.followed.get(index) else {
        return;
    };
    let Some(id) = work.update().map(|act| act.id.clone()) else {
        return;
    };
    let seen = match followed {
        Followed::Task(view) => seen(view),
        Followed::Gone => TaskSeen {
            fate: TaskFate::Gone,
            ..track.seen.clone()
        },
        Followed::Ended(messages) => TaskSeen {
            fate: TaskFate::Good,
            messages: messages.clone(),
            ..track.seen.clone()
        },
    };
    if seen != track.seen {
        pass.record(Record::Task {
            at: place.clone(),
            id,
            seen,
        });
    }
}

fn seen(view: &TaskView) -> TaskSeen {
    let fate = match (view.is_finished(), view.looks_good()) {
        (true, true) => TaskFate::Good,
        (true, false) => TaskFate::Bad,
        (false, _) if awaits_reset(view) => TaskFate::AwaitsReset,
        (false, _) => TaskFate::Running,
    };
    TaskSeen {
        state: view.state.clone(),
        status: view.status.clone(),
        percent: view.percent,
        uri: Some(view.uri.clone()),
        start_time: view.start_time.clone(),
        fate,
        messages: if fate == TaskFate::Running {
            Vec::new()
        } else {
            view.messages.clone()
        },
    }
}

fn awaits_reset(view: &TaskView) -> bool {
    let waiting = view
        .state
        .as_deref()
        .is_some_and(|state| WAITING_STATES.contains(&state));
    waiting && asks(&view.messages)
}

fn asks(messages: &[BmcMessage]) -> bool {
    messages
        .iter()
        .filter_map(BmcMessage::key)
        .any(|key| RESET_KEYS.contains(&key))
}

/// Whether the task's messages, or the answer that accepted the update, ask for a reset.
pub(super) fn asks_for_reset(work: &Work) -> bool {
    let answer = work.update().is_some_and(|act| {
        matches!(
            &act.outcome,
            Some(Outcome::Accepted {
                reset_required: true,
                ..
            })
        )
    });
    answer
        || work
            .task
            .as_ref()
            .is_some_and(|track| asks(&track.seen.messages))
}

/// What is recorded when the version shows that the update is over and no handle says so.
pub(super) fn ended_unseen() -> TaskSeen {
    TaskSeen {
        fate: TaskFate::Gone,
        ..TaskSeen::default()
    }
}

/// Accepted without a receipt: a tied task is looked for, and time decides if there is none.
pub(super) fn search(pass: &mut Pass<'_>, place: &Place, id: &IntentId) {
    if !pass.request.work {
        return;
    }
    if let Some((task, why)) = tied(pass, place, id) {
        return pass.record(Record::Adopted {
            at: place.clone(),
            id: id.clone(),
            task,
            tie: why,
        });
    }
    let patience = pass.spec.pace.settle_for.saturating_mul(2);
    if pass.in_step(place) > patience {
        return pass.record(Record::Task {
            at: place.clone(),
            id: id.clone(),
            seen: ended_unseen(),
        });
    }
    let until = pass.step_until(place, patience);
    pass.wait(
        place,
        "accepted without a task; looking for one",
        Some(until),
    );
}

/// The task that our intent is tied to, if this look shows one.
pub(super) fn tied(pass: &Pass<'_>, place: &Place, id: &IntentId) -> Option<(TaskHandle, String)> {
    let intent = &pass.work(place).act(id)?.intent;
    pass.look.tasks.iter().rev().find_map(|task| {
        let why = tie(task, intent)?;
        let handle = TaskHandle {
            task: Some(task.uri.clone()),
            monitor: task.monitor.clone(),
            start_time: task.start_time.clone(),
        };
        Some((handle, why))
    })
}

/// No progress, or no end: a person looks; nothing is reset.
pub(super) fn stalled(pass: &mut Pass<'_>, place: &Place, timeout: Duration) {
    let work = pass.work(place);
    let Some(track) = &work.task else { return };
    let Some(act) = work.update() else { return };
    let stalled = elapsed(track.changed_at, pass.now) > STALL_TIMEOUT;
    let late = elapsed(act.at, pass.now) > timeout;
    let state = track.seen.state.as_deref().unwrap_or("accepted").to_owned();
    let percent = track
        .seen
        .percent
        .map(|percent| format!(" at {percent} %"))
        .unwrap_or_default();
    if stalled || late {
        let since = track.changed_at.strftime("%H:%M:%S UTC").to_string();
        return pass.hold(
            place,
            format!("no progress since {since}: the task is {state}{percent}; nothing is reset"),
        );
    }
    let until = after(act.at, timeout);
    pass.wait(place, format!("the update task is {state}"), Some(until));
}

/// Whether the update was accepted without any handle at all.
pub(super) fn handleless(work: &Work, id: &IntentId) -> bool {
    matches!(
        work.act(id).and_then(|act| act.outcome.as_ref()),
        Some(Outcome::Accepted { task: None, .. })
    )
}

/// The version that the inventory shows as staged for a system.
pub(super) fn staged_version<'a>(look: &'a Look, system: &SystemView) -> Option<&'a str> {
    look.software
        .iter()
        .filter(|software| software.staged)
        .find(|software| {
            software.related.is_empty()
                || software
                    .related
                    .iter()
                    .any(|uri| *uri == system.uri || Some(uri) == system.bios_uri.as_ref())
        })
        .and_then(|software| software.version.as_deref())
}

/// What of ours is still on the BMC, by name.
pub(super) fn left_behind(pass: &Pass<'_>) -> Option<String> {
    let staged = pass.look.software.iter().find(|software| software.staged);
    staged.map(|software| {
        format!(
            "{} still holds `{}` for the next boot",
            software.uri,
            software.version.as_deref().unwrap_or("an image")
        )
    })
}
