//! This room is an answer while it is being made.
//!
//! It deliberately knows no headers that every answer has; those are added on the way out.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::Value;

use crate::docs::messages::{Message, error_body};
use crate::message::Response;

/// An answer while it is being made.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Body,
}

/// What an answer carries.
#[derive(Clone, Debug)]
pub(super) enum Body {
    None,
    Json(Value),
    Text(&'static str, String),
}

impl Answer {
    /// A document.
    pub(super) fn json(status: StatusCode, value: Value) -> Self {
        Self::new(status, Body::Json(value))
    }

    /// Any text.
    pub(super) fn text(status: StatusCode, kind: &'static str, text: &str) -> Self {
        Self::new(status, Body::Text(kind, text.to_owned()))
    }

    /// No body.
    pub(super) fn empty(status: StatusCode) -> Self {
        Self::new(status, Body::None)
    }

    /// Done, and nothing to say.
    pub(super) fn done() -> Self {
        Self::empty(StatusCode::NO_CONTENT)
    }

    /// A refusal with its reasons.
    pub(super) fn refused(status: StatusCode, messages: &[Message]) -> Self {
        Self::json(status, error_body(messages))
    }

    /// 400 with one reason.
    pub(super) fn bad(message: Message) -> Self {
        Self::refused(StatusCode::BAD_REQUEST, &[message])
    }

    /// 401 in these words.
    pub(super) fn unauthorized(message: Message) -> Self {
        let answer = Self::refused(StatusCode::UNAUTHORIZED, &[message]);
        // RFC 9110 wants a challenge in every 401.
        answer.with(http::header::WWW_AUTHENTICATE, "Basic realm=\"mock-bmc\"")
    }

    /// 404.
    pub(super) fn missing(uri: &str) -> Self {
        let message = Message::base("ResourceMissingAtURI", &[uri]);
        Self::refused(StatusCode::NOT_FOUND, &[message])
    }

    /// 405; the header `Allow` is added on the way out.
    pub(super) fn not_allowed() -> Self {
        let message = Message::base("OperationNotAllowed", &[]);
        Self::refused(StatusCode::METHOD_NOT_ALLOWED, &[message])
    }

    /// 503 with a time to come back.
    pub(super) fn busy(seconds: u64) -> Self {
        let seconds = seconds.to_string();
        let message = Message::base("ServiceTemporarilyUnavailable", &[&seconds]);
        Self::refused(StatusCode::SERVICE_UNAVAILABLE, &[message])
            .with(http::header::RETRY_AFTER, &seconds)
    }

    fn new(status: StatusCode, body: Body) -> Self {
        Self {
            status,
            headers: HeaderMap::new(),
            body,
        }
    }

    /// Sets a header; a value that cannot stand in one is left out.
    pub(super) fn with(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.insert(name, value);
        }
        self
    }

    /// The answer as it goes out.
    pub(super) fn response(self, head_only: bool) -> Response {
        let Self {
            status,
            mut headers,
            body,
        } = self;
        let (kind, bytes) = match body {
            Body::None => (None, Bytes::new()),
            Body::Json(value) => (
                Some("application/json; charset=utf-8"),
                Bytes::from(value.to_string()),
            ),
            Body::Text(kind, text) => (Some(kind), Bytes::from(text)),
        };
        if let Some(kind) = kind.filter(|_| !headers.contains_key(CONTENT_TYPE)) {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        }
        let body = if head_only { Bytes::new() } else { bytes };
        Response {
            status,
            headers,
            body,
        }
    }
}
