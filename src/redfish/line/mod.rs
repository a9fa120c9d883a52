//! This room is the line to one BMC: every request passes its gate and its breaker, and every answer is read here.
//!
//! It knows nothing of sessions and repeats nothing.

mod answer;
mod breaker;
mod clock;
mod messages;
mod pace;
mod reading;
mod retry_after;
mod trouble;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue, USER_AGENT};
use http::{HeaderMap, Method};
use secrecy::SecretString;
use tokio::time::{Instant, timeout};

pub(super) use self::answer::is_session_limit;
pub use self::answer::{Answer, Patched, Sent};
use self::breaker::Breaker;
pub use self::clock::Clock;
pub use self::messages::{bmc_message, bmc_messages};
pub(super) use self::messages::{scrub, scrub_json, secrets_in};
pub(super) use self::pace::scaled;
use self::pace::{Gate, retry_after_max};
use self::reading::read_answer;
pub(super) use self::reading::{digest, path_on};
pub(super) use self::trouble::Trouble;
use crate::model::inventory::{Address, Pace};
use crate::model::{BmcName, Fault};
use crate::redfish::lock::lock;
use crate::redfish::transport::{
    Progress, Timeouts, Transport, WireBody, WireError, WireRequest, WireResponse, X_AUTH_TOKEN,
};

/// How long the breaker stays open, at the default pace.
const BREAKER_OPEN_FOR: Duration = Duration::from_mins(2);

/// Answer to an ordinary read: slow resources of slow BMCs take 3 to 11 s.
const ANSWER_READ: Duration = Duration::from_secs(30);

/// Answer to a read of the firmware inventory or of an expanded collection: some need 2 to 3 minutes.
const ANSWER_INVENTORY: Duration = Duration::from_mins(3);

/// Answer to a request that changes something: starting an update takes some BMCs 2 minutes.
const ANSWER_CHANGE: Duration = Duration::from_mins(3);

/// Answer to an uploaded image: it is unpacked and checked first.
const ANSWER_UPLOAD: Duration = Duration::from_mins(10);

/// Part of every path of a session: those are our own, and change nothing on the machine.
const SESSIONS: &str = "/Sessions";

/// Time for a body that is not a file to leave.
const UPLOAD_SMALL: Duration = Duration::from_secs(30);

/// Time for an image to leave: a floor, and twice the 2 s per megabyte that other tools grant.
const UPLOAD_FLOOR: Duration = Duration::from_mins(5);
const UPLOAD_SECS_PER_MB: u64 = 4;

/// One BMC's line.
pub(super) struct Line {
    pub(super) bmc: BmcName,
    pub(super) address: Address,
    pub(super) pace: Pace,
    transport: Arc<dyn Transport>,
    clock: Arc<dyn Clock>,
    gate: Gate,
    breaker: Mutex<Breaker>,
    outage: AtomicBool,
    root_good_since: Mutex<Option<Instant>>,
    answering_millis: AtomicU64,
    progress: Mutex<Option<Progress>>,
    guard: Mutex<Option<Guard>>,
}

/// Asked right before a request that changes something leaves; the error says why it must not.
pub type Guard = Arc<dyn Fn() -> Result<(), String> + Send + Sync>;

impl Line {
    pub(super) fn new(
        bmc: BmcName,
        address: Address,
        pace: Pace,
        transport: Arc<dyn Transport>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let breaker = Breaker::new(scaled(&pace, BREAKER_OPEN_FOR));
        Self {
            bmc,
            address,
            gate: Gate::new(&pace),
            pace,
            transport,
            clock,
            breaker: Mutex::new(breaker),
            outage: AtomicBool::new(false),
            root_good_since: Mutex::new(None),
            answering_millis: AtomicU64::new(0),
            progress: Mutex::new(None),
            guard: Mutex::new(None),
        }
    }

    /// Sends one request with these headers beside the usual ones. A session token in the answer comes beside it.
    pub(super) async fn exchange(
        &self,
        method: Method,
        path: &str,
        extra: HeaderMap,
        body: WireBody,
    ) -> Result<(Answer, Option<SecretString>), Trouble> {
        let response = self.send(method, path, extra, body).await?;
        Ok(self.answered(path, response))
    }

