//! What the records say is true now: a fold, and nothing else.

mod edit;
mod fold;
mod hold;
mod paths;
mod run;
mod work;

pub(super) use edit::REMOVED;
pub use hold::{Approval, Hold, HoldPhase, HookState, Release};
pub use run::{RunState, Start};
pub use work::{Act, GoodReads, Step, Track, Work, WorkStatus};
