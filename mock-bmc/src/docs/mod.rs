//! This room is the documents of a service: where they are kept, what their links mean, how they are checked, changed
//! and read.
//!
//! It deliberately knows no time and no requests; what happens to a BMC is decided elsewhere.

pub(crate) mod adopt;
pub(crate) mod bindings;
pub(crate) mod complete;
pub(crate) mod identity;
pub(crate) mod messages;
pub(crate) mod odata;
pub(crate) mod patch;
pub(crate) mod query;
pub(crate) mod registry;
pub(crate) mod store;
pub(crate) mod walk;
