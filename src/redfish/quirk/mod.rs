//! This room tells classes of machines apart and names what each does differently.
//!
//! It is the only one that knows vendors; it reads nothing itself, and what is unknown behaves by the standard.

mod inventory;
pub(super) mod keys;
mod platform;
mod post;

pub(super) use inventory::{is_named_spare, is_pending_slot, means_none};
pub(super) use platform::{Evidence, classify, takes_named_target, wants_oem_parameter};
pub(super) use post::post_state_in_oem;
