//! This room is the run machine: one pipeline on one BMC, walked by decisions that are written down before they are
//! acted upon.
//!
//! It does no I/O, reads no clock and owns no task: time comes in with every input, looks and outcomes come from the
//! shell, and what leaves are records to append and at most one request to send.

mod absence;
mod attention;
pub mod deadline;
mod finish;
mod foreign;
mod identity;
mod lanes;
pub mod machine;
mod order;
mod pass;
pub mod record;
mod stage;
pub mod state;
pub mod status;

#[cfg(test)]
mod tests;

pub use machine::{Decision, Input, Permits, RunMachine};
pub use record::{How, Intent, Place, Record, RunPhase};
pub use state::{RunState, Work, WorkStatus};
