//! A small lab in memory: mock BMCs, virtual time, the real engine.

#![allow(dead_code, reason = "each test binary uses its own part of the lab")]
#![allow(
    clippy::allow_attributes,
    reason = "an expectation would be unmet where a binary uses all of it"
)]

pub(crate) mod daemon;
pub(crate) mod dice;
pub(crate) mod images;
pub(crate) mod lives;
pub(crate) mod memory;
pub(crate) mod process;
pub(crate) mod script;
mod trace;
pub(crate) mod world;
