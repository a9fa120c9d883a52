//! This room is the hands of the tests: one BMC, and requests to it in one line.
//!
//! It deliberately checks nothing.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use serde_json::{Value, json};

use crate::bmc::{Bmc, BmcConfig, Source, StateView};
use crate::image::{self, Component};
use crate::ledger::Kind;
use crate::message::{Reply, Request, Response};
use crate::time::Moment;

pub(super) const MANAGER: &str = "/redfish/v1/Managers/BMC";
pub(super) const SYSTEM: &str = "/redfish/v1/Systems/1";
pub(super) const SETTINGS: &str = "/redfish/v1/Systems/1/Bios/Settings";
pub(super) const UPDATE: &str = "/redfish/v1/UpdateService/Actions/UpdateService.SimpleUpdate";
pub(super) const BASIC: &str = "Basic cm9vdDpzZWNyZXQ=";

/// A BMC with a clock that only the test turns.
pub(super) struct Bench {
    pub(super) bmc: Bmc,
    pub(super) now: Moment,
}

/// A bench with one system and a script.
pub(super) fn bench(script: &str) -> Bench {
    bench_of(script, 1)
}

pub(super) fn bench_of(script: &str, systems: usize) -> Bench {
    Bench::of(script, Source::Platform("generic".into()), systems)
}

impl Bench {
    pub(super) fn of(script: &str, source: Source, systems: usize) -> Self {
        let config = BmcConfig {
            name: "mock-1".into(),
            source,
            systems,
            user: "root".into(),
            password: "secret".into(),
            script: script.parse().unwrap(),
            uuid_seed: 1,
            epoch: "2026-01-01T00:00:00Z".parse().unwrap(),
        };
        Self {
            bmc: Bmc::new(config, Moment(0)),
            now: Moment(0),
        }
    }

    /// Lets time pass.
    pub(super) fn wait(&mut self, seconds: u64) {
        self.now = self.now + Duration::from_secs(seconds);
        self.bmc.advance(self.now);
    }

    pub(super) fn reply(
        &mut self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> Reply {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let name = http::HeaderName::try_from(*name).unwrap();
            map.insert(name, value.parse().unwrap());
        }
        let request = Request {
            method,
            path: path.into(),
            headers: map,
            body,
            scheme_host: "https://bmc.test".into(),
        };
        self.bmc.handle(self.now, &request)
    }

    pub(super) fn send(
        &mut self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> Response {
        let reply = self.reply(method, path, headers, body);
        let Reply::Answer(response) = reply else {
            panic!("{path}: {reply:?}");
        };
        response
    }

    /// A JSON request with basic authentication.
    pub(super) fn json(&mut self, method: Method, path: &str, body: &Value) -> (StatusCode, Value) {
        let headers = [
            ("authorization", BASIC),
            ("content-type", "application/json"),
        ];
        let response = self.send(method, path, &headers, Bytes::from(body.to_string()));
        (response.status, read(&response))
    }

    pub(super) fn get(&mut self, path: &str) -> Value {
        let response = self.send(Method::GET, path, &[("authorization", BASIC)], Bytes::new());
        assert_eq!(
            response.status,
            StatusCode::OK,
            "{path}: {}",
            read(&response)
        );
        read(&response)
    }

    pub(super) fn status(&mut self, path: &str) -> StatusCode {
        self.send(Method::GET, path, &[("authorization", BASIC)], Bytes::new())
            .status
    }

    pub(super) fn patch(&mut self, path: &str, body: &Value) -> (StatusCode, Value) {
        self.json(Method::PATCH, path, body)
    }

    pub(super) fn post(&mut self, path: &str, body: &Value) -> (StatusCode, Value) {
        self.json(Method::POST, path, body)
    }

    pub(super) fn post_anonymous(&mut self, path: &str, body: &Value) -> StatusCode {
        self.send(
            Method::POST,
            path,
            &[("content-type", "application/json")],
            Bytes::from(body.to_string()),
        )
        .status
    }

    /// The tag that the header of a document carries.
    pub(super) fn tag(&mut self, path: &str) -> String {
        let response = self.send(Method::GET, path, &[("authorization", BASIC)], Bytes::new());
        response.headers["etag"].to_str().unwrap().to_owned()
    }

    /// A conditional write of a BIOS setting.
    pub(super) fn patch_if(&mut self, path: &str, tag: &str) -> StatusCode {
        let headers = [
            ("authorization", BASIC),
            ("content-type", "application/json"),
            ("if-match", tag),
        ];
        let body = json!({ "Attributes": { "QuietBoot": false } });
        self.send(Method::PATCH, path, &headers, Bytes::from(body.to_string()))
            .status
    }

    pub(super) fn reset(&mut self, kind: &str) -> StatusCode {
        let path = format!("{SYSTEM}/Actions/ComputerSystem.Reset");
        self.post(&path, &json!({ "ResetType": kind })).0
    }

    /// Names an image to be pulled, and gives the BMC what it pulls.
    pub(super) fn pull(&mut self, bytes: Vec<u8>, targets: &[&str]) -> Value {
        let body = json!({ "ImageURI": "http://files.test/fw.bin", "Targets": targets });
        let (status, task) = self.post(UPDATE, &body);
        assert_eq!(status, StatusCode::ACCEPTED, "{task}");
        let fetch = self.bmc.take_fetches().pop().unwrap();
        self.bmc.fetched(self.now, fetch.id, Ok(Bytes::from(bytes)));
        task
    }

    /// Pulls an image of a component.
    pub(super) fn update(
        &mut self,
        component: Component,
        version: &str,
        targets: &[&str],
    ) -> String {
        let task = self.pull(image::build(component, version, None, 1000), targets);
        task["@odata.id"].as_str().unwrap().to_owned()
    }

    pub(super) fn state(&self) -> StateView {
        self.bmc.state()
    }

    /// What the ledger holds in `caused` and in `detail` of state lines, in order.
    pub(super) fn story(&self) -> Vec<String> {
        let lines = self.bmc.ledger().iter();
        lines
            .flat_map(|line| {
                let state = line.detail.clone().filter(|_| line.kind == Kind::State);
                line.caused.clone().into_iter().chain(state)
            })
            .collect()
    }

    pub(super) fn has(&self, phrase: &str) -> bool {
        self.story().iter().any(|line| line == phrase)
    }
}

pub(super) fn read(response: &Response) -> Value {
    serde_json::from_slice(&response.body).unwrap_or(Value::Null)
}

/// The keys of the messages in an error or in an answer.
pub(super) fn keys(body: &Value) -> Vec<String> {
    let info = body["error"]["@Message.ExtendedInfo"].as_array();
    let info = info.or_else(|| body["@Message.ExtendedInfo"].as_array());
    let ids = info
        .into_iter()
        .flatten()
        .filter_map(|message| message["MessageId"].as_str());
    ids.map(|id| id.rsplit('.').next().unwrap().to_owned())
        .collect()
}
