//! What a person told redpipe to do with a run or a pipeline.
//!
//! An order is written down where every process on the state sees it; whoever drives the run takes it up by a record of
//! the run's own journal, and so once.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::id::{PipelineName, RunKey};

/// One order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// Grows with every order of a state, over all runs and pipelines.
    pub id: u64,
    /// When it was given.
    pub at: Timestamp,
    /// Who gave it, in words.
    pub by: String,
    /// What it is about.
    pub about: About,
    /// What to do.
    pub verb: Verb,
}

/// What an order is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum About {
    /// One run.
    Run(RunKey),
    /// A pipeline: all its runs, and those that would begin.
    Pipeline(PipelineName),
}

impl About {
    /// The pipeline, or that of the run.
    pub fn pipeline(&self) -> &PipelineName {
        match self {
            Self::Run(key) => &key.pipeline,
            Self::Pipeline(name) => name,
        }
    }
}

impl fmt::Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(key) => key.fmt(f),
            Self::Pipeline(name) => name.fmt(f),
        }
    }
}

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verb", rename_all = "kebab-case")]
pub enum Verb {
    /// Let a run that waits for its owner go on.
    Approve {
        /// Digest of what was approved: stages, image hashes and servers.
        digest: String,
    },
    /// Begin a failed run anew, or look at a held one again.
    Retry,
    /// Begin no further step; what flashes is followed to its end.
    Cancel,
    /// Begin no run of a pipeline; running ones stop at their next safe point.
    Pause,
    /// End a pause.
    Resume,
    /// Give a held run up, whatever of it is left on the BMC.
    Leave,
    /// Bring every selected BMC to what a pipeline says; taken up by a daemon.
    Apply {
        /// Generation of the file that is meant, salted: another file is not applied by this word.
        generation: String,
        /// Further narrowing, as `--limit` takes it.
        limit: Option<String>,
    },
}

impl Verb {
    /// The word in JSON and on screen.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Approve { .. } => "approve",
            Self::Retry => "retry",
            Self::Cancel => "cancel",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Leave => "release --leave",
            Self::Apply { .. } => "apply",
        }
    }
}

impl Order {
    /// Who and when, as reasons say it.
    pub fn said(&self) -> String {
        let at = self.at.strftime("%Y-%m-%d %H:%M:%S UTC");
        format!("by {} at {at}", self.by)
    }
}

/// The orders that concern a run, oldest first, of all those about its pipeline: its own, the one to retry the run
/// before it, and the last one about the pipeline itself, which is the one that stands.
pub fn concerning<'o>(orders: &'o [Order], key: &RunKey) -> Vec<&'o Order> {
    let standing = standing(orders, &key.pipeline);
    orders
        .iter()
        .filter(|order| match &order.about {
            About::Run(about) if about == key => true,
            About::Run(about) => {
                let is_before =
                    about.bmc == key.bmc && about.number.checked_add(1) == Some(key.number);
                is_before && about.pipeline == key.pipeline && order.verb == Verb::Retry
            }
            About::Pipeline(_) => standing.is_some_and(|standing| standing.id == order.id),
        })
        .collect()
}

/// Whether a pipeline is paused, of all orders about it: the order that did it.
pub fn pause<'o>(orders: &'o [Order], pipeline: &PipelineName) -> Option<&'o Order> {
    standing(orders, pipeline).filter(|last| last.verb == Verb::Pause)
}

/// The last word on whether a pipeline is paused.
fn standing<'o>(orders: &'o [Order], pipeline: &PipelineName) -> Option<&'o Order> {
    let about = About::Pipeline(pipeline.clone());
    let is_standing =
        |order: &&Order| order.about == about && matches!(order.verb, Verb::Pause | Verb::Resume);
    orders.iter().rev().find(is_standing)
}
