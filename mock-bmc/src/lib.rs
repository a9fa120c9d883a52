//! A stateful fake BMC.

pub mod bmc;
mod docs;
pub mod fleet;
pub mod image;
pub mod ledger;
pub mod message;
pub mod platform;
pub mod script;
pub mod server;
pub mod time;
pub mod tree;

/// The example of the README must compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
