//! The OpenAPI document says what is served: every route, and every answer as it really is.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::Value;

use crate::events::Reader;
use crate::lab::{Lab, document};
use crate::schema::findings;

fn api() -> Value {
    serde_json::from_str(redpipe::api::OPENAPI).unwrap()
}

#[test]
fn the_document_names_every_route_and_no_other() {
    let api = api();
    let named: BTreeSet<(String, String)> = api["paths"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, methods)| {
            let methods = methods.as_object().unwrap().keys();
            methods.map(|method| (method.to_uppercase(), path.clone()))
        })
        .collect();
    let served: BTreeSet<(String, String)> = redpipe::api::routes()
        .into_iter()
        .map(|(method, path)| (method.to_owned(), path.to_owned()))
        .collect();
    assert_eq!(named, served);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_is_as_the_document_says() {
    let lab = Lab::start().await;
    let api = api();
    let mut checked = BTreeSet::new();
    for (run, body) in [
        ("asks/mock-1", "{}"),
        ("fails/mock-2", "{}"),
        ("sets/mock-3%231", "{}"),
        ("none/nowhere", "{}"),
        ("asks/mock-1", "[]"),
    ] {
        for (method, template) in redpipe::api::routes() {
            let (pipeline, bmc) = run.split_once('/').unwrap();
            let path = template
                .replace("{pipeline}", pipeline)
                .replace("{bmc}", bmc)
                .replace("{order}", "1");
            if template == "/v1/events" {
                continue;
            }
            let mut request = lab.ask(method.parse().unwrap(), &path);
            if method == "POST" {
                request = request
                    .header("content-type", "application/json")
                    .body(body);
            }
            let response = request.send().await.unwrap();
            let said = &api["paths"][template][method.to_lowercase()]["responses"]
                [response.status().as_str()];
            assert!(
                said.is_object(),
                "{method} {path}: {} is not told",
                response.status()
            );
            check(&api, said, response, template).await;
            checked.insert((method, template));
        }
    }
    assert_eq!(checked.len(), redpipe::api::routes().len() - 1);
    lab.end().await;
}

async fn check(api: &Value, said: &Value, response: reqwest::Response, path: &str) {
    let kind = response.headers()["content-type"].to_str().unwrap();
    let kind = kind.split(';').next().unwrap().to_owned();
    for name in said["headers"]
        .as_object()
        .into_iter()
        .flat_map(serde_json::Map::keys)
    {
        assert!(
            response.headers().contains_key(name.as_str()),
            "{path}: {name}"
        );
    }
    let schema = &said["content"][&kind]["schema"];
    assert!(schema.is_object(), "{path}: `{kind}` is not told");
    let (status, value) = document(response).await;
    let found = findings(api, schema, &value, path);
    assert!(found.is_empty(), "{path} ({status}):\n{}", found.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_event_is_as_the_document_says() {
    let lab = Lab::start().await;
    let api = api();
    lab.happens("unreachable", Some("mock-1"));
    lab.happens("files-refused", None);
    let mut reader = Reader::new(lab.get("/v1/events?after=0&status=true").await);
    let mut kinds = BTreeSet::new();
    while kinds.len() < 3 {
        let seen = reader.next().await.unwrap();
        let schema = match seen.event.as_str() {
            "record" => "Event",
            "status" => "Run",
            "fleet" => "Happening",
            other => panic!("event `{other}`"),
        };
        let schema = &api["components"]["schemas"][schema];
        let found = findings(&api, schema, &seen.data, &seen.event);
        assert!(found.is_empty(), "{}", found.join("\n"));
        kinds.insert(seen.event);
    }
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_document_is_served() {
    let lab = Lab::start().await;
    assert_eq!(lab.read("/openapi.json").await, api());
    let head = lab.ask(Method::HEAD, "/openapi.json").send().await.unwrap();
    assert_eq!(head.status(), 200);
    lab.end().await;
}
