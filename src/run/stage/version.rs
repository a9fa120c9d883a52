//! A hop: look, write down, send once, follow by evidence, activate, read back.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{doubt, follow, power};
use crate::model::action::UpdateAction;
use crate::model::{Action, Fault, FaultKind, IntentId, LookRequest, Retry, ServerName, Target};
use crate::plan::{
    StageSpec, VersionAssessment, VersionSpec, assess_version, choose_method, image_source,
    is_version_of, update_targets,
};
use crate::run::deadline::{
    BIOS_UPDATE_TIMEOUT, BMC_RESET_TIMEOUT, BMC_UPDATE_TIMEOUT, POST_TIMEOUT, VERIFY_TIMEOUT,
    after, elapsed,
};
use crate::run::foreign::{self, foreign_work, known, system, system_in_post};
use crate::run::pass::{Pass, Refusal, fault};
use crate::run::record::{How, Intent, Milestone, Place, Record, TaskFate};
use crate::run::state::{Step, Work};

/// What a hop needs to see in its current step.
pub(in crate::run) fn needs(work: &Work) -> LookRequest {
    let mut request = LookRequest {
        state: true,
        software: true,
        ..LookRequest::default()
    };
    match &work.step {
        Step::Check | Step::Doubt(_) | Step::Ended(_) | Step::GoingDown | Step::Off => {
            request.work = true;
        }
        Step::Follow(_) => {
            request.work = work
                .task
                .as_ref()
                .is_none_or(|track| track.handle.is_none());
            request.software = false;
        }
        Step::Acting(_) => return LookRequest::default(),
        Step::Restarting | Step::Booting | Step::BmcReset | Step::Verify | Step::Restoring => {}
    }
    if let Some(handle) = work.task.as_ref().and_then(|track| track.handle.clone()) {
        let over = work.task.as_ref().is_some_and(|track| {
            matches!(
                track.seen.fate,
                TaskFate::Good | TaskFate::Bad | TaskFate::Gone
            )
        });
        if !over && !matches!(work.step, Step::Check | Step::Restoring) {
            request.tasks.push(handle);
        }
    }
    request
}

/// Moves a hop one step further, as far as this look allows.
pub(in crate::run) fn step(pass: &mut Pass<'_>, place: &Place, stage: &StageSpec) {
    let Some(spec) = stage.kind.version(&place.target) else {
        return pass.record(Record::Done {
            at: place.clone(),
            how: How::None,
            reason: "no bios".to_owned(),
        });
    };
    let hop = Hop { stage, spec };
    if !pass.request.state {
        return;
    }
    follow::note_task(pass, place);
    match pass.step(place) {
        Step::Check => hop.check(pass, place),
        Step::Acting(_) => {}
        Step::Doubt(id) => doubt::step(pass, place, &id),
        Step::Follow(id) => hop.follow(pass, place, &id),
        Step::Ended(id) => hop.ended(pass, place, &id),
        Step::GoingDown => power::going_down(pass, place, stage.options.reset),
        Step::Off => power::off(pass, place),
        Step::Restarting | Step::Booting => hop.booting(pass, place),
        Step::BmcReset => hop.bmc_reset(pass, place),
        Step::Verify => hop.verify(pass, place),
        Step::Restoring => {
            if power::restore(pass, place) {
                let reason = format!("`{}` is running", spec.version);
                pass.done(place, reason);
            }
        }
    }
}

struct Hop<'a> {
    stage: &'a StageSpec,
    spec: &'a VersionSpec,
}

