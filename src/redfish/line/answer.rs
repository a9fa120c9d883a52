//! An answer of a BMC, read as far as every caller needs: status, JSON, messages, where it points.
//!
//! It judges nothing but what the protocol itself calls an error.

use std::time::Duration;

use http::HeaderMap;
use serde_json::Value;

use crate::model::{BmcMessage, Fault, FaultKind, Retry};

/// The key of the message that asks for another password before anything else (DSP0266, "Password change required").
const PASSWORD_CHANGE: &str = "PasswordChangeRequired";

/// One answer.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The path that was asked.
    pub path: String,
    /// HTTP status.
    pub status: u16,
    /// All headers but the session token.
    pub headers: HeaderMap,
    /// The body; null where there is none or it is not JSON.
    pub json: Value,
    /// Whether a body came that is not JSON: an HTML page, plain text.
    pub not_json: bool,
    /// Messages of an error envelope or of `@Message.ExtendedInfo` at the top, whole.
    pub messages: Vec<BmcMessage>,
    /// Of the body, as it came.
    pub(in crate::redfish) digest: u64,
    /// `ETag` header byte for byte, else `@odata.etag` of the body.
    pub etag: Option<String>,
    /// `Location` as a path on this BMC; an address elsewhere is left out.
    pub location: Option<String>,
    /// `Retry-After`, clamped.
    pub retry_after: Option<Duration>,
}

impl Answer {
    /// Whether the request was done: 2xx, and no critical message inside.
    ///
    /// Some services answer 200 with an error envelope; warnings and success messages there are not errors.
    pub fn is_good(&self) -> bool {
        (200..300).contains(&self.status) && !self.has_critical_error()
    }

    /// Whether the BMC asks to come later: 429, 503, or a message that says it is not ready.
    pub fn is_later(&self) -> bool {
        matches!(self.status, 429 | 503)
            || (self.status >= 400 && self.messages.iter().any(is_not_ready))
    }

    /// Whether any message has this key, whatever its registry and version.
    pub fn has_key(&self, key: &str) -> bool {
        self.messages
            .iter()
            .any(|message| message.key() == Some(key))
    }

    /// The answer as a failure of `what`, such as "GET".
    pub fn fault(&self, what: &str) -> Fault {
        let (kind, retry) = self.kind();
        let mut fault = Fault::new(
            kind,
            retry,
            format!("{what} `{}` was answered {}", self.path, self.status_text()),
        );
        fault.messages.clone_from(&self.messages);
        fault.status = Some(self.status);
        fault.uri = Some(self.path.clone());
        if kind == FaultKind::PasswordChangeRequired {
            fault.message = match self.account_to_change() {
                Some(account) => format!("the account `{account}` must change its password first"),
                None => "the account that logs in must change its password first".to_owned(),
            };
            fault.hint =
                Some("log in once by hand and change the password of this account".to_owned());
        }
        fault
    }

    /// Whether the account must change its password first. Some say so with the status of a wrong password, and it is none.
    pub(in crate::redfish) fn wants_other_password(&self) -> bool {
        self.has_key(PASSWORD_CHANGE)
    }

    /// The account that a forced change is about: the argument of the message (DSP0266, "Password change required").
    fn account_to_change(&self) -> Option<&str> {
        let is_it = |message: &&BmcMessage| message.key() == Some(PASSWORD_CHANGE);
        let message = self.messages.iter().find(is_it)?;
        message.args.first().map(String::as_str)
    }

    fn status_text(&self) -> String {
        let page = if self.not_json {
            " with a page that is not JSON"
        } else {
            ""
        };
        format!("{}{page}", self.status)
    }

    fn kind(&self) -> (FaultKind, Retry) {
        if self.wants_other_password() {
            return (FaultKind::PasswordChangeRequired, Retry::Operator);
        }
        if self.messages.iter().any(is_session_limit) {
            return (FaultKind::SessionsExhausted, Retry::Transient);
        }
        if self.is_later() {
            return (FaultKind::NotReady, Retry::Transient);
        }
        match self.status {
            401 => (FaultKind::LoginRefused, Retry::Operator),
            403 => (FaultKind::Blocked, Retry::Operator),
            404 | 405 | 410 | 501 => (FaultKind::Unsupported, Retry::Never),
            408 | 500.. => (FaultKind::BadAnswer, Retry::Transient),
            200..=299 if self.not_json => (FaultKind::BadAnswer, Retry::Transient),
            _ => (FaultKind::BadAnswer, Retry::Never),
        }
    }

    fn has_critical_error(&self) -> bool {
        self.messages.iter().any(is_critical)
    }
}

/// What came of sending a request that changes something.
#[derive(Debug, Clone)]
pub enum Sent {
    /// No byte of it left us.
    NotSent(Fault),
    /// The BMC answered, with whatever status.
    Answered(Answer),
    /// Bytes may have left and no whole answer came.
    Lost(Fault),
}

/// What came of a PATCH that looks first.
#[derive(Debug, Clone)]
pub enum Patched {
    /// The fresh document needs no change; nothing was sent. Null where the resource does not exist yet.
    Unneeded(Value),
    /// It was sent, or tried to be.
    Sent(Box<Sent>),
}

/// Whether a message says that the BMC cannot do anything yet, or not at the moment.
fn is_not_ready(message: &BmcMessage) -> bool {
    const KEYS: [&str; 4] = [
        "ServiceTemporarilyUnavailable",
        "ResourceNotReadyRetry",
        "SWC0700",
        "ServiceInUnknownState",
    ];
    message.key().is_some_and(|key| KEYS.contains(&key))
}

/// Whether a message says that all sessions are taken. Dell says it with an id of its own.
pub(in crate::redfish) fn is_session_limit(message: &BmcMessage) -> bool {
    message
        .key()
        .is_some_and(|key| matches!(key, "SessionLimitExceeded" | "RAC0218"))
}

fn is_critical(message: &BmcMessage) -> bool {
    message
        .severity
        .as_deref()
        .is_some_and(|severity| severity.eq_ignore_ascii_case("critical"))
}
