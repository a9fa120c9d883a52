//! One session per BMC: reused, renewed once, deleted; basic authentication where there are none.

use http::Method;

use super::support::{
    FakeBmc, Fault, PASSWORD, SESSIONS, SYSTEM, TestMemory, basic_for, error, secs, source, talk,
};
use crate::model::FaultKind;
use crate::model::inventory::AuthMode;
use crate::redfish::{Patched, SessionNote, WireBody, WireRequest};

#[tokio::test(start_paused = true)]
async fn one_session_serves_all_requests_and_is_deleted_at_the_end() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    let talk = talk(&bmc, &memory, |_| {});
    for _ in 0..5 {
        talk.get(SYSTEM).await.unwrap();
    }
    let logins = bmc.arrived(&Method::POST, SESSIONS);
    assert_eq!(logins.len(), 1);
    assert!(!logins[0].headers.contains_key("authorization"));
    assert_eq!(bmc.live_sessions(), 1);
    assert_eq!(
        memory.with(|disk| disk.held.clone()).unwrap().uri.unwrap(),
        format!("{SESSIONS}/1")
    );
    talk.close().await;
    talk.close().await;
    assert_eq!(bmc.live_sessions(), 0);
    assert_eq!(memory.with(|disk| disk.held.clone()), None);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_cannot_be_deleted_stays_remembered() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    let talk = talk(&bmc, &memory, |_| {});
    talk.get(SYSTEM).await.unwrap();
    bmc.fault(
        Method::DELETE,
        &format!("{SESSIONS}/1"),
        Fault::Answer(503, vec![], String::new()),
    );
    talk.close().await;
    assert!(memory.with(|disk| disk.held.is_some()));
}

#[tokio::test(start_paused = true)]
async fn a_session_left_by_a_killed_process_is_deleted_at_the_next_login() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    talk(&bmc, &memory, |_| {}).get(SYSTEM).await.unwrap();
    memory.kill();
    let second = talk(&bmc, &memory, |_| {});
    second.get(SYSTEM).await.unwrap();
    assert_eq!(bmc.live_sessions(), 1);
    let deleted = bmc.arrived(&Method::DELETE, &format!("{SESSIONS}/1"));
    assert_eq!(deleted[0].headers["x-auth-token"], "token-2");
    assert!(memory.with(|disk| disk.left.is_empty()));
}

#[tokio::test(start_paused = true)]
async fn a_left_session_whose_uri_was_given_to_us_is_not_deleted() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    let opened_at = "2026-03-01T11:00:00Z".parse().unwrap();
    memory.with(|disk| {
        disk.left.push(SessionNote {
            uri: Some(format!("{SESSIONS}/1")),
            opened_at,
        });
    });
    talk(&bmc, &memory, |_| {}).get(SYSTEM).await.unwrap();
    assert_eq!(bmc.live_sessions(), 1);
    assert!(memory.with(|disk| disk.left.is_empty()));
}

#[tokio::test(start_paused = true)]
async fn a_session_whose_uri_was_never_learned_is_found_by_user_and_time() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    let stranger = talk(&bmc, &TestMemory::default(), |_| {});
    stranger.get(SYSTEM).await.unwrap();
    tokio::time::sleep(secs(600)).await;
    // The login is processed, and the process dies before the answer arrives.
    talk(&bmc, &memory, |_| {}).get(SYSTEM).await.unwrap();
    memory.with(|disk| disk.held.as_mut().unwrap().uri = None);
    memory.kill();
    tokio::time::sleep(secs(20)).await;
    let next = talk(&bmc, &memory, |_| {});
    next.get(SYSTEM).await.unwrap();
    let left: Vec<String> = bmc.with(|state| state.tokens.values().cloned().collect());
    assert_eq!(
        left,
        [format!("{SESSIONS}/1"), format!("{SESSIONS}/3")],
        "the stranger's and ours"
    );
    assert!(memory.with(|disk| disk.left.is_empty()));
}

#[tokio::test(start_paused = true)]
async fn a_session_of_a_login_that_was_cut_short_is_deleted_after_the_next_one() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    let talk = talk(&bmc, &memory, |_| {});
    bmc.with(|state| state.swallows_login = true);
    assert!(
        tokio::time::timeout(secs(3), talk.get(SYSTEM))
            .await
            .is_err()
    );
    assert_eq!(bmc.live_sessions(), 1);
    talk.get(SYSTEM).await.unwrap();
    let left: Vec<String> = bmc.with(|state| state.tokens.values().cloned().collect());
    assert_eq!(left, [format!("{SESSIONS}/2")]);
}

#[tokio::test(start_paused = true)]
async fn a_401_renews_the_session_once() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    let talk = talk(&bmc, &memory, |_| {});
    talk.get(SYSTEM).await.unwrap();
    bmc.end_sessions();
    talk.get(SYSTEM).await.unwrap();
    assert_eq!(bmc.count(&Method::POST, SESSIONS), 2);
    bmc.fault(
        Method::GET,
        SYSTEM,
        Fault::Answer(401, vec![], String::new()),
    );
    bmc.fault(
        Method::GET,
        SYSTEM,
        Fault::Answer(401, vec![], String::new()),
    );
    assert_eq!(talk.get(SYSTEM).await.unwrap_err().status, Some(401));
    assert_eq!(bmc.count(&Method::POST, SESSIONS), 3, "no login loop");
    talk.get(SYSTEM).await.unwrap();
    assert_eq!(
        bmc.live_sessions(),
        1,
        "sessions given up on a 401 are deleted when the next one is there"
    );
}

