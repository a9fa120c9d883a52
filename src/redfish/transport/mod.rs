//! This room moves bytes: the seam between redpipe and the network, one request and one response, and the sockets and TLS
//! behind it.
//!
//! Nothing here paces, retries, logs in or reads JSON; a transport moves bytes and says honestly how far they got.

mod http;
mod sockets;
mod tls;
mod tls_tickets;
mod upload;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ::http::header::{AUTHORIZATION, COOKIE, SET_COOKIE};
use ::http::{HeaderMap, Method};
use bytes::Bytes;
pub use futures_util::future::BoxFuture;
use secrecy::SecretString;

pub use self::http::{HttpFleet, HttpTransport, SOCKETS_MAX};
pub use self::tls::fingerprint;

/// The header that carries a session token (DSP0266, "Redfish session login authentication").
pub const X_AUTH_TOKEN: &str = "x-auth-token";

/// Largest answer body that is read, in bytes: the largest attribute registry seen is about 6 MiB, an expanded firmware
/// inventory under 2 MiB; a body beyond this is a fault, not data.
pub const ANSWER_BYTES_MAX: usize = 32 * 1024 * 1024;

/// One request → one response; the seam between redpipe and the network.
///
/// An implementation belongs to one BMC: it knows the address, requests carry only a path.
pub trait Transport: Send + Sync {
    /// Sends one request and reads its whole answer, never following a redirect.
    fn send(&self, request: WireRequest) -> BoxFuture<'_, Result<WireResponse, WireError>>;
}

/// Called while a body is uploaded: bytes sent so far, bytes in all.
pub type Progress = Arc<dyn Fn(u64, u64) + Send + Sync>;

/// One request.
#[derive(Clone)]
pub struct WireRequest {
    /// HTTP method.
    pub method: Method,
    /// Absolute path on this BMC, with its query.
    pub path: String,
    /// All headers but `Host`, `Content-Length`, and the `Content-Type` of a multipart body.
    pub headers: HeaderMap,
    /// What is sent.
    pub body: WireBody,
    /// How long each part may take.
    pub timeouts: Timeouts,
    /// Whether more requests follow within seconds, so that the connection is worth what it takes while it is idle.
    pub more_follows: bool,
    /// Told of each chunk of a file that leaves.
    pub progress: Option<Progress>,
}

impl WireRequest {
    /// A request without headers or body.
    pub fn new(method: Method, path: impl Into<String>) -> Self {
        Self {
            method,
            path: path.into(),
            headers: HeaderMap::new(),
            body: WireBody::Empty,
            timeouts: Timeouts::default(),
            more_follows: false,
            progress: None,
        }
    }
}

impl fmt::Debug for WireRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WireRequest")
            .field("method", &self.method)
            .field("path", &self.path)
            .field("headers", &Redacted(&self.headers))
            .field("body", &self.body)
            .field("timeouts", &self.timeouts)
            .finish_non_exhaustive()
    }
}

/// What a request carries.
#[derive(Clone, Default)]
pub enum WireBody {
    /// Nothing.
    #[default]
    Empty,
    /// Bytes; the caller names their type in a header.
    Bytes(Bytes),
    /// A file as it is: a raw push.
    File {
        /// Where it lies.
        path: PathBuf,
        /// Its length when it was hashed; another length now means nothing is sent.
        bytes: u64,
    },
    /// A form, streamed with a Content-Length: `UpdateParameters` and `UpdateFile` in this order (DSP0266, "Multipart HTTP
    /// push updates"), or a vendor's own.
    Multipart {
        /// The parts before the file, in order.
        parts: Vec<FormPart>,
        /// The name of the file's part.
        file_part: &'static str,
        /// The file.
        file: PathBuf,
        /// The name the BMC is told, without folders.
        file_name: String,
        /// Its length when it was hashed; another length now means nothing is sent.
        bytes: u64,
    },
}

/// One part of a form before its file.
#[derive(Clone)]
pub struct FormPart {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub content: PartContent,
}

/// What a part of a form holds.
#[derive(Clone)]
pub enum PartContent {
    /// JSON.
    Json(Bytes),
    /// The token of the session with which the form is sent: a secret, put in right before it leaves.
    Token(Option<SecretString>),
}

