//! This room is the body of an answer, whole or cut off on purpose.
//!
//! It deliberately knows no other kind: the mock holds every answer in memory.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::time::Sleep;

/// How long a cut body rests between its last byte and the reset. The bytes must have left before the connection is torn
/// down, or the client would see a reset without any of them.
const REST: Duration = Duration::from_millis(20);

/// The body of an answer.
pub(crate) struct MockBody {
    chunk: Option<Bytes>,
    announced: u64,
    cut: Option<Pin<Box<Sleep>>>,
}

impl MockBody {
    /// The whole body.
    pub(crate) fn whole(bytes: Bytes) -> Self {
        Self {
            announced: length(&bytes),
            chunk: (!bytes.is_empty()).then_some(bytes),
            cut: None,
        }
    }

    /// A body announced in full of which only `keep` bytes come, then the connection breaks.
    pub(crate) fn cut(bytes: &Bytes, keep: usize) -> Self {
        let kept = bytes.slice(..keep.min(bytes.len()));
        Self {
            announced: length(bytes).max(1),
            chunk: (!kept.is_empty()).then_some(kept),
            cut: Some(Box::pin(tokio::time::sleep(REST))),
        }
    }
}

impl Body for MockBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if let Some(chunk) = self.chunk.take() {
            return Poll::Ready(Some(Ok(Frame::data(chunk))));
        }
        match self.cut.as_mut() {
            None => Poll::Ready(None),
            Some(rest) => rest
                .as_mut()
                .poll(context)
                .map(|()| Some(Err(io::Error::from(io::ErrorKind::ConnectionReset)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.chunk.is_none() && self.cut.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.announced)
    }
}

fn length(bytes: &Bytes) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
