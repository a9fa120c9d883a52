//! PATCH looks first, climbs the forms of `If-Match`, and never repeats what may have happened.

use http::Method;
use serde_json::{Value, json};

use super::support::{FakeBmc, Fault, SESSIONS, SYSTEM, TestMemory, error, talk};
use crate::redfish::{Patched, Sent, WireBody, WireError};

fn wanted(fresh: &Value) -> Option<Value> {
    (fresh["AssetTag"] != "new").then(|| json!({"AssetTag": "new"}))
}

async fn patch(bmc: &FakeBmc, memory: &TestMemory) -> Sent {
    match talk(bmc, memory, |_| {}).patch(SYSTEM, wanted).await {
        Patched::Sent(sent) => *sent,
        Patched::Unneeded(_) => panic!("a change was needed"),
    }
}

fn matches_sent(bmc: &FakeBmc) -> Vec<String> {
    let text = |value: &http::HeaderValue| value.to_str().unwrap().to_owned();
    let sent = bmc.arrived(&Method::PATCH, SYSTEM);
    sent.iter()
        .map(|request| request.headers.get("if-match").map_or("-".to_owned(), text))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn each_kind_of_service_is_served_by_its_form_and_remembered() {
    let kinds: [(Option<&str>, &[&str], &str, usize); 6] = [
        (None, &[], "-", 1),
        (Some("W/\"93\""), &["W/\"93\""], "W/\"93\"", 1),
        (Some("W/\"93\""), &["\"93\""], "\"93\"", 3),
        (Some("\"\"93\"\""), &["\"93\""], "\"93\"", 3),
        (Some("\"93\""), &["*"], "*", 4),
        (None, &["*"], "*", 2),
    ];
    for (etag, takes, form, tries) in kinds {
        let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
        bmc.with(|state| (state.etag, state.takes) = (etag, takes.to_vec()));
        assert!(
            matches!(patch(&bmc, &memory).await, Sent::Answered(answer) if answer.status == 200)
        );
        let sent = matches_sent(&bmc);
        assert_eq!(
            (sent.last().unwrap().as_str(), sent.len()),
            (form, tries),
            "{etag:?} {takes:?}"
        );
        patch(&bmc, &memory).await;
        assert_eq!(
            matches_sent(&bmc).len(),
            tries + 1,
            "the form is remembered: {etag:?} {takes:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn four_refusals_are_the_end() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    bmc.with(|state| (state.etag, state.takes) = (Some("W/\"93\""), vec!["never"]));
    assert!(matches!(patch(&bmc, &memory).await, Sent::Answered(answer) if answer.status == 412));
    assert_eq!(bmc.count(&Method::PATCH, SYSTEM), 4);
    assert_eq!(bmc.count(&Method::GET, SYSTEM), 5, "each try looks first");
    assert_eq!(memory.with(|disk| disk.etag_form.clone()), None);
}

#[tokio::test(start_paused = true)]
async fn after_a_412_the_change_is_worked_out_again() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    bmc.with(|state| state.etag = Some("\"1\""));
    bmc.fault(
        Method::PATCH,
        SYSTEM,
        Fault::Answer(412, vec![], error("PreconditionFailed")),
    );
    let mut looks = 0;
    let talk = talk(&bmc, &memory, |_| {});
    let patched = talk
        .patch(SYSTEM, |fresh| {
            looks += 1;
            if looks == 2 {
                // Somebody else has set it meanwhile.
                return None;
            }
            wanted(fresh)
        })
        .await;
    assert!(matches!(patched, Patched::Unneeded(_)));
    assert_eq!(bmc.count(&Method::PATCH, SYSTEM), 1);
}

#[tokio::test(start_paused = true)]
async fn one_stale_tag_costs_one_more_look() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    bmc.with(|state| state.etag = Some("\"2\""));
    bmc.fault(
        Method::PATCH,
        SYSTEM,
        Fault::Answer(412, vec![], error("PreconditionFailed")),
    );
    assert!(matches!(patch(&bmc, &memory).await, Sent::Answered(answer) if answer.status == 200));
    assert_eq!(matches_sent(&bmc), ["\"2\"", "\"2\""]);
    assert_eq!(
        memory.with(|disk| disk.etag_form.clone()),
        None,
        "the usual form needs no memory"
    );
}

#[tokio::test(start_paused = true)]
async fn nothing_is_sent_where_nothing_differs() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    bmc.with(|state| {
        state
            .resources
            .insert(SYSTEM.to_owned(), json!({"AssetTag": "new"}))
    });
    assert!(matches!(
        talk(&bmc, &memory, |_| {}).patch(SYSTEM, wanted).await,
        Patched::Unneeded(_)
    ));
    assert_eq!(bmc.count(&Method::PATCH, SYSTEM), 0);
}

#[tokio::test(start_paused = true)]
async fn a_lost_patch_is_not_repeated() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    bmc.fault(
        Method::PATCH,
        SYSTEM,
        Fault::Wire(WireError::Lost("reset".to_owned())),
    );
    assert!(matches!(patch(&bmc, &memory).await, Sent::Lost(_)));
    assert_eq!(bmc.count(&Method::PATCH, SYSTEM), 1);
}

#[tokio::test(start_paused = true)]
async fn a_lost_login_loses_nothing_that_comes_after_it() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    let talk = talk(&bmc, &memory, |_| {});
    bmc.fault(
        Method::POST,
        SESSIONS,
        Fault::Wire(WireError::Lost("reset".to_owned())),
    );
    assert!(matches!(talk.delete(SYSTEM).await, Sent::NotSent(_)));
    bmc.fault(Method::GET, "/redfish/v1/", Fault::Hang);
    assert!(matches!(
        talk.post(SYSTEM, WireBody::Empty).await,
        Sent::NotSent(_)
    ));
    assert_eq!(bmc.count(&Method::POST, SYSTEM), 0);
    assert_eq!(bmc.count(&Method::DELETE, SYSTEM), 0);
}

#[tokio::test(start_paused = true)]
async fn a_resource_that_does_not_exist_yet_is_patched_from_nothing() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    bmc.fault(
        Method::GET,
        SYSTEM,
        Fault::Answer(404, vec![], error("ResourceMissingAtURI")),
    );
    let mut seen = None;
    let talk = talk(&bmc, &memory, |_| {});
    let patched = talk
        .patch(SYSTEM, |fresh| {
            seen = Some(fresh.clone());
            Some(json!({"Attributes": {}}))
        })
        .await;
    assert!(matches!(patched, Patched::Sent(_)));
    assert_eq!(seen, Some(Value::Null));
}

#[tokio::test(start_paused = true)]
async fn an_echoed_secret_is_taken_out_of_the_answer() {
    let (bmc, memory) = (FakeBmc::new(), TestMemory::default());
    let echo = error("PropertyValueFormatError").replace("it is", "s3cr3t is");
    bmc.fault(Method::PATCH, SYSTEM, Fault::Answer(400, vec![], echo));
    let talk = talk(&bmc, &memory, |_| {});
    let patched = talk
        .patch(SYSTEM, |_| {
            Some(json!({"Attributes": {"AdminPassword": "s3cr3t"}}))
        })
        .await;
    assert!(!format!("{patched:?}").contains("s3cr3t"));
}
