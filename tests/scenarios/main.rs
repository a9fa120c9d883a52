//! Scenarios: the real engine against live mocks, in virtual time.
//!
//! Each test is named as its claim and says the number of its scenario.

#![expect(clippy::unwrap_used, reason = "tests")]

#[path = "../support/mod.rs"]
mod support;

mod common;
mod fan_out;
mod life;
mod load;
mod rollout;
mod servers;
