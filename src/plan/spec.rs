//! What one run is about: one pipeline on one BMC, with every variable resolved.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;

use serde_json::Value;

use super::digest::digest;
use super::expand::HopPaths;
use super::secrecy;
use crate::model::inventory::{Expect, Labels, Pace, TlsChange};
use crate::model::{BmcName, PipelineName, ServerName, StageName, Target};
use crate::pipeline::{DriftPolicy, Guard, Maintenance, Requirement, Rollout, StageOptions};

/// One pipeline on one BMC, ready to be compared with what is read.
///
/// Not serialised: it may hold secret values. Its [`digest`](Self::digest) is what the journal keeps.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSpec {
    /// Which pipeline.
    pub pipeline: PipelineName,
    /// The file it was read from, for messages.
    pub source: String,
    /// Which BMC.
    pub bmc: BmcName,
    /// The selected servers behind it, in inventory order.
    pub servers: Vec<ServerSpec>,
    /// Those of them that the inventory lists no more: nothing is begun on them.
    pub gone: BTreeSet<ServerName>,
    /// What a remembered certificate that changes inside a declared outage leads to.
    pub tls_change: TlsChange,
    /// How fast the BMC may be asked, and how long to wait before believing it.
    pub pace: Pace,
    /// How many BMCs of this pipeline at once, and when to stop.
    pub rollout: Rollout,
    /// Who agrees, when servers may be disturbed, and what runs around that.
    pub maintenance: Maintenance,
    /// What drift leads to.
    pub drift_policy: DriftPolicy,
    /// Which generation of the file it comes from; salted before it is kept.
    pub generation: String,
    /// In authored order, computed hops in the place of the stage that they are computed for.
    pub stages: Vec<StageSpec>,
    /// Which hops were computed for which stage.
    pub paths: HopPaths,
    /// SHA-256, as lower-case hex, over stages, image hashes and servers. Values of secret attributes are left out.
    pub digest: String,
}

impl RunSpec {
    /// The stage of that name.
    pub fn stage(&self, name: &StageName) -> Option<&StageSpec> {
        self.stages.iter().find(|stage| stage.name == *name)
    }

    /// Takes back what the author allowed: nothing of it leads a version down. So it is for what redpipe begins by itself.
    pub fn never_lowers(&mut self) {
        for stage in &mut self.stages {
            match &mut stage.kind {
                StageKindSpec::BmcVersion(by) | StageKindSpec::BiosVersion(by) => {
                    for version in by.values_mut() {
                        version.allow_downgrade = false;
                    }
                }
                StageKindSpec::BmcSettings(_) | StageKindSpec::BiosSettings(_) => {}
            }
        }
        self.digest = digest(self);
    }

    /// The index of a stage.
    pub fn position(&self, stage: &StageName) -> Option<usize> {
        self.stages.iter().position(|s| s.name == *stage)
    }
}

/// One server of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSpec {
    /// Its name.
    pub name: ServerName,
    /// Its ComputerSystem, where the inventory names it: member id or URI.
    pub system: Option<String>,
    /// Its labels, the BMC's overlaid by its own.
    pub labels: Labels,
    /// What must be true of the box before any write.
    pub expect: Expect,
}

/// One stage.
#[derive(Debug, Clone, PartialEq)]
pub struct StageSpec {
    /// Its name, unique in the pipeline.
    pub name: StageName,
    /// What it wants, per target.
    pub kind: StageKindSpec,
    /// How it goes about it.
    pub options: StageOptions,
    /// Wanted only until the next version stage has run; not watched.
    pub transient: bool,
    /// The line in the pipeline file, 1-based.
    pub line: usize,
}

/// What a stage wants, per target: variables may make it differ between servers.
#[derive(Debug, Clone, PartialEq)]
pub enum StageKindSpec {
    /// `bmc-settings`: the one target is the BMC.
    BmcSettings(BTreeMap<Target, SettingsSpec>),
    /// `bmc-version`: the one target is the BMC.
    BmcVersion(BTreeMap<Target, VersionSpec>),
    /// `bios-settings`: one target per server.
    BiosSettings(BTreeMap<Target, SettingsSpec>),
    /// `bios-version`: one target per server.
    BiosVersion(BTreeMap<Target, VersionSpec>),
}

impl StageKindSpec {
    /// The word that files and JSON use.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::BmcSettings(_) => "bmc-settings",
            Self::BmcVersion(_) => "bmc-version",
            Self::BiosSettings(_) => "bios-settings",
            Self::BiosVersion(_) => "bios-version",
        }
    }

    /// Whether the stage acts once on the BMC, and so is a barrier.
    pub fn is_bmc(&self) -> bool {
        match self {
            Self::BmcSettings(_) | Self::BmcVersion(_) => true,
            Self::BiosSettings(_) | Self::BiosVersion(_) => false,
        }
    }

    /// Whether the stage is a hop.
    pub fn is_version(&self) -> bool {
        match self {
            Self::BmcVersion(_) | Self::BiosVersion(_) => true,
            Self::BmcSettings(_) | Self::BiosSettings(_) => false,
        }
    }

    /// What it acts on, in order.
    pub fn targets(&self) -> Vec<&Target> {
        match self {
            Self::BmcSettings(by) | Self::BiosSettings(by) => by.keys().collect(),
            Self::BmcVersion(by) | Self::BiosVersion(by) => by.keys().collect(),
        }
    }

    /// The settings wanted on a target; `None` for version stages and other targets.
    pub fn settings(&self, target: &Target) -> Option<&SettingsSpec> {
        match self {
            Self::BmcSettings(by) | Self::BiosSettings(by) => by.get(target),
            Self::BmcVersion(_) | Self::BiosVersion(_) => None,
        }
    }

    /// The hop wanted on a target; `None` for settings stages and other targets.
    pub fn version(&self, target: &Target) -> Option<&VersionSpec> {
        match self {
            Self::BmcVersion(by) | Self::BiosVersion(by) => by.get(target),
            Self::BmcSettings(_) | Self::BiosSettings(_) => None,
        }
    }
}

