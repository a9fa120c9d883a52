//! A BMC of a few lines: documents by path, answers in a queue, and a log of what was asked.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use http::{HeaderMap, HeaderValue, Method};
use redpipe::model::inventory::Pace;
use redpipe::model::{BmcName, Look, LookRequest, Seen};
use redpipe::redfish::{
    BoxFuture, Client, PartContent, ServerRef, Transport, WireBody, WireError, WireRequest,
    WireResponse,
};
use serde_json::{Value, json};

use crate::facts::conversation;

/// One request as it left.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

/// What is answered.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    Json(u16, Value),
    Tagged(u16, &'static str, Value),
    Located(u16, &'static str),
    Cut,
}

#[derive(Default)]
struct Inner {
    documents: BTreeMap<String, Value>,
    queued: BTreeMap<(String, String), VecDeque<Answer>>,
    asked: Vec<Asked>,
}

/// The BMC.
#[derive(Default)]
pub(crate) struct Fake {
    inner: Mutex<Inner>,
}

impl Fake {
    /// Puts a document in its place; its `@odata.id` is added.
    pub(crate) fn put(&self, path: &str, document: Value) {
        let mut document = document;
        document["@odata.id"] = json!(path);
        self.inner
            .lock()
            .unwrap()
            .documents
            .insert(path.to_owned(), document);
    }

    /// Takes a document away.
    pub(crate) fn remove(&self, path: &str) {
        self.inner.lock().unwrap().documents.remove(path);
    }

    /// Queues an answer for one request.
    pub(crate) fn once(&self, method: &Method, path: &str, answer: Answer) {
        let place = (method.to_string(), path.to_owned());
        self.inner
            .lock()
            .unwrap()
            .queued
            .entry(place)
            .or_default()
            .push_back(answer);
    }

    /// What was asked since this was last called.
    pub(crate) fn take(&self) -> Vec<Asked> {
        std::mem::take(&mut self.inner.lock().unwrap().asked)
    }

    /// Method and path of what was asked since this was last called.
    pub(crate) fn take_lines(&self) -> Vec<String> {
        let line = |asked: Asked| format!("{} {}", asked.method, asked.path);
        self.take().into_iter().map(line).collect()
    }

    fn answer(&self, request: WireRequest) -> Result<WireResponse, WireError> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let body = match &request.body {
            WireBody::Bytes(bytes) => serde_json::from_slice(bytes).unwrap_or(Value::Null),
            WireBody::Multipart { parts, .. } => match parts.first().map(|part| &part.content) {
                Some(PartContent::Json(bytes)) => {
                    serde_json::from_slice(bytes).unwrap_or(Value::Null)
                }
                Some(PartContent::Token(_)) | None => Value::Null,
            },
            WireBody::Empty | WireBody::File { .. } => Value::Null,
        };
        inner.asked.push(Asked {
            method: request.method.clone(),
            path: request.path.clone(),
            headers: request.headers,
            body,
        });
        let place = (request.method.to_string(), request.path.clone());
        if let Some(answer) = inner.queued.get_mut(&place).and_then(VecDeque::pop_front) {
            return wired(answer);
        }
        let path = request.path.trim_end_matches('/');
        match inner
            .documents
            .get(path)
            .filter(|_| request.method == Method::GET)
        {
            Some(document) => wired(Answer::Json(200, document.clone())),
            None => wired(Answer::Json(404, Value::Null)),
        }
    }
}

impl Transport for Fake {
    fn send(&self, request: WireRequest) -> BoxFuture<'_, Result<WireResponse, WireError>> {
        let answer = self.answer(request);
        Box::pin(async move { answer })
    }
}

