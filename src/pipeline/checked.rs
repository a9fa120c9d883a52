//! A pipeline that passed every check: what plan and run work with.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::maintenance::Maintenance;
use super::options::StageOptions;
use super::selector::Selector;
use super::template::{Needs, Template};
use crate::model::id::{PipelineName, StageName};

/// One pipeline file.
#[derive(Debug, Clone, PartialEq)]
pub struct Pipeline {
    /// Unique over all files.
    pub name: PipelineName,
    /// What drift leads to.
    pub drift_policy: DriftPolicy,
    /// Which servers.
    pub selector: Selector,
    /// How many at once, and when to stop.
    pub rollout: Rollout,
    /// Who agrees, when servers may be disturbed, and what runs around that.
    pub maintenance: Maintenance,
    /// In list order, never empty.
    pub stages: Vec<Stage>,
    /// The file it came from.
    pub source: String,
    /// SHA-256 of what the file says of its stages, lower-case hex: failures of one generation say nothing of the next.
    /// It may be of a secret that stands in the file, so it is salted before it is kept.
    pub generation: String,
}

impl Pipeline {
    /// Every environment variable and file that its templates name, and every hook.
    pub fn needs(&self) -> Needs {
        let mut needs = Needs::default();
        let hooks = self
            .maintenance
            .before
            .iter()
            .chain(&self.maintenance.after);
        needs.hooks.extend(hooks.map(|hook| hook.path.clone()));
        for stage in &self.stages {
            stage
                .kind
                .visit_templates(&mut |template| template.collect_needs(&mut needs));
        }
        needs
    }

    /// Whether hops are computed from what runs.
    pub fn computes_hops(&self) -> bool {
        let mut versions = self.stages.iter().filter_map(|stage| stage.kind.version());
        versions.any(|version| version.catalogue().is_some())
    }

    /// Whether its selector, or what it writes, hangs on facts of the hardware.
    pub fn needs_facts(&self) -> bool {
        self.selector.needs_facts() || self.needs().facts
    }
}

/// What drift leads to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DriftPolicy {
    /// It is told, and nothing is written.
    #[default]
    Observe,
    /// The run starts again at the earliest dirty stage.
    Reconcile,
}

/// How many BMCs at once, and when to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rollout {
    /// BMCs in progress at once; at least 1.
    pub max_concurrent: u32,
    /// No new run starts once this many have failed; 0 = no limit.
    pub max_failures: u32,
    /// BMCs that must have applied what another one needs before that one begins.
    pub canary: u32,
}

impl Default for Rollout {
    fn default() -> Self {
        Self {
            max_concurrent: 1,
            max_failures: 1,
            canary: 0,
        }
    }
}

/// One ordered step of a pipeline.
#[derive(Debug, Clone, PartialEq)]
pub struct Stage {
    /// Unique in its pipeline.
    pub name: StageName,
    /// What it does.
    pub kind: StageKind,
    /// How it does it; the file's `[defaults]` are folded in.
    pub options: StageOptions,
    /// Wanted now, not watched for drift.
    pub transient: bool,
    /// Line of its `[[stage]]`, from 1.
    pub line: usize,
}

impl Stage {
    /// Whether anything in it may cut redpipe's own connection.
    pub fn severs(&self) -> bool {
        let body = self.kind.settings();
        body.is_some_and(|body| body.flow.iter().any(|item| item.severs))
    }
}

/// What a stage does, and on what.
#[derive(Debug, Clone, PartialEq)]
pub enum StageKind {
    /// Settings of the BMC.
    BmcSettings(SettingsStage),
    /// One firmware hop of the BMC.
    BmcVersion(VersionStage),
    /// Settings of each server's BIOS.
    BiosSettings(SettingsStage),
    /// One firmware hop of each server's BIOS.
    BiosVersion(VersionStage),
}

impl StageKind {
    /// The word of the file: `bmc-settings`, `bmc-version`, `bios-settings` or `bios-version`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::BmcSettings(_) => "bmc-settings",
            Self::BmcVersion(_) => "bmc-version",
            Self::BiosSettings(_) => "bios-settings",
            Self::BiosVersion(_) => "bios-version",
        }
    }

    /// Whether it acts once per BMC (and is a barrier) rather than once per server.
    pub fn is_bmc(&self) -> bool {
        match self {
            Self::BmcSettings(_) | Self::BmcVersion(_) => true,
            Self::BiosSettings(_) | Self::BiosVersion(_) => false,
        }
    }

    /// The body of a settings stage.
    pub fn settings(&self) -> Option<&SettingsStage> {
        match self {
            Self::BmcSettings(body) | Self::BiosSettings(body) => Some(body),
            Self::BmcVersion(_) | Self::BiosVersion(_) => None,
        }
    }

    /// The body of a version stage.
    pub fn version(&self) -> Option<&VersionStage> {
        match self {
            Self::BmcVersion(body) | Self::BiosVersion(body) => Some(body),
            Self::BmcSettings(_) | Self::BiosSettings(_) => None,
        }
    }

    /// Calls `visit` for every template in the stage's body.
    pub fn visit_templates(&self, visit: &mut dyn FnMut(&Template)) {
        match self {
            Self::BmcSettings(body) | Self::BiosSettings(body) => {
                for item in &body.flow {
                    item.settings.values().for_each(&mut *visit);
                    for resource in &item.resources {
                        visit(&resource.uri);
                        visit(&resource.set);
                    }
                    for action in &item.actions {
                        visit(&action.uri);
                        visit(&action.body);
                        visit(&action.satisfied_when.uri);
                        visit(&action.satisfied_when.set);
                    }
                }
            }
            Self::BmcVersion(body) | Self::BiosVersion(body) => {
                visit(&body.version);
                for image in body.images() {
                    match image {
                        Image::Uri { uri, .. } => visit(uri),
                        Image::File(_) => {}
                    }
                }
            }
        }
    }
}

