//! This room reads attribute registries and holds values up against them.
//!
//! It deliberately keeps no values; what is current is passed in.

mod check;
mod dependency;
mod entry;

pub(crate) use check::{Attribute, Registry, find, shown};
