//! What follows from drift: a run that brings the BMC back, or the reason why none is begun.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use super::Daemon;
use crate::daemon::history;
use crate::daemon::line::Cause;
use crate::daemon::observation::DriftLine;
use crate::daemon::prepare::Assignment;
use crate::drift::{Declared, MassDrift, Recovery, stuck};
use crate::model::look::Problem;
use crate::model::{About, BmcName, Fault, PipelineName, RunKey, Target, Verb};
use crate::pipeline::{DriftPolicy, Pipeline};
use crate::run::record::Recovering;
use crate::run::{RunPhase, RunState};

/// Recoveries older than this are not looked for: no limit reaches further back.
const LOOK_BACK: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Why drift is left as it is: a stable word, and for people.
type Left = (&'static str, String);

impl Daemon {
    /// A BMC of a pipeline has begun to drift.
    pub(super) fn count_drift(&mut self, pipeline: &PipelineName, bmc: &BmcName) {
        let selects = |watched: &&super::Watched| {
            let mut assignments = watched.assignments.iter();
            assignments.any(|each| each.pipeline.name == *pipeline)
        };
        let all = self.watched.values().filter(selects).count();
        let now = self.engine.clock().now();
        let mass = self.mass.entry(pipeline.clone()).or_default();
        let was_held = mass.held().is_some();
        mass.drifted(now, bmc, all);
        let Some((_, count)) = mass.held() else {
            return;
        };
        let reason = format!(
            "mass drift: {count} of {all} BMCs of `{pipeline}` have drifted within an hour; nothing is brought back before \
             `redpipe resume {pipeline}`"
        );
        if !was_held {
            self.tell(None, "mass-drift", reason.clone());
        }
        self.fleet.set_mass_drift(pipeline, Some(reason));
    }

    /// Brings a BMC back to what a pipeline wants, where that may be, and says why where it may not.
    pub(super) fn recover(&mut self, name: &BmcName, pipeline: &PipelineName) {
        let found = self.may_recover(name, pipeline);
        let Some(watched) = self.watched.get_mut(name) else {
            return;
        };
        match found {
            Ok(None) => {}
            Ok(Some((assignment, cause, words))) => {
                watched.left.remove(pipeline);
                watched.recovering.insert(pipeline.clone());
                self.tell(Some(name), "recovery", words);
                self.hand_on(assignment, cause);
            }
            Err((kind, message)) => {
                let left = (kind, message.clone());
                let is_new = watched.left.insert(pipeline.clone(), left.clone()) != Some(left);
                let problem = Problem {
                    kind: kind.to_owned(),
                    message: message.clone(),
                };
                self.fleet.update(name, |shown| {
                    if !shown.problems.contains(&problem) {
                        shown.problems.push(problem);
                    }
                });
                if is_new {
                    self.tell(Some(name), kind, message);
                }
            }
        }
    }

    fn may_recover(
        &self,
        name: &BmcName,
        pipeline: &PipelineName,
    ) -> Result<Option<(Assignment, Cause, String)>, Left> {
        let Some(watched) = self.watched.get(name) else {
            return Ok(None);
        };
        let mut assignments = watched.assignments.iter();
        let assignment = assignments.find(|each| each.pipeline.name == *pipeline);
        let (Some(assignment), Some(watch)) = (assignment, watched.watches.get(pipeline)) else {
            return Ok(None);
        };
        let is_observed_only = match assignment.pipeline.drift_policy {
            DriftPolicy::Observe => true,
            DriftPolicy::Reconcile => false,
        };
        if is_observed_only || watched.recovering.contains(pipeline) || self.lines.is_ending() {
            return Ok(None);
        }
        let declared = watch.declared();
        let mendable: Vec<&Declared> = declared.iter().filter(|d| d.item.is_recoverable).collect();
        if mendable.is_empty() {
            let message = "only a person may bring a version down, or judge one that cannot be compared; `redpipe apply` does it where the pipeline says so";
            return Err(("drift-left", message.to_owned()));
        }
        let key = self.applied(name, &assignment.pipeline)?;
        let held = self.mass.get(pipeline).and_then(MassDrift::held);
        if held.is_some() {
            let message =
                format!("mass drift of `{pipeline}`: `redpipe resume {pipeline}` goes on");
            return Err(("mass-drift", message));
        }
        let is_version = |declared: &&&Declared| declared.item.name == "version";
        let versions: BTreeSet<Target> = mendable
            .iter()
            .filter(is_version)
            .map(|declared| declared.item.target.clone())
            .collect();
        let past = self
            .recoveries(&key)
            .map_err(|fault| ("state-failed", fault.to_string()))?;
        if let Some(stuck) = stuck(&past, &versions, self.engine.clock().now()) {
            let reason = stuck.reason();
            let message = format!("{reason}; find out why, then `redpipe retry {pipeline}/{name}`");
            return Err(("drift-stuck", message));
        }
        let lines = mendable.iter();
        let lines = lines.map(|one| DriftLine::new(pipeline, &one.item, None).words());
        let recovering = Recovering {
            drifted: lines.collect(),
            versions,
        };
        let words = format!(
            "`{pipeline}` brings back: {}",
            recovering.drifted.join("; ")
        );
        let cause = Cause::Recovery(recovering);
        Ok(Some((assignment.clone(), cause, words)))
    }

    /// The run by which the BMC once reached what this very file wants; drift is only behind it.
    fn applied(&self, bmc: &BmcName, pipeline: &Pipeline) -> Result<RunKey, Left> {
        let failed = |fault: Fault| ("state-failed", fault.to_string());
        let store = self.engine.store();
        let row = store.latest_run(&pipeline.name, bmc);
        let row = row.map_err(|error| failed(error.fault()))?;
        let name = &pipeline.name;
        let Some(row) = row else {
            let message = format!("`{name}` was never applied here: `redpipe apply` does it");
            return Err(("not-applied", message));
        };
        let state = history::state_of(store.as_ref(), &row.key).map_err(failed)?;
        let generation = self.engine.generation(pipeline).map_err(failed)?;
        let phase = state.phase();
        let start = state.start.as_ref();
        if phase != RunPhase::Completed {
            let message = format!(
                "run `{name}/{bmc}` is {}: see `redpipe status {name}/{bmc}`",
                phase.as_str()
            );
            return Err(("not-completed", message));
        }
        if start.is_none_or(|start| start.generation != generation) {
            let message =
                format!("`{name}` has changed since it was applied here: `redpipe apply`");
            return Err(("not-applied", message));
        }
        Ok(row.key)
    }

    /// Recoveries of a BMC by one pipeline, newest run first, since a person last ordered one to be retried.
    fn recoveries(&self, latest: &RunKey) -> Result<Vec<Recovery>, Fault> {
        let store = self.engine.store();
        let orders = store.orders_about(&latest.pipeline);
        let orders = orders.map_err(|error| error.fault())?;
        let is_retry = |about: &About| matches!(about, About::Run(key) if key.bmc == latest.bmc);
        let mut retries = orders.iter().rev();
        let cleared = retries
            .find(|order| order.verb == Verb::Retry && is_retry(&order.about))
            .map(|order| order.at);
        let oldest = oldest(self.engine.clock().now()).max(cleared.unwrap_or(Timestamp::MIN));
        let mut found = Vec::new();
        for number in (1..=latest.number).rev() {
            let key = RunKey {
                number,
                ..latest.clone()
            };
            let state = history::state_of(store.as_ref(), &key)?;
            match began(&state) {
                Some((at, _)) if at < oldest => break,
                Some((at, Some(recovering))) => found.push(Recovery {
                    at,
                    versions: recovering.versions.clone(),
                }),
                Some((_, None)) | None => {}
            }
        }
        Ok(found)
    }
}

fn began(state: &RunState) -> Option<(Timestamp, Option<&Recovering>)> {
    let start = state.start.as_ref()?;
    Some((start.at, start.recovery.as_ref()))
}

fn oldest(now: Timestamp) -> Timestamp {
    now.checked_sub(LOOK_BACK).unwrap_or(Timestamp::MIN)
}
