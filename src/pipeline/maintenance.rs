//! Who agrees to a run, when it may disturb servers, and what runs around that.

use std::path::PathBuf;
use std::time::Duration;

use super::window::Window;

/// `[maintenance]`, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Maintenance {
    /// Who agrees.
    pub policy: Policy,
    /// When disruptive steps may run; `None` = always.
    pub window: Option<Window>,
    /// Run before the first disruptive step, in this order.
    pub before: Vec<Hook>,
    /// Run once servers are no longer disturbed, in this order.
    pub after: Vec<Hook>,
    /// Longest time for one hook.
    pub hook_timeout: Duration,
    /// How long an approval lives until it is used.
    pub approval_ttl: Duration,
    /// How long a run that has written something may be held before it ends as failed.
    pub held_for: Duration,
}

impl Maintenance {
    /// Whether nobody is asked, nothing is waited for and nothing runs around disruptive steps.
    pub fn is_plain(&self) -> bool {
        self.policy == Policy::Enforced
            && self.window.is_none()
            && self.before.is_empty()
            && self.after.is_empty()
    }
}

impl Default for Maintenance {
    fn default() -> Self {
        Self {
            policy: Policy::default(),
            window: None,
            before: Vec::new(),
            after: Vec::new(),
            // Live migration of everything on a host is done in minutes; what takes longer is stuck.
            hook_timeout: Duration::from_mins(10),
            // From one weekly window to the next.
            approval_ttl: Duration::from_hours(7 * 24),
            // A long weekend.
            held_for: Duration::from_hours(72),
        }
    }
}

/// Who agrees to a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Policy {
    /// Nobody is asked.
    #[default]
    Enforced,
    /// A person approves each run.
    OwnerApproval,
}

impl Policy {
    /// The word of the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Enforced => "enforced",
            Self::OwnerApproval => "owner-approval",
        }
    }
}

/// A program that is run around disruptive steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    /// As written in the file.
    pub name: String,
    /// Joined onto the folder of the pipeline file.
    pub path: PathBuf,
}
