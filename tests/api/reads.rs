//! What is read is what the command line prints as JSON.

use redpipe::daemon::summary;
use serde_json::{Value, json};

use crate::lab::{Lab, document, message};

#[tokio::test(flavor = "multi_thread")]
async fn runs_are_the_document_of_status() {
    let lab = Lab::start().await;
    let told = lab.read("/v1/runs").await;
    let status = summary::of_store(lab.engine.store().as_ref()).unwrap();
    assert_eq!(told, serde_json::to_value(&status).unwrap());
    let phases: Vec<&str> = told["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["phase"].as_str().unwrap())
        .collect();
    assert_eq!(phases, ["Held", "Failed", "Completed"]);
    assert_eq!(
        lab.read("/v1/pipelines").await["pipelines"],
        told["pipelines"]
    );
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_look_is_not_older_than_what_happened_between() {
    let lab = Lab::start().await;
    assert_eq!(lab.read("/v1/runs").await["runs"][0]["phase"], "Held");
    let (status, _) = lab.order("/v1/runs/asks/mock-1/cancel", "{}").await;
    assert_eq!(status, 202);
    assert_eq!(lab.read("/v1/runs").await["runs"][0]["phase"], "Cancelled");
    let again = lab.read("/v1/runs/asks/mock-1").await;
    assert_eq!(again["runs"][0]["phase"], "Cancelled");
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_run_is_told_by_either_of_its_names() {
    let lab = Lab::start().await;
    let latest = lab.read("/v1/runs/fails/mock-2").await;
    assert_eq!(latest["runs"][0]["id"], "fails/mock-2");
    assert_eq!(latest["pipelines"][0]["pipeline"], "fails");
    assert_eq!(latest["pipelines"].as_array().unwrap().len(), 1);
    let numbered = lab.read("/v1/runs/fails/mock-2%231").await;
    assert_eq!(numbered, latest);
    for unknown in ["fails/mock-9", "fails/mock-2%237", "fails/mock-2%23x"] {
        let (status, told) = document(lab.get(&format!("/v1/runs/{unknown}")).await).await;
        assert_eq!(status, 404, "{unknown}");
        assert!(message(&told).contains("there is no run"), "{told}");
    }
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_journal_of_a_run_is_told_in_sentences_and_can_be_read_on() {
    let lab = Lab::start().await;
    let all = lab.read("/v1/runs/fails/mock-2/events").await;
    let events = all["events"].as_array().unwrap();
    assert!(events.iter().all(|event| event["run"] == "fails/mock-2#1"));
    let said = |event: &Value| event["message"].as_str().unwrap_or("").to_owned();
    assert!(said(&events[0]).starts_with("started for mock-2-s1"));
    assert!(events.iter().any(|event| said(event).contains("FAILED")));
    let middle = &events[events.len() / 2]["cursor"];
    let rest = lab
        .read(&format!("/v1/runs/fails/mock-2/events?after={middle}"))
        .await;
    assert_eq!(rest["events"], json!(events[events.len() / 2 + 1..]));
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_asked_wrongly_is_refused_with_a_way_out() {
    let lab = Lab::start().await;
    for (path, wanted) in [
        ("/v1/nothing", 404),
        ("/v1/runs/fails/mock-2/events?after=x", 400),
        ("/v1/events?since=1", 400),
    ] {
        let (status, told) = document(lab.get(path).await).await;
        assert_eq!(status, wanted, "{path}: {told}");
        assert!(told["errors"][0]["hint"].is_string(), "{path}: {told}");
    }
    let (status, told) = lab.order("/v1/runs", "{}").await;
    assert_eq!(status, 405, "{told}");
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_says_whether_it_is_ready_and_what_it_does_not_take_up() {
    let lab = Lab::start().await;
    assert_eq!(lab.get("/healthz").await.status(), 200);
    assert_eq!(
        lab.read("/readyz").await,
        json!({ "ready": true, "problems": [] })
    );
    let broken = vec!["pipelines/p.toml:3:1 is broken".to_owned()];
    lab.handle
        .set_readiness(redpipe::daemon::Readiness::Stale(broken.clone()));
    assert_eq!(
        lab.read("/readyz").await,
        json!({ "ready": true, "problems": broken })
    );
    let why = redpipe::daemon::Readiness::NotReady("it stops".to_owned());
    lab.handle.set_readiness(why);
    let (status, told) = document(lab.get("/readyz").await).await;
    assert_eq!((status, &told["problems"]), (503, &json!(["it stops"])));
    assert_eq!(lab.get("/healthz").await.status(), 200, "it still lives");
    lab.end().await;
}
