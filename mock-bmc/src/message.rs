//! This room is what goes in and out of a BMC: requests, and what the network shows in return.
//!
//! It deliberately has no sockets; a server or a test carries these to and fro.

use std::time::Duration;

use bytes::Bytes;

/// One request, read to its end.
#[derive(Clone, Debug)]
pub struct Request {
    /// The method.
    pub method: http::Method,
    /// Path and query as sent: `/redfish/v1/Systems?$expand=.`.
    pub path: String,
    /// The headers as sent.
    pub headers: http::HeaderMap,
    /// The whole body.
    pub body: Bytes,
    /// Scheme and authority by which the client came, for absolute links: `https://127.0.0.1:8443`.
    pub scheme_host: String,
}

/// One answer.
#[derive(Clone, Debug)]
pub struct Response {
    /// The status.
    pub status: http::StatusCode,
    /// The headers, but those that belong to the connection.
    pub headers: http::HeaderMap,
    /// The whole body.
    pub body: Bytes,
}

/// What the network shows the client.
#[derive(Clone, Debug)]
pub enum Reply {
    /// An answer.
    Answer(Response),
    /// The same, later.
    Delayed {
        /// What comes in the end.
        answer: Box<Self>,
        /// How much later, in mock time.
        by: Duration,
    },
    /// The connection is reset in the middle of the body.
    Truncated {
        /// The answer as it would have been.
        response: Response,
        /// How many bytes of its body still arrive.
        keep_bytes: usize,
    },
    /// Nobody listens: the manager is gone.
    Refused,
    /// The connection is closed without an answer; the request may have been processed.
    Drop,
    /// A black hole: never answered.
    Hang,
}
