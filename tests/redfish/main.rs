//! The Redfish client against recorded trees of real services, against a small service that misbehaves on demand, and
//! against a live mock.

#![expect(clippy::unwrap_used, reason = "tests")]

mod acts;
#[path = "../support/facts.rs"]
mod facts;
mod fake;
mod habits;
mod looks;
#[path = "../support/memory.rs"]
mod memory;
mod mock;
mod recorded;
mod trees;
