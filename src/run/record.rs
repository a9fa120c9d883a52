//! What is written down: facts in the order they became true.
//!
//! Every record is one journal line. Readers of newer versions are refused, readers of older ones are kept.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::model::look::{Identity, Power};
use crate::model::{
    BmcMessage, Fault, IntentId, Outcome, RunKey, ServerName, StageName, Target, TaskHandle,
    UpdateMethod,
};

/// The shape of [`Record`] that this build writes.
pub const RECORD_VERSION: u32 = 1;

/// One durable fact of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
pub enum Record {
    /// First good look: the run's servers are fixed from here on.
    Started {
        /// Which run.
        key: RunKey,
        /// Its servers.
        servers: Vec<ServerName>,
        /// Stages in order.
        stages: Vec<StageHead>,
        /// Digest of stages, image hashes and servers.
        digest: String,
        /// Versions found, by target.
        baselines: BTreeMap<Target, Option<String>>,
        /// Who answered.
        identity: Identity,
        /// Serial number and UUID of each server.
        boxes: BTreeMap<ServerName, ServerBox>,
    },
    /// Another process took the run up.
    Resumed {
        /// Digest of what it reads now.
        digest: String,
        /// Stages in order, as it reads them now.
        stages: Vec<StageHead>,
    },
    /// A stage begins on a target.
    StageStarted {
        /// Where.
        at: Place,
        /// 1 for the first try.
        attempt: u32,
    },
    /// What a target waits for changed.
    Waiting {
        /// Where.
        at: Place,
        /// In words for people.
        wait: Wait,
    },
    /// Written before anything is sent.
    Intent {
        /// Where.
        at: Place,
        /// Its id.
        id: IntentId,
        /// What is about to be asked.
        intent: Intent,
    },
    /// What came of it.
    Outcome {
        /// Where.
        at: Place,
        /// Whose.
        id: IntentId,
        /// The answer, or its absence.
        outcome: Outcome,
    },
    /// A followed task moved.
    Task {
        /// Where.
        at: Place,
        /// The intent it belongs to.
        id: IntentId,
        /// What it says now.
        seen: TaskSeen,
    },
    /// A task found by search is the one that a lost request started.
    Adopted {
        /// Where.
        at: Place,
        /// The intent it belongs to.
        id: IntentId,
        /// How to follow it.
        task: TaskHandle,
        /// What ties it to the intent.
        tie: String,
    },
    /// After a doubt: the request did not happen.
    NotHappened {
        /// Where.
        at: Place,
        /// Whose.
        id: IntentId,
        /// Why that is certain.
        reason: String,
    },
    /// After a doubt: the request happened, as its effect shows.
    Happened {
        /// Where.
        at: Place,
        /// Whose.
        id: IntentId,
        /// What shows it.
        reason: String,
    },
    /// Power state before the first power act on a server in this stage.
    PowerBefore {
        /// Where.
        at: Place,
        /// As read.
        power: Power,
    },
    /// A milestone of a reset in progress.
    Boot {
        /// Where.
        at: Place,
        /// Which.
        milestone: Milestone,
    },
    /// The BMC is gone, or back.
    Outage {
        /// What was seen.
        reason: String,
        /// Whether it is inside an outage that a stage declared.
        expected: bool,
        /// Gone or back.
        gone: bool,
    },
    /// One more consecutive good read of the unauthenticated service root during an outage, or the count starts anew.
    RootGood {
        /// How many in a row.
        count: u32,
    },
    /// One more consecutive good read of what a stage wants, or the count starts anew.
    GoodReads {
        /// Where.
        at: Place,
        /// How many in a row.
        count: u32,
    },
    /// An item of a settings flow is read back as wanted.
    ItemDone {
        /// Where.
        at: Place,
        /// Index in priority order.
        item: usize,
        /// Whether anything was written for it.
        written: bool,
    },
    /// Write-only members that were written, as salted hashes.
    WriteOnly {
        /// Where.
        at: Place,
        /// By member name.
        hashes: BTreeMap<String, String>,
    },
    /// A stage is done on a target.
    Done {
        /// Where.
        at: Place,
        /// How.
        how: How,
        /// Why, naming versions.
        reason: String,
    },
    /// A whole try failed and another begins.
    Retrying {
        /// Where.
        at: Place,
        /// Why the last one failed.
        fault: Fault,
    },
    /// A stage failed on a target.
    Failed {
        /// Where.
        at: Place,
        /// Why.
        fault: Fault,
    },
    /// Something a person should know; changes nothing.
    Notice {
        /// Where, if anywhere.
        at: Option<Place>,
        /// The words.
        text: String,
    },
    /// The run is over.
    Ended {
        /// `Completed`, `Failed` or `Cancelled`.
        phase: RunPhase,
        /// Why.
        reason: String,
    },
}

/// A stage as the journal names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageHead {
    /// Its name.
    pub name: StageName,
    /// What it does.
    pub kind: StageWord,
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
    },
    /// A host reset.
    ResetSystem {
        /// Redfish ResetType.
        reset_type: String,
        /// What for.
        purpose: ResetPurpose,
    },
    /// A BMC reset.
    ResetManager {
        /// Redfish ResetType.
        reset_type: String,
    },
    /// Attributes of one flow item.
    Attributes {
        /// The item's index.
        item: usize,
        /// Which, never their values.
        names: Vec<String>,
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

/// How a target came to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// Nothing had to be sent.
    AlreadyThere,
    /// We did it.
    Applied,
    /// A task whose handle was lost, or that somebody else had started, did it.
    Adopted,
    /// There is nothing of the kind: a system without BIOS.
    None,
}

impl How {
    /// The word in JSON and on screen.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AlreadyThere => "already-there",
            Self::Applied => "applied",
            Self::Adopted => "adopted",
            Self::None => "none",
        }
    }
}

/// Phases of a run (and, but for the last two, of a stage).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum RunPhase {
    /// Not started: nothing was written.
    Pending,
    /// At work.
    InProgress,
    /// Done, read back.
    Completed,
    /// Failed.
    Failed,
    /// Stopped on purpose.
    Held,
    /// Ended by a person.
    Cancelled,
}

impl RunPhase {
    /// The word in JSON and on screen.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "Pending",
            Self::InProgress => "InProgress",
            Self::Completed => "Completed",
            Self::Failed => "Failed",
            Self::Held => "Held",
            Self::Cancelled => "Cancelled",
        }
    }

    /// Whether nothing more will happen.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}
