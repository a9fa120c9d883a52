//! The shape of `plan` in JSON. Member names and words are stable.

use jiff::Timestamp;
use serde::Serialize;

use crate::model::action::UpdateMethod;
use crate::model::{BmcName, PipelineName, ServerName, SettingChange, StageName, Target};

/// All runs that were planned, and what is odd about the BMCs.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct PlanReport {
    /// One per pipeline and BMC.
    pub runs: Vec<RunReport>,
    /// Everything worth telling that is no step.
    pub problems: Vec<PlanProblem>,
}

/// What one run would do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunReport {
    /// Which pipeline.
    pub pipeline: PipelineName,
    /// On which BMC.
    pub bmc: BmcName,
    /// For which servers.
    pub servers: Vec<ServerName>,
    /// In authored order.
    pub stages: Vec<StageReport>,
    /// What stands between the run and the servers that it would disturb; left out where nothing does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<HoldReport>,
}

/// One thing that stands between a run and the servers that it would disturb.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HoldReport {
    /// What it is.
    pub kind: HoldKind,
    /// For people.
    pub message: String,
    /// When a window opens, or has opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opens_at: Option<Timestamp>,
}

/// What stands between a run and the servers that it would disturb.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HoldKind {
    /// A person has to agree.
    Approval,
    /// Steps begin only at some times.
    Window,
    /// A hook that prepares the servers.
    Before,
    /// A hook that gives them back.
    After,
}

impl HoldKind {
    /// The word of the JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approval => "approval",
            Self::Window => "window",
            Self::Before => "before",
            Self::After => "after",
        }
    }
}

impl RunReport {
    /// Whether something would be sent.
    pub fn has_changes(&self) -> bool {
        self.targets()
            .any(|target| matches!(target.action, PlanAction::Update | PlanAction::Apply))
    }

    /// Whether a person must change something first.
    pub fn is_blocked(&self) -> bool {
        self.targets()
            .any(|target| target.action == PlanAction::Blocked)
    }

    /// Everybody whom it would disturb, some of them more than once.
    pub fn disturbs(&self) -> impl Iterator<Item = ServerName> {
        self.targets()
            .flat_map(|target| target.disturbs.iter().cloned())
    }

    fn targets(&self) -> impl Iterator<Item = &TargetReport> {
        self.stages.iter().flat_map(|stage| &stage.targets)
    }
}

/// What one stage would do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StageReport {
    /// Its name.
    pub name: StageName,
    /// `bmc-settings`, `bmc-version`, `bios-settings` or `bios-version`.
    pub kind: &'static str,
    /// One per target.
    pub targets: Vec<TargetReport>,
}

/// What one stage would do to one target.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TargetReport {
    /// On what.
    pub target: Target,
    /// What would be done.
    pub action: PlanAction,
    /// The version that runs when the stage is reached, byte for byte.
    pub from: Option<String>,
    /// The version that the hop goes to, as authored.
    pub to: Option<String>,
    /// Settings that differ when the stage is reached. Secret values are masked.
    pub changes: Vec<SettingChange>,
    /// How the image gets in.
    pub method: Option<UpdateMethod>,
    /// What goes away, and for how long to expect it; null where nothing does.
    pub outage: Option<String>,
    /// Which servers that disturbs.
    pub disturbs: Vec<ServerName>,
    /// Why.
    pub reason: Option<String>,
}

/// What a stage would do to a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlanAction {
    /// Nothing.
    None,
    /// An image is flashed.
    Update,
    /// Settings are written, or waited for.
    Apply,
    /// A person must change something first.
    Blocked,
}

impl PlanAction {
    /// The word of the JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Update => "update",
            Self::Apply => "apply",
            Self::Blocked => "blocked",
        }
    }
}

/// Something worth telling.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlanProblem {
    /// About which BMC.
    pub bmc: BmcName,
    /// A stable kebab-case word.
    pub kind: String,
    /// For people.
    pub message: String,
}
