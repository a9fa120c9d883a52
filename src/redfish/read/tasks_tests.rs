use http::HeaderMap;
use serde_json::json;

use super::*;

fn answer(status: u16, json: Value) -> Answer {
    Answer {
        digest: 0,
        path: "/t/1".to_owned(),
        status,
        headers: HeaderMap::new(),
        messages: crate::redfish::line::bmc_messages(&json),
        json,
        not_json: false,
        etag: None,
        location: None,
        retry_after: None,
    }
}

fn followed(is_monitor: bool, status: u16, json: Value) -> Followed {
    read_follow("/t/1", is_monitor, &answer(status, json)).expect("a verdict")
}

#[test]
fn a_missing_task_is_gone_and_a_sick_bmc_says_nothing_of_it() {
    assert_eq!(followed(false, 404, Value::Null), Followed::Gone);
    assert_eq!(followed(true, 410, Value::Null), Followed::Gone);
    assert!(read_follow("/t/1", false, &answer(500, Value::Null)).is_err());
}

#[test]
fn a_finished_body_behind_202_is_finished() {
    let Followed::Task(view) = followed(
        false,
        202,
        json!({"TaskState": "Completed", "TaskStatus": "OK"}),
    ) else {
        panic!("not a task");
    };
    assert!(view.is_finished());
}

#[test]
fn a_bare_202_is_not_finished() {
    let Followed::Task(view) = followed(true, 202, Value::Null) else {
        panic!("not a task");
    };
    assert!(!view.is_finished());
}

#[test]
fn a_monitor_that_answers_like_the_operation_has_ended() {
    assert_eq!(
        followed(true, 204, Value::Null),
        Followed::Ended(Vec::new())
    );
    let body = json!({"error": {"@Message.ExtendedInfo": [{"MessageId": "Update.1.0.VerificationFailed"}]}});
    let Followed::Task(view) = followed(true, 400, body) else {
        panic!("not a task");
    };
    assert_eq!(view.state.as_deref(), Some("Exception"));
    assert_eq!(view.messages[0].key(), Some("VerificationFailed"));
}

#[test]
fn another_start_time_is_another_task() {
    let handle = TaskHandle {
        task: Some("/t/1".to_owned()),
        monitor: None,
        start_time: Some("2026-01-01T00:00:00Z".to_owned()),
    };
    let view = |start: Option<&str>| TaskView {
        start_time: start.map(str::to_owned),
        ..TaskView::default()
    };
    assert_eq!(
        tied(&handle, view(Some("2026-01-02T00:00:00Z"))),
        Followed::Gone
    );
    assert!(matches!(
        tied(&handle, view(Some("2026-01-01T00:00:00Z"))),
        Followed::Task(_)
    ));
    assert!(matches!(tied(&handle, view(None)), Followed::Task(_)));
}

#[test]
fn all_messages_payload_and_odd_percents_are_kept() {
    let view = task_view(
        "/t/1",
        &json!({"TaskState": "Downloading...", "PercentComplete": "140", "Messages": [{"MessageId": "A.1.B"}, null, "text"],
            "Payload": {"TargetUri": "/u", "JsonBody": {"ImageURI": "http://x"}}}),
    );
    assert_eq!(view.percent, Some(100));
    assert_eq!(view.messages.len(), 2);
    assert_eq!(
        view.payload_body.as_deref(),
        Some(r#"{"ImageURI":"http://x"}"#)
    );
    assert!(!view.is_finished(), "an unknown word is not an end");
}

#[test]
fn newest_tasks_come_last() {
    let view = |uri: &str, start: Option<&str>| TaskView {
        uri: uri.to_owned(),
        start_time: start.map(str::to_owned),
        ..TaskView::default()
    };
    let mut tasks = [
        view("/t/10", None),
        view("/t/9", None),
        view("/t/2", Some("2026-01-02T00:00:00Z")),
        view("/t/3", Some("2026-01-01T00:00:00Z")),
    ];
    tasks.sort_by_key(age);
    let uris: Vec<&str> = tasks.iter().map(|task| task.uri.as_str()).collect();
    assert_eq!(uris, ["/t/3", "/t/2", "/t/9", "/t/10"]);
}
