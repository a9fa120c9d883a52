//! What is ordered is what the command line orders, with the same answers and refusals.

use redpipe::model::Verb;
use serde_json::json;

use crate::lab::{Lab, message};

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_is_for_what_the_run_asked_and_is_in_its_journal() {
    let lab = Lab::start().await;
    let (status, told) = lab
        .order("/v1/runs/asks/mock-1/approve", "{\"by\": \"anna\"}")
        .await;
    assert_eq!(status, 202, "{told}");
    assert_eq!(
        (&told["run"], &told["driven_by"]),
        (&json!("asks/mock-1#1"), &json!(null))
    );
    let orders = lab.engine.store().orders().unwrap();
    assert!(matches!(orders[0].verb, Verb::Approve { .. }), "{orders:?}");
    assert!(orders[0].by.starts_with("anna by api@"), "{orders:?}");
    let events = lab.read("/v1/runs/asks/mock-1/events").await;
    let last = events["events"].as_array().unwrap().last().unwrap();
    let said = last["message"].as_str().unwrap();
    assert!(
        said.starts_with("ordered: approve by anna by api@"),
        "{said}"
    );
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_word_that_does_not_fit_is_refused_and_orders_nothing() {
    let lab = Lab::start().await;
    for (path, wanted) in [
        ("/v1/runs/sets/mock-3/retry", "is completed"),
        ("/v1/runs/fails/mock-2/cancel", "is over"),
        ("/v1/runs/fails/mock-2/release", "is not held"),
        (
            "/v1/runs/fails/mock-2/approve",
            "does not wait for an approval",
        ),
    ] {
        let (status, told) = lab.order(path, "{}").await;
        assert_eq!(status, 409, "{path}: {told}");
        assert!(message(&told).contains(wanted), "{told}");
        assert!(told["errors"][0]["hint"].is_string(), "{told}");
    }
    for path in ["/v1/runs/fails/mock-9/retry", "/v1/pipelines/nobodys/pause"] {
        let (status, told) = lab.order(path, "{}").await;
        assert_eq!(status, 404, "{path}: {told}");
    }
    assert_eq!(lab.engine.store().orders().unwrap(), []);
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_stands_until_it_is_ended() {
    let lab = Lab::start().await;
    let (status, told) = lab.order("/v1/pipelines/asks/pause", "{}").await;
    assert_eq!(
        (status, &told["order"]["verb"]["verb"]),
        (202, &json!("pause"))
    );
    let pipelines = lab.read("/v1/pipelines").await;
    let reason = pipelines["pipelines"][0]["reason"].as_str().unwrap();
    assert!(reason.starts_with("paused by api@"), "{reason}");
    lab.order("/v1/pipelines/asks/resume", "").await;
    let pipelines = lab.read("/v1/pipelines").await;
    assert_eq!(pipelines["pipelines"][0].get("reason"), None, "{pipelines}");
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_is_told_by_its_number_and_a_pipeline_of_no_file_is_not_applied() {
    let lab = Lab::start().await;
    let (_, told) = lab.order("/v1/pipelines/asks/pause", "{}").await;
    let path = format!("/v1/orders/{}", told["order"]["id"]);
    let order = lab.read(&path).await;
    assert_eq!(order["order"], told["order"]);
    // Nobody has taken it up here.
    assert_eq!(
        (&order["taken"], &order["at_rest"]),
        (&json!("waits"), &json!(false))
    );
    assert_eq!(lab.get("/v1/orders/7").await.status(), 404);
    let (status, told) = lab.order("/v1/pipelines/asks/apply", "{}").await;
    assert_eq!(status, 404, "{told}");
    assert!(message(&told).contains("no file of this daemon names pipeline `asks`"));
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_order_may_not_say_is_refused() {
    let lab = Lab::start().await;
    let long = Box::leak(format!("{{\"by\": \"{}\"}}", "x".repeat(65)).into_boxed_str());
    for body in [
        "{\"by\": 7}",
        "{\"force\": true}",
        "[]",
        "{",
        "{\"by\": \"a\\nb\"}",
        long,
    ] {
        let (status, told) = lab.order("/v1/runs/asks/mock-1/cancel", body).await;
        assert_eq!(status, 400, "{body}: {told}");
    }
    assert_eq!(lab.engine.store().orders().unwrap(), []);
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_held_run_is_released_with_what_is_left_of_it() {
    let lab = Lab::start().await;
    let (status, told) = lab.order("/v1/runs/asks/mock-1/release", "{}").await;
    assert_eq!(status, 202, "{told}");
    assert_eq!(told["runs"][0]["phase"], "Cancelled", "{told}");
    lab.end().await;
}
