//! Everything that must be true before an update request, then the request.

use jiff::Timestamp;

use super::hop::{Hop, no_bios};
use super::sibling;
use crate::model::action::{ImageSource, UpdateAction};
use crate::model::{Action, Target};
use crate::plan::{Outage, VersionAssessment, choose_method, image_source, update_targets};
use crate::run::deadline::{POST_TIMEOUT, after};
use crate::run::foreign::{foreign_work, known, system, system_in_post};
use crate::run::hold::may_disturb;
use crate::run::pass::Pass;
use crate::run::record::{Intent, Place, Record};
use crate::run::stage::busy;

impl Hop<'_> {
    /// The live version is read right before the request that it decides about.
    pub(super) fn check(&self, pass: &mut Pass<'_>, place: &Place) {
        if !pass.request.work || !pass.request.software {
            return;
        }
        match self.assess(pass, place) {
            VersionAssessment::AtTarget { reason, ahead, .. } => {
                if pass.work(place).is_flashing() {
                    // A try that had failed shows its effect after all.
                    return self.settle(pass, place);
                }
                if ahead {
                    pass.record(Record::Notice {
                        at: Some(place.clone()),
                        text: format!("ahead: {reason}"),
                    });
                }
                pass.done(place, reason);
            }
            VersionAssessment::NoBios => no_bios(pass, place),
            VersionAssessment::NoVersion { reason } => pass.wait_or_hold(
                place,
                "no version is shown yet",
                pass.spec.pace.settle_for,
                format!("blocked: {reason}"),
            ),
            VersionAssessment::Below { live, .. } | VersionAssessment::Above { live, .. } => {
                self.begin(pass, place, &live);
            }
            blocked @ (VersionAssessment::Incomparable { .. }
            | VersionAssessment::RequirementUnmet { .. }
            | VersionAssessment::SystemMissing { .. }
            | VersionAssessment::TwoManagers { .. }
            | VersionAssessment::NeedsTargets { .. }
            | VersionAssessment::Unsupported { .. }) => {
                pass.hold(place, format!("blocked: {}", blocked.reason()));
            }
        }
    }

    fn begin(&self, pass: &mut Pass<'_>, place: &Place, live: &str) {
        if pass.is_refused(place) || !may_begin(pass, place) {
            return;
        }
        let method = match choose_method(self.stage, self.spec, &pass.look.capability) {
            Ok(method) => method,
            Err(fault) => return pass.hold(place, format!("blocked: {fault}")),
        };
        let secret = pass.next_secret();
        let capability = &pass.look.capability;
        let Some(image) = image_source(self.spec, method, capability, &secret) else {
            return pass.hold(
                place,
                format!("blocked: the image cannot get in by {}", method.as_str()),
            );
        };
        let targets = match update_targets(self.stage, &place.target, pass.look, method) {
            Ok(targets) => targets,
            Err(reason) => return pass.hold(place, format!("blocked: {reason}")),
        };
        let takes = Outage::of_hop(&place.target).expected;
        if !may_disturb(pass, place, Some(takes)) {
            return;
        }
        let intent = Intent::Update {
            from: live.to_owned(),
            to: self.spec.version.clone(),
            image: self.spec.image.origin.to_string(),
            sha256: self.spec.image.sha256.clone(),
            method,
            targets: targets.clone(),
            known_tasks: pass.look.tasks.iter().map(known).collect(),
            manager_started: pass.look.manager_started.clone(),
            siblings: sibling::versions(pass, place),
            served: served(&image),
        };
        let action = Action::Update(UpdateAction {
            target: place.target.clone(),
            image,
            method,
            targets,
            apply_time: self.stage.options.apply_time.clone(),
            keep: self.stage.options.preserve.only().map(<[String]>::to_vec),
        });
        pass.intend(place, intent, action);
    }
}

fn served(image: &ImageSource) -> Option<String> {
    match image {
        ImageSource::Served(image) => Some(image.path.clone()),
        ImageSource::Uri(_) | ImageSource::File { .. } => None,
    }
}

/// Whether nothing speaks against an update now; says what does.
fn may_begin(pass: &mut Pass<'_>, place: &Place) -> bool {
    if !pass.permits.versions {
        let reason = format!(
            "halted: the pipeline's failure budget is spent, so no further hop begins; `redpipe status` tells by whom: mend and `redpipe retry` them, then apply `{}` again",
            pass.spec.pipeline
        );
        pass.hold(place, reason);
        return false;
    }
    if let Some(until) = last_try_may_show(pass, place) {
        let reason = "the last try may still be flashing; it is given time to show";
        pass.wait(place, reason, Some(until));
        return false;
    }
    if let Some(other) = busy::other_update(pass, place)
        && !pass.look.capability.stages_per_target
    {
        busy::wait_for(pass, place, &other, "one update at a time");
        return false;
    }
    if let Some(found) = foreign_work(pass) {
        pass.hold(
            place,
            format!("deferred: {found}; no update is sent meanwhile"),
        );
        return false;
    }
    let booting = match &place.target {
        Target::Bmc => system_in_post(pass.look),
        Target::Server(name) => system(pass.look, place)
            .filter(|system| system.in_post == Some(true))
            .map(|_| name.to_string()),
    };
    if let Some(name) = booting {
        pass.wait_or_hold(
            place,
            format!("`{name}` is in POST; no update is sent before it is over"),
            POST_TIMEOUT,
            format!("deferred: `{name}` stays in POST; look at its console, then apply again"),
        );
        return false;
    }
    true
}

/// An ended, failed or vanished task is no proof that flashing stopped: every new try waits as long as a lost one.
fn last_try_may_show(pass: &Pass<'_>, place: &Place) -> Option<Timestamp> {
    let work = pass.work(place);
    let last = work.update_at_large()?;
    let until = after(work.since, pass.spec.pace.lost_update);
    (last.attempt < work.attempt && pass.now < until).then_some(until)
}
