//! The other side of the socket: what the command line asks of a daemon that serves.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::header::{CONTENT_TYPE, HOST};
use axum::http::{Method, Request};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use jiff::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::net::UnixStream;
use tokio::time::timeout;

use crate::daemon::Progress;
use crate::model::{BmcName, Fault, Order, PipelineName, ServerName};

/// For a whole answer: the daemon itself gives up after thirty seconds.
const ANSWER: Duration = Duration::from_secs(35);

/// Bytes of an answer that are taken: an order about ten thousand BMCs has a few millions.
const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Speaks to the daemon on one socket.
#[derive(Debug, Clone)]
pub struct Caller {
    socket: PathBuf,
}

/// Why nothing came of a question.
#[derive(Debug, thiserror::Error)]
pub enum Unheard {
    /// There is no such socket, or nobody listens on it.
    #[error("nobody serves the socket")]
    Nobody,
    /// Somebody seems to, and cannot be understood.
    #[error("{0}")]
    Silent(String),
    /// The daemon says no.
    #[error("{message}")]
    Refused {
        /// HTTP status.
        status: u16,
        /// A stable kebab-case word.
        kind: String,
        /// For people.
        message: String,
        /// What to do.
        hint: Option<String>,
    },
}

/// `/v1/daemon`.
#[derive(Debug, Clone, Deserialize)]
pub struct Serving {
    /// Of its redpipe.
    pub version: String,
    /// Which process it is, in words.
    pub process: String,
    /// Its files.
    pub files: Files,
    /// The pipelines in them.
    pub pipelines: Vec<Generation>,
}

/// The files that a daemon goes by.
#[derive(Debug, Clone, Deserialize)]
pub struct Files {
    /// When those in use were read.
    pub loaded_at: Option<Timestamp>,
    /// Why newer ones are not in use.
    pub refused: Option<String>,
    /// How often they were read.
    pub reads: u64,
}

/// One pipeline of a daemon.
#[derive(Debug, Clone, Deserialize)]
pub struct Generation {
    /// Its name.
    pub pipeline: PipelineName,
    /// The state of its file.
    pub generation: String,
}

/// What answers an order.
#[derive(Debug, Clone, Deserialize)]
pub struct Ordered {
    /// The order.
    pub order: Order,
    /// Servers that an approval is for.
    #[serde(default)]
    pub servers: Vec<ServerName>,
}

/// `/v1/orders/{order}`.
#[derive(Debug, Clone, Deserialize)]
pub struct Followed {
    /// How the daemon knows it.
    pub taken: Fate,
    /// Whether nothing more comes of it by itself.
    pub at_rest: bool,
    /// Why nothing of it is done.
    #[serde(default)]
    pub refused: Option<Fault>,
    /// Every BMC that it is about.
    pub bmcs: Vec<OnBmc>,
}

/// How a daemon knows an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It will take it up.
    Waits,
    /// It was given to another process before this one.
    Older,
    /// It has taken it up.
    Taken,
}

/// How far an order came on one BMC.
#[derive(Debug, Clone)]
pub struct OnBmc {
    /// Of which pipeline.
    pub pipeline: PipelineName,
    /// Which BMC.
    pub bmc: BmcName,
    /// How far.
    pub progress: Progress,
}

impl<'de> Deserialize<'de> for OnBmc {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Names {
            pipeline: PipelineName,
            bmc: BmcName,
        }
        let row = Value::deserialize(deserializer)?;
        let wrong = serde::de::Error::custom;
        let names = Names::deserialize(&row).map_err(wrong)?;
        Ok(Self {
            pipeline: names.pipeline,
            bmc: names.bmc,
            progress: Progress::deserialize(&row).map_err(wrong)?,
        })
    }
}

impl Caller {
    /// For a socket, whether or not anybody serves it.
    pub fn new(socket: PathBuf) -> Self {
        Self { socket }
    }

    /// Where it asks.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Reads a document.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Unheard> {
        self.ask(Method::GET, path, String::new()).await
    }

    /// Orders something.
    pub async fn post<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T, Unheard> {
        self.ask(Method::POST, path, body.to_string()).await
    }

    async fn ask<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: String,
    ) -> Result<T, Unheard> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, "redpipe")
            .header(CONTENT_TYPE, "application/json")
            .body(Body::from(body))
            .map_err(|error| Unheard::Silent(error.to_string()))?;
        let answer = timeout(ANSWER, self.exchange(request)).await;
        let (status, bytes) = answer.map_err(|_| {
            let waited = ANSWER.as_secs();
            Unheard::Silent(format!("no answer within {waited} s"))
        })??;
        if (200..300).contains(&status) {
            return serde_json::from_slice(&bytes).map_err(|error| {
                Unheard::Silent(format!("`{path}` is answered with something else: {error}"))
            });
        }
        Err(refused(path, status, &bytes))
    }

    async fn exchange(&self, request: Request<Body>) -> Result<(u16, Vec<u8>), Unheard> {
        let stream = UnixStream::connect(&self.socket).await;
        let stream = stream.map_err(|error| absent(&error))?;
        let broken =
            |error: hyper::Error| Unheard::Silent(format!("the answer broke off: {error}"));
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
            .await
            .map_err(broken)?;
        let asking = async {
            let response = sender.send_request(request).await.map_err(broken)?;
            let status = response.status().as_u16();
            let body = Body::new(response.into_body());
            let bytes = to_bytes(body, ANSWER_BYTES_MAX)
                .await
                .map_err(|error| Unheard::Silent(format!("the answer broke off: {error}")))?;
            Ok((status, bytes.to_vec()))
        };
        let mut connection = std::pin::pin!(connection);
        let mut asking = std::pin::pin!(asking);
        tokio::select! {
            answer = &mut asking => answer,
            // It ends with the last byte of the answer, or with what `asking` then fails by.
            _ = &mut connection => asking.await,
        }
    }
}

fn absent(error: &io::Error) -> Unheard {
    let nobody = [ErrorKind::NotFound, ErrorKind::ConnectionRefused];
    if nobody.contains(&error.kind()) {
        Unheard::Nobody
    } else {
        Unheard::Silent(format!("it cannot be reached: {error}"))
    }
}

fn refused(path: &str, status: u16, bytes: &[u8]) -> Unheard {
    #[derive(Deserialize)]
    struct Errors {
        errors: Vec<Row>,
    }
    #[derive(Deserialize)]
    struct Row {
        kind: String,
        message: String,
        hint: Option<String>,
    }
    let rows = serde_json::from_slice(bytes).map(|errors: Errors| errors.errors);
    match rows.unwrap_or_default().into_iter().next() {
        Some(Row {
            kind,
            message,
            hint,
        }) => Unheard::Refused {
            status,
            kind,
            message,
            hint,
        },
        None => Unheard::Silent(format!("`{path}` is answered with status {status}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_side_writes_the_other_reads() {
        let mut row = serde_json::json!(Progress::Halted {
            spent: [BmcName::from("r04-c1")].into(),
        });
        row["pipeline"] = "p".into();
        row["bmc"] = "r04-c2".into();
        let read: OnBmc = serde_json::from_value(row).expect("a row");
        assert_eq!((read.pipeline, read.bmc), ("p".into(), "r04-c2".into()));
        assert!(matches!(read.progress, Progress::Halted { spent } if spent.len() == 1));
    }
}
