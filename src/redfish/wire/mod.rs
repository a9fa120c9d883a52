//! This room reads what BMCs send: members that may be missing, null, of another type or in another letter case.
//!
//! It knows no schema and keeps nothing.

mod link;
mod value;

pub(super) use link::{ROOT, key, last_segment, same};
pub(super) use value::{at, flag, link, links, member, next_page, object, text, texts, whole};
