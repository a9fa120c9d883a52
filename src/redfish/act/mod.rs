//! This room changes what a BMC is: each action becomes the requests that make it, and their answers become one verdict.
//!
//! It looks before it writes, and never sends again what may have been done.

mod call;
mod claim;
mod commit;
mod handle;
mod patch;
mod reset;
mod start;
mod update;
mod verdict;

pub(super) use call::send_call;
pub(super) use claim::give_back_left;
pub(super) use commit::order_jobs;
pub(super) use patch::{patch_attributes, patch_resource};
pub(super) use reset::send_reset;
pub(super) use update::send_update;
pub(super) use verdict::{Ask, judge};
