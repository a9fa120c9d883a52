//! Documents that a look has read, for one that follows at once and asks more.
//!
//! What a stage needs to know is often found out by the look before it. The second look need not ask for what was said a
//! moment ago; what has changed meanwhile is not asked of it, see [`Client::look_on`].

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::Client;
use super::observe::Observer;
use crate::model::{LookRequest, Seen};
use crate::redfish::transport::BoxFuture;

/// How long a document serves a look that goes on. Two requests a second, the default pace, are twenty requests: more
/// than one look of most BMCs takes.
const SERVES_FOR: Duration = Duration::from_secs(10);

/// The documents of one look.
#[derive(Debug, Clone)]
pub(in crate::redfish) struct Documents {
    /// By the key of their URI.
    pub(super) docs: BTreeMap<String, Arc<Value>>,
    /// What the look was asked.
    pub(super) asked: LookRequest,
    /// When the first of them was read.
    pub(super) at: Timestamp,
}

impl Documents {
    /// Whether they serve a look that asks this now. The same question is only asked again by who wants to know anew.
    fn serve(&self, request: &LookRequest, now: Timestamp) -> bool {
        let is_more = self.asked != *request && !request.fresh_session && !request.root_only;
        is_more && is_within(self.at, now, SERVES_FOR)
    }
}

/// Whether `now` is at most so long after `since`; a clock that went back says no.
pub(super) fn is_within(since: Timestamp, now: Timestamp, time: Duration) -> bool {
    let age = now.duration_since(since);
    age >= SignedDuration::ZERO && Duration::try_from(age).is_ok_and(|age| age <= time)
}

impl Client {
    /// Whether what a look has read is kept for one that goes on from it: only while somebody looks again and again, as all
    /// that many BMCs say is much.
    pub fn keep_documents(&self, keep: bool) {
        let mut remembered = self.remember();
        remembered.keeps_documents = keep;
        remembered.documents = None;
    }

    /// Looks as [`Client::look`] does, but goes on from the documents of the look before, where that one was asked
    /// something else a moment ago, was [kept](Client::keep_documents), and nothing was sent since that changes something.
    ///
    /// Only for what nobody else changes within seconds, or where it does no harm to hear of that a look later: never for
    /// reads that have to agree with earlier ones.
    pub fn look_on<'a>(&'a self, request: &'a LookRequest) -> BoxFuture<'a, Seen> {
        Box::pin(async move {
            let now = self.conversation.now();
            let documents = self.remember().documents.take();
            let documents = documents.filter(|documents| documents.serve(request, now));
            Observer::look(self, request, documents).await.into()
        })
    }
}
