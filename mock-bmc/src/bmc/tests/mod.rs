//! This room drives BMCs as a network would: requests and time in, replies and ledger out.
//!
//! It deliberately has no sockets and no clock.

#![expect(clippy::unwrap_used, reason = "tests")]

mod protocol;
mod support;
