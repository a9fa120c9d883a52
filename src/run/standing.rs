//! What one run means for the rollout of its pipeline: whether it counts as a failure, and what it has shown to work.

use std::collections::BTreeSet;

use super::record::{How, RunPhase};
use super::state::{RunState, WorkStatus};
use crate::model::StageName;

/// How a run counts in its pipeline's failure budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It clears its BMC.
    Completed,
    /// Its BMC counts as failed: the run has failed, or is held or cancelled with an update of which nobody knows the end.
    Failed,
    /// It says nothing.
    Open,
}

impl RunState {
    /// How the run counts.
    pub fn standing(&self) -> Standing {
        match self.phase() {
            RunPhase::Completed => Standing::Completed,
            RunPhase::Failed => Standing::Failed,
            RunPhase::Held | RunPhase::Cancelled if self.has_unverified_update() => {
                Standing::Failed
            }
            RunPhase::InProgress if self.was_held && self.has_unverified_update() => {
                Standing::Failed
            }
            RunPhase::Held | RunPhase::Cancelled | RunPhase::InProgress | RunPhase::Pending => {
                Standing::Open
            }
        }
    }

    /// Whether an update may have been made whose version was never read back.
    fn has_unverified_update(&self) -> bool {
        self.works.values().any(|work| {
            let is_done = matches!(work.status, WorkStatus::Done { .. });
            !is_done && work.update_at_large().is_some()
        })
    }

    /// Stages that the run applied on at least one target, rather than finding them done.
    pub fn applied(&self) -> BTreeSet<StageName> {
        self.works
            .iter()
            .filter(|(_, work)| {
                matches!(
                    work.status,
                    WorkStatus::Done {
                        how: How::Applied | How::Adopted,
                        ..
                    }
                )
            })
            .map(|(place, _)| place.stage.clone())
            .collect()
    }
}
