//! What the records say is true now: a fold, and nothing else.

mod fold;
mod hold;
mod run;
mod work;

pub use hold::{Approval, Hold, HoldPhase, HookState, Release};
pub use run::{RunState, Start};
pub use work::{Act, GoodReads, Step, Track, Work, WorkStatus};
