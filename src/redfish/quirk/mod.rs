//! This room tells classes of machines apart and names what each does differently.
//!
//! It is the only one that knows vendors; it reads nothing itself, and what is unknown behaves by the standard.

mod platform;

pub(super) use platform::{Evidence, classify, takes_named_target, wants_oem_parameter};
