//! Where a settings stage stands, and which part of it is next.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use super::difference::{assess, fingerprints};
use crate::model::{LookRequest, SettingsView, Target};
use crate::plan::{
    FlowItemSpec, ItemAssessment, SettingsSpec, StageSpec, Superseded, standings, superseded,
};
use crate::run::pass::Pass;
use crate::run::record::{How, Place, Record};
use crate::run::stage::power::Effect;
use crate::run::stage::{cancel, power};
use crate::run::state::{Step, Work};

/// What a settings stage needs to see in its current step.
pub(in crate::run) fn needs(work: &Work, place: &Place, stage: &StageSpec) -> LookRequest {
    let mut request = LookRequest {
        state: true,
        ..LookRequest::default()
    };
    let Some(spec) = stage.kind.settings(&place.target) else {
        return request;
    };
    match &work.step {
        Step::Acting(_) => return LookRequest::default(),
        Step::Check if work.acts.is_empty() => {
            // All findings of a stage are told before its first write, so all of it is read.
            read_all(&mut request, place, spec);
        }
        Step::Check | Step::Doubt(_) | Step::Verify | Step::Restarting | Step::BmcReset => {
            if let Some(item) = spec.flow.get(work.items_done) {
                read_item(&mut request, place, item);
            }
        }
        Step::Follow(_)
        | Step::Ended(_)
        | Step::GoingDown
        | Step::Off
        | Step::Booting
        | Step::Restoring
        | Step::Failing(_) => {}
    }
    // What may have cut us off is read back by a new login, or it is not known that there can be one.
    request.fresh_session = severed_at(work, stage, &place.target).is_some();
    // A reset may follow: somebody else's work has to be seen.
    if matches!(work.step, Step::Check | Step::Restarting | Step::Restoring) {
        request.work = true;
        request.software = true;
    }
    request
}

/// When the current item of a settings stage may have cut our own connection last; `None` = it has not.
pub(in crate::run) fn severed_at(
    work: &Work,
    stage: &StageSpec,
    target: &Target,
) -> Option<Timestamp> {
    let spec = stage.kind.settings(target)?;
    spec.flow.get(work.items_done).filter(|item| item.severs)?;
    let mut acts = work.acts.iter().rev();
    let last = acts.find(|act| act.intent.item() == Some(work.items_done))?;
    (last.outcome.is_none() || last.may_have_happened()).then_some(last.at)
}

/// Reads everything that a stage wants.
pub(in crate::run) fn read_all(request: &mut LookRequest, place: &Place, spec: &SettingsSpec) {
    for item in &spec.flow {
        read_item(request, place, item);
    }
}

fn read_item(request: &mut LookRequest, place: &Place, item: &FlowItemSpec) {
    if !item.settings.is_empty() {
        request.settings.insert(place.target.clone());
    }
    for resource in item.shown() {
        request
            .resources
            .insert((place.target.clone(), resource.uri.clone()));
    }
}

/// Moves a settings stage one step further, as far as this look allows.
pub(in crate::run) fn step(pass: &mut Pass<'_>, place: &Place, stage: &StageSpec) {
    let Some(spec) = stage.kind.settings(&place.target) else {
        return pass.record(Record::Done {
            at: place.clone(),
            how: How::None,
            reason: "nothing is wanted here".to_owned(),
        });
    };
    let rest = wanted_now(pass, place, spec);
    let spec = match &rest {
        Ok(spec) => spec,
        Err(reason) => return pass.done(place, reason.clone()),
    };
    let flow = Flow::new(stage, spec);
    let reset = stage.options.reset;
    match pass.step(place) {
        Step::Check => flow.check(pass, place),
        Step::Doubt(id) => flow.doubt(pass, place, &id),
        Step::Restarting => {
            power::restarting(pass, place, reset, flow.effect(pass, place));
        }
        Step::Booting => power::booting(pass, place),
        Step::BmcReset => flow.bmc_reset(pass, place),
        Step::Verify => flow.verify(pass, place),
        Step::Restoring => {
            if power::restore(pass, place) {
                if pass.state.given_up(&place.target).is_some() && flow.item(pass, place).is_some()
                {
                    cancel::stop(pass, place, stage);
                } else {
                    flow.finish(pass, place);
                }
            }
        }
        // Steps of a hop; no settings stage takes them.
        Step::Acting(_)
        | Step::Follow(_)
        | Step::Ended(_)
        | Step::GoingDown
        | Step::Off
        | Step::Failing(_) => {}
    }
}

