//! One file per command.

pub(crate) mod apply;
pub(crate) mod daemon;
pub(crate) mod demo;
pub(crate) mod drift;
pub(crate) mod events;
mod face;
mod handed;
pub(crate) mod inventory_check;
pub(crate) mod inventory_import;
pub(crate) mod order;
pub(crate) mod plan;
pub(crate) mod schema;
pub(crate) mod snapshot;
pub(crate) mod status;
pub(crate) mod trust;
pub(crate) mod validate;
pub(crate) mod versions;
