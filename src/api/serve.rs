//! What is served where, and how much of it.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;

use super::door::Door;
use super::error::Unserved;
use super::hall::{Entrance, Hall};
use super::listen::{Socket, Tcp, TcpOptions};
use super::routes;
use crate::daemon::Handle;

/// How much clients may take. The defaults serve a team and its dashboards from a small machine.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections at once, over all addresses. Each costs some 20 KiB.
    pub connections: usize,
    /// Event streams at once among them: those stay, and must not keep others out.
    pub streams: usize,
    /// For the head of a request to come in, the time between two on one connection included.
    pub head: Duration,
    /// For an answer to be made; its way to the client does not count.
    pub answer: Duration,
    /// For a client to take some bytes of its answer.
    pub stall: Duration,
    /// Bytes of a request's body: orders are short.
    pub body_bytes: usize,
    /// Between two signs of life on an event stream.
    pub keep_alive: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 256,
            streams: 64,
            head: Duration::from_secs(15),
            answer: Duration::from_secs(30),
            stall: Duration::from_secs(30),
            body_bytes: 16 * 1024,
            keep_alive: Duration::from_secs(15),
        }
    }
}

/// Where to serve.
#[derive(Default)]
pub struct ApiOptions {
    /// A Unix socket.
    pub socket: Option<PathBuf>,
    /// A TCP address.
    pub tcp: Option<TcpOptions>,
    /// How much clients may take.
    pub limits: Limits,
}

/// What every route gets.
#[derive(Clone)]
pub struct Api {
    pub(super) handle: Handle,
    pub(super) door: Door,
    pub(super) limits: Limits,
    pub(super) streams: Arc<Semaphore>,
    pub(super) stop: CancellationToken,
}

/// Addresses that are taken, and served from [`Listening::serve`] on.
pub struct Listening {
    socket: Option<Socket>,
    tcp: Option<Tcp>,
    limits: Limits,
    open: watch::Sender<usize>,
}

impl Listening {
    /// Takes all addresses, or none.
    pub async fn bind(options: ApiOptions) -> Result<Self, Unserved> {
        let tcp = match options.tcp {
            Some(tcp) => Some(Tcp::bind(tcp).await?),
            None => None,
        };
        let socket = match &options.socket {
            Some(path) => Some(Socket::bind(path).await?),
            None => None,
        };
        Ok(Self {
            socket,
            tcp,
            limits: options.limits,
            open: watch::Sender::new(0),
        })
    }

    /// The TCP address, with the port that was found free.
    pub fn tcp_address(&self) -> Option<SocketAddr> {
        self.tcp.as_ref().map(|tcp| tcp.address)
    }

    /// The Unix socket.
    pub fn socket_path(&self) -> Option<&Path> {
        self.socket.as_ref().map(Socket::path)
    }

    /// How many connections are open.
    pub fn connections(&self) -> watch::Receiver<usize> {
        self.open.subscribe()
    }

    /// Answers until it is told to stop; a panic while answering is passed on.
    pub async fn serve(self, handle: Handle, stop: CancellationToken) {
        let hall = Hall {
            limits: self.limits,
            open: self.open,
        };
        let api = |door| Api {
            handle: handle.clone(),
            door,
            limits: self.limits,
            streams: Arc::new(Semaphore::new(self.limits.streams)),
            stop: stop.clone(),
        };
        let over_socket = async {
            if let Some(socket) = &self.socket {
                let router = routes::router(api(Door::Socket));
                hall.host(Entrance::Socket(&socket.listener), &router, &stop)
                    .await;
            }
        };
        let over_tcp = async {
            if let Some(tcp) = &self.tcp {
                let (ip, token) = (tcp.address.ip(), tcp.token.clone());
                let router = routes::router(api(Door::Tcp { ip, token }));
                hall.host(Entrance::Tcp(tcp), &router, &stop).await;
            }
        };
        tokio::join!(over_socket, over_tcp);
    }
}
