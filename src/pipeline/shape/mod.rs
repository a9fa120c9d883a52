//! Structure of a file against its JSON Schema: every unknown key, missing key and wrong type at once.
//!
//! What is wrong is reported and taken out, so that the rest can still be parsed and checked for its meaning.

mod form;
mod mask;
mod nearest;
mod read;
mod walk;

pub(crate) use mask::masked;
pub(crate) use nearest::nearest;
pub(crate) use read::{File, read};
