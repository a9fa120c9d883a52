//! The transport over real sockets: few shared clients for the whole fleet, one small object per BMC.
//!
//! It sends what it is given, once; only a read on a connection that had died in the pool is sent again.

use std::collections::BTreeMap;
use std::error::Error as StdError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::future::BoxFuture;
use http::{Method, Request, Version};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use reqwest::Body;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::sockets::{CONNECT, Sockets, sockets, uri};
use super::tls::{ATTEMPT, Attempt, Class, TlsError, Trust, client_config};
use super::tls_tickets::Tickets;
use super::upload::with_file;
use super::{
    ANSWER_BYTES_MAX, CertProblem, Timeouts, Transport, WireBody, WireError, WireRequest,
    WireResponse,
};
use crate::model::inventory::{Address, Scheme, TlsMode};
use crate::model::{Fault, FaultKind, Retry};
use crate::redfish::lock::lock;
use crate::redfish::memory::Memory;

/// Requests in flight over all BMCs: half of a usual limit of 1024 open files, which also holds idle connections, the
/// store and images.
pub const SOCKETS_MAX: usize = 512;

/// Shared clients of a fleet: one for each way to judge certificates.
pub struct HttpFleet {
    fleet: usize,
    sockets: Arc<Semaphore>,
    clients: Mutex<BTreeMap<Class, Arc<Shared>>>,
}

/// What the BMCs of one class share.
struct Shared {
    /// Offers HTTP/2 and HTTP/1.1.
    any: Sockets,
    /// Offers HTTP/1.1 alone.
    http1: Sockets,
    /// Makes the bodies of uploads, and sends nothing.
    forms: reqwest::Client,
    tickets: Arc<Tickets>,
}

impl HttpFleet {
    /// For this many BMCs, with at most `sockets_max` requests in flight over all of them.
    pub fn new(fleet: usize, sockets_max: usize) -> Self {
        Self {
            fleet,
            sockets: Arc::new(Semaphore::new(sockets_max.max(1))),
            clients: Mutex::new(BTreeMap::new()),
        }
    }

    /// The transport of one BMC. Fails where its `ca` file or the system's roots cannot be used.
    pub fn transport(
        &self,
        address: &Address,
        tls: &TlsMode,
        memory: Arc<dyn Memory>,
    ) -> Result<HttpTransport, Box<Fault>> {
        let class = match tls {
            TlsMode::Verify => Class::System,
            TlsMode::Ca(path) => Class::Ca(path.clone()),
            TlsMode::FirstUse | TlsMode::Pin(_) => Class::Pinned,
            TlsMode::Insecure => Class::Insecure,
        };
        // Clear text needs no roots, whatever is written.
        let class = if address.scheme == Scheme::Http {
            Class::Insecure
        } else {
            class
        };
        let shared = self
            .shared(&class)
            .map_err(|error| Box::new(tls_fault(address, &error)))?;
        shared.tickets.register(&address.host, address.port);
        Ok(HttpTransport {
            address: address.clone(),
            trust: Arc::new(Trust::new(tls.clone(), address.host_port(), memory)),
            shared,
            sockets: Arc::clone(&self.sockets),
            http1_only: AtomicBool::new(false),
            answered: AtomicBool::new(false),
        })
    }

    fn shared(&self, class: &Class) -> Result<Arc<Shared>, TlsError> {
        let mut clients = lock(&self.clients);
        if let Some(shared) = clients.get(class) {
            return Ok(Arc::clone(shared));
        }
        let tickets = Arc::new(Tickets::new(self.fleet));
        let config = client_config(class, Arc::clone(&tickets))?;
        let forms = reqwest::Client::builder()
            .tls_backend_preconfigured(config.clone())
            .build()
            .map_err(|error| TlsError::Engine(rustls::Error::General(chain(&error))))?;
        let shared = Arc::new(Shared {
            any: sockets(&config, false),
            http1: sockets(&config, true),
            forms,
            tickets,
        });
        clients.insert(class.clone(), Arc::clone(&shared));
        Ok(shared)
    }
}

