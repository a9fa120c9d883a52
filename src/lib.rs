//! redpipe moves BMC and BIOS firmware and settings of a bare-metal fleet over Redfish, one hop at a time.
//!
//! Rooms, in reading order: [`model`] (nouns), and then, as they stand below, files, plan, run, and the edges and
//! shells around them.

pub mod model;

pub mod drift;
pub mod pipeline;
pub mod plan;
pub mod run;

pub mod artifact;
pub mod redfish;
pub mod secret;
pub mod store;

pub mod observe;

pub mod api;
pub mod cli;
pub mod daemon;
