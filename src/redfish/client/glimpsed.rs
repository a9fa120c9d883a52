//! What the last look asked, and the documents that answered it: asked for again, they tell whether anything is new.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::shelf::Shelf;
use crate::model::LookRequest;
use crate::redfish::conversation::Glimpse;

/// The documents of one look, and what they answered.
#[derive(Debug)]
pub(in crate::redfish) struct Glimpsed {
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
