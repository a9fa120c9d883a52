//! This room is the polite, safe conversation with one BMC: pace, session, breaker and learned forms around one transport.
//!
//! It knows requests, not resources: what a document means is decided above.

mod climb;
mod etag;
mod glance;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::header::{COOKIE, LOCATION};
use http::{HeaderMap, Method};
use jiff::Timestamp;
use serde_json::Value;
use tokio::time::{Instant, sleep};

pub(super) use self::glance::Glimpse;
use crate::model::inventory::{Address, AuthMode, Pace};
use crate::model::{BmcName, Fault, FaultKind, Retry};
use crate::redfish::line::{Answer, Clock, Guard, Line, Patched, Sent, Trouble, path_on, scaled};
use crate::redfish::memory::Memory;
use crate::redfish::session::{CredentialSource, Sessions};
use crate::redfish::transport::{Progress, Transport, WireBody, WireError, WireResponse};
use crate::redfish::wire::ROOT;

/// Tries of a read that ends in an answer which time may change, or in a lost one.
const READ_TRIES: u32 = 3;

/// Tries of a read where nobody takes the connection: a second one tells a blink from an absence.
const CONNECT_TRIES: u32 = 2;

/// Wait before the second try of a read at the default pace; it doubles with each.
const BACK_OFF: Duration = Duration::from_secs(1);

/// A try that took longer is not made again where somebody waits for one look alone.
const BRIEF: Duration = Duration::from_secs(5);

/// Redirects followed by one read: services redirect to the form with or without a trailing slash.
const REDIRECTS_MAX: u32 = 3;

/// A POST is sent only on a session that was taken within this time: a 401, or a connection found dead, after it was
/// sent would leave its outcome in doubt.
const PROOF_FRESH_FOR: Duration = Duration::from_secs(5);

/// What a conversation is made of.
pub struct Parts {
    /// Whose BMC this is, for messages and for the memory of logins.
    pub bmc: BmcName,
    /// Where it answers: tells links that lead here from others.
    pub address: Address,
    /// How to log in.
    pub auth: AuthMode,
    /// How fast it may be asked.
    pub pace: Pace,
    /// Moves the bytes.
    pub transport: Arc<dyn Transport>,
    /// Durable facts about this BMC.
    pub memory: Arc<dyn Memory>,
    /// Time of day.
    pub clock: Arc<dyn Clock>,
    /// Who logs in; not needed where `auth` is none.
    pub credentials: Option<CredentialSource>,
}

/// One per BMC. Share it by `Arc`.
pub struct Conversation {
    line: Line,
    sessions: Sessions,
    pub(super) memory: Arc<dyn Memory>,
    /// Taken by who has, takes or gives back a place for a push.
    pub(super) claiming: tokio::sync::Mutex<()>,
    is_brief: AtomicBool,
}

impl Conversation {
    /// Starts without sending anything.
    pub fn new(parts: Parts) -> Self {
        Self {
            line: Line::new(
                parts.bmc,
                parts.address,
                parts.pace,
                parts.transport,
                parts.clock,
            ),
            sessions: Sessions::new(parts.auth, Arc::clone(&parts.memory), parts.credentials),
            memory: parts.memory,
            claiming: tokio::sync::Mutex::new(()),
            is_brief: AtomicBool::new(false),
        }
    }

    /// From now on a read that ran into a time limit is not tried again: for those who want to know once how a BMC is,
    /// and to whom silence is an answer.
    pub fn be_brief(&self) {
        self.is_brief.store(true, Ordering::Relaxed);
    }

    /// Reads a resource: logged in, paced, retried, same-origin redirects followed. `Ok` is always a 2xx answer with JSON
    /// (or no body) and without a critical message; every other answer is a fault that carries its status, messages and
    /// URI (`fault.status == Some(404)`).
    pub async fn get(&self, path: &str) -> Result<Answer, Fault> {
        self.read(path, Identity::Ours).await
    }

    /// Reads a resource once, logged in and paced, and returns whatever status came: for query options and anything
    /// else that a BMC may refuse without being ill.
    pub async fn get_as_is(&self, path: &str) -> Result<Answer, Fault> {
        self.read_once(path, Identity::Ours)
            .await
            .map_err(|trouble| self.line.fault(trouble, "GET", path))
    }

    /// Reads a resource without logging in: the service root. Otherwise as [`Conversation::get`].
    pub async fn get_anonymous(&self, path: &str) -> Result<Answer, Fault> {
        self.read(path, Identity::Nobody).await
    }

    /// Changes a resource by looking first: `build` gets the fresh document (null where it answers 404) and returns what
    /// to PATCH, or `None` where nothing is left to do. Where the BMC refuses the `If-Match` form, it is read and built
    /// again with the next form, at most 4 requests in all. A request whose outcome is in doubt is never repeated.
    pub async fn patch(
        &self,
        path: &str,
        build: impl FnMut(&Value) -> Option<Value> + Send,
    ) -> Patched {
        match self.climb(path, build).await {
            Ok(fresh) => Patched::Unneeded(fresh),
            Err(sent) => Patched::Sent(sent),
        }
    }

