//! A BMC of a few lines behind a `Transport`, a memory that several "processes" share, and a clock that follows tokio's.

mod kept;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderMap, Method};
use jiff::{SignedDuration, Timestamp};
use secrecy::SecretString;
use serde_json::{Value, json};
use tokio::time::Instant;

pub(super) use self::kept::{TestClock, TestMemory};
use crate::model::inventory::{Address, AuthMode, Pace, Scheme};
use crate::redfish::{
    Conversation, CredentialSource, Login, Parts, Reload, Transport, WireBody, WireError,
    WireRequest, WireResponse, X_AUTH_TOKEN,
};

pub(super) const PASSWORD: &str = "hunter2-secret";
pub(super) const SESSIONS: &str = "/redfish/v1/SessionService/Sessions";
pub(super) const SYSTEM: &str = "/redfish/v1/Systems/1";

/// What happens to the next request that a fault is meant for.
#[derive(Clone)]
pub(super) enum Fault {
    Answer(u16, Vec<(&'static str, String)>, String),
    Wire(WireError),
    /// Processed, then never answered.
    Hang,
}

/// One request as it arrived.
#[derive(Clone, Debug)]
pub(super) struct Arrived {
    pub(super) at: Instant,
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) headers: HeaderMap,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) password: String,
    pub(super) tokens: BTreeMap<String, String>,
    pub(super) arrived: Vec<Arrived>,
    pub(super) faults: VecDeque<(Method, String, Fault)>,
    pub(super) resources: BTreeMap<String, Value>,
    /// `If-Match` values that PATCH takes; empty = any or none.
    pub(super) takes: Vec<&'static str>,
    pub(super) etag: Option<&'static str>,
    pub(super) offers_sessions: bool,
    /// The next login is processed and never answered.
    pub(super) swallows_login: bool,
    /// When each session was opened, by URI, counted from the start of the test.
    pub(super) opened: BTreeMap<String, Duration>,
    start: Option<Instant>,
    next: u32,
}

/// The BMC.
#[derive(Clone)]
pub(super) struct FakeBmc {
    pub(super) state: Arc<Mutex<State>>,
}

impl FakeBmc {
    pub(super) fn new() -> Self {
        let root = json!({"Links": {"Sessions": {"@odata.id": SESSIONS}}, "Managers": {"@odata.id": "/redfish/v1/Managers"},
            "AccountService": {"@odata.id": "/redfish/v1/AccountService"}});
        let resources = [
            ("/redfish/v1/", root),
            ("/redfish/v1/Managers", json!({"Members": []})),
            (
                "/redfish/v1/AccountService",
                json!({"AccountLockoutThreshold": 5}),
            ),
            (SYSTEM, json!({"Id": "1", "AssetTag": "old"})),
        ];
        let state = State {
            password: PASSWORD.to_owned(),
            resources: resources
                .into_iter()
                .map(|(path, json)| (path.to_owned(), json))
                .collect(),
            offers_sessions: true,
            ..State::default()
        };
        Self {
            state: Arc::new(Mutex::new(state)),
        }
    }

    pub(super) fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.lock().unwrap())
    }

    /// The next request of this method and path meets a fault.
    pub(super) fn fault(&self, method: Method, path: &str, fault: Fault) {
        self.with(|state| state.faults.push_back((method, path.to_owned(), fault)));
    }

    pub(super) fn arrived(&self, method: &Method, path: &str) -> Vec<Arrived> {
        self.with(|s| {
            s.arrived
                .iter()
                .filter(|r| r.method == *method && r.path == path)
                .cloned()
                .collect()
        })
    }

    pub(super) fn count(&self, method: &Method, path: &str) -> usize {
        self.arrived(method, path).len()
    }

    pub(super) fn live_sessions(&self) -> usize {
        self.with(|state| state.tokens.len())
    }

    pub(super) fn end_sessions(&self) {
        self.with(|state| state.tokens.clear());
    }
}

impl Transport for FakeBmc {
    fn send(&self, request: WireRequest) -> BoxFuture<'_, Result<WireResponse, WireError>> {
        let fault = self.with(|state| state.receive(&request));
        if request.path == SESSIONS && self.with(|state| std::mem::take(&mut state.swallows_login))
        {
            self.with(|state| state.answer(&request));
            return Box::pin(std::future::pending());
        }
        Box::pin(async move {
            match fault {
                Some(Fault::Hang) => std::future::pending().await,
                Some(Fault::Wire(error)) => Err(error),
                Some(Fault::Answer(status, headers, body)) => Ok(response(status, &headers, body)),
                None => Ok(self.with(|state| state.answer(&request))),
            }
        })
    }
}

impl State {
    fn receive(&mut self, request: &WireRequest) -> Option<Fault> {
        self.arrived.push(Arrived {
            at: Instant::now(),
            method: request.method.clone(),
            path: request.path.clone(),
            headers: request.headers.clone(),
        });
        let hit = self
            .faults
            .iter()
            .position(|(method, path, _)| *method == request.method && *path == request.path)?;
        self.faults.remove(hit).map(|(_, _, fault)| fault)
    }