impl WireBody {
    /// Puts a session's token where a form wants it; whether it wants one.
    pub(super) fn put_token(&mut self, token: Option<&SecretString>) -> bool {
        let Self::Multipart { parts, .. } = self else {
            return false;
        };
        let mut wants = false;
        for part in parts {
            if let PartContent::Token(place) = &mut part.content {
                *place = token.cloned();
                wants = true;
            }
        }
        wants
    }

    /// Whether a file is sent, which takes as long as it takes.
    pub fn is_file(&self) -> bool {
        matches!(self, Self::File { .. } | Self::Multipart { .. })
    }
}

impl fmt::Debug for WireBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("Empty"),
            Self::Bytes(bytes) => write!(f, "Bytes({} bytes)", bytes.len()),
            Self::File { path, bytes } => write!(f, "File({}, {bytes} bytes)", path.display()),
            Self::Multipart { file, bytes, .. } => {
                write!(f, "Multipart({}, {bytes} bytes)", file.display())
            }
        }
    }
}

/// How long each part of an exchange may take. Connecting has its own limit, which is the transport's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// From the last byte of the request to the head of the answer, and between two chunks of the answer.
    pub answer: Duration,
    /// For the body of the request to leave.
    pub upload: Duration,
}

impl Timeouts {
    /// Longest time for one exchange, whatever it waits for: connecting, sending, waiting, reading.
    pub fn total(&self) -> Duration {
        const CONNECT_MAX: Duration = Duration::from_mins(1);
        CONNECT_MAX + self.upload + self.answer * 2
    }
}

impl Default for Timeouts {
    /// 30 s for an answer: slow resources of slow BMCs take 3 to 11 s.
    fn default() -> Self {
        Self {
            answer: Duration::from_secs(30),
            upload: Duration::from_secs(30),
        }
    }
}

/// One response, whole.
#[derive(Clone)]
pub struct WireResponse {
    /// HTTP status.
    pub status: u16,
    /// All headers.
    pub headers: HeaderMap,
    /// The body, at most [`ANSWER_BYTES_MAX`].
    pub body: Bytes,
    /// Whether it came over HTTP/2, where more requests may share the connection.
    pub http2: bool,
}

impl fmt::Debug for WireResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WireResponse")
            .field("status", &self.status)
            .field("headers", &Redacted(&self.headers))
            .field("body_bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

/// Why there is no response. Where it failed matters: whether any byte of the request may have reached the BMC.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// No byte of the request left: connection refused, no such name, no route, TLS failure, unreadable file.
    #[error("{0}")]
    NotSent(String),
    /// The BMC's certificate was not accepted; no byte of the request left.
    #[error("{0}")]
    Certificate(CertProblem),
    /// Bytes may have left: reset, time-out, truncated or oversized body.
    #[error("{0}")]
    Lost(String),
}

/// What is wrong with a certificate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CertProblem {
    /// It is not the one remembered or written down for this address.
    #[error("the certificate is `{seen}`, not the pinned `{pinned}`")]
    Changed {
        /// `sha256:HEX` expected.
        pinned: String,
        /// `sha256:HEX` shown.
        seen: String,
    },
    /// It does not lead to a trusted root, has run out, or names another host.
    #[error("the certificate is not trusted: {reason}")]
    Untrusted {
        /// `sha256:HEX` shown.
        seen: String,
        /// Why, in the TLS engine's words.
        reason: String,
    },
}

impl CertProblem {
    /// The certificate shown, `sha256:HEX`.
    pub fn seen(&self) -> &str {
        match self {
            Self::Changed { seen, .. } | Self::Untrusted { seen, .. } => seen,
        }
    }
}

/// Shows headers without secrets.
struct Redacted<'a>(&'a HeaderMap);

impl fmt::Debug for Redacted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.0.iter().map(|(name, value)| {
            let secret = [
                AUTHORIZATION.as_str(),
                COOKIE.as_str(),
                SET_COOKIE.as_str(),
                X_AUTH_TOKEN,
            ];
            let text = if secret.contains(&name.as_str()) {
                "***"
            } else {
                value.to_str().unwrap_or("(not text)")
            };
            (name.as_str(), text)
        });
        f.debug_map().entries(shown).finish()
    }
}
