//! Whether a BMC still says what it said: the same documents as last time, asked for again and not read.
//!
//! Where the BMC knows conditional requests, an unchanged document costs it no body; elsewhere the body's digest is
//! compared, which is far cheaper than reading it.

use std::sync::Arc;

use http::header::{ETAG, IF_NONE_MATCH};
use http::{HeaderMap, HeaderValue};

use super::Conversation;
use crate::redfish::line::{Answer, digest};

/// One document as it was last read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::redfish) struct Glimpse {
    /// The path that was asked, with its query.
    pub(in crate::redfish) path: Arc<str>,
    /// The `ETag` header, byte for byte, where there was one.
    etag: Option<Box<[u8]>>,
    /// What was said, but for the time of day.
    digest: u64,
}

impl Glimpse {
    pub(in crate::redfish) fn of(answer: &Answer) -> Self {
        Self {
            path: answer.path.as_str().into(),
            // A clone would keep the buffer alive that the whole answer was read into.
            etag: answer.headers.get(ETAG).map(|etag| etag.as_bytes().into()),
            digest: answer.digest,
        }
    }
}

impl Conversation {
    /// Whether all of these documents are as they were. Whatever else is answered, and whatever fails, is for an ordinary
    /// read to judge: it says "no".
    pub(in crate::redfish) async fn is_unchanged(&self, glimpses: &[Glimpse]) -> bool {
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
