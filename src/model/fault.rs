//! The one failure that can be stored, shown and counted.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A failure as journal, status and report carry it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// What kind of failure; the metric label and JSON field.
    pub kind: FaultKind,
    /// Who can end it.
    pub retry: Retry,
    /// What failed, a lower-case fragment without full stop.
    pub message: String,
    /// Lower layers, nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<String>,
    /// The BMC's own words, whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<BmcMessage>,
    /// HTTP status, where an answer came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The URI asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// `sha256:HEX` of the certificate shown, where that is what is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<String>,
    /// What a person can do, naming a command where one helps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Fault {
    /// A fault with nothing but kind, class and message.
    pub fn new(kind: FaultKind, retry: Retry, message: impl Into<String>) -> Self {
        Self {
            kind,
            retry,
            message: message.into(),
            causes: Vec::new(),
            messages: Vec::new(),
            status: None,
            uri: None,
            certificate: None,
            hint: None,
        }
    }

    /// Adds what a person can do.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the BMC's own messages.
    pub fn with_messages(mut self, messages: Vec<BmcMessage>) -> Self {
        self.messages = messages;
        self
    }

    /// Adds a cause.
    pub fn with_cause(mut self, cause: impl Into<String>) -> Self {
        self.causes.push(cause.into());
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for cause in &self.causes {
            write!(f, ": {cause}")?;
        }
        for message in &self.messages {
            write!(f, "; the BMC says: {message}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Fault {}

/// Kinds of failure; each is a stable kebab-case word in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// Nobody answered: refused, black hole, broken TLS, reset, time-out.
    Unreachable,
    /// An answer came that is not Redfish: HTML, truncated or unparsable body, 5xx.
    BadAnswer,
    /// The BMC asks to come later: 429, 503, "not ready".
    NotReady,
    /// The BMC refused the credentials.
    LoginRefused,
    /// The credentials were refused before and are not tried again.
    CredentialsBad,
    /// The BMC refused the credentials, and shows that it is not as it was: nothing is tried again.
    LooksReset,
    /// The account must change its password first.
    PasswordChangeRequired,
    /// All sessions of the BMC are taken.
    SessionsExhausted,
    /// The remembered certificate is not the one shown.
    CertificateChanged,
    /// The certificate does not chain to a trusted root.
    CertificateUntrusted,
    /// A secret could not be read.
    SecretUnavailable,
    /// Another box answers under this name, or the wrong one.
    WrongBox,
    /// The inventory names a system that the BMC does not show.
    SystemMissing,
    /// A person must change something first.
    Blocked,
    /// The BMC refused the update request.
    UpdateRefused,
    /// The BMC's task ended in failure.
    UpdateFailed,
    /// The task ended well and the version is the old one.
    VersionUnchanged,
    /// Something else changed with it.
    SideEffect,
    /// A desired setting is impossible on this BMC.
    SettingsInvalid,
    /// The BMC refused a settings request.
    SettingsRefused,
    /// After the reset the values are not the wanted ones.
    SettingsNotApplied,
    /// A reset was refused or ignored.
    ResetFailed,
    /// The image is missing, too big, or its digest is wrong.
    ImageInvalid,
    /// A wait ran out.
    Deadline,
    /// What was asked is not offered by this BMC.
    Unsupported,
    /// Another process drives this BMC.
    LeaseHeld,
    /// A person cancelled it.
    Cancelled,
    /// redpipe itself is wrong.
    Bug,
}

impl FaultKind {
    /// The stable word, as in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::BadAnswer => "bad-answer",
            Self::NotReady => "not-ready",
            Self::LoginRefused => "login-refused",
            Self::CredentialsBad => "credentials-bad",
            Self::LooksReset => "looks-factory-reset",
            Self::PasswordChangeRequired => "password-change-required",
            Self::SessionsExhausted => "sessions-exhausted",
            Self::CertificateChanged => "certificate-changed",
            Self::CertificateUntrusted => "certificate-untrusted",
            Self::SecretUnavailable => "secret-unavailable",
            Self::WrongBox => "wrong-box",
            Self::SystemMissing => "system-missing",
            Self::Blocked => "blocked",
            Self::UpdateRefused => "update-refused",
            Self::UpdateFailed => "update-failed",
            Self::VersionUnchanged => "version-unchanged",
            Self::SideEffect => "side-effect",
            Self::SettingsInvalid => "settings-invalid",
            Self::SettingsRefused => "settings-refused",
            Self::SettingsNotApplied => "settings-not-applied",
            Self::ResetFailed => "reset-failed",
            Self::ImageInvalid => "image-invalid",
            Self::Deadline => "deadline",
            Self::Unsupported => "unsupported",
            Self::LeaseHeld => "lease-held",
            Self::Cancelled => "cancelled",
            Self::Bug => "bug",
        }
    }
}

/// Who can end a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Retry {
    /// Time may.
    Transient,
    /// A person must.
    Operator,
    /// Nobody: the answer is final.
    Never,
}

/// One message of a BMC, as the Redfish Message object carries it (DSP0266, "Error responses").
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BmcMessage {
    /// `Registry.Major.Minor.Key`, where given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// The text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// `OK`, `Warning` or `Critical`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<String>,
    /// Arguments of the message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// What the BMC advises.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<String>,
    /// `RelatedProperties`: JSON pointers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<String>,
}

impl BmcMessage {
    /// The message's key: `SystemResetRequired` of `iLO.2.14.SystemResetRequired`.
    ///
    /// Registry versions move with every firmware, so only registry and key mean anything.
    pub fn key(&self) -> Option<&str> {
        self.message_id
            .as_deref()
            .and_then(|id| id.rsplit('.').next())
    }

    /// The registry's name: `iLO` of `iLO.2.14.SystemResetRequired`.
    pub fn registry(&self) -> Option<&str> {
        self.message_id
            .as_deref()
            .and_then(|id| id.split('.').next())
    }
}

impl fmt::Display for BmcMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.message, &self.message_id) {
            (Some(text), Some(id)) => write!(f, "{text} ({id})")?,
            (Some(text), None) => f.write_str(text)?,
            (None, Some(id)) => f.write_str(id)?,
            (None, None) => f.write_str("(an empty message)")?,
        }
        if self.message.is_none() && !self.args.is_empty() {
            write!(f, " {:?}", self.args)?;
        }
        Ok(())
    }
}