fn wired(answer: Answer) -> Result<WireResponse, WireError> {
    let (status, header, body) = match answer {
        Answer::Json(status, body) => (status, None, body),
        Answer::Tagged(status, tag, body) => (status, Some(("etag", tag)), body),
        Answer::Located(status, location) => (status, Some(("location", location)), Value::Null),
        Answer::Cut => return Err(WireError::Lost("connection reset".to_owned())),
    };
    let mut headers = HeaderMap::new();
    if let Some((name, value)) = header {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    Ok(WireResponse {
        status,
        headers,
        body: body.into(),
        http2: false,
    })
}

/// A small well-behaved service: one manager, two systems, an update service, tasks.
pub(crate) fn service() -> Arc<Fake> {
    let fake = Fake::default();
    let link = |uri: &str| json!({ "@odata.id": uri });
    fake.put("/redfish/v1", json!({
        "UUID": "92384634-2938-2342-8820-489239905423",
        "Managers": link("/redfish/v1/M"), "Systems": link("/redfish/v1/S"), "UpdateService": link("/redfish/v1/U"),
        "Tasks": link("/redfish/v1/T"), "Registries": link("/redfish/v1/R"),
    }));
    fake.put(
        "/redfish/v1/M",
        json!({"Members": [link("/redfish/v1/M/bmc")]}),
    );
    fake.put("/redfish/v1/M/bmc", json!({"Id": "bmc", "ManagerType": "BMC", "FirmwareVersion": "1.50",
        "Actions": {"#Manager.Reset": {"target": "/redfish/v1/M/bmc/reset", "ResetType@Redfish.AllowableValues": ["ForceRestart"]}}}));
    fake.put(
        "/redfish/v1/S",
        json!({"Members": [link("/redfish/v1/S/1"), link("/redfish/v1/S/2")]}),
    );
    for id in ["1", "2"] {
        let uri = format!("/redfish/v1/S/{id}");
        fake.put(&uri, json!({"Id": id, "BiosVersion": "2.10", "PowerState": "On", "SerialNumber": format!("SER{id}"),
            "Bios": link(&format!("{uri}/Bios")), "Links": {"ManagedBy": [link("/redfish/v1/m/BMC/")]},
            "Actions": {"#ComputerSystem.Reset": {"target": format!("{uri}/reset"), "@Redfish.ActionInfo": "/redfish/v1/S/info"}}}));
        fake.put(&format!("{uri}/Bios"), json!({"Attributes": {"A": "x", "N": 5},
            "@Redfish.Settings": {"SettingsObject": link(&format!("{uri}/Bios/Settings")), "SupportedApplyTimes": ["OnReset"]}}));
        fake.put(&format!("{uri}/Bios/Settings"), json!({"Attributes": {}}));
    }
    fake.put("/redfish/v1/S/info", json!({"Parameters": [{"Name": "ResetType", "AllowableValues": ["On", "ForceOff", "GracefulShutdown"]}]}));
    fake.put("/redfish/v1/U", json!({"FirmwareInventory": link("/redfish/v1/U/F"), "MultipartHttpPushUri": "/push/multi",
        "Actions": {"#UpdateService.SimpleUpdate": {"target": "/redfish/v1/U/simple", "TransferProtocol@Redfish.AllowableValues": ["HTTP"]}}}));
    fake.put(
        "/redfish/v1/U/F",
        json!({"Members": [link("/redfish/v1/U/F/bmc")]}),
    );
    fake.put(
        "/redfish/v1/U/F/bmc",
        json!({"Id": "bmc", "Version": "1.50", "RelatedItem": [link("/redfish/v1/M/bmc")]}),
    );
    fake.put(
        "/redfish/v1/T",
        json!({"Tasks": link("/redfish/v1/T/Tasks")}),
    );
    fake.put("/redfish/v1/T/Tasks", json!({"Members": []}));
    fake.put("/redfish/v1/R", json!({"Members": []}));
    Arc::new(fake)
}

/// A client of it; nobody logs in and nothing is waited for.
pub(crate) fn client(fake: &Arc<Fake>, servers: &[(&str, Option<&str>)]) -> Client {
    let pace = Pace {
        requests_per_second: 100_000.0,
        burst: 100_000,
        ..Pace::default()
    };
    let servers = servers
        .iter()
        .map(|(name, system)| ServerRef {
            name: (*name).into(),
            system: system.map(str::to_owned),
        })
        .collect();
    Client::new(
        conversation(fake.clone(), pace, None),
        servers,
        BmcName::from("b"),
        None,
        None,
    )
}

/// A look that must succeed.
pub(crate) async fn look(client: &Client, request: &LookRequest) -> Look {
    match client.look(request).await {
        Seen::Looked(look) => *look,
        Seen::Failed(fault) => panic!("{fault}"),
    }
}

/// Managers and systems.
pub(crate) fn state() -> LookRequest {
    LookRequest {
        state: true,
        ..LookRequest::default()
    }
}

/// Is somebody at work?
pub(crate) fn work() -> LookRequest {
    LookRequest {
        work: true,
        ..LookRequest::default()
    }
}
