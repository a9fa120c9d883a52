//! This room says who we are to the BMC: one session, reused, renewed when refused, deleted at the end; or basic authentication.
//!
//! It sends only what logging in and out takes; how often a refused login may be tried is the login record's rule.

pub(super) mod basic;
mod credentials;
mod leave;
mod leftover;
mod login;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex as StdMutex};
use std::time::Duration;

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue, Method};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

pub use self::credentials::{CredentialSource, Login, Reload};
use self::leave::{Leave, looks_reset, note_end};
use self::leftover::Cleaner;
use self::login::{Tried, log_in, root_links};
use crate::model::inventory::AuthMode;
use crate::model::{Fault, FaultKind, Retry};
use crate::redfish::line::{Line, Trouble};
use crate::redfish::lock::lock;
use crate::redfish::memory::{LoginEnd, Memory, SessionNote};
use crate::redfish::transport::{WireBody, X_AUTH_TOKEN};

/// How long leaving may take: a BMC that hangs holds nobody back, and the next start deletes what is left on it.
const LEAVE_MAX: Duration = Duration::from_secs(20);

/// Our standing with one BMC.
pub(super) struct Sessions {
    pub(super) mode: AuthMode,
    memory: Arc<dyn Memory>,
    credentials: Option<CredentialSource>,
    state: Mutex<State>,
    pub(super) sessionless: AtomicBool,
    proved_at: StdMutex<Option<Instant>>,
    /// Logins of this process that were sent and whose answer nobody saw: cut short, or lost.
    unanswered: StdMutex<Vec<SessionNote>>,
}

#[derive(Default)]
struct State {
    pass: Option<Pass>,
    /// Counts logins, so that two requests refused together cause one new login.
    generation: u64,
    /// Sessions of ours that were given up and may still live.
    stale: Vec<String>,
    /// Basic credentials were refused: read their source again.
    reload: bool,
}

/// What a request shows to be let in.
#[derive(Clone)]
pub(super) struct Pass {
    generation: u64,
    pub(super) standing: Standing,
}

/// How we are known.
#[derive(Clone)]
pub(super) enum Standing {
    /// Not at all.
    Nobody,
    /// By a session.
    Session {
        /// Its URI, where the BMC told it.
        uri: Option<String>,
        /// Its token.
        token: SecretString,
    },
    /// By user and password with each request.
    Basic {
        /// The whole header.
        header: HeaderValue,
        /// Which credential value it is.
        mark: String,
    },
}

impl Standing {
    /// Headers that prove it.
    pub(super) fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        match self {
            Self::Nobody => {}
            Self::Session { token, .. } => {
                // The token came as a header value, so it is one.
                if let Ok(mut value) = HeaderValue::from_str(token.expose_secret()) {
                    value.set_sensitive(true);
                    headers.insert(X_AUTH_TOKEN, value);
                }
            }
            Self::Basic { header, .. } => {
                headers.insert(AUTHORIZATION, header.clone());
            }
        }
        headers
    }

    /// The token of a session.
    pub(super) fn token(&self) -> Option<&SecretString> {
        match self {
            Self::Session { token, .. } => Some(token),
            Self::Nobody | Self::Basic { .. } => None,
        }
    }

    /// The token as the cookie that iLO's upload wants beside it (HPE's iLO RESTful API documentation, "Firmware update
    /// via `HttpPushUri`").
    pub(super) fn cookie(&self) -> Option<HeaderValue> {
        let token = self.token()?.expose_secret();
        let mut cookie = HeaderValue::from_str(&format!("sessionKey={token}")).ok()?;
        cookie.set_sensitive(true);
        Some(cookie)
    }

    fn session_uri(&self) -> Option<&str> {
        match self {
            Self::Session { uri, .. } => uri.as_deref(),
            Self::Nobody | Self::Basic { .. } => None,
        }
    }
}

impl Sessions {
    pub(super) fn new(
        mode: AuthMode,
        memory: Arc<dyn Memory>,
        credentials: Option<CredentialSource>,
    ) -> Self {
        Self {
            mode,
            memory,
            credentials,
            state: Mutex::new(State::default()),
            sessionless: AtomicBool::new(false),
            proved_at: StdMutex::new(None),
            unanswered: StdMutex::new(Vec::new()),
        }
    }

