//! One folder per way of doing a stage, and the steps they share.

mod busy;
mod cancel;
mod doubt;
mod place;
mod power;
pub(super) mod settings;
pub(super) mod version;

pub(super) use place::{needs, outage_until, step};
pub(super) use settings::severed_at;