    /// Sends a POST: one request, never with `If-Match`, never again. The session is proved by a read just before, so
    /// that neither a session that ran out nor a dead connection puts the outcome in doubt.
    ///
    /// A 401 is returned like every other answer; the next request logs in anew.
    pub async fn post(&self, path: &str, mut body: WireBody) -> Sent {
        if let Err(fault) = self.prove().await {
            return Sent::NotSent(fault);
        }
        let pass = match self.sessions.pass(&self.line).await {
            Ok(pass) => pass,
            Err(trouble) => return Sent::NotSent(self.line.fault(trouble, "POST", path)),
        };
        let mut headers = pass.standing.headers();
        if body.put_token(pass.standing.token()) {
            match pass.standing.cookie() {
                Some(cookie) => headers.insert(COOKIE, cookie),
                None => return Sent::NotSent(wants_session(path)),
            };
        }
        match self.line.exchange(Method::POST, path, headers, body).await {
            Ok((answer, _)) => {
                if answer.status == 401 && !answer.wants_other_password() {
                    self.sessions.refused(&self.line, &pass).await;
                }
                Sent::Answered(answer)
            }
            Err(trouble) => self.unanswered(trouble, "POST", path),
        }
    }

    /// Who is asked right before a request that changes something leaves.
    pub(super) fn set_guard(&self, guard: Option<Guard>) {
        self.line.set_guard(guard);
    }

    /// How fast this BMC may be asked.
    pub(super) fn pace(&self) -> &Pace {
        &self.line.pace
    }

    /// Whether who has this conversation may change anything: it drives the BMC.
    pub(super) fn may_change(&self) -> bool {
        self.line.has_guard()
    }

    /// Deletes a resource.
    pub async fn delete(&self, path: &str) -> Sent {
        self.send(Method::DELETE, path, HeaderMap::new(), WireBody::Empty)
            .await
    }

    /// The session is no longer believed (the BMC restarted): the next request logs in anew, and the old session is
    /// deleted then, should it still live.
    pub async fn forget_session(&self) {
        self.sessions.forget().await;
    }

    /// Ends the conversation: deletes our session.
    pub async fn close(&self) {
        self.sessions.close(&self.line).await;
    }

    /// Declares that this BMC is expected to be away, or no longer: inside, failures open no breaker, reads are tried
    /// once, and no login is sent before the service root was good for the settle time.
    pub fn outage(&self, on: bool) {
        self.line.set_outage(on);
    }

    /// How long the BMC has taken for its answers, all of them together; not what was waited for before they were asked.
    pub fn answering(&self) -> Duration {
        self.line.answering()
    }

    /// Told of each chunk of an uploaded file from now on.
    pub fn set_progress(&self, progress: Option<Progress>) {
        self.line.set_progress(progress);
    }

    /// Whether the BMC turned out to offer no sessions, so that basic authentication is used instead.
    pub fn has_no_sessions(&self) -> bool {
        self.sessions.sessionless.load(Ordering::Relaxed)
    }

    /// The time of day, by this conversation's clock.
    pub fn now(&self) -> Timestamp {
        self.line.now()
    }

    /// A link found in an answer, as a path on this BMC; `None` where it leads elsewhere.
    pub fn path_here(&self, link: &str) -> Option<String> {
        path_on(&self.line.address, link)
    }

    async fn read(&self, path: &str, identity: Identity) -> Result<Answer, Fault> {
        let mut tries = 0;
        loop {
            tries += 1;
            let began = Instant::now();
            let (fault, most) = match self.read_once(path, identity).await {
                Ok(answer) if answer.is_good() && !answer.not_json => return Ok(answer),
                Ok(answer) => (answer.fault("GET"), READ_TRIES),
                Err(trouble) => {
                    let most = tries_for(&trouble);
                    (self.line.fault(trouble, "GET", path), most)
                }
            };
            let is_enough =
                tries >= most || self.is_brief.load(Ordering::Relaxed) && began.elapsed() > BRIEF;
            if fault.retry != Retry::Transient || is_enough || self.line.in_outage() {
                return Err(fault);
            }
            tracing::debug!(bmc = %self.line.bmc, path, tries, %fault, "read is tried again");
            sleep(scaled(&self.line.pace, BACK_OFF * 2_u32.pow(tries - 1))).await;
        }
    }

