//! What leaves for each action, and what its answer is taken for.

use std::collections::BTreeMap;
use std::path::PathBuf;

use http::Method;
use http::header::IF_MATCH;
use redpipe::model::action::{AttributePatch, ImageSource, UpdateAction};
use redpipe::model::{Action, FaultKind, LookRequest, Outcome, Target, UpdateMethod};
use redpipe::redfish::Client;
use serde_json::{Value, json};

use crate::fake::{Answer, Fake, client, look, service, state};

fn update(uri: &str) -> Action {
    Action::Update(UpdateAction {
        target: Target::Bmc,
        image: ImageSource::Uri(uri.to_owned()),
        method: UpdateMethod::SimpleUpdate,
        targets: Vec::new(),
        apply_time: None,
        keep: None,
    })
}

fn refusal(key: &str) -> Value {
    json!({"error": {"@Message.ExtendedInfo": [{"MessageId": format!("Base.1.8.{key}"), "Message": "no", "MessageSeverity": "Critical"}]}})
}

async fn ready(fake: &std::sync::Arc<Fake>) -> Client {
    let talks = client(fake, &[]);
    look(&talks, &state()).await;
    fake.take();
    talks
}

fn writes(fake: &Fake) -> Vec<String> {
    let lines = fake.take_lines();
    lines
        .into_iter()
        .filter(|line| !line.starts_with("GET "))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn an_update_that_this_bmc_cannot_take_is_never_sent() {
    let fake = service();
    let talks = ready(&fake).await;
    let Outcome::NotSent { fault } = talks.act(&update("nfs://x/image")).await else {
        panic!("sent");
    };
    assert_eq!(fault.kind, FaultKind::Unsupported);
    assert!(writes(&fake).is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_update_is_one_request_without_if_match() {
    let fake = service();
    let talks = ready(&fake).await;
    fake.once(
        &Method::POST,
        "/redfish/v1/U/simple",
        Answer::Located(202, "/redfish/v1/T/Tasks/JID_1"),
    );
    let Outcome::Accepted { task, .. } = talks.act(&update("http://x/image")).await else {
        panic!("not accepted");
    };
    assert_eq!(
        task.unwrap().task.as_deref(),
        Some("/redfish/v1/T/Tasks/JID_1")
    );
    let asked = fake.take();
    let posts: Vec<_> = asked
        .iter()
        .filter(|asked| asked.method == Method::POST)
        .collect();
    assert_eq!(posts.len(), 1);
    assert!(!posts[0].headers.contains_key(IF_MATCH));
    assert_eq!(
        posts[0].body,
        json!({"ImageURI": "http://x/image", "TransferProtocol": "HTTP"})
    );
}

#[tokio::test(start_paused = true)]
async fn an_update_is_never_sent_twice_whatever_comes_back() {
    let answers = [
        (Answer::Cut, "lost"),
        (Answer::Json(503, Value::Null), "lost"),
        (Answer::Json(500, refusal("InternalError")), "lost"),
        (
            Answer::Json(503, refusal("ServiceTemporarilyUnavailable")),
            "later",
        ),
        (
            Answer::Json(400, refusal("ActionParameterValueError")),
            "refused",
        ),
        (Answer::Json(412, refusal("PreconditionFailed")), "refused"),
        (Answer::Json(401, Value::Null), "refused"),
    ];
    for (answer, expected) in answers {
        let fake = service();
        let talks = ready(&fake).await;
        fake.once(&Method::POST, "/redfish/v1/U/simple", answer.clone());
        let outcome = talks.act(&update("http://x/image")).await;
        let word = match &outcome {
            Outcome::Lost { .. } => "lost",
            Outcome::Refused { later: true, .. } => "later",
            Outcome::Refused { .. } => "refused",
            Outcome::NotSent { .. } => "not sent",
            Outcome::Accepted { .. } => "accepted",
        };
        assert_eq!(word, expected, "{answer:?}");
        assert_eq!(writes(&fake), ["POST /redfish/v1/U/simple"], "{answer:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_push_goes_where_the_service_says_even_outside_of_redfish() {
    let fake = service();
    let talks = ready(&fake).await;
    let action = Action::Update(UpdateAction {
        target: Target::Bmc,
        image: ImageSource::File {
            path: PathBuf::from("/images/a.bin"),
            bytes: 5,
            name: "a.bin".to_owned(),
        },
        method: UpdateMethod::MultipartPush,
        targets: vec!["/redfish/v1/M/bmc".to_owned()],
        apply_time: None,
        keep: None,
    });
    fake.once(&Method::POST, "/push/multi", Answer::Json(202, json!({"@odata.type": "#Task.v1_0_0.Task", "@odata.id": "/redfish/v1/T/Tasks/1", "TaskState": "New"})));
    assert!(matches!(
        talks.act(&action).await,
        Outcome::Accepted { task: Some(_), .. }
    ));
    let post = fake.take().pop().unwrap();
    assert_eq!(post.body, json!({"Targets": ["/redfish/v1/M/bmc"]}));
}

#[tokio::test(start_paused = true)]
async fn a_reset_goes_to_the_action_with_a_type_that_it_allows() {
    let fake = service();
    let talks = ready(&fake).await;
    let reset = |reset_type: &str| Action::ResetSystem {
        server: "b/1".into(),
        reset_type: reset_type.to_owned(),
    };
    assert!(matches!(
        talks.act(&reset("GracefulRestart")).await,
        Outcome::NotSent { .. }
    ));
    assert!(writes(&fake).is_empty());
    fake.once(
        &Method::POST,
        "/redfish/v1/S/1/reset",
        Answer::Json(204, Value::Null),
    );
    assert!(matches!(
        talks.act(&reset("ForceOff")).await,
        Outcome::Accepted { task: None, .. }
    ));
    let manager = Action::ResetManager {
        reset_type: "ForceRestart".to_owned(),
    };
    fake.once(
        &Method::POST,
        "/redfish/v1/M/bmc/reset",
        Answer::Json(200, Value::Null),
    );
    assert!(matches!(
        talks.act(&manager).await,
        Outcome::Accepted { .. }
    ));
    assert_eq!(
        writes(&fake),
        ["POST /redfish/v1/S/1/reset", "POST /redfish/v1/M/bmc/reset"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_reset_into_the_state_that_is_counts_as_done_and_a_conflict_does_not() {
    let fake = service();
    let talks = ready(&fake).await;
    for (reset_type, done) in [("On", true), ("ForceOff", false)] {
        fake.once(
            &Method::POST,
            "/redfish/v1/S/1/reset",
            Answer::Json(409, refusal("ActionNotSupported")),
        );
        let action = Action::ResetSystem {
            server: "b/1".into(),
            reset_type: reset_type.to_owned(),
        };
        let outcome = talks.act(&action).await;
        assert_eq!(
            matches!(outcome, Outcome::Accepted { .. }),
            done,
            "{outcome:?}"
        );
    }
}

fn patch(parts: &[(&str, Value)]) -> Action {
    let attributes = |value: &Value| -> BTreeMap<String, Value> {
        value
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    };
    Action::PatchAttributes {
        target: Target::Server("b/1".into()),
        parts: parts
            .iter()
            .map(|(uri, value)| AttributePatch {
                uri: (*uri).to_owned(),
                attributes: attributes(value),
            })
            .collect(),
        apply_time: None,
    }
}

async fn with_settings_seen(fake: &std::sync::Arc<Fake>) -> Client {
    let talks = client(fake, &[]);
    let request = LookRequest {
        settings: [Target::Server("b/1".into())].into(),
        ..state()
    };
    look(&talks, &request).await;
    fake.take();
    talks
}

const SETTINGS: &str = "/redfish/v1/S/1/Bios/Settings";

#[tokio::test(start_paused = true)]
async fn settings_that_are_there_by_now_are_not_sent() {
    let fake = service();
    let talks = with_settings_seen(&fake).await;
    fake.put(
        "/redfish/v1/S/1/Bios",
        json!({"Attributes": {"A": "y", "N": 5}}),
    );
    let outcome = talks
        .act(&patch(&[(SETTINGS, json!({"A": "y", "N": 5}))]))
        .await;
    assert!(
        matches!(
            outcome,
            Outcome::Accepted {
                reset_required: false,
                ..
            }
        ),
        "{outcome:?}"
    );
    assert!(writes(&fake).is_empty());
}

#[tokio::test(start_paused = true)]
async fn after_412_the_resource_is_read_again_and_only_what_is_left_is_sent() {
    let fake = service();
    let talks = with_settings_seen(&fake).await;
    let shown = |attributes: Value| json!({ "Attributes": attributes });
    fake.once(
        &Method::GET,
        SETTINGS,
        Answer::Tagged(200, "\"1\"", shown(json!({}))),
    );
    fake.once(
        &Method::PATCH,
        SETTINGS,
        Answer::Json(412, refusal("PreconditionFailed")),
    );
    fake.once(
        &Method::GET,
        SETTINGS,
        Answer::Tagged(200, "\"2\"", shown(json!({"A": "y"}))),
    );
    fake.once(&Method::PATCH, SETTINGS, Answer::Json(200, Value::Null));
    let outcome = talks
        .act(&patch(&[(SETTINGS, json!({"A": "y", "N": 6}))]))
        .await;
    assert!(matches!(outcome, Outcome::Accepted { .. }), "{outcome:?}");
    let asked = fake.take();
    let patches: Vec<_> = asked
        .iter()
        .filter(|asked| asked.method == Method::PATCH)
        .collect();
    assert_eq!(patches.len(), 2);
    assert_eq!(patches[0].body, json!({"Attributes": {"A": "y", "N": 6}}));
    assert_eq!(patches[1].body, json!({"Attributes": {"N": 6}}));
    assert_eq!(patches[1].headers.get(IF_MATCH).unwrap(), "\"2\"");
}

#[tokio::test(start_paused = true)]
async fn of_several_parts_a_failure_names_those_applied_and_a_retry_sends_only_the_rest() {
    let fake = service();
    for name in ["A", "B", "C"] {
        fake.put(
            &format!("/redfish/v1/M/bmc/{name}"),
            json!({"Attributes": {name: 1}}),
        );
    }
    let talks = ready(&fake).await;
    let parts = [
        ("/redfish/v1/M/bmc/A", json!({"A": 2})),
        ("/redfish/v1/M/bmc/B", json!({"B": 2})),
        ("/redfish/v1/M/bmc/C", json!({"C": 2})),
    ];
    fake.once(
        &Method::PATCH,
        "/redfish/v1/M/bmc/A",
        Answer::Json(200, Value::Null),
    );
    fake.once(
        &Method::PATCH,
        "/redfish/v1/M/bmc/B",
        Answer::Json(400, refusal("PropertyValueNotInList")),
    );
    let Outcome::Refused {
        fault,
        later: false,
        ..
    } = talks.act(&patch(&parts)).await
    else {
        panic!("not refused");
    };
    assert_eq!(fault.kind, FaultKind::SettingsRefused);
    assert_eq!(
        fault.causes,
        [
            "applied before: `/redfish/v1/M/bmc/A` (A)",
            "not sent: `/redfish/v1/M/bmc/C` (C)"
        ]
    );
    assert_eq!(fault.messages[0].key(), Some("PropertyValueNotInList"));

    fake.put("/redfish/v1/M/bmc/A", json!({"Attributes": {"A": 2}}));
    fake.take();
    for name in ["B", "C"] {
        fake.once(
            &Method::PATCH,
            &format!("/redfish/v1/M/bmc/{name}"),
            Answer::Json(200, Value::Null),
        );
    }
    assert!(matches!(
        talks.act(&patch(&parts)).await,
        Outcome::Accepted { .. }
    ));
    assert_eq!(
        writes(&fake),
        ["PATCH /redfish/v1/M/bmc/B", "PATCH /redfish/v1/M/bmc/C"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_resource_is_patched_with_what_it_lacks() {
    let fake = service();
    let talks = ready(&fake).await;
    fake.put(
        "/redfish/v1/M/bmc",
        json!({"Id": "bmc", "NetworkProtocol": {"@odata.id": "/redfish/v1/M/bmc/Net"}}),
    );
    fake.put(
        "/redfish/v1/M/bmc/Net",
        json!({"NTP": {"ProtocolEnabled": true, "NTPServers": []}}),
    );
    let action = Action::PatchResource {
        target: Target::Bmc,
        uri: "{manager}/NetworkProtocol".to_owned(),
        body: json!({"NTP": {"ProtocolEnabled": true, "NTPServers": ["10.0.0.1"]}}),
    };
    let body = json!({"@Message.ExtendedInfo": [{"MessageId": "iLO.2.14.ResetRequired", "MessageSeverity": "Warning"}]});
    fake.once(
        &Method::PATCH,
        "/redfish/v1/M/bmc/Net",
        Answer::Json(200, body),
    );
    assert!(matches!(
        talks.act(&action).await,
        Outcome::Accepted {
            reset_required: true,
            ..
        }
    ));
    let patched = fake.take().pop().unwrap();
    assert_eq!(patched.body, json!({"NTP": {"NTPServers": ["10.0.0.1"]}}));
}
