//! Simulated fleets: seeds draw BMCs, pipelines and everything that may go wrong; ten invariants hold all the same.

#![expect(clippy::unwrap_used, reason = "tests")]

#[path = "../support/mod.rs"]
mod support;

mod case;
mod dice;
mod fleet;
mod hazard;
mod invariants;
mod maintenance;
mod report;
mod saboteurs;
mod seeds;
mod tests;
