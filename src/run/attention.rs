//! What to look at next, when, and whether a process may leave the run as it stands.

use std::time::Duration;

use jiff::Timestamp;

use super::deadline::{FIRST_POLL, HELD_POLL};
use super::machine::RunMachine;
use super::pass::spacing;
use super::record::{Intent, ResetPurpose};
use super::state::{Step, Work};
use super::{finish, stage};
use crate::model::LookRequest;

impl RunMachine {
    /// Whether this process may leave the run as it stands: nothing is in flight, and no host is down by our doing.
    pub fn is_at_safe_point(&self) -> bool {
        self.state
            .active()
            .iter()
            .filter_map(|place| self.state.works.get(place))
            .all(|work| !is_in_flight_or_down(work))
    }

    /// What to look at next: the union of what every active place needs.
    pub fn needs(&self) -> LookRequest {
        if self.state.gone_since.is_some() && self.state.gone_as_expected {
            return LookRequest {
                root_only: true,
                ..LookRequest::default()
            };
        }
        let mut request = LookRequest {
            state: true,
            ..LookRequest::default()
        };
        let places = self.state.active();
        if places.is_empty() && self.state.start.is_some() {
            return finish::needs(&self.state, &self.spec).unwrap_or(request);
        }
        for place in places {
            request.merge(stage::needs(&self.state, &self.spec, &place));
        }
        request
    }

    /// How long to wait between two looks, as things stand.
    pub fn interval(&self, now: Timestamp) -> Duration {
        let pace = &self.spec.pace;
        let poll = pace.task_poll;
        let reads = pace.settle_reads.max(1);
        let settle = spacing(pace.settle_for, reads);
        if self.state.gone_since.is_some() {
            return if self.state.root_good.is_some() {
                settle
            } else {
                poll
            };
        }
        let each = self.state.active().into_iter().filter_map(|place| {
            let work = self.state.works.get(&place)?;
            let held = work.wait.as_ref().is_some_and(|(wait, _)| wait.held);
            let fast = stage::version::is_fresh(work, now);
            Some(match &work.step {
                _ if held => HELD_POLL.max(poll),
                _ if fast => FIRST_POLL.min(poll),
                _ if work.good.is_some() => settle.min(poll),
                Step::Doubt(_) => spacing(pace.probe_for, reads).min(poll),
                Step::Check
                | Step::Acting(_)
                | Step::Follow(_)
                | Step::Ended(_)
                | Step::GoingDown
                | Step::Off
                | Step::Restarting
                | Step::Booting
                | Step::BmcReset
                | Step::Verify
                | Step::Restoring
                | Step::Failing(_) => poll,
            })
        });
        each.min().unwrap_or(poll)
    }
}

fn is_in_flight_or_down(work: &Work) -> bool {
    match &work.step {
        Step::Acting(_) | Step::GoingDown | Step::Off => true,
        // The host may be on its way down, and nobody else would switch it on again.
        Step::Doubt(id) => work.act(id).is_some_and(|act| {
            matches!(
                act.intent,
                Intent::ResetSystem {
                    purpose: ResetPurpose::Down | ResetPurpose::ForceDown | ResetPurpose::Up,
                    ..
                }
            )
        }),
        Step::Check
        | Step::Follow(_)
        | Step::Ended(_)
        | Step::Restarting
        | Step::Booting
        | Step::BmcReset
        | Step::Verify
        | Step::Restoring
        | Step::Failing(_) => false,
    }
}
