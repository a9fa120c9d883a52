//! A stateful fake BMC.

pub mod image;
pub mod tree;
