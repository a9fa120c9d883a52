//! A session of ours on a BMC, as stored.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::lease::Owner;

/// A session, as stored.
#[derive(Serialize, Deserialize)]
pub(super) struct SessionRow {
    pub(super) owner: Owner,
    pub(super) note: Value,
}

impl SessionRow {
    /// A lost lock file counts as dead here: the worst is that a living process logs in again.
    pub(super) fn is_left(&self, seen_by: &Owner) -> bool {
        let is_here = self.owner.host == seen_by.host;
        self.owner.is_dead(seen_by) || (is_here && !self.owner.lock_file.exists())
    }
}