impl Hop<'_> {
    fn assess(&self, pass: &Pass<'_>, place: &Place) -> VersionAssessment {
        assess_version(self.stage, self.spec, &place.target, pass.look)
    }

    fn is_at_target(&self, pass: &Pass<'_>, place: &Place) -> bool {
        matches!(self.assess(pass, place), VersionAssessment::AtTarget { .. })
    }

    fn timeout(&self, place: &Place) -> Duration {
        self.stage.options.timeout.unwrap_or(match place.target {
            Target::Bmc => BMC_UPDATE_TIMEOUT,
            Target::Server(_) => BIOS_UPDATE_TIMEOUT,
        })
    }

    fn check(&self, pass: &mut Pass<'_>, place: &Place) {
        if !pass.request.work || !pass.request.software {
            return;
        }
        match self.assess(pass, place) {
            VersionAssessment::AtTarget { reason, ahead, .. } => {
                if ahead {
                    pass.record(Record::Notice {
                        at: Some(place.clone()),
                        text: format!("ahead: {reason}"),
                    });
                }
                pass.done(place, reason);
            }
            VersionAssessment::NoBios => {
                pass.record(Record::Done {
                    at: place.clone(),
                    how: How::None,
                    reason: "no bios".to_owned(),
                });
            }
            VersionAssessment::NoVersion { reason } => {
                let until = after(pass.work(place).since, pass.spec.pace.settle_for);
                if pass.now < until {
                    pass.wait(place, "no version shown yet", Some(until));
                } else {
                    pass.hold(place, format!("blocked: no version shown: {reason}"));
                }
            }
            VersionAssessment::SystemMissing { server } => {
                pass.hold(
                    place,
                    format!("the BMC does not show the system of `{server}` now"),
                );
            }
            VersionAssessment::Below { live, .. } | VersionAssessment::Above { live, .. } => {
                self.begin(pass, place, &live);
            }
            blocked @ (VersionAssessment::Incomparable { .. }
            | VersionAssessment::RequirementUnmet { .. }
            | VersionAssessment::TwoManagers { .. }
            | VersionAssessment::NeedsTargets { .. }
            | VersionAssessment::Unsupported { .. }) => {
                pass.hold(place, format!("blocked: {}", blocked.reason()));
            }
        }
    }

    /// Everything that must be true before an update request, then the request.
    fn begin(&self, pass: &mut Pass<'_>, place: &Place, live: &str) {
        if pass.after_refusal(place) == Refusal::Ended {
            return;
        }
        if let Some(reason) = Self::not_yet(pass, place) {
            return match reason {
                NotYet::Wait(reason, until) => pass.wait(place, reason, until),
                NotYet::Hold(reason) => pass.hold(place, reason),
            };
        }
        let method = match choose_method(self.stage, self.spec, &pass.look.capability) {
            Ok(method) => method,
            Err(fault) => return pass.hold(place, format!("blocked: {fault}")),
        };
        let Some(image) = image_source(self.spec, method) else {
            return pass.hold(
                place,
                format!("blocked: the image cannot get in by {}", method.as_str()),
            );
        };
        let targets = match update_targets(self.stage, &place.target, pass.look) {
            Ok(targets) => targets,
            Err(reason) => return pass.hold(place, format!("blocked: {reason}")),
        };
        let intent = Intent::Update {
            from: live.to_owned(),
            to: self.spec.version.clone(),
            image: self.spec.image.origin.to_string(),
            sha256: self.spec.image.sha256.clone(),
            method,
            targets: targets.clone(),
            known_tasks: pass.look.tasks.iter().map(known).collect(),
            manager_started: pass.look.manager_started.clone(),
            siblings: siblings(pass, place),
        };
        let action = Action::Update(UpdateAction {
            target: place.target.clone(),
            image,
            method,
            targets,
            apply_time: self.stage.options.apply_time.clone(),
        });
        pass.intend(place, intent, action);
    }

    fn not_yet(pass: &Pass<'_>, place: &Place) -> Option<NotYet> {
        if !pass.permits.versions {
            return Some(NotYet::Hold(
                "halted: the pipeline's failure budget is spent".to_owned(),
            ));
        }
        let work = pass.work(place);
        if work.attempt > 1
            && work
                .acts
                .iter()
                .any(|act| matches!(act.intent, Intent::Update { .. }))
        {
            let until = after(work.since, pass.spec.pace.lost_update);
            if pass.now < until {
                let reason =
                    "the last try may still be flashing; it is given time to show".to_owned();
                return Some(NotYet::Wait(reason, Some(until)));
            }
        }
        if let Some(other) = pass.flashing(place)
            && !pass.look.capability.stages_per_target
        {
            let reason = format!(
                "{} is being updated by stage `{}`",
                pass.name(&other.target),
                other.stage
            );
            let held = pass.state.is_held(other);
            return Some(if held {
                NotYet::Hold(format!("{reason}, and held"))
            } else {
                NotYet::Wait(reason, None)
            });
        }
        if let Some(found) = foreign_work(&pass.state, pass.look) {
            return Some(NotYet::Hold(format!("deferred: {found}")));
        }
        let booting = match &place.target {
            Target::Bmc => system_in_post(pass.look),
            Target::Server(name) => system(pass.look, place)
                .filter(|s| s.in_post == Some(true))
                .map(|_| name.to_string()),
        };
        booting.map(|name| {
            let until = pass.step_until(place, POST_TIMEOUT);
            if pass.now < until {
                NotYet::Wait(format!("`{name}` is in POST"), Some(until))
            } else {
                NotYet::Hold(format!("deferred: `{name}` stays in POST"))
            }
        })
    }

    fn follow(&self, pass: &mut Pass<'_>, place: &Place, id: &IntentId) {
        if self.is_at_target(pass, place) && pass.task_is_over(place) {
            pass.record(Record::Task {
                at: place.clone(),
                id: id.clone(),
                seen: follow::ended_unseen(),
            });
            return;
        }
        if pass
            .work(place)
            .task
            .as_ref()
            .is_none_or(|track| track.handle.is_none())
        {
            return follow::search(pass, place, id);
        }
        follow::stalled(pass, place, self.timeout(place));
    }

    fn ended(&self, pass: &mut Pass<'_>, place: &Place, id: &IntentId) {
        let fate = pass
            .work(place)
            .task
            .as_ref()
            .map_or(TaskFate::Gone, |track| track.seen.fate);
        if fate == TaskFate::Bad {
            return self.ended_badly(pass, place);
        }
        if self.is_at_target(pass, place) {
            return Self::settle(pass, place);
        }
        match place.target {
            Target::Bmc => self.wait_for_bmc(pass, place, fate),
            Target::Server(_) => self.activate(pass, place, id, fate),
        }
    }

    /// A task that ended in failure: time for the BMC to come to rest, then the version decides, but for a task that
    /// calls its own completion critical.
    fn ended_badly(&self, pass: &mut Pass<'_>, place: &Place) {
        let until = pass.step_until(place, pass.spec.pace.settle_for);
        if pass.now < until {
            return pass.wait(
                place,
                "the task ended in failure; the version is read once more",
                Some(until),
            );
        }
        let seen = pass
            .work(place)
            .task
            .as_ref()
            .map(|track| track.seen.clone())
            .unwrap_or_default();
        if self.is_at_target(pass, place) && seen.state.as_deref() != Some("Completed") {
            let state = seen.state.unwrap_or_default();
            let text = format!(
                "the task ended `{state}`, yet `{}` is running",
                self.spec.version
            );
            pass.record(Record::Notice {
                at: Some(place.clone()),
                text,
            });
            return Self::settle(pass, place);
        }
        if let Some(left) = follow::left_behind(pass) {
            return pass.hold(place, format!("left behind: {left}"));
        }
        let state = seen.state.as_deref().unwrap_or("?");
        let status = seen.status.as_deref().unwrap_or("no status");
        let message = format!(
            "update to `{}` failed: the task ended {state} ({status})",
            self.spec.version
        );
        pass.fail(
            place,
            fault(FaultKind::UpdateFailed, Retry::Transient, message).with_messages(seen.messages),
        );
    }

    fn wait_for_bmc(&self, pass: &mut Pass<'_>, place: &Place, fate: TaskFate) {
        let asks = fate == TaskFate::AwaitsReset || follow::asks_for_reset(pass.work(place));
        let settled = pass.in_step(place) >= pass.spec.pace.settle_for;
        if asks
            && settled
            && !pass.work(place).reset_made
            && pass
                .state
                .back_at
                .is_none_or(|at| at < pass.work(place).step_since)
        {
            return power::reset_manager(pass, place, self.stage.options.reset);
        }
        self.unchanged_until(pass, place, "waiting for the BMC to show the new version");
    }

    /// Waits for the version; after the verify time an unchanged version is a failure with the task's own words.
    fn unchanged_until(&self, pass: &mut Pass<'_>, place: &Place, reason: &str) {
        let from = pass
            .state
            .back_at
            .map_or(pass.work(place).step_since, |at| {
                at.max(pass.work(place).step_since)
            });
        let until = after(from, VERIFY_TIMEOUT.max(pass.spec.pace.lost_update));
        if pass.now < until {
            return pass.wait(place, reason, Some(until));
        }
        if !pass.task_is_over(place) {
            return pass.hold(
                place,
                "the task runs on and the version has not changed; nothing is reset",
            );
        }
        if let Some(left) = follow::left_behind(pass) {
            return pass.hold(place, format!("left behind: {left}"));
        }
        let live = pass
            .look
            .version(&place.target)
            .unwrap_or("(none)")
            .to_owned();
        let messages = pass
            .work(place)
            .task
            .as_ref()
            .map(|track| track.seen.messages.clone())
            .unwrap_or_default();
        let message = format!(
            "version did not change: wanted `{}`, running `{live}`",
            self.spec.version
        );
        pass.fail(
            place,
            fault(FaultKind::VersionUnchanged, Retry::Transient, message).with_messages(messages),
        );
    }

    /// The image waits for a boot: evidence that it is staged, then down, Off seen, up.
    fn activate(&self, pass: &mut Pass<'_>, place: &Place, id: &IntentId, fate: TaskFate) {
        if !pass.request.work || !pass.request.software {
            return;
        }
        let Some(system) = system(pass.look, place) else {
            return;
        };
        if system.in_post == Some(true) {
            return pass.record(Record::Boot {
                at: place.clone(),
                milestone: Milestone::Booting,
            });
        }
        let staged = follow::staged_version(pass.look, system);
        if let Some(version) = staged
            && !is_version_of(self.spec, version, &place.target, pass.look)
        {
            return pass.hold(place, format!(
                "blocked: the BMC shows `{version}` as staged, the hop is `{}`; nothing is activated",
                self.spec.version
            ));
        }
        if fate == TaskFate::Gone && staged.is_none() && !follow::handleless(pass.work(place), id) {
            return self.unchanged_until(
                pass,
                place,
                "the task is gone and no image is shown as staged",
            );
        }
        power::take_down(pass, place, self.stage.options.reset);
    }

    fn booting(&self, pass: &mut Pass<'_>, place: &Place) {
        let Some(system) = system(pass.look, place) else {
            return;
        };
        if system.in_post != Some(true)
            && self.is_at_target(pass, place)
            && pass.task_is_over(place)
        {
            return Self::settle(pass, place);
        }
        let until = pass.step_until(place, POST_TIMEOUT);
        if system.in_post == Some(false)
            && pass.work(place).good.is_none()
            && pass.in_step(place) >= pass.spec.pace.settle_for
        {
            return pass.record(Record::Boot {
                at: place.clone(),
                milestone: Milestone::PostOver,
            });
        }
        if pass.now < until {
            return pass.wait(place, "the host boots and may be flashing", Some(until));
        }
        if system.in_post == Some(true) {
            return pass.hold(
                place,
                "the host is still in POST and may be flashing; nothing is reset",
            );
        }
        pass.record(Record::Boot {
            at: place.clone(),
            milestone: Milestone::PostOver,
        });
    }

    fn bmc_reset(&self, pass: &mut Pass<'_>, place: &Place) {
        if self.is_at_target(pass, place) {
            return Self::settle(pass, place);
        }
        if pass.in_step(place) > BMC_RESET_TIMEOUT {
            self.unchanged_until(pass, place, "waiting for the BMC to show the new version");
        } else {
            let until = pass.step_until(place, BMC_RESET_TIMEOUT);
            pass.wait(place, "the BMC resets to activate the image", Some(until));
        }
    }

    fn verify(&self, pass: &mut Pass<'_>, place: &Place) {
        if self.is_at_target(pass, place) {
            Self::settle(pass, place);
        } else {
            self.unchanged_until(pass, place, "waiting for the new version to be shown");
        }
    }

    /// The version is there: enough agreeing reads, siblings unchanged, power as before, done.
    fn settle(pass: &mut Pass<'_>, place: &Place) {
        if !pass.agrees(place, true) {
            return pass.wait(place, "reading the new version again until it stays", None);
        }
        if let Some(message) = changed_sibling(pass, place) {
            let fault = Fault::new(FaultKind::SideEffect, Retry::Operator, message);
            return pass.record(Record::Failed {
                at: place.clone(),
                fault,
            });
        }
        if pass.work(place).power_changed {
            return pass.record(Record::Boot {
                at: place.clone(),
                milestone: Milestone::Reached,
            });
        }
        let live = pass
            .look
            .version(&place.target)
            .unwrap_or_default()
            .to_owned();
        pass.done(place, format!("`{live}` is running"));
    }
}