/// One BMC over real sockets.
pub struct HttpTransport {
    address: Address,
    trust: Arc<Trust>,
    shared: Arc<Shared>,
    sockets: Arc<Semaphore>,
    /// HTTP/2 was offered and led nowhere.
    http1_only: AtomicBool,
    /// Some answer came.
    answered: AtomicBool,
}

impl Drop for HttpTransport {
    fn drop(&mut self) {
        self.shared.tickets.release(&self.address.host);
    }
}

impl Transport for HttpTransport {
    fn send(&self, request: WireRequest) -> BoxFuture<'_, Result<WireResponse, WireError>> {
        Box::pin(async move {
            let Ok(Ok(_socket)) = timeout(CONNECT, self.sockets.acquire()).await else {
                return Err(WireError::NotSent(
                    "too many requests are in flight".to_owned(),
                ));
            };
            let again = (request.method == Method::GET).then(|| request.clone());
            match (self.send_once(request).await, again) {
                (Err(Missed::Broken(text)), Some(again)) => {
                    tracing::debug!(path = %again.path, %text, "read is sent again on a new connection");
                    self.send_once(again).await.map_err(WireError::from)
                }
                (result, _) => result.map_err(WireError::from),
            }
        })
    }
}

/// Why there is no answer, as far as it matters for a second try.
enum Missed {
    /// Nothing was sent.
    Wire(WireError),
    /// The connection broke: it may have died in the pool.
    Broken(String),
    /// Time ran out, or the answer is too long: a new connection would not help.
    Lost(String),
}

impl From<Missed> for WireError {
    fn from(missed: Missed) -> Self {
        match missed {
            Missed::Wire(error) => error,
            Missed::Broken(text) | Missed::Lost(text) => Self::Lost(text),
        }
    }
}

impl HttpTransport {
    async fn send_once(&self, request: WireRequest) -> Result<WireResponse, Missed> {
        if self.trust.is_first_use() {
            // A resumed session would show no certificate to remember.
            self.shared.tickets.forget(&self.address.host);
        }
        let attempt = Attempt::new(Arc::clone(&self.trust));
        let result = ATTEMPT
            .scope(Arc::clone(&attempt), self.exchange(request))
            .await;
        if let Some(problem) = attempt.problem() {
            return Err(Missed::Wire(WireError::Certificate(problem)));
        }
        match &result {
            Ok(_) => {
                self.answered.store(true, Ordering::Relaxed);
                self.remember(&attempt).map_err(Missed::Wire)?;
            }
            Err(Missed::Broken(_) | Missed::Lost(_)) if !self.answered.load(Ordering::Relaxed) => {
                // Some services offer HTTP/2 and cannot speak it: until one answer has come, both are tried in turn.
                self.http1_only.fetch_not(Ordering::Relaxed);
            }
            Err(_) => {}
        }
        result
    }

    /// After a whole handshake by first use, its certificate is the one to expect. Another process may have met another
    /// one meanwhile: then this answer is not believed.
    fn remember(&self, attempt: &Attempt) -> Result<(), WireError> {
        let Some(seen) = attempt.first_seen() else {
            return Ok(());
        };
        let Trust {
            memory, host_port, ..
        } = &*self.trust;
        if memory.remember_pin(host_port, &seen) {
            tracing::info!(address = %self.address, fingerprint = %seen, "certificate remembered on first use");
            return Ok(());
        }
        match memory.pin(host_port) {
            Some(pinned) if pinned != seen => Err(WireError::Certificate(CertProblem::Changed {
                pinned,
                seen,
            })),
            Some(_) | None => Ok(()),
        }
    }