    /// The same without reading the answer, where it is one that says nothing new by itself.
    pub(super) async fn glance(
        &self,
        path: &str,
        extra: HeaderMap,
    ) -> Result<Option<WireResponse>, Trouble> {
        let response = self.send(Method::GET, path, extra, WireBody::Empty).await?;
        if matches!(response.status, 200 | 304) {
            lock(&self.breaker).good();
            return Ok(Some(response));
        }
        self.answered(path, response);
        Ok(None)
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        extra: HeaderMap,
        body: WireBody,
    ) -> Result<WireResponse, Trouble> {
        let changes = method != Method::GET && method != Method::HEAD;
        let request = self.request(method, path, extra, body);
        let _turn = self.gate.turn(changes).await;
        self.admit()?;
        if changes && !path.contains(SESSIONS) {
            self.may_change()?;
        }
        let started = Instant::now();
        let result = match timeout(
            request.timeouts.total(),
            self.transport.send(request.clone()),
        )
        .await
        {
            Ok(result) => result,
            Err(_) => Err(WireError::Lost(
                "no answer within the time allowed".to_owned(),
            )),
        };
        let millis = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        match result {
            Ok(response) => {
                self.answering_millis.fetch_add(millis, Ordering::Relaxed);
                tracing::trace!(bmc = %self.bmc, method = %request.method, path, status = response.status, millis, "request answered");
                if response.http2 {
                    self.gate.widen();
                }
                Ok(response)
            }
            Err(error) => {
                tracing::trace!(bmc = %self.bmc, method = %request.method, path, %error, millis, "request failed");
                self.failed(&error);
                Err(Trouble::Wire(error))
            }
        }
    }

    /// Turns an exchange's trouble into a fault.
    pub(super) fn fault(&self, trouble: Trouble, what: &str, path: &str) -> Fault {
        trouble.fault(what, path, &self.bmc, &self.address)
    }

    pub(super) fn now(&self) -> jiff::Timestamp {
        self.clock.now()
    }

    /// How long the BMC has taken for its answers.
    pub(super) fn answering(&self) -> Duration {
        Duration::from_millis(self.answering_millis.load(Ordering::Relaxed))
    }

    pub(super) fn in_outage(&self) -> bool {
        self.outage.load(Ordering::Relaxed)
    }

    /// Enters or leaves a declared outage. Either way what was counted before means nothing now.
    pub(super) fn set_outage(&self, on: bool) {
        if self.outage.swap(on, Ordering::Relaxed) != on {
            lock(&self.breaker).good();
            *lock(&self.root_good_since) = None;
        }
    }

    pub(super) fn set_progress(&self, progress: Option<Progress>) {
        *lock(&self.progress) = progress;
    }

    /// Notes a good read of the service root; how long it has been good without a failure between.
    pub(super) fn root_good_for(&self) -> Duration {
        lock(&self.root_good_since)
            .get_or_insert_with(Instant::now)
            .elapsed()
    }

    pub(super) fn set_guard(&self, guard: Option<Guard>) {
        *lock(&self.guard) = guard;
    }

    /// Whether somebody is asked then: whoever changes things asks.
    pub(super) fn has_guard(&self) -> bool {
        lock(&self.guard).is_some()
    }

    /// Whoever waited, or was suspended, may have lost the right to send.
    fn may_change(&self) -> Result<(), Trouble> {
        let guard = lock(&self.guard).clone();
        guard.map_or(Ok(()), |guard| {
            guard().map_err(|why| Trouble::Wire(WireError::NotSent(why)))
        })
    }

    fn admit(&self) -> Result<(), Trouble> {
        if self.in_outage() {
            return Ok(());
        }
        lock(&self.breaker)
            .admit(Instant::now())
            .map_err(Trouble::Broken)
    }