    /// What to show with the next request; logs in where nothing is held yet.
    pub(super) async fn pass(&self, line: &Line) -> Result<Pass, Trouble> {
        let mut state = self.state.lock().await;
        if let Some(pass) = &state.pass {
            return Ok(pass.clone());
        }
        let (standing, root) = self.enter(line, &mut state).await?;
        state.generation += 1;
        let pass = Pass {
            generation: state.generation,
            standing,
        };
        state.pass = Some(pass.clone());
        state.reload = false;
        self.tidy(line, &mut state.stale, &pass.standing, &root)
            .await;
        Ok(pass)
    }

    /// The BMC answered 401 to this pass: it is not shown again.
    pub(super) async fn refused(&self, line: &Line, pass: &Pass) {
        let mut state = self.state.lock().await;
        if state.pass.as_ref().map(|held| held.generation) != Some(pass.generation) {
            return;
        }
        match &pass.standing {
            Standing::Nobody => return,
            Standing::Session { uri, .. } => state.stale.extend(uri.clone()),
            Standing::Basic { mark, .. } => {
                note_end(line, self.memory.as_ref(), mark, LoginEnd::Refused);
                state.reload = true;
            }
        }
        state.pass = None;
    }

    /// The BMC restarted or may have: what is held is not believed.
    pub(super) async fn forget(&self) {
        let mut state = self.state.lock().await;
        if let Some(pass) = state.pass.take() {
            state
                .stale
                .extend(pass.standing.session_uri().map(str::to_owned));
        }
        *lock(&self.proved_at) = None;
    }

    /// Deletes our session. Where the BMC does not answer, its URI stays remembered for the next start.
    pub(super) async fn close(&self, line: &Line) {
        let mut state = self.state.lock().await;
        let Some(pass) = state.pass.take() else {
            return;
        };
        let Some(uri) = pass.standing.session_uri() else {
            return;
        };
        let headers = pass.standing.headers();
        let deletion = line.exchange(Method::DELETE, uri, headers, WireBody::Empty);
        let gone = match timeout(LEAVE_MAX, deletion).await {
            Ok(Ok((answer, _))) => answer.status < 500 && !answer.is_later(),
            Ok(Err(_)) | Err(_) => false,
        };
        if gone {
            self.memory.remember_session(None);
        } else {
            tracing::warn!(bmc = %line.bmc, uri, "session could not be deleted; the next start will try");
        }
    }

    /// What to read to learn whether our pass is still good; nothing where each request proves itself.
    pub(super) async fn proof_path(&self, line: &Line) -> Result<Option<String>, Trouble> {
        let pass = self.pass(line).await?;
        Ok(pass.standing.session_uri().map(str::to_owned))
    }

    /// The BMC took our pass just now.
    pub(super) fn prove(&self) {
        *lock(&self.proved_at) = Some(Instant::now());
    }

    /// Whether the BMC took our pass within this time.
    pub(super) fn is_proved_within(&self, time: Duration) -> bool {
        lock(&self.proved_at).is_some_and(|at| at.elapsed() <= time)
    }

    /// Goes in: alone, or by credentials, which are read again once where they are refused.
    async fn enter(&self, line: &Line, state: &mut State) -> Result<(Standing, Value), Trouble> {
        if self.mode == AuthMode::None {
            return Ok((Standing::Nobody, Value::Null));
        }
        let root = root_links(line).await?;
        let Some(source) = &self.credentials else {
            return Err(Trouble::from(no_credentials(line)));
        };
        let mut reload = if state.reload {
            Reload::Fresh
        } else {
            Reload::Cached
        };
        let mut login = source(reload).await?;
        self.abandon_dead_logins(line, &login.mark);
        let signs = self.signs_of_reset(line, &root);
        if state.reload && !signs.is_empty() {
            // Basic credentials that were refused a moment ago are the one refusal.
            let memory = self.memory.as_ref();
            note_end(line, memory, &login.mark, LoginEnd::LooksReset);
            return Err(Trouble::from(looks_reset(line, &signs, None)));
        }
        loop {
            let leave = Leave::wait_for(line, &self.memory, &login.mark).await?;
            let refusal = match log_in(self, line, &login, &root).await {
                Tried::In(standing) => {
                    leave.end(line.now(), LoginEnd::Accepted);
                    let place = line.address.host_port();
                    if self.memory.is_certificate_new(&place) {
                        self.memory.settle_certificate(&place);
                    }
                    return Ok((standing, root));
                }
                Tried::Failed(trouble) => {
                    leave.end(line.now(), LoginEnd::Unknown);
                    return Err(trouble);
                }
                Tried::Refused(fault) => fault,
            };
            if !signs.is_empty() {
                leave.end(line.now(), LoginEnd::LooksReset);
                let fault = looks_reset(line, &signs, Some(&refusal));
                return Err(Trouble::from(fault));
            }
            let bad = leave.end(line.now(), LoginEnd::Refused);
            if reload == Reload::Cached {
                reload = Reload::Fresh;
                let again = source(reload).await?;
                let changed = again.mark != login.mark;
                login = again;
                if changed {
                    continue;
                }
            }
            if bad || line.in_outage() {
                return Err(Trouble::from(refusal));
            }
        }
    }

