//! A hop: look, write down, send once, follow by evidence, activate, read back.

mod activate;
mod begin;
mod cancel;
mod doubt;
mod failing;
mod follow;
mod hop;
mod sibling;
mod verify;

pub(in crate::run) use cancel::cancel;
pub(in crate::run) use hop::{expected_in, needs, outage_until, step};
