//! Reads: retried, paced, told apart from refusals; the breaker; outages; redirects.

use http::Method;
use tokio::time::Instant;

use super::support::{FakeBmc, Fault, SESSIONS, SYSTEM, TestMemory, error, secs, talk};
use crate::model::{FaultKind, Retry};
use crate::redfish::{CertProblem, Sent, WireBody, WireError};

fn lost() -> Fault {
    Fault::Wire(WireError::Lost("connection reset".to_owned()))
}

fn refused() -> Fault {
    Fault::Wire(WireError::NotSent("connection refused".to_owned()))
}

fn busy(retry_after: &str) -> Fault {
    Fault::Answer(
        503,
        vec![("retry-after", retry_after.to_owned())],
        error("ServiceTemporarilyUnavailable"),
    )
}

#[tokio::test(start_paused = true)]
async fn a_missing_resource_is_a_fault_that_is_not_retried() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    let fault = talk(&bmc, &memory, |_| {})
        .get("/redfish/v1/Nothing")
        .await
        .unwrap_err();
    assert_eq!((fault.status, fault.retry), (Some(404), Retry::Never));
    assert_eq!(fault.messages[0].key(), Some("ResourceMissingAtURI"));
    assert_eq!(bmc.count(&Method::GET, "/redfish/v1/Nothing"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_critical_error_inside_a_200_is_a_fault_and_a_success_is_not() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    let talk = talk(&bmc, &memory, |_| {});
    let bad =
        r#"{"@Message.ExtendedInfo":[{"MessageId":"IDRAC.2.7.SYS410","Severity":"Critical"}]}"#;
    bmc.fault(
        Method::GET,
        SYSTEM,
        Fault::Answer(200, vec![], bad.to_owned()),
    );
    assert_eq!(talk.get(SYSTEM).await.unwrap_err().messages.len(), 1);
    let good = r#"{"@Message.ExtendedInfo":[{"MessageId":"Base.1.4.Success","Severity":"OK"}]}"#;
    bmc.fault(
        Method::GET,
        SYSTEM,
        Fault::Answer(200, vec![], good.to_owned()),
    );
    assert!(talk.get(SYSTEM).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_page_instead_of_json_is_a_bad_answer() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    for _ in 0..3 {
        bmc.fault(
            Method::GET,
            SYSTEM,
            Fault::Answer(200, vec![], "<html><title>Login</title>".to_owned()),
        );
    }
    let fault = talk(&bmc, &memory, |_| {}).get(SYSTEM).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::BadAnswer);
    assert_eq!(fault.messages[0].message.as_deref(), Some("Login"));
}

#[tokio::test(start_paused = true)]
async fn a_password_that_must_change_has_a_fault_of_its_own() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    bmc.fault(
        Method::GET,
        SYSTEM,
        Fault::Answer(403, vec![], error("PasswordChangeRequired")),
    );
    let fault = talk(&bmc, &memory, |_| {}).get(SYSTEM).await.unwrap_err();
    assert_eq!(
        (fault.kind, fault.retry),
        (FaultKind::PasswordChangeRequired, Retry::Operator)
    );
}

#[tokio::test(start_paused = true)]
async fn a_lost_read_is_tried_again_and_then_good() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    bmc.fault(Method::GET, SYSTEM, lost());
    bmc.fault(
        Method::GET,
        SYSTEM,
        Fault::Answer(500, vec![], String::new()),
    );
    assert!(talk(&bmc, &memory, |_| {}).get(SYSTEM).await.is_ok());
    assert_eq!(bmc.count(&Method::GET, SYSTEM), 3);
}

