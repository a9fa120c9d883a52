//! Words for how far something came.

use serde::{Deserialize, Serialize};

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