enum NotYet {
    Wait(String, Option<jiff::Timestamp>),
    Hold(String),
}

/// BIOS versions of the other systems, which this hop must not touch.
fn siblings(pass: &Pass<'_>, place: &Place) -> BTreeMap<ServerName, String> {
    let Some(own) = place.target.server() else {
        return BTreeMap::new();
    };
    pass.look
        .systems
        .keys()
        .filter(|name| *name != own)
        .filter_map(|name| Some((name.clone(), pass.look.bios_version(name)?.to_owned())))
        .collect()
}

fn changed_sibling(pass: &Pass<'_>, place: &Place) -> Option<String> {
    let Intent::Update { siblings, .. } = &pass.work(place).update()?.intent else {
        return None;
    };
    siblings.iter().find_map(|(name, before)| {
        let now = pass.look.bios_version(name)?;
        (now != before).then(|| {
            format!(
                "the update of {} changed `{name}` from `{before}` to `{now}`",
                pass.name(&place.target)
            )
        })
    })
}

/// Whether a hop's own deadline has passed; used where the BMC does not answer.
pub(in crate::run) fn outage_until(
    work: &Work,
    stage: &StageSpec,
    target: &Target,
) -> Option<jiff::Timestamp> {
    let timeout = stage.options.timeout.unwrap_or(BMC_UPDATE_TIMEOUT);
    match (&work.step, target) {
        (Step::BmcReset, _) => Some(after(work.step_since, BMC_RESET_TIMEOUT)),
        (Step::Doubt(id) | Step::Follow(id) | Step::Ended(id), Target::Bmc) => {
            work.act(id).map(|act| after(act.at, timeout))
        }
        (Step::Verify, Target::Bmc) => Some(after(work.step_since, timeout)),
        _ => None,
    }
}

/// Whether this is the first half minute after a request was accepted.
pub(in crate::run) fn is_fresh(work: &Work, now: jiff::Timestamp) -> bool {
    matches!(work.step, Step::Follow(_))
        && elapsed(work.step_since, now) < crate::run::deadline::FIRST_POLLS_FOR
}

/// Whether the hop of a place is reached.
pub(in crate::run) fn is_at(pass: &Pass<'_>, place: &Place) -> bool {
    pass.spec.stage(&place.stage).is_some_and(|stage| {
        stage
            .kind
            .version(&place.target)
            .is_some_and(|spec| Hop { stage, spec }.is_at_target(pass, place))
    })
}

/// Whether a foreign update task is under way.
pub(in crate::run) fn stranger(pass: &Pass<'_>) -> Option<String> {
    foreign::foreign_task(&pass.state, pass.look).map(|task| {
        format!(
            "task {} `{}`",
            task.uri,
            task.name.as_deref().unwrap_or("?")
        )
    })
}
