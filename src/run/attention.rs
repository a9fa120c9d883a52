//! What to look at next, when, and whether a process may leave the run as it stands.

use std::time::Duration;

use jiff::Timestamp;

use super::deadline::{FIRST_POLL, HELD_POLL, POLLS_PER_WAIT, elapsed};
use super::machine::RunMachine;
use super::pass::spacing;
use super::record::{Intent, Place, ResetPurpose};
use super::state::{Step, Work};
use super::{finish, hold, stage};
use crate::model::LookRequest;
use crate::model::inventory::Pace;

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
        if let Some(needed) = hold::needs(&self.state, &self.spec).filter(|_| !places.is_empty()) {
            request.merge(needed);
        }
        for place in places {
            request.merge(stage::needs(&self.state, &self.spec, &place));
        }
        request
    }

    /// Whether the next look may go on from what the last one read: while settings are about to be looked at, or the last
    /// stage has just been read back and the rest is confirmed, and nothing is counted, doubted, under way or being
    /// flashed.
    pub fn may_look_on(&self) -> bool {
        let may = |place: &Place| {
            let stage = self.spec.stage(&place.stage);
            let is_settings =
                stage.is_some_and(|stage| stage.kind.settings(&place.target).is_some());
            let work = self.state.works.get(place);
            is_settings && work.is_none_or(|work| work.step == Step::Check && work.good.is_none())
        };
        let is_begun = self.state.start.is_some();
        self.state.gone_since.is_none() && is_begun && self.state.active().iter().all(may)
    }

    /// How long to wait between two looks, as things stand.
    pub fn interval(&self, now: Timestamp) -> Duration {
        let pace = &self.spec.pace;
        let poll = pace.task_poll;
        if self.state.gone_since.is_some() {
            return match self.state.root_good {
                Some(good) => elapsed(now, good.next_at(pace)).max(FIRST_POLL.min(poll)),
                // Whoever is away spends no time on answers.
                None if self.state.gone_as_expected => FIRST_POLL.max(poll / 4).min(poll),
                None => poll,
            };
        }
        let each = self.state.active().into_iter().filter_map(|place| {
            let work = self.state.works.get(&place)?;
            Some(rest(work, pace, now))
        });
        each.min().unwrap_or(poll)
    }
}

/// How long a place lets its BMC rest.
///
/// What has just begun is looked at soon and then ever more seldom, so that what is found late is late by a small part of
/// what it took; a row of good reads is looked at when its next read counts.
fn rest(work: &Work, pace: &Pace, now: Timestamp) -> Duration {
    let poll = pace.task_poll;
    let soonest = FIRST_POLL.min(poll);
    if work.wait.as_ref().is_some_and(|(wait, _)| wait.held) {
        return HELD_POLL.max(poll);
    }
    let next_at = work.good.map(|good| good.next_at(pace));
    if let Some(next_at) = next_at.filter(|next_at| *next_at > now) {
        return elapsed(now, next_at).max(soonest);
    }
    match &work.step {
        Step::Doubt(_) => spacing(pace.probe_for, pace.settle_reads.max(1)).min(poll),
        Step::Follow(_) | Step::Ended(_) => {
            let ends = stage::version::expected_in(work, now).unwrap_or(poll);
            eager(work, now).min(ends).clamp(soonest, poll)
        }
        Step::Check
        | Step::Acting(_)
        | Step::GoingDown
        | Step::Off
        | Step::Restarting
        | Step::Booting
        | Step::BmcReset
        | Step::Verify
        | Step::Restoring
        | Step::Failing(_) => eager(work, now).clamp(soonest, poll),
    }
}

fn eager(work: &Work, now: Timestamp) -> Duration {
    elapsed(work.step_since, now) / POLLS_PER_WAIT
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
