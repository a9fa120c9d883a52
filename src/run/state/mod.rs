//! What the records say is true now: a fold, and nothing else.

mod fold;
mod run;
mod work;

pub use run::{RunState, Start};
pub use work::{Act, GoodReads, Step, Track, Work, WorkStatus};
