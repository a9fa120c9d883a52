//! Tasks as evidence: who is at work, and what became of what we started.
//!
//! A state is read, never judged: the verdict on an update is a version.

use jiff::Timestamp;
use serde_json::Value;

use super::links::Links;
use super::reader::Reader;
use crate::model::action::TaskHandle;
use crate::model::look::{Followed, TaskView};
use crate::model::{BmcMessage, Fault};
use crate::redfish::line::{Answer, bmc_message};
use crate::redfish::wire::{at, key, last_segment, link, member, text, whole};

/// Reads all tasks of the task service, newest last.
pub(in crate::redfish) async fn read_tasks(
    reader: &mut Reader<'_>,
    found: &Links,
) -> Result<Vec<TaskView>, Fault> {
    let Some(collection) = found.tasks.clone() else {
        return Ok(Vec::new());
    };
    let members = reader.members(&collection, "task", "TaskState").await?;
    let mut tasks: Vec<TaskView> = members
        .iter()
        .map(|member| task_view(&member.uri, &member.doc))
        .collect();
    tasks.sort_by_key(age);
    Ok(tasks)
}

/// Asks what became of a handle: the Task first, its monitor only where there is no Task, because reading the monitor of
/// a finished task may take the task away.
pub(in crate::redfish) async fn follow(
    reader: &mut Reader<'_>,
    handle: &TaskHandle,
) -> Result<Followed, Fault> {
    let (uri, is_monitor) = match (&handle.task, &handle.monitor) {
        (Some(task), _) => (task.clone(), false),
        (None, Some(monitor)) => (monitor.clone(), true),
        (None, None) => return Ok(Followed::Gone),
    };
    if let Some(doc) = reader.seen(&uri).filter(|doc| is_task(doc)) {
        return Ok(tied(handle, task_view(&uri, &doc)));
    }
    let conversation = reader.conversation();
    let Some(path) = conversation.path_here(&uri) else {
        return Ok(Followed::Gone);
    };
    let answer = conversation.get_as_is(&path).await?;
    match read_follow(&uri, is_monitor, &answer)? {
        Followed::Task(view) => match transitioned_to(&view) {
            Some(job) => Ok(tied(handle, job_behind(reader, *view, &job).await?)),
            None => Ok(tied(handle, *view)),
        },
        other @ (Followed::Gone | Followed::Ended(_)) => Ok(other),
    }
}

/// One task as seen.
pub(in crate::redfish) fn task_view(uri: &str, doc: &Value) -> TaskView {
    let payload = member(doc, "Payload");
    TaskView {
        uri: text(doc, "@odata.id").unwrap_or_else(|| uri.to_owned()),
        monitor: link(doc, "TaskMonitor"),
        name: text(doc, "Name"),
        state: text(doc, "TaskState")
            .or_else(|| text(doc, "JobState").map(|state| as_task_state(&state))),
        status: text(doc, "TaskStatus").or_else(|| text(doc, "JobStatus")),
        percent: percent(doc),
        start_time: text(doc, "StartTime"),
        end_time: text(doc, "EndTime"),
        messages: messages(doc),
        payload_uri: payload.and_then(|payload| link(payload, "TargetUri")),
        payload_body: payload.and_then(|payload| body_text(member(payload, "JsonBody")?)),
    }
}

/// Whether a document is a Task or a Job, by what it holds.
pub(in crate::redfish) fn is_task(doc: &Value) -> bool {
    let typed = text(doc, "@odata.type")
        .is_some_and(|kind| kind.starts_with("#Task.") || kind.starts_with("#Job."));
    typed || member(doc, "TaskState").is_some() || member(doc, "JobState").is_some()
}