/// Body of a settings stage.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingsStage {
    /// Applied only where the component's live version fits.
    pub guard: Option<Guard>,
    /// In ascending priority, ties in file order; never empty. A plain `settings` table is one item named `settings`.
    pub flow: Vec<FlowItem>,
}

/// Version that a settings stage waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guard {
    /// The version.
    pub version: String,
    /// Only on it, instead of at or past it.
    pub exact: bool,
}

/// A group of settings that is applied and verified before the next.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowItem {
    /// Unique in its stage.
    pub name: String,
    /// Lower first.
    pub priority: i64,
    /// Attributes by name.
    pub settings: BTreeMap<String, Template>,
    /// Plain resources, in list order.
    pub resources: Vec<ResourcePatch>,
    /// Actions, in list order, after the resources.
    pub actions: Vec<ActionCall>,
    /// Whether it may cut redpipe's own connection.
    pub severs: bool,
}

/// JSON that one resource must contain.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourcePatch {
    /// Starts with `{manager}`, `{system}`, `{chassis}` or `{root}`.
    pub uri: Template,
    /// A [`Template::Table`]: the subset that is wanted.
    pub set: Template,
}

/// An action that is called where a resource does not show yet what it leads to.
#[derive(Debug, Clone, PartialEq)]
pub struct ActionCall {
    /// Starts like that of a [`ResourcePatch`], and ends with `Actions/NAME` or at a collection.
    pub uri: Template,
    /// A [`Template::Table`]: what is posted.
    pub body: Template,
    /// What is read back: nothing is sent where it holds.
    pub satisfied_when: ResourcePatch,
}

/// Body of a version stage.
#[derive(Debug, Clone, PartialEq)]
pub struct VersionStage {
    /// The version wanted, as the BMC will state it.
    pub version: Template,
    /// How it is reached.
    pub route: Route,
}

impl VersionStage {
    /// Every image that may be flashed for it.
    pub fn images(&self) -> Vec<&Image> {
        match &self.route {
            Route::Hop { image, .. } => vec![image],
            Route::Auto(images) => images.iter().map(|one| &one.image).collect(),
        }
    }

    /// The catalogue's images, where hops are computed from them.
    pub fn catalogue(&self) -> Option<&[FirmwareImage]> {
        match &self.route {
            Route::Hop { .. } => None,
            Route::Auto(images) => Some(images),
        }
    }
}

/// How a version is reached.
#[derive(Debug, Clone, PartialEq)]
pub enum Route {
    /// By this one hop.
    Hop {
        /// What the live version must satisfy before it.
        requires: Option<Requirement>,
        /// What to flash.
        image: Image,
    },
    /// By hops made of these images of the catalogue, computed per BMC. None of them is known to be past the version,
    /// and one at least brings it.
    Auto(Vec<FirmwareImage>),
}

/// One image of the catalogue.
#[derive(Debug, Clone, PartialEq)]
pub struct FirmwareImage {
    /// Platform that it is for; `None` = any.
    pub platform: Option<String>,
    /// The version it brings.
    pub version: String,
    /// What the live version must satisfy before it.
    pub requires: Option<Requirement>,
    /// What to flash.
    pub image: Image,
}

/// Condition on the live version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// How to compare.
    pub op: RequirementOp,
    /// With what.
    pub version: String,
}

/// Comparison of a [`Requirement`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequirementOp {
    /// `>=`
    AtLeast,
    /// `>`
    Above,
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `<=`
    AtMost,
    /// `<`
    Below,
}

impl RequirementOp {
    /// All of them, longer signs first, as a parser must try them.
    pub const ALL: [Self; 6] = [
        Self::AtLeast,
        Self::AtMost,
        Self::NotEqual,
        Self::Above,
        Self::Below,
        Self::Equal,
    ];

    /// Its sign.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AtLeast => ">=",
            Self::Above => ">",
            Self::Equal => "=",
            Self::NotEqual => "!=",
            Self::AtMost => "<=",
            Self::Below => "<",
        }
    }
}

/// What to flash.
#[derive(Debug, Clone, PartialEq)]
pub enum Image {
    /// The BMC fetches it.
    Uri {
        /// From here.
        uri: Template,
        /// 64 lower-case hexadecimal digits, where promised.
        sha256: Option<String>,
    },
    /// We have it.
    File(ImageFile),
}

/// An image that is a file on this host.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ImageFile {
    /// Joined onto the folder of the pipeline file.
    pub path: PathBuf,
    /// 64 lower-case hexadecimal digits, where promised.
    pub sha256: Option<String>,
}

impl Image {
    /// The digest promised.
    pub fn sha256(&self) -> Option<&str> {
        match self {
            Self::Uri { sha256, .. } | Self::File(ImageFile { sha256, .. }) => sha256.as_deref(),
        }
    }
}
