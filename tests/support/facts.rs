//! What a conversation remembers, in memory; a clock that follows tokio's; and a conversation built from both.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use redpipe::model::BmcName;
use redpipe::model::inventory::{Address, AuthMode, Pace, Scheme};
use redpipe::redfish::{
    Clock, Conversation, CredentialSource, Login, LoginRecord, Memory, Parts, PushClaim,
    SessionNote, Transport,
};
use secrecy::SecretString;
use tokio::time::Instant;

/// Facts about one BMC, and login records over all that share the object.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    pins: BTreeMap<String, String>,
    left: Vec<SessionNote>,
    session: Option<SessionNote>,
    push_claim: Option<PushClaim>,
    etag_form: Option<String>,
    threshold: Option<u32>,
    logins: BTreeMap<String, LoginRecord>,
}

impl Facts {
    fn with<T>(&self, use_it: impl FnOnce(&mut Inner) -> T) -> T {
        use_it(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Memory for Facts {
    fn pin(&self, host_port: &str) -> Option<String> {
        self.with(|inner| inner.pins.get(host_port).cloned())
    }

    fn remember_pin(&self, host_port: &str, fingerprint: &str) -> bool {
        self.with(|inner| {
            let known = inner
                .pins
                .entry(host_port.to_owned())
                .or_insert_with(|| fingerprint.to_owned());
            known == fingerprint
        })
    }

    fn is_certificate_new(&self, _host_port: &str) -> bool {
        false
    }

    fn settle_certificate(&self, _host_port: &str) {}

    fn root_uuid(&self) -> Option<String> {
        None
    }

    fn left_sessions(&self) -> Vec<SessionNote> {
        self.with(|inner| inner.left.clone())
    }

    fn forget_left_session(&self, note: &SessionNote) {
        self.with(|inner| inner.left.retain(|left| left != note));
    }

    fn remember_session(&self, note: Option<&SessionNote>) {
        self.with(|inner| inner.session = note.cloned());
    }

    fn push_claim(&self) -> Option<PushClaim> {
        self.with(|inner| inner.push_claim.clone())
    }

    fn remember_push_claim(&self, claim: Option<&PushClaim>) {
        self.with(|inner| inner.push_claim = claim.cloned());
    }

    fn etag_form(&self) -> Option<String> {
        self.with(|inner| inner.etag_form.clone())
    }

    fn remember_etag_form(&self, form: &str) {
        self.with(|inner| inner.etag_form = Some(form.to_owned()));
    }

    fn lockout_threshold(&self) -> Option<u32> {
        self.with(|inner| inner.threshold)
    }

    fn remember_lockout_threshold(&self, threshold: u32) {
        self.with(|inner| inner.threshold = Some(threshold));
    }

    fn with_logins(&self, mark: &str, change: &mut dyn FnMut(&mut LoginRecord)) {
        self.with(|inner| change(inner.logins.entry(mark.to_owned()).or_default()));
    }
}

/// A wall clock that moves with tokio's, paused or not.
#[derive(Debug)]
pub(crate) struct TokioClock {
    epoch: Timestamp,
    start: Instant,
}

impl TokioClock {
    /// Starts at a wall time, now.
    pub(crate) fn starting_at(epoch: Timestamp) -> Self {
        Self {
            epoch,
            start: Instant::now(),
        }
    }
}

impl Clock for TokioClock {
    fn now(&self) -> Timestamp {
        let elapsed = SignedDuration::try_from(self.start.elapsed()).unwrap_or(SignedDuration::MAX);
        self.epoch.saturating_add(elapsed).unwrap_or(Timestamp::MAX)
    }
}

/// A conversation over some transport. With `login` it opens a session, without it nobody logs in.
pub(crate) fn conversation(
    transport: Arc<dyn Transport>,
    pace: Pace,
    login: Option<(&str, &str)>,
) -> Arc<Conversation> {
    let credentials = login.map(|(username, password)| {
        let login = Login {
            username: username.to_owned(),
            password: SecretString::from(password),
            mark: format!("mark of {username}"),
        };
        let source: CredentialSource = Arc::new(move |_| {
            let login = login.clone();
            Box::pin(async move { Ok(login) })
        });
        source
    });
    Arc::new(Conversation::new(Parts {
        bmc: BmcName::from("bmc"),
        address: Address::new(Scheme::Https, "bmc.test", None),
        auth: if credentials.is_some() {
            AuthMode::Auto
        } else {
            AuthMode::None
        },
        pace,
        transport,
        memory: Arc::new(Facts::default()),
        clock: Arc::new(TokioClock::starting_at(Timestamp::UNIX_EPOCH)),
        credentials,
    }))
}
