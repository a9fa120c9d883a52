//! This room lists the built-in platforms and makes their documents.
//!
//! It deliberately lists no recorded trees: those are files.

pub(crate) mod generic;

/// Name and one-line description of each built-in platform.
pub const PLATFORMS: &[(&str, &str)] = &[(
    "generic",
    "one manager with N systems and every service that an update needs",
)];
