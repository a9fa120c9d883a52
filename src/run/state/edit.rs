//! What edited files change in a run that is under way.

use jiff::Timestamp;

use super::run::RunState;
use super::work::{Work, WorkStatus};
use crate::model::{ServerName, Target};
use crate::run::record::Place;

/// Why a stage ends on a server that left the inventory.
pub(in crate::run) const REMOVED: &str = "removed from the inventory";

impl RunState {
    pub(super) fn edited(
        &mut self,
        at: Timestamp,
        again: &[Place],
        added: &[ServerName],
        removed: &[ServerName],
    ) {
        for place in again {
            match self.works.get_mut(place) {
                Some(work) if work.is_under_way() => work.outdated = true,
                Some(work)
                    if matches!(work.status, WorkStatus::Active | WorkStatus::Done { .. }) =>
                {
                    self.works.remove(place);
                }
                Some(_) | None => {}
            }
        }
        let Some(start) = &mut self.start else { return };
        for server in added {
            start.removed.remove(server);
            // One that comes back begins anew what ended because it had left.
            let own = Target::Server(server.clone());
            let has_stopped = |work: &Work| matches!(work.status, WorkStatus::Stopped { .. });
            self.works
                .retain(|place, work| place.target != own || !has_stopped(work));
            if !start.servers.contains(server) {
                start.servers.push(server.clone());
            }
        }
        start.removed.extend(removed.iter().cloned());
        for (place, work) in &mut self.works {
            let is_gone = matches!(&place.target, Target::Server(name) if removed.contains(name));
            if is_gone && work.status == WorkStatus::Active && work.is_at_rest() {
                work.status = WorkStatus::Stopped {
                    reason: REMOVED.to_owned(),
                    at,
                };
                work.wait = None;
            }
        }
    }

    /// Whether a target left the inventory.
    pub fn is_removed(&self, target: &Target) -> bool {
        let start = self.start.as_ref();
        let server = target.server();
        start
            .zip(server)
            .is_some_and(|(start, server)| start.removed.contains(server))
    }

    /// Why nothing more begins on a target: the run is cancelled, or the target left the inventory.
    pub fn given_up(&self, target: &Target) -> Option<String> {
        if self.is_removed(target) {
            return Some(REMOVED.to_owned());
        }
        self.cancel()
            .map(|order| format!("cancelled {}", order.said()))
    }
}
