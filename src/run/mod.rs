//! This room is the run machine: one pipeline on one BMC, walked by decisions that are written down before they are
//! acted upon.
//!
//! It does no I/O, reads no clock and owns no task: time comes in with every input, looks and outcomes come from the
//! shell, and what leaves are records to append and at most one request to send.

mod absence;
mod attention;
pub mod conditions;
pub mod deadline;
mod edit;
mod finish;
mod foreign;
mod held;
pub mod hold;
mod identity;
mod lanes;
pub mod machine;
mod order;
mod pass;
pub mod record;
mod refusal;
pub mod serving;
mod stage;
mod standing;
pub mod state;
pub mod status;
pub mod waiting;

#[cfg(test)]
mod tests;

pub use hold::HookCall;
/// What a place waits for whose hold is judged anew.
pub(crate) const LOOKING_AGAIN: &str = "looking again";

pub use machine::{Decision, Input, Permits, RunMachine};
pub use record::{How, Intent, Place, Record, RunPhase};
pub use standing::Standing;
pub use state::{RunState, Work, WorkStatus};
