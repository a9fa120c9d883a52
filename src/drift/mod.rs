//! This room says where a BMC stands to what a pipeline wants of it in the end, and what follows from that over time.
//!
//! It sends nothing, reads no clock and remembers only what it is handed: observations go in with their time, and the
//! answer is a value.

mod compare;
mod desired;
mod recovery;
mod watch;

pub use compare::{Comparison, DriftItem, DriftState, compare};
pub use desired::{Desired, look_request};
pub use recovery::{MASS_WINDOW, MassDrift, RECOVERIES_PER_DAY, Recovery, Stuck, stuck};
pub use watch::{Change, Declared, Watch};

#[cfg(test)]
mod tests;
