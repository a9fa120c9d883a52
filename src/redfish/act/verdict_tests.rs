use std::time::Duration;

use http::HeaderMap;
use serde_json::{Value, json};

use super::*;

fn outcome(status: u16, ask: Ask, json: Value) -> Outcome {
    let messages = crate::redfish::line::bmc_messages(&json);
    let answer = Answer {
        digest: 0,
        path: "/redfish/v1/U".to_owned(),
        status,
        headers: HeaderMap::new(),
        json,
        not_json: false,
        messages,
        etag: None,
        location: None,
        retry_after: None,
    };
    judge(Sent::Answered(answer), ask)
}

fn says(key: &str) -> Value {
    json!({"error": {"@Message.ExtendedInfo": [{"MessageId": format!("Base.1.8.{key}"), "MessageSeverity": "Critical", "MessageArgs": ["30"]}]}})
}

fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::NotSent { .. } => "not-sent",
        Outcome::Refused { later: true, .. } => "later",
        Outcome::Refused { later: false, .. } => "refused",
        Outcome::Accepted { .. } => "accepted",
        Outcome::Lost { .. } => "lost",
    }
}

#[test]
fn only_what_says_so_is_a_refusal() {
    let cases: [(u16, Ask, Value, &str); 22] = [
        (503, Ask::Update, Value::Null, "lost"),
        (500, Ask::Update, says("InternalError"), "lost"),
        (500, Ask::Update, Value::Null, "lost"),
        (408, Ask::Update, Value::Null, "lost"),
        (
            503,
            Ask::Update,
            says("ServiceTemporarilyUnavailable"),
            "later",
        ),
        (400, Ask::Update, says("SWC0700"), "later"),
        (
            409,
            Ask::Settings,
            says("UnableToModifyDuringSystemPOST"),
            "later",
        ),
        (429, Ask::Update, Value::Null, "later"),
        (400, Ask::Update, Value::Null, "refused"),
        (
            400,
            Ask::Update,
            says("ActionParameterValueError"),
            "refused",
        ),
        (403, Ask::Update, says("OemLicenseNotPassed"), "refused"),
        (501, Ask::Update, says("ActionNotSupported"), "refused"),
        (308, Ask::Update, Value::Null, "refused"),
        (200, Ask::Settings, says("SYS410"), "refused"),
        (200, Ask::Settings, says("PropertyUnknown"), "refused"),
        (200, Ask::Settings, says("SystemResetRequired"), "accepted"),
        (200, Ask::Update, says("Success"), "accepted"),
        (202, Ask::Update, Value::Null, "accepted"),
        (201, Ask::Update, Value::Null, "accepted"),
        (204, Ask::Reset, Value::Null, "accepted"),
        (409, Ask::Reset, says("PSU501"), "accepted"),
        (409, Ask::Reset, says("ResourceInUse"), "later"),
    ];
    for (status, ask, body, expected) in cases {
        let outcome = outcome(status, ask, body.clone());
        assert_eq!(word(&outcome), expected, "{status} {ask:?} {body}");
    }
}

#[test]
fn half_accepted_settings_are_refused_in_the_words_of_each_attribute() {
    let body = json!({"@Message.ExtendedInfo": [
        {"MessageId": "Base.1.8.Success"},
        {"MessageId": "Base.1.8.PropertyUnknown", "MessageSeverity": "Warning", "MessageArgs": ["Nope"], "RelatedProperties": ["#/Attributes/Nope"]},
    ]});
    let Outcome::Refused { fault, later, .. } = outcome(200, Ask::Settings, body) else {
        panic!("not refused");
    };
    assert!(!later);
    assert_eq!(fault.kind, FaultKind::SettingsRefused);
    assert_eq!(fault.messages.len(), 2);
    assert_eq!(fault.messages[1].args, ["Nope"]);
}

#[test]
fn a_page_behind_200_is_lost() {
    let answer = Answer {
        digest: 0,
        path: "/u".to_owned(),
        status: 200,
        headers: HeaderMap::new(),
        json: Value::Null,
        not_json: true,
        messages: Vec::new(),
        etag: None,
        location: None,
        retry_after: None,
    };
    assert_eq!(word(&judge(Sent::Answered(answer), Ask::Update)), "lost");
}

#[test]
fn the_wait_comes_from_the_header_then_from_the_message() {
    let Outcome::Refused {
        retry_after_secs,
        fault,
        ..
    } = outcome(503, Ask::Update, says("ResourceNotReadyRetry"))
    else {
        panic!("not refused");
    };
    assert_eq!(retry_after_secs, Some(30));
    assert_eq!(
        (fault.kind, fault.retry),
        (FaultKind::NotReady, Retry::Transient)
    );
    let answer = Answer {
        digest: 0,
        path: "/u".to_owned(),
        status: 429,
        headers: HeaderMap::new(),
        json: Value::Null,
        not_json: false,
        messages: Vec::new(),
        etag: None,
        location: None,
        retry_after: Some(Duration::from_secs(7)),
    };
    let Outcome::Refused {
        retry_after_secs, ..
    } = judge(Sent::Answered(answer), Ask::Reset)
    else {
        panic!("not refused");
    };
    assert_eq!(retry_after_secs, Some(7));
}

#[test]
fn a_reset_that_is_required_is_told() {
    let body = json!({"error": {"@Message.ExtendedInfo": [{"MessageId": "iLO.2.14.ResetRequired", "MessageSeverity": "Warning"}]}});
    let Outcome::Accepted { reset_required, .. } = outcome(200, Ask::Settings, body) else {
        panic!("not accepted");
    };
    assert!(reset_required);
}
