//! Meaning of inventory files: documents to one merged inventory, all findings at once.

mod address;
mod bmc;
mod credentials;
mod defaults;
mod merge;
mod pace;
mod server;

pub(crate) use merge::{InventoryFile, merge_inventory};
