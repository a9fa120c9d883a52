//! This room is what a BMC is told when it is switched on, and what it asks for.
//!
//! It deliberately has no behaviour.

use crate::script::Script;
use crate::tree::Tree;

/// What a BMC is a copy of.
#[derive(Clone, Debug)]
pub enum Source {
    /// A built-in platform, by its name.
    Platform(String),
    /// A recorded tree.
    Tree(Tree),
}

/// What a BMC is when it is switched on.
#[derive(Clone, Debug)]
pub struct BmcConfig {
    /// Its name in the fleet.
    pub name: String,
    /// What it is a copy of.
    pub source: Source,
    /// Systems behind it; for platforms.
    pub systems: usize,
    /// The account's name.
    pub user: String,
    /// The account's password.
    pub password: String,
    /// How it deviates.
    pub script: Script,
    /// What its UUIDs and serial numbers are derived from, together with its name.
    pub uuid_seed: u64,
    /// The wall time at mock time zero.
    pub epoch: jiff::Timestamp,
}

/// An image that a BMC wants to pull.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetch {
    /// Names the fetch to [`super::Bmc::fetched`].
    pub id: u64,
    /// Where the image is.
    pub url: String,
}
