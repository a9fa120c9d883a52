//! Where a hop stands, and which part of it is next.

use std::time::Duration;

use jiff::Timestamp;

use super::{doubt, follow};
use crate::model::inventory::Pace;
use crate::model::{IntentId, LookRequest, Target};
use crate::plan::{StageSpec, VersionAssessment, VersionSpec, assess_version};
use crate::run::deadline::{
    BIOS_UPDATE_TIMEOUT, BMC_RESET_TIMEOUT, BMC_UPDATE_TIMEOUT, after, elapsed,
};
use crate::run::pass::Pass;
use crate::run::record::{How, Milestone, Place, Record, TaskFate};
use crate::run::stage::power;
use crate::run::state::{Step, Work};

/// What a hop needs to see in its current step.
pub(in crate::run) fn needs(work: &Work) -> LookRequest {
    let mut request = LookRequest {
        state: true,
        software: true,
        ..LookRequest::default()
    };
    match &work.step {
        // Each may end in a request, or in a verdict on what is left: somebody else's work has to be seen.
        Step::Check
        | Step::Doubt(_)
        | Step::Ended(_)
        | Step::GoingDown
        | Step::Off
        | Step::Restoring
        | Step::Failing(_) => request.work = true,
        Step::Follow(_) => {
            request.work = work
                .task
                .as_ref()
                .is_none_or(|track| track.handle.is_none());
            request.software = false;
        }
        Step::Acting(_) => return LookRequest::default(),
        Step::Restarting | Step::Booting | Step::BmcReset | Step::Verify => {}
    }
    if let Some(track) = &work.task
        && let Some(handle) = &track.handle
    {
        let is_over = matches!(
            track.seen.fate,
            TaskFate::Good | TaskFate::Bad | TaskFate::Gone
        );
        if !is_over && !matches!(work.step, Step::Check | Step::Restoring) {
            request.tasks.push(handle.clone());
        }
    }
    request
}

/// Moves a hop one step further, as far as this look allows.
pub(in crate::run) fn step(pass: &mut Pass<'_>, place: &Place, stage: &StageSpec) {
    let Some(spec) = stage.kind.version(&place.target) else {
        return no_bios(pass, place);
    };
    let hop = Hop { stage, spec };
    follow::note_task(pass, place);
    let reset = stage.options.reset;
    match pass.step(place) {
        Step::Check => hop.check(pass, place),
        Step::Acting(_) => {}
        Step::Doubt(id) => doubt::step(pass, place, &id, &hop),
        Step::Follow(id) => hop.follow(pass, place, &id),
        Step::Ended(id) => hop.ended(pass, place, &id),
        Step::GoingDown => power::going_down(pass, place, reset),
        Step::Off => hop.off(pass, place),
        Step::Restarting | Step::Booting => hop.booting(pass, place),
        Step::BmcReset => hop.bmc_reset(pass, place),
        Step::Verify => hop.verify(pass, place),
        Step::Restoring => hop.restore(pass, place),
        Step::Failing(fault) => hop.failing(pass, place, fault),
    }
}

/// A target of which nothing is wanted.
pub(super) fn no_bios(pass: &mut Pass<'_>, place: &Place) {
    pass.record(Record::Done {
        at: place.clone(),
        how: How::None,
        reason: "no bios".to_owned(),
    });
}

/// One hop on one target.
pub(super) struct Hop<'a> {
    pub(super) stage: &'a StageSpec,
    pub(super) spec: &'a VersionSpec,
}