#[tokio::test(start_paused = true)]
async fn a_hanging_bmc_is_given_up_in_bounded_time() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    let talk = talk(&bmc, &memory, |_| {});
    talk.get(SYSTEM).await.unwrap();
    for _ in 0..3 {
        bmc.fault(Method::GET, SYSTEM, Fault::Hang);
    }
    let start = Instant::now();
    assert_eq!(
        talk.get(SYSTEM).await.unwrap_err().kind,
        FaultKind::Unreachable
    );
    assert!(start.elapsed() < secs(600), "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn to_those_in_a_hurry_silence_is_an_answer_and_a_blink_is_none() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    let talk = talk(&bmc, &memory, |_| {});
    talk.get(SYSTEM).await.unwrap();
    talk.be_brief();
    bmc.fault(
        Method::GET,
        SYSTEM,
        Fault::Answer(500, vec![], String::new()),
    );
    talk.get(SYSTEM).await.unwrap();
    bmc.fault(Method::GET, SYSTEM, Fault::Hang);
    let before = bmc.count(&Method::GET, SYSTEM);
    assert_eq!(
        talk.get(SYSTEM).await.unwrap_err().kind,
        FaultKind::Unreachable
    );
    assert_eq!(bmc.count(&Method::GET, SYSTEM), before + 1);
}

#[tokio::test(start_paused = true)]
async fn a_busy_bmc_is_asked_again_when_it_says() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    let talk = talk(&bmc, &memory, |_| {});
    talk.get(SYSTEM).await.unwrap();
    bmc.fault(Method::GET, SYSTEM, busy("45"));
    talk.get(SYSTEM).await.unwrap();
    let arrived = bmc.arrived(&Method::GET, SYSTEM);
    assert_eq!(arrived[2].at - arrived[1].at, secs(45));
}

