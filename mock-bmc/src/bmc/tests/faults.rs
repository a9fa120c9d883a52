//! This room proves that faults meet the requests that a script means, and no others.
//!
//! It deliberately checks each kind of answer once.

use bytes::Bytes;
use http::{Method, StatusCode};
use serde_json::json;

use super::support::{BASIC, Bench, MANAGER, SETTINGS, SYSTEM, UPDATE, bench, keys, read};
use crate::image::Component;
use crate::ledger::Kind;
use crate::message::Reply;

fn reply(bench: &mut Bench) -> Reply {
    bench.reply(
        Method::GET,
        SYSTEM,
        &[("authorization", BASIC)],
        Bytes::new(),
    )
}

fn one(fault: &str) -> Bench {
    bench(&format!(
        "[[fault]]\nmethod = \"GET\"\npath = \"/redfish/v1/Systems/*\"\n{fault}"
    ))
}

#[test]
fn a_fault_fires_as_often_as_it_says_and_is_in_the_ledger() {
    let mut bench = one("nth = 2\ncount = 2\nstatus = 500");
    let seen: Vec<StatusCode> = (0..5).map(|_| bench.status(SYSTEM)).collect();
    let (ok, bad) = (StatusCode::OK, StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(seen, [ok, bad, bad, ok, ok]);
    assert_eq!(bench.status(MANAGER), ok);
    let faults: Vec<String> = bench
        .bmc
        .ledger()
        .iter()
        .filter(|line| line.kind == Kind::Fault)
        .filter_map(|line| line.detail.clone())
        .collect();
    assert_eq!(
        faults,
        [
            "Status 1 GET /redfish/v1/Systems/1",
            "Status 1 GET /redfish/v1/Systems/1"
        ]
    );
}

#[test]
fn a_scripted_answer_has_the_scripted_words_and_headers() {
    let mut bench = one(
        "count = 0\nmessage_id = \"Base.1.18.ServiceTemporarilyUnavailable\"\nmessage_args = [\"7\"]\nretry_after = \"7s\"\nheaders = { \"X-Mood\" = \"bad\" }",
    );
    let Reply::Answer(response) = reply(&mut bench) else {
        panic!("an answer")
    };
    assert_eq!(response.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(
        (
            response.headers["retry-after"].to_str().unwrap(),
            response.headers["x-mood"].to_str().unwrap()
        ),
        ("7", "bad")
    );
    assert!(
        read(&response)["error"]["message"]
            .as_str()
            .unwrap()
            .contains("Retry in 7 seconds")
    );
}

#[test]
fn retry_after_can_be_a_date_by_a_clock_that_is_off() {
    let mut bench = bench(
        "[identity]\nclock = \"1970-01-01T00:00:00Z\"\n[[fault]]\npath = \"/redfish/v1/Systems/1\"\nretry_after = \"30s\"\nretry_after_form = \"date\"",
    );
    let Reply::Answer(response) = reply(&mut bench) else {
        panic!("an answer")
    };
    assert_eq!(
        response.headers["retry-after"],
        "Thu, 01 Jan 1970 00:00:30 GMT"
    );
}

#[test]
fn the_network_can_break_in_every_way() {
    assert!(matches!(
        reply(&mut one("answer = \"drop-before\"")),
        Reply::Drop
    ));
    assert!(matches!(reply(&mut one("answer = \"hang\"")), Reply::Hang));
    assert!(matches!(
        reply(&mut one("answer = \"refuse\"")),
        Reply::Refused
    ));
    assert!(matches!(
        reply(&mut one("answer = \"truncate\"\nkeep_bytes = 3")),
        Reply::Truncated { keep_bytes: 3, .. }
    ));
    let Reply::Delayed { answer, by } = reply(&mut one("answer = \"delay\"\nby = \"5s\"")) else {
        panic!("a delay")
    };
    assert!(by.as_secs() == 5 && matches!(*answer, Reply::Answer(_)));
    let Reply::Answer(page) = reply(&mut one("answer = \"html\"")) else {
        panic!("a page")
    };
    assert!(
        page.status == StatusCode::OK
            && page.headers["content-type"] == "text/html"
            && page.body.starts_with(b"<!DOCTYPE")
    );
}

#[test]
fn a_lost_answer_was_processed_and_a_lost_request_was_not() {
    let lost = |answer: &str| {
        let mut bench = bench(&format!(
            "[[fault]]\nmethod = \"PATCH\"\nanswer = \"{answer}\""
        ));
        let headers = [
            ("authorization", BASIC),
            ("content-type", "application/json"),
        ];
        let body = Bytes::from(json!({"Attributes": {"QuietBoot": false}}).to_string());
        assert!(matches!(
            bench.reply(Method::PATCH, SETTINGS, &headers, body),
            Reply::Drop
        ));
        let line = bench
            .bmc
            .ledger()
            .iter()
            .find(|line| line.method.as_deref() == Some("PATCH"))
            .unwrap()
            .clone();
        assert_eq!(line.status, None);
        !bench.state().systems[0].pending.is_empty()
    };
    assert!(lost("drop-after"));
    assert!(!lost("drop-before"));
}

#[test]
fn an_upload_can_be_processed_and_answered_503() {
    let mut bench = bench(
        "[[fault]]\nmethod = \"POST\"\npath = \"/redfish/v1/UpdateService/*\"\nprocessed = true",
    );
    let (status, _) = bench.post(UPDATE, &json!({"ImageURI": "http://h/f"}));
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(bench.bmc.take_fetches().len(), 1);
    assert!(bench.has("update accepted image http://h/f target - task 1"));
}

#[test]
fn an_answer_can_be_edited() {
    let mut bench = one(
        "answer = \"edit\"\nbody = { BiosVersion = \"null\", PowerState = \"-\", Extra = { a = 1 } }",
    );
    let body = bench.get(SYSTEM);
    assert!(
        body["BiosVersion"].is_null()
            && body.get("PowerState").is_none()
            && body["Extra"]["a"] == 1
    );
    assert_eq!(bench.get(SYSTEM)["BiosVersion"], "2.10");
}

#[test]
fn a_fault_can_wait_for_its_time_and_its_occasion() {
    let mut timed = one("from = \"10s\"\nuntil = \"20s\"\ncount = 0\nstatus = 404");
    let mut at = |seconds: u64| {
        timed.wait(seconds);
        timed.status(SYSTEM)
    };
    assert_eq!(
        [at(0), at(10), at(10)],
        [StatusCode::OK, StatusCode::NOT_FOUND, StatusCode::OK]
    );
    let mut flash = one("during = \"bmc-flash\"\ncount = 0\nstatus = 401");
    assert_eq!(flash.status(SYSTEM), StatusCode::OK);
    flash.update(Component::Bmc, "1.60", &[]);
    assert_eq!(flash.status(SYSTEM), StatusCode::UNAUTHORIZED);
    flash.wait(11 * 60);
    assert_eq!(flash.status(SYSTEM), StatusCode::OK);
}

#[test]
fn a_fault_can_be_only_for_another_bmc() {
    assert_eq!(one("bmc = \"mock-2\"").status(SYSTEM), StatusCode::OK);
    assert_eq!(
        one("bmc = \"mock-1\"").status(SYSTEM),
        StatusCode::SERVICE_UNAVAILABLE
    );
}

#[test]
fn faults_can_come_and_go_by_hand() {
    let mut bench = bench("");
    let fault = crate::script::Fault {
        count: Some(0),
        message_id: Some("X.1.0.Y".into()),
        message: Some("no".into()),
        ..Default::default()
    };
    bench.bmc.add_fault(fault);
    assert_eq!(keys(&bench.json(Method::GET, SYSTEM, &json!({})).1), ["Y"]);
    bench.bmc.clear_faults();
    assert_eq!(bench.status(SYSTEM), StatusCode::OK);
    bench
        .bmc
        .set_script(&"[etag]\nrequired = true".parse().unwrap());
    assert_eq!(
        bench.patch(SYSTEM, &json!({"AssetTag": "x"})).0,
        StatusCode::PRECONDITION_REQUIRED
    );
}
