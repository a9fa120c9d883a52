//! This room drives BMCs as a network would: requests and time in, replies and ledger out.
//!
//! It deliberately has no sockets and no clock.

#![expect(clippy::unwrap_used, reason = "tests")]

mod etag;
mod faults;
mod foreign;
mod manager;
mod power;
mod protocol;
mod settings;
mod settings_manager;
mod support;
mod tasks;
mod trees;
mod update_bios;
mod update_bmc;
mod update_request;
