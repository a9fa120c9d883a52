//! What a person should know of a BMC before working on it, beside what it is and what runs: licences, locks, clock,
//! sessions.

use serde::Serialize;

use super::look::Problem;

/// Circumstances of one BMC at one moment. Nothing here decides what a run does.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Circumstances {
    /// The facts that the platform was recognized by; empty where none was, or where nobody looked.
    pub recognized_by: Vec<String>,
    /// Licences that the BMC shows; `None` = it shows none.
    pub licences: Option<Vec<Licence>>,
    /// Whether the BMC refuses changes of its configuration until somebody unlocks it; `None` = it does not say.
    pub lockdown: Option<bool>,
    /// Its clock; `None` = it does not show one.
    pub clock: Option<BmcClock>,
    /// Who is logged in.
    pub sessions: SessionsShown,
    /// What was linked and could not be read.
    pub problems: Vec<Problem>,
}

/// One licence, without its key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Licence {
    /// What it is called.
    pub name: String,
    /// `LicenseType`, byte for byte.
    #[serde(rename = "type")]
    pub kind: Option<String>,
}

/// A BMC's clock beside ours.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct BmcClock {
    /// `DateTime` of the acting manager, byte for byte.
    pub says: String,
    /// Seconds by which it is ahead of ours; negative where it is behind.
    pub ahead_seconds: i64,
}

/// Sessions of a BMC.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SessionsShown {
    /// How many there are, ours included; `None` = it does not show them.
    pub open: Option<usize>,
    /// How many there can be, where that is known of the platform.
    pub limit: Option<usize>,
}

impl SessionsShown {
    /// How many more can be opened, where that is known.
    pub fn headroom(&self) -> Option<usize> {
        Some(self.limit?.saturating_sub(self.open?))
    }
}