impl Hop<'_> {
    pub(super) fn assess(&self, pass: &Pass<'_>, place: &Place) -> VersionAssessment {
        assess_version(self.stage, self.spec, &place.target, pass.look)
    }

    pub(super) fn is_at_target(&self, pass: &Pass<'_>, place: &Place) -> bool {
        matches!(self.assess(pass, place), VersionAssessment::AtTarget { .. })
    }

    pub(super) fn timeout(&self, target: &Target) -> Duration {
        timeout(self.stage, target)
    }

    fn follow(&self, pass: &mut Pass<'_>, place: &Place, id: &IntentId) {
        if self.is_at_target(pass, place) && pass.task_is_over(place) {
            return pass.record(Record::Task {
                at: place.clone(),
                id: id.clone(),
                seen: follow::ended_unseen(),
            });
        }
        let has_handle = pass
            .work(place)
            .task
            .as_ref()
            .is_some_and(|track| track.handle.is_some());
        if has_handle {
            follow::progress(pass, place, self.timeout(&place.target));
        } else {
            follow::search(pass, place, id);
        }
    }

    fn ended(&self, pass: &mut Pass<'_>, place: &Place, id: &IntentId) {
        let fate = pass
            .work(place)
            .task
            .as_ref()
            .map_or(TaskFate::Gone, |track| track.seen.fate);
        let has_handle = pass
            .work(place)
            .task
            .as_ref()
            .is_some_and(|track| track.handle.is_some());
        match fate {
            TaskFate::Bad => self.ended_badly(pass, place),
            // It goes on by itself: nothing is touched while it does.
            TaskFate::Running if has_handle => {
                follow::progress(pass, place, self.timeout(&place.target));
            }
            TaskFate::Running | TaskFate::AwaitsReset | TaskFate::Good | TaskFate::Gone => {
                if self.is_at_target(pass, place) && pass.task_is_over(place) {
                    return self.settle(pass, place);
                }
                pass.agrees(place, false);
                match place.target {
                    Target::Bmc => self.wait_for_bmc(pass, place, fate),
                    Target::Server(_) => self.activate(pass, place, id, fate),
                }
            }
        }
    }

    /// The host is off for its activation; one that was off before need not be switched on where flashing ended.
    fn off(&self, pass: &mut Pass<'_>, place: &Place) {
        let was_off = pass.work(place).power_before == Some(crate::model::look::Power::Off);
        if was_off && self.is_at_target(pass, place) && pass.task_is_over(place) {
            return pass.record(Record::Boot {
                at: place.clone(),
                milestone: Milestone::PostOver,
            });
        }
        if !self.would_lower(pass, place) {
            power::off(pass, place);
        }
    }

    fn restore(&self, pass: &mut Pass<'_>, place: &Place) {
        if power::restore(pass, place) {
            let reason = format!("`{}` is running", self.live(pass, place));
            pass.done(place, reason);
        }
    }

    /// What runs, byte for byte; the hop's own word where a host that is off shows nothing.
    pub(super) fn live(&self, pass: &Pass<'_>, place: &Place) -> String {
        self.assess(pass, place)
            .live()
            .unwrap_or(&self.spec.version)
            .to_owned()
    }
}

fn timeout(stage: &StageSpec, target: &Target) -> Duration {
    stage.options.timeout.unwrap_or(match target {
        Target::Bmc => BMC_UPDATE_TIMEOUT,
        Target::Server(_) => BIOS_UPDATE_TIMEOUT,
    })
}

/// The end of the outage that a stage has declared on a target; used where the BMC does not answer.
pub(in crate::run) fn outage_until(
    work: &Work,
    stage: &StageSpec,
    target: &Target,
    pace: &Pace,
) -> Option<Timestamp> {
    let timeout = timeout(stage, target);
    match (&work.step, target) {
        (Step::BmcReset, _) => Some(after(work.step_since, BMC_RESET_TIMEOUT)),
        (Step::Doubt(id) | Step::Follow(id) | Step::Ended(id), Target::Bmc) => {
            work.act(id).map(|act| after(act.at, timeout))
        }
        (Step::Verify | Step::Failing(_), Target::Bmc) => Some(after(work.step_since, timeout)),
        // The try before may still be flashing.
        (Step::Check, Target::Bmc) if work.is_flashing() => {
            Some(after(work.since, pace.lost_update))
        }
        _ => None,
    }
}

/// When the followed task should end if it goes on as it has: no promise, only a reason to look sooner.
pub(in crate::run) fn expected_in(work: &Work, now: Timestamp) -> Option<Duration> {
    let percent = work.task.as_ref()?.seen.percent?;
    let took = elapsed(work.update()?.at, now);
    // Halfway through, the rest can be told from what it took; before, nobody knows.
    (50..100)
        .contains(&percent)
        .then(|| took * u32::from(100 - percent) / u32::from(percent))
}
