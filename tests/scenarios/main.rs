//! Scenarios: the real engine against live mocks, in virtual time.
//!
//! Each test is named as its claim and says the number of its scenario.

#![expect(clippy::unwrap_used, reason = "tests")]

#[path = "../support/mod.rs"]
mod support;

mod approval;
mod bios_firmware;
mod bios_flow;
mod bios_pending;
mod bios_power;
mod bios_settings;
mod bmc_actions;
mod bmc_attributes;
mod bmc_firmware;
mod bmc_resources;
mod bmc_write_only;
mod budget;
mod certificates;
mod claims;
mod common;
mod computed_hops;
mod crash;
mod credentials;
mod daemon;
mod default_uuid;
mod doubts;
mod drift;
mod edits;
mod facts;
mod fan_out;
mod hooks;
mod journals;
mod kept;
mod leases;
mod life;
mod load;
mod managers;
mod names;
mod no_brick;
mod orders;
mod polls;
mod pulls;
mod pushes;
mod rollout;
mod servers;
mod severs;
mod silent;
mod variables;
mod verbs;
mod window;
