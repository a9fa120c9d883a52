//! What the tests over real sockets share: a fleet, a client that asks it, and a server that holds images.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use mock_bmc::fleet::Fleet;
use mock_bmc::ledger::{Kind, LedgerLine};
use mock_bmc::script::Script;
use mock_bmc::server::{BmcHandle, Running, ServeOptions, serve};
use reqwest::{Method, Response, StatusCode};
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Longest real wait for something that is sure to come.
const WAIT_MAX: Duration = Duration::from_secs(20);

/// One served BMC with a logged-in client.
pub(crate) struct Bench {
    pub(crate) running: Running,
    pub(crate) url: String,
    client: reqwest::Client,
    token: Mutex<Option<String>>,
}

impl Bench {
    /// One `generic` BMC with `systems` systems over HTTPS, at 600 times real speed, with a script in TOML.
    pub(crate) async fn start(systems: usize, script: &str) -> Self {
        let options = ServeOptions {
            tls: true,
            ..ServeOptions::default()
        };
        Self::with(systems, script, options).await
    }

    /// The same with more to say about how it is served; HTTP where that does not ask for more.
    pub(crate) async fn with(systems: usize, script: &str, options: ServeOptions) -> Self {
        let script: Script = script.parse().unwrap();
        let fleet = Fleet::builder()
            .script(script)
            .platform("generic", 1, systems)
            .build();
        let options = ServeOptions {
            time_scale: 600.0,
            ..options
        };
        let running = serve(fleet, options).await.unwrap();
        let url = running.endpoints()[0].url.clone();
        Self {
            running,
            url,
            client: client(),
            token: Mutex::new(None),
        }
    }

    pub(crate) fn bmc(&self) -> BmcHandle {
        self.running.bmc("mock-1").unwrap()
    }

    /// A connection of its own, for a client that speaks HTTP by itself.
    pub(crate) async fn connect(&self) -> TcpStream {
        let (_, authority) = self.url.split_once("://").unwrap();
        TcpStream::connect(authority).await.unwrap()
    }

    /// Opens a session for what is sent from now on; its token.
    pub(crate) async fn log_in(&self) -> String {
        let body = r#"{"UserName":"root","Password":"secret"}"#;
        let answer = self
            .send(Method::POST, "/redfish/v1/SessionService/Sessions", body)
            .await
            .unwrap();
        assert_eq!(answer.status(), StatusCode::CREATED);
        let token = answer.headers()["x-auth-token"]
            .to_str()
            .unwrap()
            .to_owned();
        *self.token.lock().unwrap() = Some(token.clone());
        token
    }

    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        body: &str,
    ) -> reqwest::Result<Response> {
        let mut request = self.client.request(method, format!("{}{path}", self.url));
        if !body.is_empty() {
            request = request
                .header("content-type", "application/json")
                .body(body.to_owned());
        }
        let token = self.token.lock().unwrap().clone();
        if let Some(token) = token {
            request = request.header("x-auth-token", token);
        }
        request.send().await
    }

    /// A GET that must answer 200 with JSON.
    pub(crate) async fn get(&self, path: &str) -> Value {
        let answer = self.send(Method::GET, path, "").await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK, "GET {path}");
        json(answer).await
    }

    /// Everything that was written down so far, of one kind.
    pub(crate) fn lines(&self, kind: Kind) -> Vec<LedgerLine> {
        let mut lines = self.bmc().ledger();
        lines.retain(|line| line.kind == kind);
        lines
    }
}

/// A client that takes any certificate and opens a connection for each request, so that each test sees the socket.
pub(crate) fn client() -> reqwest::Client {
    // Every test of the process wants the same one; only the first succeeds.
    drop(rustls::crypto::aws_lc_rs::default_provider().install_default());
    reqwest::Client::builder()
        .tls_danger_accept_invalid_certs(true)
        .pool_max_idle_per_host(0)
        .no_proxy()
        .timeout(WAIT_MAX)
        .tls_info(true)
        .build()
        .unwrap()
}

pub(crate) async fn json(answer: Response) -> Value {
    serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap()
}

/// Asks until there is an answer; the wait is bounded by real time only.
pub(crate) async fn until<T>(what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = ask().await {
            return found;
        }
        assert!(began.elapsed() < WAIT_MAX, "waited in vain: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A plain HTTP server of image files that counts how often each was asked for.
pub(crate) struct ImageServer {
    pub(crate) url: String,
    hits: Arc<Mutex<BTreeMap<String, usize>>>,
    /// Dropping them ends the server.
    _tasks: JoinSet<()>,
}

impl ImageServer {
    pub(crate) async fn start(files: &[(&str, Vec<u8>)]) -> Self {
        let files: BTreeMap<String, Bytes> = files
            .iter()
            .map(|(path, bytes)| ((*path).to_owned(), Bytes::from(bytes.clone())))
            .collect();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let hits: Arc<Mutex<BTreeMap<String, usize>>> = Arc::default();
        let (files, counted) = (Arc::new(files), Arc::clone(&hits));
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(answer(stream, Arc::clone(&files), Arc::clone(&counted)));
            }
        });
        Self {
            url,
            hits,
            _tasks: tasks,
        }
    }

    pub(crate) fn hits(&self, path: &str) -> usize {
        self.hits
            .lock()
            .unwrap()
            .get(path)
            .copied()
            .unwrap_or_default()
    }
}

async fn answer(
    stream: TcpStream,
    files: Arc<BTreeMap<String, Bytes>>,
    hits: Arc<Mutex<BTreeMap<String, usize>>>,
) {
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let path = request.uri().path().to_owned();
        let file = files.get(&path).cloned();
        *hits.lock().unwrap().entry(path).or_default() += 1;
        let found = file.is_some();
        let mut answer = hyper::Response::new(Full::new(file.unwrap_or_default()));
        if !found {
            *answer.status_mut() = StatusCode::NOT_FOUND;
        }
        std::future::ready(Ok::<_, Infallible>(answer))
    });
    drop(
        http1::Builder::new()
            .serve_connection(TokioIo::new(stream), service)
            .await,
    );
}