    async fn exchange(&self, request: WireRequest) -> Result<WireResponse, Missed> {
        let Timeouts { answer, upload } = request.timeouts;
        let is_upload = !matches!(request.body, WireBody::Empty);
        let first = CONNECT + answer + if is_upload { upload } else { Duration::ZERO };
        let sockets = if self.http1_only.load(Ordering::Relaxed) {
            &self.shared.http1
        } else {
            &self.shared.any
        };
        let client = sockets.client(request.more_follows);
        let ready = self.ready(request).await;
        let ready = ready.map_err(|text| Missed::Wire(WireError::NotSent(text)))?;
        let response = match timeout(first, client.request(ready)).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(missed(&error)),
            Err(_) => {
                return Err(Missed::Lost(format!(
                    "no answer within {} s",
                    first.as_secs()
                )));
            }
        };
        let (head, body) = response.into_parts();
        Ok(WireResponse {
            status: head.status.as_u16(),
            headers: head.headers,
            body: read_body(body, answer).await?,
            http2: head.version == Version::HTTP_2,
        })
    }

    /// The request as it is sent.
    async fn ready(&self, request: WireRequest) -> Result<Request<Body>, String> {
        let WireRequest {
            method,
            path,
            headers,
            body,
            progress,
            ..
        } = request;
        if !path.starts_with('/') {
            return Err(format!("`{path}` is not an absolute path"));
        }
        let uri = uri(&self.address.base, &path)?;
        let body = match body {
            WireBody::Empty => Body::default(),
            WireBody::Bytes(bytes) => Body::from(bytes),
            WireBody::File { .. } | WireBody::Multipart { .. } => {
                let builder = self.shared.forms.request(method, uri.to_string());
                let builder = with_file(builder.headers(headers), body, progress).await?;
                let ready = builder.build().and_then(TryInto::try_into);
                return ready.map_err(|error| chain(&error));
            }
        };
        let mut ready = Request::new(body);
        *ready.method_mut() = method;
        *ready.uri_mut() = uri;
        *ready.headers_mut() = headers;
        Ok(ready)
    }
}

/// Reads a body chunk by chunk: each within the time, all within the bound.
async fn read_body(mut rest: Incoming, each: Duration) -> Result<Bytes, Missed> {
    let mut body = BytesMut::new();
    loop {
        let chunk = match timeout(each, rest.frame()).await {
            Ok(Some(Ok(frame))) => frame.into_data().unwrap_or_default(),
            Ok(None) => return Ok(body.freeze()),
            Ok(Some(Err(error))) => {
                return Err(Missed::Broken(format!(
                    "the answer broke off: {}",
                    told(&error)
                )));
            }
            Err(_) => {
                return Err(Missed::Lost(format!(
                    "the answer stopped for {} s in its middle",
                    each.as_secs()
                )));
            }
        };
        if body.len() + chunk.len() > ANSWER_BYTES_MAX {
            return Err(Missed::Lost(format!(
                "the answer is longer than {} MiB",
                ANSWER_BYTES_MAX / 1024 / 1024
            )));
        }
        body.extend_from_slice(&chunk);
    }
}

/// A failure to connect leaves nothing sent; after that nobody knows.
fn missed(error: &hyper_util::client::legacy::Error) -> Missed {
    if error.is_connect() {
        Missed::Wire(WireError::NotSent(chain(error)))
    } else {
        Missed::Broken(chain(error))
    }
}

/// The causes of an error in one line, without what the client itself puts first.
fn chain(error: &dyn StdError) -> String {
    error.source().map_or_else(|| error.to_string(), told)
}

/// An error and its causes in one line, without saying anything twice.
fn told(error: &dyn StdError) -> String {
    let mut texts: Vec<String> = Vec::new();
    let mut next = Some(error);
    while let Some(cause) = next {
        let text = cause.to_string();
        if !texts.iter().any(|said| said.contains(&text)) {
            texts.push(text);
        }
        next = cause.source();
    }
    texts.join(": ")
}

fn tls_fault(address: &Address, error: &TlsError) -> Fault {
    let text = format!("no TLS to `{address}` is possible");
    Fault::new(FaultKind::CertificateUntrusted, Retry::Operator, text)
        .with_cause(error.to_string())
        .with_hint("set another `tls` mode, such as `\"first-use\"` or `{ ca = \"..\" }`")
}