/// Settings of one stage on one target.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SettingsSpec {
    /// Apply only where this holds.
    pub guard: Option<Guard>,
    /// In the order in which they are applied.
    pub flow: Vec<FlowItemSpec>,
}

/// One step of a settings stage: applied, reset if needed, read back, before the next begins.
#[derive(Clone, Default, PartialEq)]
pub struct FlowItemSpec {
    /// Its name.
    pub name: String,
    /// Attributes wanted, as authored; the registry decides their type.
    pub settings: BTreeMap<String, Value>,
    /// Resources wanted, in the order in which they are sent.
    pub resources: Vec<ResourceSpec>,
    /// Actions, in the order in which they are sent, after the resources.
    pub actions: Vec<ActionSpec>,
    /// Whether it may cut redpipe's own connection to the BMC.
    pub severs: bool,
}

impl FlowItemSpec {
    /// Everything that must show some JSON in the end: resources, then what actions lead to.
    pub fn shown(&self) -> impl Iterator<Item = &ResourceSpec> {
        let probes = self.actions.iter().map(|action| &action.satisfied_when);
        self.resources.iter().chain(probes)
    }
}

impl fmt::Debug for FlowItemSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings: BTreeMap<&String, Value> = self
            .settings
            .iter()
            .map(|(name, value)| (name, secrecy::masked(name, value)))
            .collect();
        f.debug_struct("FlowItemSpec")
            .field("name", &self.name)
            .field("settings", &settings)
            .field("resources", &self.resources)
            .field("actions", &self.actions)
            .field("severs", &self.severs)
            .finish()
    }
}

/// One resource wanted to hold some JSON.
#[derive(Clone, PartialEq)]
pub struct ResourceSpec {
    /// Where, starting at a link: `{manager}/NetworkProtocol`.
    pub uri: String,
    /// The object it must contain.
    pub set: Value,
}

impl fmt::Debug for ResourceSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResourceSpec")
            .field("uri", &self.uri)
            .field("set", &secrecy::masked("", &self.set))
            .finish()
    }
}

/// One action, sent where a resource does not show what it leads to.
#[derive(Clone, PartialEq)]
pub struct ActionSpec {
    /// Where, starting at a link: `{manager}/VirtualMedia/CD/Actions/VirtualMedia.InsertMedia`.
    pub uri: String,
    /// What is posted.
    pub body: Value,
    /// What is read before and after.
    pub satisfied_when: ResourceSpec,
}

impl fmt::Debug for ActionSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActionSpec")
            .field("uri", &self.uri)
            .field("body", &secrecy::masked("", &self.body))
            .field("satisfied_when", &self.satisfied_when)
            .finish()
    }
}

/// One hop on one target.
#[derive(Debug, Clone, PartialEq)]
pub struct VersionSpec {
    /// The version the hop goes to, as authored.
    pub version: String,
    /// What must run before it.
    pub requires: Option<Requirement>,
    /// The image.
    pub image: ImageSpec,
    /// Whether this is the last hop of its component in the pipeline.
    pub is_last: bool,
    /// `match = "exact"`.
    pub exact: bool,
    /// Whether the operator allowed a lower version.
    pub allow_downgrade: bool,
    /// Why no path of hops leads here, where one was computed: it is not flashed then.
    pub missing: Option<String>,
}

/// An image, with what is known of its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageSpec {
    /// Where the author says it is.
    pub origin: ImageOrigin,
    /// SHA-256 of its bytes as lower-case hex, found or declared; `None` where only the BMC will fetch it.
    pub sha256: Option<String>,
    /// Its length, where we hold it.
    pub bytes: Option<u64>,
    /// Where the checked bytes lie on this host, where we hold them.
    pub held: Option<PathBuf>,
}

impl ImageSpec {
    /// None at all: no method takes it, and it stands only where nothing may be flashed.
    pub(super) fn none() -> Self {
        Self {
            origin: ImageOrigin::File(PathBuf::new()),
            sha256: None,
            bytes: None,
            held: None,
        }
    }
}

/// Where an image is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ImageOrigin {
    /// On a server.
    Uri(String),
    /// On this host.
    File(PathBuf),
}

impl fmt::Display for ImageOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uri(uri) => f.write_str(&secrecy::without_user_info(uri)),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}

impl fmt::Debug for ImageOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
