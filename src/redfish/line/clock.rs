//! The wall clock, as a thing that tests can hold.
//!
//! Waiting is `tokio::time`'s, which tests can pause; this clock is only for times that are written down or compared
//! with a BMC's words.

use jiff::Timestamp;

/// Tells the time of day.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;
}