    /// One read: a session that ran out is renewed once, redirects on this BMC are followed.
    async fn read_once(&self, path: &str, identity: Identity) -> Result<Answer, Trouble> {
        let mut asked = path.to_owned();
        for _ in 0..REDIRECTS_MAX {
            let answer = match identity {
                Identity::Nobody => {
                    self.line
                        .exchange(Method::GET, &asked, HeaderMap::new(), WireBody::Empty)
                        .await?
                        .0
                }
                Identity::Ours => {
                    self.exchange(Method::GET, &asked, HeaderMap::new(), WireBody::Empty)
                        .await?
                }
            };
            if !matches!(answer.status, 301 | 302 | 303 | 307 | 308) {
                return Ok(answer);
            }
            match &answer.location {
                Some(location) => asked.clone_from(location),
                None => return Err(Trouble::from(redirect_fault(&answer, "leads elsewhere"))),
            }
        }
        let text = format!("GET `{path}` is redirected in circles");
        Err(Trouble::from(Fault::new(
            FaultKind::BadAnswer,
            Retry::Never,
            text,
        )))
    }

    async fn send(&self, method: Method, path: &str, extra: HeaderMap, body: WireBody) -> Sent {
        let what = method.to_string();
        match self.exchange(method, path, extra, body).await {
            Ok(answer) => Sent::Answered(answer),
            Err(trouble) => self.unanswered(trouble, &what, path),
        }
    }

    /// An exchange with our pass; a 401 means nothing was done, so it is repeated once with a new login.
    async fn exchange(
        &self,
        method: Method,
        path: &str,
        extra: HeaderMap,
        body: WireBody,
    ) -> Result<Answer, Trouble> {
        for last in [false, true] {
            let pass = self
                .sessions
                .pass(&self.line)
                .await
                .map_err(Trouble::before)?;
            let mut headers = extra.clone();
            headers.extend(pass.standing.headers());
            let (answer, _) = self
                .line
                .exchange(method.clone(), path, headers, body.clone())
                .await?;
            if answer.status != 401 || answer.wants_other_password() {
                self.sessions.prove();
                return Ok(answer);
            }
            self.sessions.refused(&self.line, &pass).await;
            if last || self.sessions.mode == AuthMode::None {
                return Ok(answer);
            }
        }
        unreachable!("the second round returns")
    }

    /// One read with our pass whose answer is not read where it says nothing new by itself; any other, a refused pass
    /// among them, is for an ordinary read to judge.
    async fn glance(
        &self,
        path: &str,
        mut headers: HeaderMap,
    ) -> Result<Option<WireResponse>, Trouble> {
        let pass = self.sessions.pass(&self.line).await;
        headers.extend(pass.map_err(Trouble::before)?.standing.headers());
        let found = self.line.glance(path, headers).await?;
        if found.is_some() {
            self.sessions.prove();
        }
        Ok(found)
    }

    async fn prove(&self) -> Result<(), Fault> {
        if self.sessions.is_proved_within(PROOF_FRESH_FOR) {
            return Ok(());
        }
        let path = match self.sessions.proof_path(&self.line).await {
            Ok(Some(path)) => path,
            Ok(None) => return Ok(()),
            Err(trouble) => {
                return Err(self.line.fault(trouble, "GET", ROOT));
            }
        };
        let answer = self.get_as_is(&path).await?;
        // Some services do not show a session to its owner; one that is ill must not get an update now.
        if answer.status >= 500 || answer.status == 401 {
            Err(answer.fault("GET"))
        } else {
            Ok(())
        }
    }

    fn unanswered(&self, trouble: Trouble, what: &str, path: &str) -> Sent {
        let unsent = trouble.is_unsent();
        let fault = self.line.fault(trouble, what, path);
        if unsent {
            Sent::NotSent(fault)
        } else {
            Sent::Lost(fault)
        }
    }
}

/// As whom a read is sent.
#[derive(Clone, Copy)]
enum Identity {
    Ours,
    Nobody,
}

fn tries_for(trouble: &Trouble) -> u32 {
    match trouble {
        Trouble::Wire(WireError::NotSent(_)) | Trouble::Before(WireError::NotSent(_)) => {
            CONNECT_TRIES
        }
        Trouble::Wire(WireError::Lost(_)) | Trouble::Before(WireError::Lost(_)) => READ_TRIES,
        // What a login waits for has been waited for already; an open breaker is not waited out.
        Trouble::Wire(WireError::Certificate(_))
        | Trouble::Before(WireError::Certificate(_))
        | Trouble::Broken(_) => 1,
        Trouble::Login(fault) => {
            let may_pass = matches!(fault.kind, FaultKind::NotReady | FaultKind::BadAnswer);
            if may_pass { READ_TRIES } else { 1 }
        }
    }
}

fn wants_session(path: &str) -> Fault {
    let text = format!("`{path}` takes an image only in a session, and there is none");
    Fault::new(FaultKind::Unsupported, Retry::Operator, text)
        .with_hint("set `auth = \"session\"` for this BMC")
}

fn redirect_fault(answer: &Answer, why: &str) -> Fault {
    let mut fault = answer.fault("GET");
    let to = answer
        .headers
        .get(LOCATION)
        .and_then(|to| to.to_str().ok())
        .unwrap_or("nowhere");
    fault.causes.push(format!("the redirect to `{to}` {why}"));
    fault
}
