//! The Redfish client against recorded trees of real services.

#![expect(clippy::unwrap_used, reason = "tests")]

#[path = "../support/facts.rs"]
mod facts;
mod recorded;
mod trees;
