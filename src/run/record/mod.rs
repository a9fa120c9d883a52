//! What is written down: facts in the order they became true.
//!
//! Every record is one journal line. Readers of newer versions are refused, readers of older ones are kept.

mod fact;
mod hold;
mod intent;
mod phase;
mod place;

pub use fact::{RECORD_VERSION, Record};
pub use hold::{HoldStep, HookOutcome, HookSide, OutcomeWord, ServerOutcome};
pub use intent::{Intent, Milestone, ResetPurpose, TaskFate, TaskSeen};
pub use phase::{How, RunPhase};
pub use place::{Place, Recovering, ServerBox, StageHead, StageWord, Wait};
