//! Observing: when, of whom, and what an observation comes to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use rand::RngExt as _;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::{Daemon, POLLS_MAX};
use crate::daemon::engine::Engine;
use crate::daemon::fleet::{FleetEvent, PollResult};
use crate::daemon::observation::{DriftLine, Known, Observed, observe, problems};
use crate::daemon::prepare::Assignment;
use crate::drift::{Comparison, DriftState, Watch};
use crate::model::inventory::Bmc;
use crate::model::look::Problem;
use crate::model::{BmcName, Fault, FaultKind, Look, PipelineName, Target};

/// Observations in a row that fail before a BMC is called unreachable.
const UNREACHABLE_AFTER: u32 = 2;

/// How one observation ended.
pub(super) struct Polled {
    bmc: BmcName,
    assignments: Arc<Vec<Assignment>>,
    known: Option<Known>,
    full: bool,
    took: Duration,
    end: End,
}

enum End {
    Observed(Box<Observed>),
    /// It says what it said when it was last observed.
    Unchanged,
    Missed(Fault),
    /// A run drives it, here or elsewhere.
    Driven,
}

impl End {
    fn result(&self) -> PollResult {
        match self {
            Self::Observed(_) => PollResult::Compared,
            Self::Unchanged => PollResult::Unchanged,
            Self::Missed(_) => PollResult::Missed,
            Self::Driven => PollResult::Driven,
        }
    }
}

impl Daemon {
    /// When the next observation is due, where there is room for it.
    pub(super) fn next_poll(&self) -> Option<Instant> {
        if self.polls.len() >= POLLS_MAX {
            return None;
        }
        self.due.first().map(|(at, _)| *at)
    }

    /// Starts all observations that are due.
    pub(super) fn start_polls(&mut self) {
        let now = Instant::now();
        while self.polls.len() < POLLS_MAX
            && let Some((at, _)) = self.due.first()
            && *at <= now
            && let Some((_, name)) = self.due.pop_first()
        {
            let Some(watched) = self.watched.get_mut(&name) else {
                continue;
            };
            watched.due = None;
            let poll = Poll {
                engine: self.engine.clone(),
                bmc: Arc::clone(&watched.bmc),
                assignments: Arc::clone(&watched.assignments),
                known: watched.known.take(),
                full: watched.is_full_due(now),
                turn: self.turns.of(&name),
            };
            self.polls.spawn(poll.run());
        }
    }

    /// Observes a BMC at this time, unless it is being observed.
    pub(super) fn schedule(&mut self, name: &BmcName, at: Instant) {
        let Some(watched) = self.watched.get_mut(name) else {
            return;
        };
        if let Some(before) = watched.due.replace(at) {
            self.due.remove(&(before, name.clone()));
        }
        self.due.insert((at, name.clone()));
        let wait = at.saturating_duration_since(Instant::now());
        let next = crate::run::deadline::after(self.engine.clock().now(), wait);
        self.fleet
            .update(name, |shown| shown.next_poll_at = Some(next));
    }

    /// Takes an observation in.
    pub(super) fn polled(&mut self, polled: Polled) {
        let name = polled.bmc.clone();
        let now = self.engine.clock().now();
        let share = self.chance.random::<f64>();
        let Some(watched) = self.watched.get_mut(&name) else {
            return;
        };
        // Files that changed meanwhile want something else.
        if Arc::ptr_eq(&polled.assignments, &watched.assignments) {
            watched.known = polled.known;
        }
        let driven = matches!(polled.end, End::Driven);
        self.fleet.count_poll(polled.end.result());
        self.fleet.update(&name, |shown| {
            shown.driven = driven;
            if !driven {
                shown.polls += 1;
                shown.polled_at = Some(now);
            }
        });
        match polled.end {
            End::Driven => watched.forget(),
            End::Missed(fault) => self.missed(&name, &fault),
            End::Unchanged => self.unchanged(&name),
            End::Observed(observed) => {
                if polled.full {
                    watched.full_at = Some(Instant::now());
                }
                self.observed(&name, &observed, polled.full);
            }
        }
        if let Some(watched) = self.watched.get(&name) {
            let rest = watched.rest(polled.took, share);
            if watched.due.is_none() {
                self.schedule(&name, Instant::now() + rest);
            }
        }
    }

