//! This room is the messages of a service: their texts, and the bodies that carry them.
//!
//! It deliberately holds only those of DMTF's registries `Base` and `Update` that the mock sends, in DMTF's words, and a
//! few of its own.

mod message;
mod registry;
mod table;

pub(crate) use message::{Message, error_body};
pub(crate) use registry::registry;
pub(crate) use table::{BASE, BASE_VERSION, OWN, OWN_VERSION, UPDATE, UPDATE_VERSION};
