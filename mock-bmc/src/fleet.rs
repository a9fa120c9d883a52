//! This room builds the BMCs of a fleet from what they are copies of.
//!
//! It deliberately opens nothing: a fleet may be served on the network or driven in memory.

use std::fmt;

use jiff::Timestamp;

use crate::bmc::{Bmc, BmcConfig, Source};
use crate::script::Script;
use crate::time::Moment;
use crate::tree::Tree;

/// Several BMCs that were switched on together.
pub struct Fleet {
    /// The BMCs in their order, named `mock-1`, `mock-2`, ...
    pub bmcs: Vec<FleetBmc>,
}

/// One BMC of a fleet.
pub struct FleetBmc {
    /// The BMC itself.
    pub bmc: Bmc,
    /// What it is a copy of: a platform's name or a recorded tree's.
    pub platform: String,
}

impl Fleet {
    /// Starts a fleet with the defaults of `mock-bmc serve`: user `root`, password `secret`, no script.
    pub fn builder() -> FleetBuilder {
        FleetBuilder {
            user: "root".to_owned(),
            password: "secret".to_owned(),
            script: Script::default(),
            uuid_seed: 1,
            epoch: Timestamp::UNIX_EPOCH,
            groups: Vec::new(),
        }
    }
}

impl fmt::Debug for Fleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.bmcs.iter().map(|member| member.bmc.name());
        f.debug_list().entries(names).finish()
    }
}

/// What a fleet is going to be.
#[derive(Clone)]
pub struct FleetBuilder {
    user: String,
    password: String,
    script: Script,
    uuid_seed: u64,
    epoch: Timestamp,
    groups: Vec<Group>,
}

#[derive(Clone)]
struct Group {
    source: Source,
    bmcs: usize,
    systems: usize,
}

impl FleetBuilder {
    /// The account that every BMC has.
    #[must_use]
    pub fn account(mut self, user: &str, password: &str) -> Self {
        user.clone_into(&mut self.user);
        password.clone_into(&mut self.password);
        self
    }

    /// How the BMCs deviate from what they are by default.
    #[must_use]
    pub fn script(mut self, script: Script) -> Self {
        self.script = script;
        self
    }

    /// What UUIDs, serial numbers and MAC addresses are derived from; the same seed gives the same boxes.
    #[must_use]
    pub fn uuid_seed(mut self, seed: u64) -> Self {
        self.uuid_seed = seed;
        self
    }

    /// The wall time at which the fleet is switched on, shown in the documents' times.
    #[must_use]
    pub fn epoch(mut self, epoch: Timestamp) -> Self {
        self.epoch = epoch;
        self
    }

    /// Adds BMCs of a built-in platform, each with `systems` systems.
    #[must_use]
    pub fn platform(self, name: &str, bmcs: usize, systems: usize) -> Self {
        self.group(Source::Platform(name.to_owned()), bmcs, systems)
    }

    /// Adds BMCs that are copies of a recorded tree, with the systems that it has.
    #[must_use]
    pub fn tree(self, tree: Tree, bmcs: usize) -> Self {
        self.group(Source::Tree(tree), bmcs, 0)
    }

    fn group(mut self, source: Source, bmcs: usize, systems: usize) -> Self {
        self.groups.push(Group {
            source,
            bmcs,
            systems,
        });
        self
    }

    /// The names that the BMCs will have, in order.
    pub fn names(&self) -> Vec<String> {
        let count: usize = self.groups.iter().map(|group| group.bmcs).sum();
        (1..=count).map(name).collect()
    }

    /// Switches all BMCs on, at mock time zero.
    pub fn build(self) -> Fleet {
        let mut bmcs = Vec::new();
        for group in &self.groups {
            for _ in 0..group.bmcs {
                let config = self.config(name(bmcs.len() + 1), group);
                let platform = match &group.source {
                    Source::Platform(name) => name.clone(),
                    Source::Tree(tree) => tree.name.clone(),
                };
                bmcs.push(FleetBmc {
                    bmc: Bmc::new(config, Moment(0)),
                    platform,
                });
            }
        }
        Fleet { bmcs }
    }

    fn config(&self, name: String, group: &Group) -> BmcConfig {
        BmcConfig {
            name,
            source: group.source.clone(),
            systems: group.systems,
            user: self.user.clone(),
            password: self.password.clone(),
            script: self.script.clone(),
            uuid_seed: self.uuid_seed,
            epoch: self.epoch,
        }
    }
}

fn name(number: usize) -> String {
    format!("mock-{number}")
}