/// What an answer on a handle says. The body's state goes before the HTTP code: a finished body behind 202 is finished.
fn read_follow(uri: &str, is_monitor: bool, answer: &Answer) -> Result<Followed, Fault> {
    if is_task(&answer.json) {
        return Ok(Followed::Task(Box::new(task_view(uri, &answer.json))));
    }
    let unfinished = || {
        Followed::Task(Box::new(TaskView {
            uri: uri.to_owned(),
            messages: answer.messages.clone(),
            ..TaskView::default()
        }))
    };
    match answer.status {
        404 | 410 => Ok(Followed::Gone),
        202 => Ok(unfinished()),
        200..=299 if answer.not_json => Err(answer.fault("GET")),
        200..=299 if is_monitor => Ok(Followed::Ended(answer.messages.clone())),
        200..=299 if !answer.messages.is_empty() => Ok(Followed::Ended(answer.messages.clone())),
        // The monitor of a finished task answers as the operation itself would have (DSP0266, "Asynchronous operations").
        400 | 409 | 412 | 422 if is_monitor => Ok(Followed::Task(Box::new(TaskView {
            uri: uri.to_owned(),
            state: Some("Exception".to_owned()),
            status: Some("Critical".to_owned()),
            messages: answer.messages.clone(),
            ..TaskView::default()
        }))),
        _ => Err(answer.fault("GET")),
    }
}

/// The same task only with the same start: ids are used again.
fn tied(handle: &TaskHandle, view: TaskView) -> Followed {
    match (&handle.start_time, &view.start_time) {
        (Some(ours), Some(theirs)) if ours != theirs => Followed::Gone,
        _ => Followed::Task(Box::new(view)),
    }
}

/// The job that a task turned into (message `OperationTransitionedToJob` of the Update or Job registry).
fn transitioned_to(view: &TaskView) -> Option<String> {
    let message = view
        .messages
        .iter()
        .find(|message| message.key() == Some("OperationTransitionedToJob"))?;
    message
        .args
        .iter()
        .find(|arg| arg.starts_with('/'))
        .cloned()
}

async fn job_behind(reader: &mut Reader<'_>, view: TaskView, job: &str) -> Result<TaskView, Fault> {
    let Some(doc) = reader.read_if_well(job, "job").await? else {
        return Ok(view);
    };
    let behind = task_view(job, &doc);
    let mut messages = view.messages;
    messages.extend(behind.messages);
    Ok(TaskView {
        state: behind.state,
        status: behind.status,
        percent: behind.percent,
        end_time: behind.end_time,
        messages,
        ..view
    })
}

/// JobState in the words of TaskState (DSP0268, Job and Task): the same but for failures.
fn as_task_state(job_state: &str) -> String {
    match job_state {
        "Failed" | "CompletedWithErrors" | "RebootFailed" => "Exception",
        "CompletedWithWarnings" | "RebootCompleted" => "Completed",
        other => other,
    }
    .to_owned()
}

fn messages(doc: &Value) -> Vec<BmcMessage> {
    match member(doc, "Messages") {
        Some(Value::Array(items)) => items
            .iter()
            .filter(|item| !item.is_null())
            .map(bmc_message)
            .collect(),
        _ => Vec::new(),
    }
}

fn percent(doc: &Value) -> Option<u8> {
    let percent = whole(doc, "PercentComplete")?;
    u8::try_from(percent.clamp(0, 100)).ok()
}

fn body_text(body: &Value) -> Option<String> {
    match body {
        Value::String(text) => Some(text.clone()),
        Value::Null => None,
        Value::Object(_) | Value::Array(_) | Value::Bool(_) | Value::Number(_) => {
            Some(body.to_string())
        }
    }
}

/// Oldest first: by start, by number; one without a start is taken for the newest.
fn age(task: &TaskView) -> (bool, Option<Timestamp>, u64, String) {
    let start: Option<Timestamp> = task
        .start_time
        .as_deref()
        .and_then(|text| text.parse().ok());
    let id = last_segment(&task.uri);
    let digits: String = id.chars().filter(char::is_ascii_digit).collect();
    (
        start.is_none(),
        start,
        digits.parse().unwrap_or(u64::MAX),
        task.uri.clone(),
    )
}

/// Whether a payload's target is a resource or something below it.
pub(super) fn names_uri(text: Option<&str>, uri: &str) -> bool {
    let wanted = key(uri);
    text.map(key).is_some_and(|named| {
        named
            .strip_prefix(&wanted)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

/// `Payload.TargetUri` of any document.
pub(super) fn payload_target(doc: &Value) -> Option<String> {
    at(doc, &["Payload"]).and_then(|payload| link(payload, "TargetUri"))
}

#[cfg(test)]
#[path = "tasks_tests.rs"]
mod tests;