#[tokio::test(start_paused = true)]
async fn a_date_from_a_clock_in_1970_does_not_stop_the_world() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    let talk = talk(&bmc, &memory, |_| {});
    talk.get(SYSTEM).await.unwrap();
    bmc.fault(Method::GET, SYSTEM, busy("Thu, 01 Jan 1970 00:10:00 GMT"));
    bmc.fault(Method::GET, SYSTEM, busy("Fri, 01 Jan 2100 00:10:00 GMT"));
    let start = Instant::now();
    talk.get(SYSTEM).await.unwrap();
    assert!(start.elapsed() <= secs(125), "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn the_breaker_opens_after_three_failures_and_lets_one_trial_through() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    let talk = talk(&bmc, &memory, |_| {});
    talk.get(SYSTEM).await.unwrap();
    for _ in 0..4 {
        bmc.fault(Method::GET, SYSTEM, refused());
    }
    talk.get(SYSTEM).await.unwrap_err();
    talk.get(SYSTEM).await.unwrap_err();
    let asked = bmc.count(&Method::GET, SYSTEM);
    assert_eq!(asked, 4, "two tries, one more, then none");
    let fault = talk.get(SYSTEM).await.unwrap_err();
    assert!(fault.message.contains("was not asked"), "{fault}");
    assert!(!fault.causes.is_empty(), "{fault:?}");
    let first = talk.get(SYSTEM).await.unwrap_err();
    assert_eq!(first.causes, fault.causes, "what failed last is still told");
    assert_eq!(bmc.count(&Method::GET, SYSTEM), asked);
    tokio::time::sleep(secs(121)).await;
    bmc.with(|state| state.faults.clear());
    assert!(talk.get(SYSTEM).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn in_a_declared_outage_the_breaker_is_off_and_reads_are_tried_once() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    let talk = talk(&bmc, &memory, |_| {});
    talk.get(SYSTEM).await.unwrap();
    talk.outage(true);
    for _ in 0..20 {
        bmc.fault(Method::GET, SYSTEM, refused());
        talk.get(SYSTEM).await.unwrap_err();
    }
    assert_eq!(bmc.count(&Method::GET, SYSTEM), 21);
    assert!(talk.get(SYSTEM).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn busy_answers_do_not_open_the_breaker() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    let talk = talk(&bmc, &memory, |_| {});
    for _ in 0..9 {
        bmc.fault(
            Method::GET,
            SYSTEM,
            Fault::Answer(503, vec![], String::new()),
        );
    }
    for _ in 0..3 {
        assert_eq!(
            talk.get(SYSTEM).await.unwrap_err().kind,
            FaultKind::NotReady
        );
    }
    assert!(talk.get(SYSTEM).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_changed_certificate_is_the_operators_and_not_asked_twice() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    let problem = CertProblem::Changed {
        pinned: "sha256:aa".to_owned(),
        seen: "sha256:bb".to_owned(),
    };
    bmc.fault(
        Method::GET,
        "/redfish/v1/",
        Fault::Wire(WireError::Certificate(problem)),
    );
    let fault = talk(&bmc, &memory, |_| {}).get(SYSTEM).await.unwrap_err();
    assert_eq!(
        (fault.kind, fault.retry),
        (FaultKind::CertificateChanged, Retry::Operator)
    );
    assert!(
        fault.message.contains("r04-c1") && fault.hint.unwrap().contains("redpipe trust r04-c1")
    );
    assert_eq!(bmc.with(|state| state.arrived.len()), 1);
}

#[tokio::test(start_paused = true)]
async fn redirects_are_followed_here_and_nowhere_else() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    let talk = talk(&bmc, &memory, |_| {});
    let to = |place: &str| Fault::Answer(308, vec![("location", place.to_owned())], String::new());
    bmc.fault(Method::GET, "/redfish/v1/Systems/1/", to(SYSTEM));
    assert_eq!(
        talk.get("/redfish/v1/Systems/1/").await.unwrap().json["Id"],
        "1"
    );
    bmc.fault(
        Method::GET,
        SYSTEM,
        to("https://evil.example/redfish/v1/Systems/1"),
    );
    assert!(
        talk.get(SYSTEM)
            .await
            .unwrap_err()
            .to_string()
            .contains("evil.example")
    );
    for _ in 0..9 {
        bmc.fault(Method::GET, SYSTEM, to(SYSTEM));
    }
    assert!(
        talk.get(SYSTEM)
            .await
            .unwrap_err()
            .message
            .contains("circles")
    );
}

#[tokio::test(start_paused = true)]
async fn a_post_is_sent_once_whatever_comes_back() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    let talk = talk(&bmc, &memory, |_| {});
    let post = || talk.post(SYSTEM, WireBody::Bytes("{}".into()));
    bmc.fault(Method::POST, SYSTEM, lost());
    assert!(matches!(post().await, Sent::Lost(_)));
    bmc.fault(Method::POST, SYSTEM, Fault::Hang);
    assert!(matches!(post().await, Sent::Lost(_)));
    bmc.fault(
        Method::POST,
        SYSTEM,
        Fault::Answer(503, vec![], String::new()),
    );
    assert!(matches!(post().await, Sent::Answered(answer) if answer.status == 503));
    bmc.fault(Method::POST, SYSTEM, refused());
    assert!(matches!(post().await, Sent::NotSent(_)));
    assert!(matches!(post().await, Sent::Answered(answer) if answer.location.is_some()));
    let arrived = bmc.arrived(&Method::POST, SYSTEM);
    assert_eq!(arrived.len(), 5);
    assert!(
        arrived
            .iter()
            .all(|request| !request.headers.contains_key("if-match"))
    );
}

#[tokio::test(start_paused = true)]
async fn a_post_never_meets_a_session_that_ran_out() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    let talk = talk(&bmc, &memory, |_| {});
    talk.get(SYSTEM).await.unwrap();
    tokio::time::sleep(secs(3600)).await;
    bmc.end_sessions();
    assert!(
        matches!(talk.post(SYSTEM, WireBody::Empty).await, Sent::Answered(answer) if answer.status == 202)
    );
    assert_eq!(bmc.count(&Method::POST, SYSTEM), 1);
    assert_eq!(bmc.count(&Method::POST, SESSIONS), 2);
}
