//! Where something happens, and what it waits for there.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::model::{ServerName, StageName, Target};

/// A stage as the journal names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageHead {
    /// Its name.
    pub name: StageName,
    /// What it does.
    pub kind: StageWord,
    /// What it wants of each target, as a hash; empty where an older redpipe wrote it.
    #[serde(default)]
    pub wants: BTreeMap<Target, String>,
}

impl StageHead {
    /// What it acts on, of a run's servers. A computed hop may be one of some servers alone.
    pub fn targets(&self, servers: &[ServerName]) -> Vec<Target> {
        if self.kind.is_bmc() {
            return vec![Target::Bmc];
        }
        let all = servers.iter().cloned().map(Target::Server);
        all.filter(|target| self.wants.is_empty() || self.wants.contains_key(target))
            .collect()
    }
}

/// The four kinds of stages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StageWord {
    /// Settings of the BMC.
    BmcSettings,
    /// One firmware hop of the BMC.
    BmcVersion,
    /// Settings of each server's BIOS.
    BiosSettings,
    /// One firmware hop of each server's BIOS.
    BiosVersion,
}

impl StageWord {
    /// The word that files and JSON use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BmcSettings => "bmc-settings",
            Self::BmcVersion => "bmc-version",
            Self::BiosSettings => "bios-settings",
            Self::BiosVersion => "bios-version",
        }
    }

    /// Whether it acts once per BMC, as a barrier.
    pub fn is_bmc(self) -> bool {
        matches!(self, Self::BmcSettings | Self::BmcVersion)
    }
}

/// A stage on a target.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// The stage.
    pub stage: StageName,
    /// The target.
    pub target: Target,
}

/// What tells one server from another behind a BMC.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerBox {
    /// Its URI.
    pub uri: String,
    /// Serial number.
    pub serial: Option<String>,
    /// UUID.
    pub uuid: Option<String>,
}

/// A wait that a person understands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// For what.
    pub reason: String,
    /// When it turns into something else; `None` where only a person or another tool ends it.
    pub until: Option<Timestamp>,
    /// Whether it is a hold: stopped on purpose until what the reason names is gone.
    pub held: bool,
}

/// Why a run was begun by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recovering {
    /// What had drifted, in words for people.
    pub drifted: Vec<String>,
    /// Targets whose version had fallen.
    pub versions: BTreeSet<Target>,
}