    fn answered(&self, path: &str, response: WireResponse) -> (Answer, Option<SecretString>) {
        let token = token_of(&response.headers);
        let answer = read_answer(
            path,
            response,
            &self.address,
            self.clock.now(),
            retry_after_max(&self.pace),
        );
        if answer.is_later() {
            // The BMC is well enough to say so: neither a failure nor a sign of health.
            if let Some(wait) = answer.retry_after {
                self.gate.hold(wait);
            }
            *lock(&self.root_good_since) = None;
        } else if is_ill(&answer) {
            self.note_bad(ill_answer(&answer));
        } else {
            lock(&self.breaker).good();
        }
        (answer, token)
    }

    fn failed(&self, error: &WireError) {
        match error {
            // It answers, and a person must decide: waiting would not help.
            WireError::Certificate(_) => *lock(&self.root_good_since) = None,
            WireError::NotSent(_) | WireError::Lost(_) => self.note_bad(error.to_string()),
        }
    }

    fn note_bad(&self, why: String) {
        if !self.in_outage() {
            lock(&self.breaker).bad(Instant::now(), why);
        }
        *lock(&self.root_good_since) = None;
    }

    fn request(&self, method: Method, path: &str, extra: HeaderMap, body: WireBody) -> WireRequest {
        let mut headers = usual_headers(&body);
        headers.extend(extra);
        let timeouts = timeouts_for(&method, path, &body);
        let progress = if body.is_file() {
            lock(&self.progress).clone()
        } else {
            None
        };
        WireRequest {
            method,
            path: path.to_owned(),
            headers,
            body,
            timeouts,
            // A run polls what it has begun.
            more_follows: self.has_guard(),
            progress,
        }
    }
}

/// Headers of every request, and no unusual ones: some BMCs refuse what they do not know.
fn usual_headers(body: &WireBody) -> HeaderMap {
    const ODATA_VERSION: HeaderName = HeaderName::from_static("odata-version");
    const AGENT: HeaderValue =
        HeaderValue::from_static(concat!("redpipe/", env!("CARGO_PKG_VERSION")));
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    headers.insert(ODATA_VERSION, HeaderValue::from_static("4.0"));
    headers.insert(USER_AGENT, AGENT);
    match body {
        WireBody::Bytes(_) => {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        WireBody::File { .. } => {
            headers.insert(
                CONTENT_TYPE,
                HeaderValue::from_static("application/octet-stream"),
            );
        }
        WireBody::Empty | WireBody::Multipart { .. } => {}
    }
    headers
}

fn timeouts_for(method: &Method, path: &str, body: &WireBody) -> Timeouts {
    let (answer, upload) = match body {
        WireBody::File { bytes, .. } | WireBody::Multipart { bytes, .. } => {
            let by_size =
                Duration::from_secs((bytes / 1_000_000).saturating_mul(UPLOAD_SECS_PER_MB));
            (ANSWER_UPLOAD, UPLOAD_FLOOR.max(by_size))
        }
        WireBody::Empty | WireBody::Bytes(_) if method != Method::GET => {
            (ANSWER_CHANGE, UPLOAD_SMALL)
        }
        WireBody::Empty | WireBody::Bytes(_)
            if path.contains("/FirmwareInventory") || path.contains("$expand") =>
        {
            (ANSWER_INVENTORY, UPLOAD_SMALL)
        }
        WireBody::Empty | WireBody::Bytes(_) => (ANSWER_READ, UPLOAD_SMALL),
    };
    Timeouts { answer, upload }
}

/// Answers that count as failures of the BMC: what comes from a broken or half-started service.
fn is_ill(answer: &Answer) -> bool {
    let answered_with_page = answer.not_json && (200..300).contains(&answer.status);
    answered_with_page || matches!(answer.status, 500 | 502 | 504)
}

fn ill_answer(answer: &Answer) -> String {
    let page = if answer.not_json {
        " with a page that is not JSON"
    } else {
        ""
    };
    format!("`{}` was answered {}{page}", answer.path, answer.status)
}

fn token_of(headers: &HeaderMap) -> Option<SecretString> {
    let token = headers.get(X_AUTH_TOKEN)?.to_str().ok()?;
    (!token.is_empty()).then(|| SecretString::from(token))
}
