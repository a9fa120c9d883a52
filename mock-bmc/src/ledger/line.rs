//! This room is the shape of one ledger line.
//!
//! It deliberately says nothing about what the phrases in it mean; the room above does.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a line is about.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A request and its answer.
    Request,
    /// An image that the BMC pulled.
    Fetch,
    /// A host or a manager was reset.
    Reset,
    /// A scripted fault fired.
    Fault,
    /// Something changed by itself, such as a version after a boot.
    State,
}

/// One line of the ledger.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LedgerLine {
    /// Counts from 1 per BMC.
    pub n: u64,
    /// Mock time in milliseconds.
    pub at_ms: u64,
    /// The BMC's name.
    pub bmc: String,
    /// What the line is about.
    pub kind: Kind,
    /// The request's method.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The request's path and query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The answer's status; none where nothing was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The client's own name for the request, from its `X-Request-Id` header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The id of the session that the request was made in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The body of a mutating request, secrets masked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
    /// What the request started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caused: Vec<String>,
    /// What happened, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}
