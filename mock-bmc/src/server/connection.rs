//! This room serves one accepted connection: HTTP/1.1 with keep-alive, until either side ends it or the BMC is gone.
//!
//! It deliberately decides nothing. It shows each [`Reply`] as the network would: an answer, a late answer, half an
//! answer, a closed connection, or silence.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::body::MockBody;
use super::fetch::BODY_MAX_BYTES;
use super::host::{Absence, Host};
use super::wire::{Scissors, Wire};
use crate::bmc::TOKEN;
use crate::message::{Reply, Request, Response};

/// Longest TLS handshake, in real time. A client that needs longer is none.
const HANDSHAKE_MAX: Duration = Duration::from_secs(10);

/// How long an answer that was given before the BMC went away may still take to leave, in real time.
const LAST_WORDS: Duration = Duration::from_millis(50);

/// Serves a connection to its end. Errors end the connection and are nobody else's concern, as on real hardware.
pub(crate) async fn serve(host: Arc<Host>, stream: TcpStream, absence: Absence) {
    // Small answers must not wait for the client's acknowledgement of the one before.
    drop(stream.set_nodelay(true));
    let scissors = Scissors::default();
    let wire = Wire::new(stream, scissors.clone());
    match host.tls() {
        Ok(None) => speak(host, wire, "http", scissors, absence).await,
        Ok(Some(config)) => {
            let handshake = TlsAcceptor::from(config).accept(wire);
            let mut gone = absence.clone();
            let accepted = tokio::select! {
                accepted = timeout(HANDSHAKE_MAX, handshake) => accepted,
                () = gone.begun() => return,
            };
            if let Ok(Ok(tls)) = accepted {
                host.greeted(tls.get_ref().1);
                speak(host, tls, "https", scissors, absence).await;
            }
        }
        Err(error) => host.fail(format!("cannot serve `https`: {error}")),
    }
}

async fn speak<I>(
    host: Arc<Host>,
    io: I,
    scheme: &'static str,
    scissors: Scissors,
    absence: Absence,
) where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let cut = scissors.clone();
    let waiting = absence.clone();
    let service = service_fn(move |request| {
        answer(
            Arc::clone(&host),
            request,
            scheme,
            scissors.clone(),
            waiting.clone(),
        )
    });
    let mut connection = pin!(http1::Builder::new().serve_connection(TokioIo::new(io), service));
    let mut gone = absence;
    tokio::select! {
        ended = connection.as_mut() => drop(ended),
        () = gone.begun() => {
            connection.as_mut().graceful_shutdown();
            drop(timeout(LAST_WORDS, connection.as_mut()).await);
            cut.cut();
        }
    }
}

/// Answers one request; an error closes the connection without an answer.
async fn answer(
    host: Arc<Host>,
    request: hyper::Request<Incoming>,
    scheme: &'static str,
    scissors: Scissors,
    mut absence: Absence,
) -> io::Result<hyper::Response<MockBody>> {
    let (head, body) = request.into_parts();
    let token = head.headers.get(TOKEN).filter(|_| !body.is_end_stream());
    let token = token.and_then(|token| token.to_str().ok());
    let arriving = token.map(|token| host.body_begins(token.to_owned()));
    let body = match Limited::new(body, BODY_MAX_BYTES).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => return Ok(too_large()),
        Err(error) => return Err(io::Error::other(error)),
    };
    drop(arriving);
    let path = head
        .uri
        .path_and_query()
        .map_or("/", http::uri::PathAndQuery::as_str);
    let named = head
        .headers
        .get(http::header::HOST)
        .and_then(|host| host.to_str().ok());
    let scheme_host = match named {
        Some(named) => format!("{scheme}://{named}"),
        None => format!("{scheme}://{}", host.address),
    };
    let request = Request {
        method: head.method,
        path: path.to_owned(),
        headers: head.headers,
        body,
        scheme_host,
    };
    let mut reply = host.handle(&request);
    loop {
        reply = match reply {
            Reply::Answer(response) => {
                let body = MockBody::whole(response.body.clone());
                return Ok(rendered(response, body));
            }
            Reply::Delayed { answer, by } => {
                tokio::select! {
                    () = tokio::time::sleep(host.clock().real(by)) => *answer,
                    () = absence.begun() => Reply::Refused,
                }
            }
            Reply::Truncated {
                response,
                keep_bytes,
            } => {
                scissors.cut();
                let body = MockBody::cut(&response.body, keep_bytes);
                return Ok(rendered(response, body));
            }
            Reply::Refused => {
                scissors.cut();
                return Err(io::ErrorKind::ConnectionRefused.into());
            }
            Reply::Drop => return Err(io::ErrorKind::ConnectionAborted.into()),
            Reply::Hang => {
                absence.begun().await;
                Reply::Refused
            }
        };
    }
}

fn rendered(response: Response, body: MockBody) -> hyper::Response<MockBody> {
    let mut rendered = hyper::Response::new(body);
    *rendered.status_mut() = response.status;
    *rendered.headers_mut() = response.headers;
    rendered
}

fn too_large() -> hyper::Response<MockBody> {
    let mut response = hyper::Response::new(MockBody::whole(Bytes::new()));
    *response.status_mut() = http::StatusCode::PAYLOAD_TOO_LARGE;
    response.headers_mut().insert(
        http::header::CONNECTION,
        http::HeaderValue::from_static("close"),
    );
    response
}