/// What of a stage is still wanted: a later stage may set a key again, and a transient stage ends at the next hop. The
/// error says why nothing is.
fn wanted_now(pass: &Pass<'_>, place: &Place, spec: &SettingsSpec) -> Result<SettingsSpec, String> {
    let standings = standings(pass.spec, pass.look);
    let position = pass.spec.position(&place.stage).unwrap_or_default();
    match superseded(pass.spec, &standings).remove(&(position, place.target.clone())) {
        None => Ok(spec.clone()),
        // What has begun is brought to its end.
        Some(found) if pass.work(place).acts.is_empty() => match &found.whole {
            Some(reason) => Err(reason.clone()),
            None => Ok(found.rest(spec)),
        },
        Some(found) => Ok(Superseded {
            whole: None,
            ..found
        }
        .rest(spec)),
    }
}

/// A stage on a target, less what is not wanted any more.
pub(super) struct Flow<'a> {
    pub(super) stage: &'a StageSpec,
    pub(super) spec: &'a SettingsSpec,
    /// Values of all items: what waits for a reset at one of them is not other people's.
    ours: BTreeMap<String, Value>,
}

impl<'a> Flow<'a> {
    fn new(stage: &'a StageSpec, spec: &'a SettingsSpec) -> Self {
        let ours = spec.flow.iter().flat_map(|item| item.settings.clone());
        Self {
            stage,
            spec,
            ours: ours.collect(),
        }
    }

    pub(super) fn item(&self, pass: &Pass<'_>, place: &Place) -> Option<&'a FlowItemSpec> {
        self.spec.flow.get(pass.work(place).items_done)
    }

    pub(super) fn view<'p>(pass: &'p Pass<'_>, place: &Place) -> Option<&'p SettingsView> {
        pass.look.settings.get(&place.target)
    }

    /// `None` where this look did not read what the item needs.
    pub(super) fn assess(
        &self,
        pass: &Pass<'_>,
        place: &Place,
        item: &FlowItemSpec,
    ) -> Option<ItemAssessment> {
        let asked = pass.request;
        let read = (item.settings.is_empty() || asked.settings.contains(&place.target))
            && item.shown().all(|r| {
                asked
                    .resources
                    .contains(&(place.target.clone(), r.uri.clone()))
            });
        read.then(|| assess(pass, place, item, &fingerprints(pass, place), &self.ours))
    }

    /// What is shown of the values of the item that is worked on.
    fn effect(&self, pass: &Pass<'_>, place: &Place) -> Effect {
        let Some(item) = self.item(pass, place) else {
            return Effect::Nothing;
        };
        match self.assess(pass, place, item) {
            Some(seen) if is_in_effect(&seen, item) => Effect::Current,
            Some(seen) if seen.attributes.waits() => Effect::Waiting,
            Some(_) | None => Effect::Nothing,
        }
    }

    pub(super) fn is_applied(&self, pass: &Pass<'_>, place: &Place, item: &FlowItemSpec) -> bool {
        self.assess(pass, place, item)
            .is_some_and(|seen| is_in_effect(&seen, item))
    }
}

fn is_in_effect(seen: &ItemAssessment, item: &FlowItemSpec) -> bool {
    seen.is_satisfied() && seen.not_shown(item).is_empty()
}
