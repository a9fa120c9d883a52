//! The Redfish client against recorded trees of real services, and against a small service that misbehaves on demand.

#![expect(clippy::unwrap_used, reason = "tests")]

mod acts;
#[path = "../support/facts.rs"]
mod facts;
mod fake;
mod looks;
mod recorded;
mod trees;