    fn answer(&mut self, request: &WireRequest) -> WireResponse {
        if request.path == SESSIONS && request.method == Method::POST {
            return self.log_in(request);
        }
        if request.path != "/redfish/v1/" && !self.is_let_in(request) {
            return response(401, &[], error("NoValidSession"));
        }
        if let Some(at) = self
            .tokens
            .iter()
            .find(|(_, uri)| **uri == request.path)
            .map(|(token, _)| token.clone())
        {
            if request.method == Method::DELETE {
                self.tokens.remove(&at);
            }
            return response(200, &[], self.session(&request.path).to_string());
        }
        if request.path == SESSIONS {
            let members: Vec<Value> = self
                .tokens
                .values()
                .map(|uri| json!({"@odata.id": uri}))
                .collect();
            return response(200, &[], json!({"Members": members}).to_string());
        }
        match (self.resources.get(&request.path), request.method.as_str()) {
            (None, _) => response(404, &[], error("ResourceMissingAtURI")),
            (Some(_), "PATCH") => self.patch(request),
            (Some(_), "POST") => response(
                202,
                &[("location", "/redfish/v1/TaskService/Tasks/1".to_owned())],
                "{}".to_owned(),
            ),
            (Some(json), _) => {
                let etag: Vec<_> = self
                    .etag
                    .iter()
                    .map(|etag| ("etag", (*etag).to_owned()))
                    .collect();
                response(200, &etag, json.to_string())
            }
        }
    }

    fn log_in(&mut self, request: &WireRequest) -> WireResponse {
        if !self.offers_sessions {
            return response(405, &[], error("OperationNotAllowed"));
        }
        let WireBody::Bytes(bytes) = &request.body else {
            return response(400, &[], error("MalformedJSON"));
        };
        let sent: Value = serde_json::from_slice(bytes).unwrap();
        if sent["Password"] != self.password.as_str() {
            return response(401, &[], error("ResourceAtUriUnauthorized"));
        }
        self.next += 1;
        let (token, uri) = (
            format!("token-{}", self.next),
            format!("{SESSIONS}/{}", self.next),
        );
        self.tokens.insert(token.clone(), uri.clone());
        let start = *self.start.get_or_insert_with(Instant::now);
        self.opened.insert(uri.clone(), start.elapsed());
        response(
            201,
            &[(X_AUTH_TOKEN, token), ("location", uri)],
            "{}".to_owned(),
        )
    }

    fn session(&self, uri: &str) -> Value {
        let start: Timestamp = "1970-01-01T00:00:00Z".parse().unwrap();
        let at = start + SignedDuration::try_from(self.opened[uri]).unwrap();
        json!({"UserName": "root", "CreatedTime": at.to_string()})
    }

    fn is_let_in(&self, request: &WireRequest) -> bool {
        let header = |name: &str| {
            request
                .headers
                .get(name)
                .map(|value| value.to_str().unwrap().to_owned())
        };
        let basic =
            || header("authorization").is_some_and(|sent| sent == basic_for(&self.password));
        header(X_AUTH_TOKEN).is_some_and(|token| self.tokens.contains_key(&token)) || basic()
    }

    fn patch(&mut self, request: &WireRequest) -> WireResponse {
        let sent = request
            .headers
            .get("if-match")
            .map(|value| value.to_str().unwrap());
        if !self.takes.is_empty() && !sent.is_some_and(|sent| self.takes.contains(&sent)) {
            let (status, key) = if sent.is_some() {
                (412, "PreconditionFailed")
            } else {
                (428, "PreconditionRequired")
            };
            return response(status, &[], error(key));
        }
        response(200, &[], "{}".to_owned())
    }
}

pub(super) fn basic_for(password: &str) -> String {
    let login = Login {
        username: "root".to_owned(),
        password: SecretString::from(password),
        mark: String::new(),
    };
    crate::redfish::session::basic::basic_header(&login)
        .to_str()
        .unwrap()
        .to_owned()
}

pub(super) fn error(key: &str) -> String {
    json!({"error": {"code": "Base.1.8.GeneralError", "message": "see inside",
        "@Message.ExtendedInfo": [{"MessageId": format!("Base.1.8.{key}"), "Message": format!("it is {key}")}]}})
    .to_string()
}

fn response(status: u16, headers: &[(&'static str, String)], body: String) -> WireResponse {
    let headers = headers
        .iter()
        .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
        .collect();
    WireResponse {
        status,
        headers,
        body: Bytes::from(body),
        http2: false,
    }
}

/// A pace that never waits, so that a test sees only the waits it is about. Its settle time is the default, so nothing
/// is scaled.
pub(super) fn quick() -> Pace {
    Pace {
        requests_per_second: 1_000_000.0,
        burst: 1000,
        ..Pace::default()
    }
}

/// A source that answers with these passwords in turn; the last one stays.
pub(super) fn source(passwords: &[&str]) -> CredentialSource {
    let passwords: Vec<String> = passwords.iter().map(|&text| text.to_owned()).collect();
    let reads = Mutex::new(0_usize);
    Arc::new(move |reload| {
        let mut reads = reads.lock().unwrap();
        if reload == Reload::Fresh {
            *reads += 1;
        }
        let password = passwords[(*reads).min(passwords.len() - 1)].clone();
        Box::pin(async move {
            let mark = format!("mark-of-{}", password.len());
            Ok(Login {
                username: "root".to_owned(),
                password: SecretString::from(password),
                mark,
            })
        })
    })
}

/// A conversation of one "process" with this BMC.
pub(super) fn talk(
    bmc: &FakeBmc,
    memory: &TestMemory,
    change: impl FnOnce(&mut Parts),
) -> Conversation {
    talk_as("r04-c1", bmc, memory, change)
}

pub(super) fn talk_as(
    name: &str,
    bmc: &FakeBmc,
    memory: &TestMemory,
    change: impl FnOnce(&mut Parts),
) -> Conversation {
    let mut parts = Parts {
        bmc: name.into(),
        address: Address::new(Scheme::Https, "10.0.4.17", None),
        auth: AuthMode::Auto,
        pace: quick(),
        transport: Arc::new(bmc.clone()),
        memory: Arc::new(memory.clone()),
        clock: TestClock::of(memory),
        credentials: Some(source(&[PASSWORD])),
    };
    change(&mut parts);
    Conversation::new(parts)
}

pub(super) fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}
