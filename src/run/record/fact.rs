//! One journal line.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::hold::HoldStep;
use super::intent::{Intent, Milestone, TaskSeen};
use super::phase::{How, RunPhase};
use super::place::{Place, Recovering, ServerBox, StageHead, Wait};
use crate::model::look::{Identity, Power};
use crate::model::{
    Fault, IntentId, Order, Outcome, RunKey, ServerName, StageName, Target, TaskHandle,
};
use crate::plan::HopPaths;

/// The shape of [`Record`] that this build writes.
pub const RECORD_VERSION: u32 = 3;

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
        /// Class of machine that answered.
        #[serde(default)]
        platform: String,
        /// Salted hash of what the file says of its stages.
        #[serde(default)]
        generation: String,
        /// What had drifted, where nobody but drift asked for the run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        recovery: Option<Recovering>,
        /// Hops that were computed from what ran: the run walks these to its end.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        paths: HopPaths,
    },
    /// Another process took the run up.
    Resumed {
        /// Digest of what it reads now.
        digest: String,
        /// Stages in order, as it reads them now.
        stages: Vec<StageHead>,
        /// Salted hash of what the file says of its stages now.
        #[serde(default)]
        generation: String,
    },
    /// A person's order is taken up.
    Ordered {
        /// Which.
        order: Order,
    },
    /// The files say something else than when the run was last taken up.
    Edited {
        /// Stages that want something else of a target, or nothing any more.
        again: Vec<Place>,
        /// Servers that came into the inventory.
        added: Vec<ServerName>,
        /// Servers that left it.
        removed: Vec<ServerName>,
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
    /// The BMC shows another certificate inside a declared outage, and the inventory says to take it: from here on it is
    /// the one that counts.
    CertificateAccepted {
        /// `sha256:HEX` of it.
        certificate: String,
        /// What was seen, naming both.
        reason: String,
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
    /// A try of a hop is lost: what is left of it on the BMC is looked for before it may end.
    Failing {
        /// Where.
        at: Place,
        /// Why.
        fault: Fault,
    },
    /// A whole try failed and another begins.
    Retrying {
        /// Where.
        at: Place,
        /// Why the last one failed.
        fault: Fault,
    },
    /// What a stage had reached was found undone at the end of the run: it is applied again, once.
    Reopened {
        /// Where.
        at: Place,
        /// The stage that most likely undid it; `None` = none of this run.
        after: Option<StageName>,
        /// What is no longer as it was.
        reason: String,
    },
    /// A stage failed on a target.
    Failed {
        /// Where.
        at: Place,
        /// Why.
        fault: Fault,
    },
    /// A stage ends on a target before its aim is reached, as a person ordered.
    Stopped {
        /// Where.
        at: Place,
        /// Why, and what is left of it.
        reason: String,
    },
    /// What the run waits for while no stage is under way changed.
    RunWaiting {
        /// In words for people.
        wait: Wait,
    },
    /// The hold of the run moved: servers are asked for, approved, prepared, granted, given back.
    Hold {
        /// How.
        step: HoldStep,
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
