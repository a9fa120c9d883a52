//! This room is entity tags: what they look like, and which of a client's are taken.
//!
//! It deliberately makes them from a document's revisions; the script only dresses them.

use http::header::{ETAG, IF_MATCH, IF_NONE_MATCH};
use http::{Method, StatusCode};

use super::answer::Answer;
use super::asked::Asked;
use super::core::Bmc;
use crate::docs::messages::Message;
use crate::script::{EtagStyle, Refusal};

impl Bmc {
    fn bare_tag(&self, uri: &str) -> Option<String> {
        let tag = self.store.tag(uri)?;
        let restless = self.habits.etag.restless();
        Some(if restless {
            format!("{tag}{:x}", self.reads)
        } else {
            tag
        })
    }

    /// The tag as the header carries it.
    pub(super) fn header_tag(&self, uri: &str) -> Option<String> {
        let tag = self.bare_tag(uri)?;
        match self.habits.etag.style() {
            EtagStyle::Weak => Some(format!("W/\"{tag}\"")),
            EtagStyle::Strong => Some(format!("\"{tag}\"")),
            EtagStyle::DoublyQuoted => Some(format!("\"\"{tag}\"\"")),
            EtagStyle::Gzip => Some(format!("\"{tag}-gzip\"")),
            EtagStyle::None => None,
        }
    }

    /// The tag as `@odata.etag` carries it.
    pub(super) fn body_tag(&self, uri: &str) -> Option<String> {
        let tag = self.bare_tag(uri)?;
        match self.habits.etag.style() {
            EtagStyle::Weak => Some(format!("W/\"{tag}\"")),
            EtagStyle::Strong | EtagStyle::DoublyQuoted | EtagStyle::Gzip => {
                Some(format!("\"{tag}\""))
            }
            EtagStyle::None => None,
        }
    }

    /// Adds the document's tag to an answer.
    pub(super) fn with_tag(&self, answer: Answer, uri: &str) -> Answer {
        match self.header_tag(uri) {
            Some(tag) => answer.with(ETAG, &tag),
            None => answer,
        }
    }

    /// Whether a read can be answered with 304.
    pub(super) fn is_unchanged(&self, asked: &Asked<'_>, uri: &str) -> bool {
        let Some(sent) = asked.header(IF_NONE_MATCH.as_str()) else {
            return false;
        };
        let tag = self.header_tag(uri);
        sent.trim() == "*"
            || tag.is_some_and(|tag| listed(sent).any(|sent| opaque(sent) == opaque(&tag)))
    }

    /// Why a write's condition does not hold.
    pub(super) fn refused_condition(&mut self, asked: &Asked<'_>, uri: &str) -> Option<Answer> {
        let failed = || {
            Answer::refused(
                StatusCode::PRECONDITION_FAILED,
                &[Message::base("PreconditionFailed", &[])],
            )
        };
        let Some(sent) = asked.header(IF_MATCH.as_str()) else {
            let required = self.habits.etag.required() && asked.method() == Method::PATCH;
            let missing = || {
                Answer::refused(
                    StatusCode::PRECONDITION_REQUIRED,
                    &[Message::base("PreconditionRequired", &[])],
                )
            };
            return required.then(missing);
        };
        if self.stale_left > 0 {
            self.stale_left -= 1;
            return Some(failed());
        }
        (!self.is_taken(sent.trim(), uri)).then(failed)
    }

    /// Whether a client's tag names the document as it is.
    fn is_taken(&self, sent: &str, uri: &str) -> bool {
        let etag = &self.habits.etag;
        if etag.star_only() || sent == "*" {
            return sent == "*" && !etag.bare_only() && !etag.star_refused();
        }
        let Some(tag) = self.bare_tag(uri) else {
            return false;
        };
        if etag.bare_only() {
            return sent == tag;
        }
        match etag.style() {
            EtagStyle::None => false,
            // Hardware compares weak tags here, which RFC 9110 does not foresee.
            EtagStyle::Weak | EtagStyle::Strong | EtagStyle::DoublyQuoted | EtagStyle::Gzip => {
                listed(sent).any(|sent| opaque(sent) == format!("\"{tag}\""))
            }
        }
    }

    /// Why an action with a condition is refused.
    pub(super) fn refused_action_condition(&self, asked: &Asked<'_>) -> Option<Answer> {
        asked.header(IF_MATCH.as_str())?;
        let refused = self.habits.etag.on_action() == Refusal::Refused;
        refused.then(|| {
            Answer::refused(
                StatusCode::PRECONDITION_FAILED,
                &[Message::base("PreconditionFailed", &[])],
            )
        })
    }
}

fn listed(sent: &str) -> impl Iterator<Item = &str> {
    sent.split(',').map(str::trim)
}

/// A tag without the mark of a weak one.
fn opaque(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag)
}
