//! What is about to be asked of a BMC, and what became of it step by step.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::{BmcMessage, ServerName, UpdateMethod};

/// What is about to be asked, without secret values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "intent", rename_all = "kebab-case")]
pub enum Intent {
    /// An update request.
    Update {
        /// Live version when it was decided, byte for byte.
        from: String,
        /// The hop.
        to: String,
        /// Image as shown to people: user info masked.
        image: String,
        /// Its digest, where known.
        sha256: Option<String>,
        /// How it gets in.
        method: UpdateMethod,
        /// Redfish `Targets`.
        targets: Vec<String>,
        /// Tasks that stood on the BMC before, as `URI@StartTime`: none of them can be ours.
        known_tasks: Vec<String>,
        /// `LastResetTime` of the manager before, where it says one.
        manager_started: Option<String>,
        /// BIOS versions of the other systems behind the BMC, which must not change.
        #[serde(default)]
        siblings: BTreeMap<ServerName, String>,
        /// Path below which we serve the image, where the BMC fetches it from us.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        served: Option<String>,
    },
    /// A host reset.
    ResetSystem {
        /// Redfish ResetType.
        reset_type: String,
        /// What for.
        purpose: ResetPurpose,
        /// Whether the BMC showed the wanted values before this reset, so that seeing them proves no restart.
        #[serde(default)]
        shown: bool,
    },
    /// A BMC reset.
    ResetManager {
        /// Redfish ResetType.
        reset_type: String,
        /// `LastResetTime` of the manager before, where it says one.
        #[serde(default)]
        manager_started: Option<String>,
        /// Whether the BMC showed the wanted values before this reset, so that seeing them proves no restart.
        #[serde(default)]
        shown: bool,
    },
    /// A task or job of ours that has not begun is taken back by its handle.
    Withdraw {
        /// Its URI.
        uri: String,
    },
    /// Attributes of one flow item.
    Attributes {
        /// The item's index.
        item: usize,
        /// Which, never their values.
        names: Vec<String>,
        /// Whether they come into effect by a reset only, as far as the registry says. Some BMCs show new values at
        /// once although nothing has read them yet.
        #[serde(default)]
        reset_required: bool,
        /// Where they are written.
        #[serde(default)]
        uris: Vec<String>,
        /// Jobs that stood on the BMC before: none of them can be ours.
        #[serde(default)]
        known_jobs: Vec<String>,
    },
    /// One resource of one flow item.
    Resource {
        /// The item's index.
        item: usize,
        /// The resource's index in the item.
        index: usize,
        /// Its template.
        uri: String,
    },
    /// One action of one flow item.
    Call {
        /// The item's index.
        item: usize,
        /// The action's index in the item.
        index: usize,
        /// Its template.
        uri: String,
    },
}

impl Intent {
    /// The index of the flow item that it writes; `None` where it writes no setting.
    pub fn item(&self) -> Option<usize> {
        match self {
            Self::Attributes { item, .. }
            | Self::Resource { item, .. }
            | Self::Call { item, .. } => Some(*item),
            Self::Update { .. }
            | Self::ResetSystem { .. }
            | Self::ResetManager { .. }
            | Self::Withdraw { .. } => None,
        }
    }
}

/// Why a host is reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResetPurpose {
    /// First half of an activation: down, so that Off is seen.
    Down,
    /// Down by force, after the graceful time.
    ForceDown,
    /// Second half: up.
    Up,
    /// A restart in one request.
    Restart,
    /// A restart by force, after the graceful time.
    ForceRestart,
    /// Back to Off, as it was before.
    Restore,
}

/// Milestones of a host reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Milestone {
    /// The host was seen Off.
    Off,
    /// The host was seen booting.
    Booting,
    /// POST is over.
    PostOver,
    /// What the stage wants is there; power goes back to what it was.
    Reached,
    /// Power is as it was before the stage.
    Restored,
}

/// What a followed task says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskSeen {
    /// `TaskState`, byte for byte; `gone` = the handle no longer answers for it.
    pub state: Option<String>,
    /// `TaskStatus`, byte for byte.
    pub status: Option<String>,
    /// `PercentComplete`.
    pub percent: Option<u8>,
    /// Its URI.
    pub uri: Option<String>,
    /// `StartTime`.
    pub start_time: Option<String>,
    /// Where it stands.
    pub fate: TaskFate,
    /// Messages, once it ended or waits.
    pub messages: Vec<BmcMessage>,
}

/// Where a followed task stands, by evidence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TaskFate {
    /// Not finished.
    #[default]
    Running,
    /// Not finished, and it says that a reset is what it waits for.
    AwaitsReset,
    /// Finished without a complaint. No verdict.
    Good,
    /// Finished in failure.
    Bad,
    /// The handle answers no more. No verdict.
    Gone,
}
