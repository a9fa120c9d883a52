//! Where an accepted request can be followed, as far as its answer says.
//!
//! No handle is an outcome of its own; none is ever made up.

use crate::model::TaskHandle;
use crate::redfish::line::Answer;
use crate::redfish::read::is_task;
use crate::redfish::wire::{link, member, text};

/// The handles of an answer: a Task in the body, `Location`, `TaskMonitor`, a link to a task, or a message's argument.
pub(super) fn task_handle(answer: &Answer) -> Option<TaskHandle> {
    let body = &answer.json;
    let mut handle = TaskHandle::default();
    if is_task(body) {
        handle.task = text(body, "@odata.id").filter(|uri| uri.starts_with('/'));
        handle.start_time = text(body, "StartTime");
    } else if let Some(task) = member(body, "Task").and_then(|_| link(body, "Task")) {
        handle.task = Some(task);
    } else if let Some(uri) = text(body, "@odata.id").filter(|uri| names_task(uri)) {
        handle.task = Some(uri);
    }
    handle.monitor = link(body, "TaskMonitor").or_else(|| text(body, "TaskMonitor"));
    // Only a 202 promises a monitor there; another status may name whatever it created.
    let location = answer
        .location
        .as_ref()
        .filter(|uri| answer.status == 202 || names_task(uri) || names_monitor(uri));
    if let Some(location) = location {
        take_location(&mut handle, location);
    }
    if handle.task.is_none() && handle.monitor.is_none() {
        let named = answer
            .messages
            .iter()
            .flat_map(|message| &message.args)
            .find(|arg| arg.starts_with('/') && (names_task(arg) || names_monitor(arg)));
        if let Some(uri) = named {
            take_location(&mut handle, uri);
        }
    }
    (handle.task.is_some() || handle.monitor.is_some()).then_some(handle)
}

/// `Location` of a 202 is the monitor by the standard (DSP0266, "Asynchronous operations"); several services send the
/// Task or a job there instead, which its path tells.
fn take_location(handle: &mut TaskHandle, location: &str) {
    let is_known = |known: &Option<String>| known.as_deref() == Some(location);
    if is_known(&handle.task) || is_known(&handle.monitor) {
        return;
    }
    if names_task(location) {
        handle.task.get_or_insert_with(|| location.to_owned());
    } else {
        handle.monitor.get_or_insert_with(|| location.to_owned());
    }
}

fn names_monitor(uri: &str) -> bool {
    uri.to_ascii_lowercase().contains("monitor")
}

fn names_task(uri: &str) -> bool {
    let uri = uri.to_ascii_lowercase();
    (uri.contains("/tasks/") || uri.contains("/jobs/")) && !uri.contains("monitor")
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;
    use serde_json::{Value, json};

    use super::*;

    fn handle(location: Option<&str>, json: Value) -> Option<TaskHandle> {
        task_handle(&Answer {
            digest: 0,
            path: "/u".to_owned(),
            status: 202,
            headers: HeaderMap::new(),
            messages: crate::redfish::line::bmc_messages(&json),
            json,
            not_json: false,
            etag: None,
            location: location.map(str::to_owned),
            retry_after: None,
        })
    }

    fn uris(handle: Option<TaskHandle>) -> (Option<String>, Option<String>) {
        handle.map_or((None, None), |handle| (handle.task, handle.monitor))
    }

    #[test]
    fn no_handle_is_no_handle() {
        assert_eq!(handle(None, Value::Null), None);
        assert_eq!(
            handle(
                None,
                json!({"@Message.ExtendedInfo": [{"MessageId": "Base.1.4.Success", "MessageArgs": ["/redfish/v1/UpdateService"]}]})
            ),
            None
        );
    }

    #[test]
    fn location_alone_is_a_monitor_unless_its_path_is_a_tasks() {
        assert_eq!(
            uris(handle(
                Some("/redfish/v1/TaskService/TaskMonitors/3"),
                Value::Null
            ))
            .1
            .as_deref(),
            Some("/redfish/v1/TaskService/TaskMonitors/3")
        );
        assert_eq!(
            uris(handle(
                Some("/redfish/v1/TaskService/Tasks/3/Monitor"),
                Value::Null
            ))
            .0,
            None
        );
        assert_eq!(
            uris(handle(
                Some("/redfish/v1/TaskService/Tasks/JID_1"),
                Value::Null
            ))
            .0
            .as_deref(),
            Some("/redfish/v1/TaskService/Tasks/JID_1")
        );
    }

    #[test]
    fn a_task_body_and_a_location_are_both_kept() {
        let body = json!({"@odata.type": "#Task.v1_7_0.Task", "@odata.id": "/redfish/v1/TaskService/Tasks/3", "StartTime": "2026-01-01T00:00:00Z"});
        let found = handle(Some("/redfish/v1/TaskService/TaskMonitors/3"), body).expect("a handle");
        assert_eq!(
            found.task.as_deref(),
            Some("/redfish/v1/TaskService/Tasks/3")
        );
        assert_eq!(
            found.monitor.as_deref(),
            Some("/redfish/v1/TaskService/TaskMonitors/3")
        );
        assert_eq!(found.start_time.as_deref(), Some("2026-01-01T00:00:00Z"));
    }

    #[test]
    fn task_links_and_message_arguments_lead_to_a_task() {
        assert_eq!(
            uris(handle(None, json!({"Task": {"@odata.id": "/t/Tasks/1"}})))
                .0
                .as_deref(),
            Some("/t/Tasks/1")
        );
        assert_eq!(
            uris(handle(
                None,
                json!({"TaskMonitor": "/redfish/v1/TaskService/TaskMonitors/1"})
            ))
            .1
            .as_deref(),
            Some("/redfish/v1/TaskService/TaskMonitors/1")
        );
        let accepted = json!({"Accepted": {"@Message.ExtendedInfo": [{"MessageArgs": ["/redfish/v1/TaskService/Tasks/1"]}]}});
        assert_eq!(
            uris(handle(None, accepted)).0.as_deref(),
            Some("/redfish/v1/TaskService/Tasks/1")
        );
    }
}
