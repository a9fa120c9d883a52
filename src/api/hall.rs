//! Connections: taken, counted, bounded, and closed.

use std::io;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::UnixListener;
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::listen::Tcp;
use super::patient::Patient;
use super::serve::Limits;

/// Bytes of a request's head, names and values together.
const HEAD_BYTES_MAX: usize = 16 * 1024;

/// For connections to end by themselves once the daemon stops.
const FAREWELL: Duration = Duration::from_secs(2);

/// After a connection could not be taken: most likely files are short, and others give theirs back.
const BREATH: Duration = Duration::from_millis(100);

/// What one too many is told, where it is not in the middle of a TLS handshake.
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nretry-after: 5\r\nconnection: close\r\n\r\n";

/// An address that takes connections.
#[derive(Clone, Copy)]
pub(super) enum Entrance<'a> {
    /// The socket.
    Socket(&'a UnixListener),
    /// TCP.
    Tcp(&'a Tcp),
}

/// Bytes in both directions.
trait Wire: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Wire for T {}

/// What all addresses share.
pub(super) struct Hall {
    pub(super) limits: Limits,
    pub(super) open: watch::Sender<usize>,
}

/// One that came in, counted as long as it stays.
struct Guest(watch::Sender<usize>);

impl Drop for Guest {
    fn drop(&mut self) {
        self.0.send_modify(|open| *open -= 1);
    }
}

impl Hall {
    /// Takes connections until it is told to stop.
    pub(super) async fn host(
        &self,
        entrance: Entrance<'_>,
        router: &Router,
        stop: &CancellationToken,
    ) {
        let mut talks = JoinSet::new();
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                Some(ended) = talks.join_next(), if !talks.is_empty() => pass_on(ended),
                accepted = entrance.accept() => match accepted {
                    Ok(wire) => {
                        if let Some((guest, wire)) = self.admit(wire).await {
                            let talk = talk(wire, entrance.tls(), router.clone(), self.limits, stop.clone(), guest);
                            talks.spawn(talk);
                        }
                    }
                    Err(error) => {
                        tracing::warn!(%error, "a connection could not be taken");
                        sleep(BREATH).await;
                    }
                },
            }
        }
        let farewell = async {
            while let Some(ended) = talks.join_next().await {
                pass_on(ended);
            }
        };
        // Whoever has not heard its answer by now is dropped with the set.
        timeout(FAREWELL, farewell).await.ok();
    }

    async fn admit(&self, mut wire: Box<dyn Wire>) -> Option<(Guest, Box<dyn Wire>)> {
        let most = self.limits.connections;
        let is_in = self.open.send_if_modified(|open| {
            let is_in = *open < most;
            *open += usize::from(is_in);
            is_in
        });
        if is_in {
            return Some((Guest(self.open.clone()), wire));
        }
        // Fits into the empty buffer of a new connection.
        timeout(BREATH, wire.write_all(FULL)).await.ok();
        None
    }
}

impl Entrance<'_> {
    async fn accept(&self) -> io::Result<Box<dyn Wire>> {
        Ok(match self {
            Self::Socket(listener) => Box::new(listener.accept().await?.0),
            Self::Tcp(tcp) => {
                let (stream, _) = tcp.listener.accept().await?;
                // Events are small, and told at once.
                stream.set_nodelay(true)?;
                Box::new(stream)
            }
        })
    }

    fn tls(&self) -> Option<TlsAcceptor> {
        match self {
            Self::Socket(_) => None,
            Self::Tcp(tcp) => tcp.tls.clone(),
        }
    }
}

fn pass_on(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        std::panic::resume_unwind(error.into_panic());
    }
}

async fn talk(
    wire: Box<dyn Wire>,
    tls: Option<TlsAcceptor>,
    router: Router,
    limits: Limits,
    stop: CancellationToken,
    _guest: Guest,
) {
    let wire = Patient::new(wire, limits.stall);
    match tls {
        None => speak_http(wire, router, limits, stop).await,
        Some(tls) => match timeout(limits.head, tls.accept(wire)).await {
            Ok(Ok(wire)) => speak_http(wire, router, limits, stop).await,
            Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
            Err(_) => tracing::debug!("a TLS handshake took too long"),
        },
    }
}

async fn speak_http<W: Wire>(wire: W, router: Router, limits: Limits, stop: CancellationToken) {
    let service = TowerToHyperService::new(router);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(wire), service);
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}
