//! This room looks at one BMC: it turns what is asked into the fewest reads, and what they say into one picture.
//!
//! It sends nothing that changes anything.

mod evidence;
mod look;
mod views;

pub(super) use look::Observer;
