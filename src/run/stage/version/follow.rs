//! Following an accepted update: what its task says is evidence, never the verdict.

use std::time::Duration;

use crate::model::look::{Followed, SoftwareView, TaskView};
use crate::model::{BmcMessage, IntentId, Outcome, TaskHandle};
use crate::run::deadline::{STALL_TIMEOUT, after};
use crate::run::foreign::{is_job_of, is_task_of, may_be_staged_for, tie};
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
    if pass.in_step(place) >= patience {
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
        Some((handle_of(task), why))
    })
}

/// Where a task that a look shows can be followed.
pub(super) fn handle_of(task: &TaskView) -> TaskHandle {
    TaskHandle {
        task: Some(task.uri.clone()),
        monitor: task.monitor.clone(),
        start_time: task.start_time.clone(),
    }
}

/// A tied task beside the one whose handle answers no more: jobs and tasks of one update hand over to each other.
pub(super) fn another(
    pass: &Pass<'_>,
    place: &Place,
    id: &IntentId,
) -> Option<(TaskHandle, String)> {
    let (task, why) = tied(pass, place, id)?;
    let known = pass.work(place).task.as_ref()?.handle.as_ref();
    known
        .is_none_or(|known| known.task != task.task)
        .then_some((task, why))
}

/// No progress, or no end: a person looks; nothing is reset.
pub(super) fn progress(pass: &mut Pass<'_>, place: &Place, timeout: Duration) {
    let work = pass.work(place);
    let Some(track) = &work.task else { return };
    let Some(act) = work.update() else { return };
    let state = track.seen.state.as_deref().unwrap_or("accepted").to_owned();
    let percent = track
        .seen
        .percent
        .map(|percent| format!(" at {percent} %"))
        .unwrap_or_default();
    let (stalls, ends) = (
        after(track.changed_at, STALL_TIMEOUT),
        after(act.at, timeout),
    );
    if pass.now >= stalls {
        let since = track.changed_at.strftime("%H:%M:%S UTC").to_string();
        return pass.hold(
            place,
            format!("no progress since {since}: the update task is {state}{percent}; it may be flashing, so nothing is reset"),
        );
    }
    if pass.now >= ends {
        let reason = format!(
            "the update task has had {} min and is still {state}{percent}; it may be flashing, so nothing is reset",
            timeout.as_secs() / 60
        );
        return pass.hold(place, reason);
    }
    pass.wait(
        place,
        format!("the update task is {state}"),
        Some(stalls.min(ends)),
    );
}

/// Images that the inventory shows as staged for a place.
pub(super) fn staged_for<'p>(pass: &Pass<'p>, place: &Place) -> Vec<&'p SoftwareView> {
    pass.look
        .software
        .iter()
        .filter(|software| software.staged && may_be_staged_for(pass.look, software, &place.target))
        .collect()
}

/// What of a hop's updates is still on the BMC.
pub(super) struct Left {
    /// By name: task, job, staged image.
    pub(super) what: String,
    /// Its URI, where it is ours by its handle and has not begun, so that it may be deleted.
    pub(super) uri: Option<String>,
}

/// What of a hop's updates is still on the BMC.
pub(super) fn left_behind(pass: &Pass<'_>, place: &Place) -> Option<Left> {
    let work = pass.work(place);
    let followed = work.task.as_ref().and_then(|track| track.handle.as_ref());
    let answered = work.acts.iter().filter_map(|act| match &act.outcome {
        Some(Outcome::Accepted { task, .. }) => task.as_ref(),
        Some(Outcome::NotSent { .. } | Outcome::Refused { .. } | Outcome::Lost { .. }) | None => {
            None
        }
    });
    let handles: Vec<&TaskHandle> = followed.into_iter().chain(answered).collect();
    let word = |text: &Option<String>| text.clone().unwrap_or_else(|| "(no word)".to_owned());
    let is_ours = |task: &TaskView| handles.iter().any(|handle| is_task_of(handle, task));
    let task = pass.look.tasks.iter().find(|task| {
        let is_tied = work.acts.iter().any(|act| tie(task, &act.intent).is_some());
        !task.is_finished() && (is_tied || is_ours(task))
    });
    if let Some(task) = task {
        return Some(Left {
            what: format!("task {} is {}", task.uri, word(&task.state)),
            uri: (is_ours(task) && has_not_begun(task.state.as_ref())).then(|| task.uri.clone()),
        });
    }
    let job = pass
        .look
        .jobs
        .iter()
        .find(|job| handles.iter().any(|handle| is_job_of(handle, job)));
    if let Some(job) = job {
        return Some(Left {
            what: format!("job {} is {}", job.uri, word(&job.state)),
            uri: has_not_begun(job.state.as_ref()).then(|| job.uri.clone()),
        });
    }
    staged_for(pass, place).first().map(|software| Left {
        what: format!(
            "{} holds `{}` for the next boot",
            software.uri,
            software.version.as_deref().unwrap_or("an image")
        ),
        uri: None,
    })
}

/// Whether a task or job waits for something: whatever runs may be flashing, and is never deleted.
fn has_not_begun(state: Option<&String>) -> bool {
    const WAITING: [&str; 5] = [
        "New",
        "Pending",
        "Suspended",
        "Scheduled",
        "UserIntervention",
    ];
    state.is_some_and(|state| WAITING.contains(&state.as_str()))
}