    /// What was declared still stands; what a person has allowed since is mended now.
    fn unchanged(&mut self, name: &BmcName) {
        let Some(watched) = self.watched.get(name) else {
            return;
        };
        let declared: Vec<DriftLine> = watched
            .watches
            .iter()
            .flat_map(|(pipeline, watch)| lines_of(pipeline, watch))
            .collect();
        self.drift_moved(name, &declared, &[], &[]);
    }

    fn missed(&mut self, name: &BmcName, fault: &Fault) {
        let Some(watched) = self.watched.get_mut(name) else {
            return;
        };
        watched.failures = watched.failures.saturating_add(1);
        watched.is_suspect = false;
        let failures = watched.failures;
        let is_listed = !watched.assignments.is_empty() || !watched.undecided.is_empty();
        let kind = fault.kind.as_str();
        let mut is_new = false;
        self.fleet.update(name, |shown| {
            is_new = shown.problems.iter().all(|problem| problem.kind != kind);
            shown.failures = failures;
            shown.missed(fault);
            if failures >= UNREACHABLE_AFTER && is_listed {
                shown.state = Some(DriftState::Unreachable);
                shown.items.clear();
            }
        });
        if fault.kind == FaultKind::LooksReset && is_new {
            self.tell(Some(name), kind, fault.to_string());
        } else if failures == UNREACHABLE_AFTER {
            self.tell(Some(name), "unreachable", fault.to_string());
        }
        self.unheard(name, fault);
    }

    fn observed(&mut self, name: &BmcName, observed: &Observed, full: bool) {
        let at = observed.look.at;
        let Some(watched) = self.watched.get_mut(name) else {
            return;
        };
        let was_away = std::mem::take(&mut watched.failures) >= UNREACHABLE_AFTER;
        let mut problems = problems(observed);
        let stranger = at_work(&observed.look).filter(|_| full);
        problems.extend(stranger.clone());
        let (mut declared, mut suspected) = (Vec::new(), false);
        let (mut begun, mut cleared) = (Vec::new(), Vec::new());
        for (pipeline, found) in &observed.compared {
            let watch = watched.watches.entry(pipeline.clone()).or_default();
            if stranger.is_some() {
                // What somebody is changing right now says nothing.
                watch.forget();
                continue;
            }
            let change = watch.observe(at, found);
            suspected |= change.suspected;
            let now_declared = watch.declared();
            if change.declared {
                begun.push(pipeline.clone());
            }
            if change.cleared && now_declared.is_empty() {
                cleared.push(pipeline.clone());
            }
            declared.extend(lines_of(pipeline, watch));
        }
        watched.is_suspect = suspected;
        watched.keep_watches();
        let is_listed = !watched.assignments.is_empty();
        let state = state_of(&declared, observed.compared.values());
        let versions = desired_versions(observed);
        self.fleet.update_alike(name, |shown, alike| {
            shown.saw(&observed.look, alike);
            shown.wants(&versions, alike);
            shown.failures = 0;
            shown.state = is_listed.then_some(state);
            shown.items.clone_from(&declared);
            shown.problems = problems;
        });
        if was_away {
            self.tell(Some(name), "reachable", "it answers again".to_owned());
        }
        self.drift_moved(name, &declared, &begun, &cleared);
        self.heard(name, &observed.look);
    }

    /// Tells what began and what ended, and mends what may be mended.
    fn drift_moved(
        &mut self,
        name: &BmcName,
        declared: &[DriftLine],
        begun: &[PipelineName],
        cleared: &[PipelineName],
    ) {
        for pipeline in cleared {
            let message = format!("all that `{pipeline}` watches is as wanted again");
            self.tell(Some(name), "drift-cleared", message);
            if let Some(watched) = self.watched.get_mut(name) {
                watched.left.remove(pipeline);
            }
        }
        for pipeline in begun {
            let of_it = declared.iter().filter(|line| line.pipeline == *pipeline);
            let words: Vec<String> = of_it.map(DriftLine::words).collect();
            self.tell(Some(name), "drift-detected", words.join("; "));
            self.count_drift(pipeline, name);
        }
        let pipelines: BTreeSet<PipelineName> =
            declared.iter().map(|line| line.pipeline.clone()).collect();
        for pipeline in pipelines {
            self.recover(name, &pipeline);
        }
    }