    /// What else than a refused login shows that the BMC is not as it was.
    fn signs_of_reset(&self, line: &Line, root: &Value) -> Vec<&'static str> {
        let known = self.memory.root_uuid();
        let shown = root.get("UUID").and_then(Value::as_str);
        let is_other = known
            .zip(shown)
            .is_some_and(|(known, shown)| known != shown);
        let is_new = self.memory.is_certificate_new(&line.address.host_port());
        let signs = [
            (is_other, "has another UUID than before"),
            (is_new, "shows another certificate than before"),
        ];
        let signs = signs.into_iter().filter(|(is_so, _)| *is_so);
        signs.map(|(_, sign)| sign).collect()
    }

    /// A process that was killed while it logged in tells no end any more: nobody waits for it.
    fn abandon_dead_logins(&self, line: &Line, mark: &str) {
        if self
            .memory
            .left_sessions()
            .iter()
            .any(|note| note.uri.is_none())
        {
            self.memory
                .with_logins(mark, &mut |record| record.abandon(line.bmc.as_str()));
        }
    }

    /// Deletes what is left of earlier sessions and learns how many refusals lock the account.
    async fn tidy(&self, line: &Line, stale: &mut Vec<String>, standing: &Standing, root: &Value) {
        if matches!(standing, Standing::Nobody) {
            return;
        }
        let cleaner = Cleaner {
            line,
            headers: standing.headers(),
            own: standing.session_uri().map(str::to_owned),
            collection: login::sessions_link(line, root),
        };
        cleaner.delete_stale(std::mem::take(stale)).await;
        cleaner.delete_left(self.memory.as_ref()).await;
        let unanswered = lock(&self.unanswered).clone();
        for note in unanswered {
            if cleaner.delete_unnamed(&note).await {
                lock(&self.unanswered).retain(|open| *open != note);
            }
        }
        if self.memory.lockout_threshold().is_none() {
            self.learn_threshold(line, standing, root).await;
        }
    }

    async fn learn_threshold(&self, line: &Line, standing: &Standing, root: &Value) {
        let Some(path) = login::link(line, root, "AccountService") else {
            return;
        };
        if let Ok((answer, _)) = line
            .exchange(Method::GET, &path, standing.headers(), WireBody::Empty)
            .await
            && answer.is_good()
        {
            let threshold = answer
                .json
                .get("AccountLockoutThreshold")
                .and_then(Value::as_u64)
                .unwrap_or(0);
            self.memory
                .remember_lockout_threshold(u32::try_from(threshold).unwrap_or(u32::MAX));
        }
    }

    /// Writes down, here and in memory, that a login is about to be sent.
    fn opening(&self, note: &SessionNote) {
        self.memory.remember_session(Some(note));
        lock(&self.unanswered).push(note.clone());
    }

    /// It was answered, or never sent: no session is unaccounted for.
    fn opened(&self, note: &SessionNote, held: Option<&SessionNote>) {
        self.memory.remember_session(held);
        lock(&self.unanswered).retain(|open| open != note);
    }

    fn note_no_sessions(&self) {
        self.sessionless.store(true, Ordering::Relaxed);
    }
}

fn no_credentials(line: &Line) -> Fault {
    let text = format!("bmc `{}` has no credentials to log in with", line.bmc);
    Fault::new(FaultKind::SecretUnavailable, Retry::Operator, text)
        .with_hint("name some under `credentials`, or set `auth = \"none\"`")
}

/// The refusal of a login, with the BMC's words but never the password.
fn refusal(
    line: &Line,
    login: &Login,
    status: u16,
    messages: Vec<crate::model::BmcMessage>,
) -> Fault {
    let text = format!(
        "bmc `{}` at `{}` refused the login of user `{}`",
        line.bmc, line.address, login.username
    );
    let mut fault =
        Fault::new(FaultKind::LoginRefused, Retry::Operator, text).with_messages(messages);
    fault.status = Some(status);
    fault.with_hint(format!(
        "check its credentials; once they are right, `redpipe trust --credentials {}` lets redpipe try again",
        line.bmc
    ))
}
