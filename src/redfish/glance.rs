//! Whether a BMC still says what it said: the same documents as last time, asked for again and not read.
//!
//! Where the BMC knows conditional requests, an unchanged document costs it no body; elsewhere the body's digest is
//! compared, which is far cheaper than reading it.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use http::header::{ETAG, IF_NONE_MATCH};
use http::{HeaderMap, HeaderValue};
use memchr::memmem;

use super::answer::Answer;
use super::conversation::Conversation;
use super::shelf::Shelf;
use super::transport::WireResponse;
use crate::model::LookRequest;

/// One document as it was last read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Glimpse {
    /// The path that was asked, with its query.
    path: Arc<str>,
    /// The `ETag` header, byte for byte, where there was one.
    etag: Option<Box<[u8]>>,
    /// What was said, but for the time of day.
    digest: u64,
}

impl Glimpse {
    pub(super) fn of(answer: &Answer) -> Self {
        Self {
            path: answer.path.as_str().into(),
            // A clone would keep the buffer alive that the whole answer was read into.
            etag: answer.headers.get(ETAG).map(|etag| etag.as_bytes().into()),
            digest: answer.digest,
        }
    }
}

/// The documents of one look, and what they answered.
#[derive(Debug)]
pub(super) struct Glimpsed {
    /// Digest of the request: what is kept of ten thousand BMCs holds none twice.
    asked: u64,
    pub(super) glimpses: Box<[Glimpse]>,
}

impl Glimpsed {
    pub(super) fn of(request: &LookRequest, mut glimpses: Vec<Glimpse>, shelf: &Shelf) -> Self {
        for glimpse in &mut glimpses {
            glimpse.path = shelf.text(&glimpse.path);
        }
        Self {
            asked: asked(request),
            glimpses: glimpses.into(),
        }
    }

    /// Whether this is what was asked.
    pub(super) fn answers(&self, request: &LookRequest) -> bool {
        self.asked == asked(request)
    }
}

fn asked(request: &LookRequest) -> u64 {
    let mut hasher = DefaultHasher::new();
    request.hash(&mut hasher);
    hasher.finish()
}

impl Conversation {
    /// Whether all of these documents are as they were. Whatever else is answered, and whatever fails, is for an ordinary
    /// read to judge: it says "no".
    pub(super) async fn is_unchanged(&self, glimpses: &[Glimpse]) -> bool {
        for glimpse in glimpses {
            let mut headers = HeaderMap::new();
            let etag = glimpse.etag.as_deref();
            if let Some(etag) = etag.and_then(|etag| HeaderValue::from_bytes(etag).ok()) {
                headers.insert(IF_NONE_MATCH, etag);
            }
            let found = self.glance(&glimpse.path, headers).await;
            match found {
                Ok(Some(response)) if response.status == 304 => {}
                Ok(Some(response))
                    if response.status == 200 && digest(&response.body) == glimpse.digest => {}
                Ok(_) | Err(_) => return false,
            }
        }
        !glimpses.is_empty()
    }
}

/// Whether an answer is one that says nothing new by itself.
pub(super) fn is_plain(response: &WireResponse) -> bool {
    matches!(response.status, 200 | 304)
}

/// What a body says, but for the one member that moves by itself: the time of day of a manager.
pub(super) fn digest(body: &[u8]) -> u64 {
    const CLOCK: &[u8] = b"\"DateTime\"";
    let mut hasher = DefaultHasher::new();
    let mut rest = body;
    while let Some(at) = memmem::find(rest, CLOCK) {
        let (before, after) = rest.split_at(at + CLOCK.len());
        hasher.write(before);
        // The value ends with the second quotation mark behind the name.
        let mut quotes = (0..).zip(after).filter(|(_, byte)| **byte == b'"');
        let end = quotes.nth(1).map_or(after.len(), |(end, _)| end);
        rest = after.get(end..).unwrap_or_default();
    }
    hasher.write(rest);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_moves_changes_nothing_and_whatever_else_moves_does() {
        let at = |time: &str, version: &str| {
            digest(format!(r#"{{"DateTime": "{time}","FirmwareVersion":"{version}"}}"#).as_bytes())
        };
        assert_eq!(
            at("2026-03-01T10:00:00Z", "1.60"),
            at("1970-01-01T00:00:09Z", "1.60")
        );
        assert_ne!(
            at("2026-03-01T10:00:00Z", "1.60"),
            at("2026-03-01T10:00:00Z", "1.50")
        );
        assert_ne!(digest(b"{\"DateTime\":\"a"), digest(b"{}"));
    }
}