    pub(super) fn tell(&self, bmc: Option<&BmcName>, kind: &'static str, message: String) {
        let at = self.engine.clock().now();
        let store = self.engine.store();
        if let Err(error) = store.add_happening(at, bmc, kind, &message) {
            tracing::error!(kind, message, %error, "what happened could not be written down");
        }
        self.fleet.tell(FleetEvent {
            at,
            bmc: bmc.cloned(),
            kind,
            message,
        });
    }
}

fn lines_of(pipeline: &PipelineName, watch: &Watch) -> Vec<DriftLine> {
    let declared = watch.declared();
    let lines = declared.iter();
    lines
        .map(|one| DriftLine::new(pipeline, &one.item, Some(one.since)))
        .collect()
}

/// In one word, by what is declared: a difference seen once counts for nothing yet.
fn state_of<'a>(
    declared: &[DriftLine],
    mut compared: impl Iterator<Item = &'a Comparison>,
) -> DriftState {
    if !declared.is_empty() {
        DriftState::Drifted
    } else if compared.any(|found| !found.ahead.is_empty()) {
        DriftState::Ahead
    } else {
        DriftState::InSync
    }
}

/// Pipelines that select one BMC do not want different versions of one thing: plans refuse that.
fn desired_versions(observed: &Observed) -> BTreeMap<Target, String> {
    let compared = observed.compared.values();
    compared.flat_map(|found| found.versions.clone()).collect()
}

/// Somebody who is at work on the BMC, where an observation asked.
fn at_work(look: &Look) -> Option<Problem> {
    let task = look.tasks.iter().find(|task| !task.is_finished());
    let by_task = task.map(|task| format!("task `{}` is not finished", task.uri));
    let by_job = || {
        let job = look.jobs.first()?;
        Some(format!("job `{}` is not finished", job.uri))
    };
    let message = by_task.or_else(by_job)?;
    Some(Problem {
        kind: "somebody-at-work".to_owned(),
        message: format!("{message}: nothing is judged before it is"),
    })
}

/// One observation.
struct Poll {
    engine: Engine,
    bmc: Arc<Bmc>,
    assignments: Arc<Vec<Assignment>>,
    known: Option<Known>,
    full: bool,
    turn: Arc<Mutex<()>>,
}

impl Poll {
    async fn run(mut self) -> Polled {
        let (end, took) = Box::pin(self.look()).await;
        Polled {
            bmc: self.bmc.name.clone(),
            assignments: self.assignments,
            known: self.known,
            full: self.full,
            took,
            end,
        }
    }

    async fn look(&mut self) -> (End, Duration) {
        // A run has the BMC to itself.
        let Ok(_turn) = Arc::clone(&self.turn).try_lock_owned() else {
            return (End::Driven, Duration::ZERO);
        };
        match self.engine.is_driven_elsewhere(&self.bmc.name) {
            Ok(false) => {}
            Ok(true) => return (End::Driven, Duration::ZERO),
            Err(fault) => return (End::Missed(fault), Duration::ZERO),
        }
        let client = match self.engine.shared_client(&self.bmc) {
            Ok(client) => client,
            Err(fault) => return (End::Missed(fault), Duration::ZERO),
        };
        let before = client.answering();
        if let Some(known) = self.known.as_ref().filter(|_| !self.full)
            && client.is_unchanged(known.brief()).await
        {
            return (End::Unchanged, client.answering().saturating_sub(before));
        }
        let found = observe(
            &self.engine,
            &client,
            &self.assignments,
            &mut self.known,
            self.full,
        );
        let end = match found.await {
            Ok(observed) => End::Observed(Box::new(observed)),
            Err(fault) => End::Missed(fault),
        };
        self.engine.keep_links(&self.bmc.name, &client);
        (end, client.answering().saturating_sub(before))
    }
}
