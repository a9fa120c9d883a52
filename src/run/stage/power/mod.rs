//! Resetting hosts and BMCs: graceful first, forced only where nothing of ours has begun to boot, and power as before
//! at the end.

mod activation;
mod manager;
mod ready;
mod restart;
mod restore;

pub(super) use activation::{going_down, off, take_down};
pub(super) use manager::reset_manager;
pub(super) use restart::{Effect, booting, restart, restarting};
pub(super) use restore::restore;