#[tokio::test(start_paused = true)]
async fn a_patch_that_met_a_401_is_sent_again_with_the_new_session() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    let talk = talk(&bmc, &memory, |_| {});
    talk.get(SYSTEM).await.unwrap();
    bmc.fault(
        Method::PATCH,
        SYSTEM,
        Fault::Answer(401, vec![], String::new()),
    );
    let patched = talk
        .patch(SYSTEM, |_| Some(serde_json::json!({"AssetTag": "new"})))
        .await;
    let Patched::Sent(sent) = patched else {
        panic!("it was needed")
    };
    assert!(matches!(*sent, crate::redfish::Sent::Answered(answer) if answer.status == 200));
}

#[tokio::test(start_paused = true)]
async fn a_rotated_password_is_read_again_once() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    let rotated = "a-new-and-longer-password";
    let talk = talk(&bmc, &memory, |parts| {
        parts.credentials = Some(source(&[PASSWORD, rotated]));
    });
    talk.get(SYSTEM).await.unwrap();
    bmc.end_sessions();
    bmc.with(|state| state.password = rotated.to_owned());
    talk.get(SYSTEM).await.unwrap();
    assert_eq!(
        bmc.count(&Method::POST, SESSIONS),
        3,
        "one good, one refused, one good"
    );
}

#[tokio::test(start_paused = true)]
async fn without_sessions_auto_uses_basic_and_says_so() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    bmc.with(|state| state.offers_sessions = false);
    let open = talk(&bmc, &memory, |_| {});
    open.get(SYSTEM).await.unwrap();
    assert!(open.has_no_sessions());
    let arrived = bmc.arrived(&Method::GET, SYSTEM);
    assert_eq!(
        arrived[0].headers["authorization"],
        basic_for(PASSWORD).as_str()
    );
    let strict = talk(&bmc, &memory, |parts| parts.auth = AuthMode::Session);
    assert_eq!(
        strict.get(SYSTEM).await.unwrap_err().kind,
        FaultKind::Unsupported
    );
}

#[tokio::test(start_paused = true)]
async fn an_answer_without_a_token_means_basic() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    bmc.fault(
        Method::POST,
        SESSIONS,
        Fault::Answer(201, vec![], "{}".to_owned()),
    );
    let talk = talk(&bmc, &memory, |_| {});
    talk.get(SYSTEM).await.unwrap();
    assert!(talk.has_no_sessions());
}

#[tokio::test(start_paused = true)]
async fn taken_sessions_are_told_and_cost_no_refusal() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    let body = r#"{"error":{"@Message.ExtendedInfo":[{"MessageId":"IDRAC.2.1.RAC0218"}]}}"#;
    bmc.fault(
        Method::POST,
        SESSIONS,
        Fault::Answer(503, vec![], body.to_owned()),
    );
    let talk = talk(&bmc, &memory, |_| {});
    assert_eq!(
        talk.get(SYSTEM).await.unwrap_err().kind,
        FaultKind::SessionsExhausted
    );
    assert!(memory.with(|disk| disk.logins.values().all(|record| record.bmcs.is_empty())));
    talk.get(SYSTEM).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn in_an_outage_nobody_logs_in_before_the_root_has_settled() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    let talk = talk(&bmc, &memory, |_| {});
    talk.get(SYSTEM).await.unwrap();
    talk.outage(true);
    bmc.end_sessions();
    talk.forget_session().await;
    for _ in 0..5 {
        assert_eq!(
            talk.get(SYSTEM).await.unwrap_err().kind,
            FaultKind::NotReady
        );
        tokio::time::sleep(secs(10)).await;
    }
    bmc.fault(
        Method::GET,
        "/redfish/v1/",
        Fault::Answer(404, vec![], String::new()),
    );
    bmc.fault(
        Method::GET,
        "/redfish/v1/",
        Fault::Answer(200, vec![], "<html>".to_owned()),
    );
    talk.get(SYSTEM).await.unwrap_err();
    talk.get(SYSTEM).await.unwrap_err();
    tokio::time::sleep(secs(15)).await;
    talk.get(SYSTEM).await.unwrap_err();
    tokio::time::sleep(secs(59)).await;
    talk.get(SYSTEM).await.unwrap_err();
    assert_eq!(bmc.count(&Method::POST, SESSIONS), 1);
    tokio::time::sleep(secs(2)).await;
    talk.get(SYSTEM).await.unwrap();
    assert_eq!(bmc.count(&Method::POST, SESSIONS), 2);
}

#[tokio::test(start_paused = true)]
async fn no_secret_shows_in_faults_or_debug() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    let echo = error("PropertyValueError").replace("it is", &format!("bad value {PASSWORD}"));
    bmc.fault(Method::POST, SESSIONS, Fault::Answer(400, vec![], echo));
    let talk = talk(&bmc, &memory, |_| {});
    talk.outage(true);
    tokio::time::sleep(secs(1)).await;
    talk.get("/redfish/v1/").await.unwrap_err();
    tokio::time::sleep(secs(61)).await;
    let fault = talk.get(SYSTEM).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::LoginRefused);
    assert!(!format!("{fault:?}").contains(PASSWORD) && !format!("{fault}").contains(PASSWORD));

    let mut request = WireRequest::new(Method::POST, SESSIONS);
    request
        .headers
        .insert("x-auth-token", "token-77".parse().unwrap());
    request
        .headers
        .insert("authorization", basic_for(PASSWORD).parse().unwrap());
    request.body = WireBody::Bytes(format!("{{\"Password\":\"{PASSWORD}\"}}").into());
    let shown = format!("{request:?}");
    assert!(
        !shown.contains("token-77") && !shown.contains("Basic") && !shown.contains(PASSWORD),
        "{shown}"
    );
}
