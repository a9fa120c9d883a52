//! What goes wrong, as JSON: the rows that the command line's documents have under `errors`.

use std::path::PathBuf;

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::daemon::verbs::Refused;
use crate::model::Fault;

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
pub enum Unserved {
    /// A live process answers there.
    #[error("another process serves `{0}`")]
    Live(PathBuf),
    /// It is no socket, and is not ours to delete.
    #[error("`{0}` is there and is no socket")]
    NoSocket(PathBuf),
    /// The address cannot be taken.
    #[error("`{place}` cannot be served")]
    Bind {
        /// Where.
        place: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Others may reach the address, and nothing tells friend from foe.
    #[error("`{0}` is no loopback address, and needs both a token and TLS")]
    Unguarded(std::net::SocketAddr),
    /// A token that can be guessed, or cannot be read.
    #[error("token file `{path}`: {why}")]
    Token {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// Certificate and key are of no use.
    #[error("TLS by `{path}`: {why}")]
    Tls {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
}

impl Unserved {
    /// What a person can do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Live(_) => {
                "one daemon is enough for a state; stop the other, or give this one a state of its own"
            }
            Self::NoSocket(_) => "move that file away, or name another socket",
            Self::Bind { .. } => {
                "choose an address that is free, in a folder that is there and may be written to"
            }
            Self::Unguarded(_) => {
                "listen on 127.0.0.1, or give a token file, a certificate and its key"
            }
            Self::Token { .. } => {
                "one line of at least 24 characters that nobody guesses, such as from `openssl rand -hex 32`"
            }
            Self::Tls { .. } => {
                "give PEM files: the certificate with its chain, and its private key without a password"
            }
        }
    }
}

/// Why a request is not answered with what it asked for.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    row: Row,
}

/// One error in JSON.
#[derive(Debug, Serialize)]
struct Row {
    kind: String,
    message: String,
    hint: Option<String>,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, kind: &str, message: impl Into<String>) -> Self {
        let row = Row {
            kind: kind.to_owned(),
            message: message.into(),
            hint: None,
        };
        Self { status, row }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.row.hint = Some(hint.into());
        self
    }

    /// A request that is not understood.
    pub(super) fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "usage", message)
    }

    pub(super) fn no_run(name: &str) -> Self {
        let message = format!("there is no run `{name}`");
        Self::new(StatusCode::NOT_FOUND, "nothing-matched", message)
            .hint("`GET /v1/runs` lists all")
    }
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        let refusal = Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            fault.kind.as_str(),
            fault.to_string(),
        );
        Self {
            row: Row {
                hint: fault.hint,
                ..refusal.row
            },
            ..refusal
        }
    }
}

impl From<Refused> for Refusal {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Unknown { message, hint } => {
                Self::new(StatusCode::NOT_FOUND, "nothing-matched", message).hint(hint)
            }
            Refused::Unfit { message, hint } => {
                Self::new(StatusCode::CONFLICT, "usage", message).hint(hint)
            }
            Refused::Failed(fault) => fault.into(),
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let document = serde_json::json!({ "errors": [self.row] });
        (self.status, Json(document)).into_response()
    }
}
