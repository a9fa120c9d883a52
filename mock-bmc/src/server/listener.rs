//! This room owns the listening socket of one BMC, and takes it away while the BMC is gone.
//!
//! It deliberately pretends nothing: while a BMC is gone nothing listens, so that the kernel refuses for it.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::connection;
use super::host::Host;

/// Connections that wait to be accepted. More than a client opens, less than would matter in a fleet of thousands.
const BACKLOG: u32 = 128;

/// Pause before a failed `accept` or `listen` is tried again, in real time: files or ports may be short for a moment.
const RETRY_AFTER: Duration = Duration::from_millis(20);

/// The address of one BMC, bound.
#[derive(Debug)]
pub(crate) struct Socket {
    /// The address with its final port.
    pub(crate) address: SocketAddr,
    listener: TcpListener,
    /// Holds a port that the system chose while nothing listens there; a client's own connection could take it else.
    reservation: Option<TcpSocket>,
}

impl Socket {
    /// Binds an address; a port of 0 is chosen by the system and then kept.
    pub(crate) fn bind(address: SocketAddr) -> io::Result<Self> {
        let reservation = if address.port() == 0 {
            Some(bound(address)?)
        } else {
            None
        };
        let address = match &reservation {
            Some(socket) => socket.local_addr()?,
            None => address,
        };
        let listener = listen(address)?;
        Ok(Self {
            address,
            listener,
            reservation,
        })
    }
}

fn bound(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    bound(address)?.listen(BACKLOG)
}

/// Serves one BMC until `stop` says so or is dropped.
pub(crate) async fn run(host: Arc<Host>, socket: Socket, mut stop: watch::Receiver<bool>) {
    tokio::select! {
        () = come_and_go(host, socket) => {}
        // Dropping the other branch closes its listener and aborts its connections.
        _ = stop.wait_for(|stop| *stop) => {}
    }
}

async fn come_and_go(host: Arc<Host>, socket: Socket) {
    let Socket {
        address,
        listener,
        reservation,
    } = socket;
    let mut open = Some(listener);
    let mut presence = host.presence.subscribe();
    loop {
        if host.is_present() {
            let listener = match open.take() {
                Some(listener) => listener,
                None => listen_again(address).await,
            };
            accept(&host, listener).await;
        }
        open = None;
        if presence
            .wait_for(|presence| presence.listening)
            .await
            .is_err()
        {
            break;
        }
    }
    drop(reservation);
}

async fn listen_again(address: SocketAddr) -> TcpListener {
    loop {
        match listen(address) {
            Ok(listener) => return listener,
            Err(_) => tokio::time::sleep(RETRY_AFTER).await,
        }
    }
}

/// Accepts until the BMC is gone; then waits for the connections to be cut.
async fn accept(host: &Arc<Host>, listener: TcpListener) {
    let mut absence = host.absence();
    let mut connections = JoinSet::new();
    // It may have gone again before the wait began.
    while host.is_present() {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(connection::serve(Arc::clone(host), stream, absence.clone()));
                }
                Err(_) => tokio::time::sleep(RETRY_AFTER).await,
            },
            Some(ended) = connections.join_next() => drop(ended),
            () = absence.begun() => break,
        }
    }
    drop(listener);
    while let Some(ended) = connections.join_next().await {
        drop(ended);
    }
}
