//! The hold of a run, step by step: who agreed, which hooks ran, what became of servers.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::phase::RunPhase;
use crate::model::ServerName;

/// One step of the hold of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "hold", rename_all = "kebab-case")]
pub enum HoldStep {
    /// Servers are asked for: disruptive steps will touch them.
    Asked {
        /// What an approval has to be for.
        digest: String,
        /// All of them.
        servers: Vec<ServerName>,
        /// Those of them that were granted before and still are.
        granted: Vec<ServerName>,
        /// Whether a person has to agree.
        approval: bool,
    },
    /// A person's order approves what was asked for.
    Approved {
        /// Number of the order; it serves once.
        order: u64,
        /// Who gave it.
        by: String,
        /// When it was given.
        given_at: Timestamp,
    },
    /// An approval was not used in time.
    Lapsed {
        /// Why.
        reason: String,
    },
    /// A hook is about to run.
    HookStarted {
        /// On which side of the disruptive steps.
        side: HookSide,
        /// Its index on that side.
        index: usize,
        /// As the file names it.
        hook: String,
    },
    /// A hook ended.
    HookEnded {
        /// On which side of the disruptive steps.
        side: HookSide,
        /// Its index on that side.
        index: usize,
        /// As the file names it.
        hook: String,
        /// How.
        outcome: HookOutcome,
    },
    /// Everything that was asked for may be disturbed from here on.
    Granted,
    /// Servers are given back: nothing is disturbed any more.
    Releasing {
        /// Why.
        reason: String,
        /// How the run ends with it; `None` = it goes on later.
        end: Option<RunPhase>,
        /// What became of each server.
        servers: Vec<ServerOutcome>,
    },
    /// All servers are given back.
    Released,
}

/// On which side of the disruptive steps a hook runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HookSide {
    /// Before the first of them.
    Before,
    /// After the last of them.
    After,
}

impl HookSide {
    /// The word in JSON and on screen.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
        }
    }
}

/// How a hook ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookOutcome {
    /// Exit code; `None` where it was ended by a signal or never began.
    pub code: Option<i32>,
    /// Why it counts as failed, where the exit code does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// The end of what it printed, on both streams.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
}

impl HookOutcome {
    /// Whether it did what it is there for.
    pub fn is_good(&self) -> bool {
        self.code == Some(0) && self.trouble.is_none()
    }

    /// How it ended, in words, with the last line that it printed.
    pub fn words(&self) -> String {
        let end = match (&self.trouble, self.code) {
            (Some(trouble), _) => trouble.clone(),
            (None, Some(code)) => format!("exit code {code}"),
            (None, None) => "ended by a signal".to_owned(),
        };
        match self
            .output
            .lines()
            .rev()
            .find(|line| !line.trim().is_empty())
        {
            Some(line) => format!("{end}: {}", line.trim()),
            None => end,
        }
    }
}

/// What became of one server by the time it is given back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerOutcome {
    /// Which.
    pub server: ServerName,
    /// How it ended.
    pub outcome: OutcomeWord,
    /// Why, where there is something to say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// How a server's part of a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutcomeWord {
    /// Every stage is done on it.
    Completed,
    /// A stage failed on it, or on its BMC.
    Failed,
    /// Stages are left, and the run goes on later, or ends without them.
    Unfinished,
    /// Something of an update is still on the BMC: it is not free.
    LeftBehind,
}

impl OutcomeWord {
    /// The word in JSON and on screen.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Unfinished => "unfinished",
            Self::LeftBehind => "left-behind",
        }
    }
}
