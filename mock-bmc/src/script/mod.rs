//! This room is the script of a fleet: how its BMCs deviate from what they are by default.
//!
//! It deliberately only describes; the BMC acts. Every key has its doc comment, its type and its default in one place,
//! from which [`explanation`] is made.

mod explain;
mod fault;
mod foreign;
mod habits;
mod keys;
mod sections;
mod span;
mod words;

pub use explain::explanation;
pub use fault::{AnswerKind, Fault, RetryAfterForm};
pub use foreign::{ForeignJob, ForeignTask, Requirement, SystemScript, TaskFault};
pub(crate) use habits::Habits;
pub use habits::{BmcScript, Script};
pub use sections::{
    BiosSettings, BmcSettings, Collections, Durations, Etag, Identity, Power, Sessions, TaskHabits,
    Update, Versions,
};
pub use span::Span;
pub use words::{
    Activation, AlreadyThere, During, EtagStyle, Expand, Handle, LocationForm, Messages, Outcome,
    PasswordChange, PendingStyle, Refusal, RefusedAt, RegistryForm, StagedTask, Targets, Vanish,
};
