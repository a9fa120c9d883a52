//! This room is a TCP connection that can end in a reset instead of a goodbye.
//!
//! It deliberately adds nothing else to the stream it wraps.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// Tells a [`Wire`], from wherever its connection is served, how to end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scissors(Arc<AtomicBool>);

impl Scissors {
    /// From now on the end of the connection is a reset.
    pub(crate) fn cut(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn is_cut(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// One accepted connection.
#[derive(Debug)]
pub(crate) struct Wire {
    stream: TcpStream,
    scissors: Scissors,
}

impl Wire {
    pub(crate) fn new(stream: TcpStream, scissors: Scissors) -> Self {
        Self { stream, scissors }
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        if self.scissors.is_cut() {
            // A socket that the client has torn down already cannot be set, and needs not be.
            drop(self.stream.set_zero_linger());
        }
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.scissors.is_cut() {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
