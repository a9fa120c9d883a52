//! The run machine: decisions are pure, state changes only through records.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use super::deadline::{FIRST_POLL, HELD_POLL, UNREACHABLE_TIMEOUT, after, elapsed};
pub use super::pass::Permits;
use super::pass::{Pass, spacing};
use super::record::{Place, Record, RunPhase, ServerBox, StageHead, StageWord, Wait};
use super::state::{RunState, Step, WorkStatus};
use super::{identity, stage};
use crate::model::{
    Action, Fault, FaultKind, IntentId, Look, LookRequest, Outcome, Retry, RunKey, Seen,
    ServerName, Target,
};
use crate::plan::{Remembered, RunSpec, StageKindSpec};

/// Passes over one look before it is certain that something is wrong with us: each ends a stage or begins one, and a
/// pipeline of a hundred stages on eight servers has fewer.
const PASSES_MAX: usize = 4096;

/// One run of one pipeline on one BMC.
#[derive(Debug, Clone)]
pub struct RunMachine {
    key: RunKey,
    run_id: String,
    spec: RunSpec,
    context: Remembered,
    state: RunState,
}

/// What happened.
#[derive(Debug, Clone, Copy)]
pub enum Input<'a> {
    /// This process took the run up from its journal.
    Restored,
    /// A look ended.
    Looked {
        /// What was asked.
        request: &'a LookRequest,
        /// What was found.
        seen: &'a Seen,
    },
    /// A request ended.
    ActEnded {
        /// Whose.
        id: &'a IntentId,
        /// How.
        outcome: &'a Outcome,
    },
}

/// What follows: records to append first, then at most one request to send.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Decision {
    /// Appended before anything else is done.
    pub records: Vec<Record>,
    /// Sent once, after its intent is durable. After a restart there is no act, only a doubt.
    pub act: Option<(IntentId, Action)>,
}

impl RunMachine {
    /// A run without records.
    pub fn new(key: RunKey, spec: RunSpec, context: Remembered) -> Self {
        let run_id = key.id();
        Self {
            key,
            run_id,
            spec,
            context,
            state: RunState::default(),
        }
    }

    /// A fold of [`RunMachine::apply`].
    pub fn restore<'r>(
        key: RunKey,
        spec: RunSpec,
        context: Remembered,
        records: impl IntoIterator<Item = (Timestamp, &'r Record)>,
    ) -> Self {
        let mut machine = Self::new(key, spec, context);
        for (at, record) in records {
            machine.apply(at, record);
        }
        machine
    }

    /// Adds one record: the only way state changes.
    pub fn apply(&mut self, at: Timestamp, record: &Record) {
        assert!(
            self.state.end.is_none(),
            "no record follows the end of a run"
        );
        self.state.apply(at, record);
    }

    /// The state as the records have it.
    pub fn state(&self) -> &RunState {
        &self.state
    }

    /// What is run.
    pub fn spec(&self) -> &RunSpec {
        &self.spec
    }

    /// Which run.
    pub fn key(&self) -> &RunKey {
        &self.key
    }

    /// What follows from an input; nothing changes here.
    pub fn decide(&self, now: Timestamp, input: Input<'_>, permits: Permits) -> Decision {
        if self.state.end.is_some() {
            return Decision::default();
        }
        match input {
            Input::Restored => self.restored(),
            Input::ActEnded { id, outcome } => self.act_ended(id, outcome),
            Input::Looked {
                seen: Seen::Failed(fault),
                ..
            } => self.not_seen(now, fault),
            Input::Looked {
                request,
                seen: Seen::Looked(look),
            } => {
                if request.root_only {
                    self.root_seen(now)
                } else {
                    self.looked(now, request, look, permits)
                }
            }
        }
    }

    /// An intent without outcome was not started by this process: its outcome is unknown.
    fn restored(&self) -> Decision {
        let mut records = vec![Record::Resumed {
            digest: self.spec.digest.clone(),
            stages: self.heads(),
        }];
        for (place, work) in &self.state.works {
            for act in work.acts.iter().filter(|act| act.outcome.is_none()) {
                let message = "the process ended before the answer was written down";
                let fault = Fault::new(FaultKind::Unreachable, Retry::Transient, message);
                let outcome = Outcome::Lost { fault };
                records.push(Record::Outcome {
                    at: place.clone(),
                    id: act.id.clone(),
                    outcome,
                });
            }
        }
        // Holds are judged anew by the next look; none outlives the process that saw its reason.
        for place in self
            .state
            .active()
            .into_iter()
            .filter(|place| self.state.is_held(place))
        {
            let wait = Wait {
                reason: "looking again".to_owned(),
                until: None,
                held: false,
            };
            records.push(Record::Waiting { at: place, wait });
        }
        Decision { records, act: None }
    }

    fn act_ended(&self, id: &IntentId, outcome: &Outcome) -> Decision {
        let place = self
            .state
            .works
            .iter()
            .find(|(_, work)| work.act(id).is_some())
            .map(|(place, _)| place.clone());
        let records = place
            .map(|at| Record::Outcome {
                at,
                id: id.clone(),
                outcome: outcome.clone(),
            })
            .into_iter()
            .collect();
        Decision { records, act: None }
    }

    fn looked(
        &self,
        now: Timestamp,
        request: &LookRequest,
        look: &Look,
        permits: Permits,
    ) -> Decision {
        let mut pass = Pass {
            spec: &self.spec,
            context: &self.context,
            run_id: &self.run_id,
            now,
            permits,
            request,
            look,
            state: self.state.clone(),
            records: Vec::new(),
            act: None,
        };
        if pass.state.gone_since.is_some() {
            let expected = pass.state.gone_as_expected;
            pass.record(Record::Outage {
                gone: false,
                expected,
                reason: "the BMC answers".to_owned(),
            });
        }
        if pass.state.start.is_none() {
            if !self.begin(&mut pass) {
                return Decision {
                    records: pass.records,
                    act: None,
                };
            }
        } else if let Some(reason) = identity::other_box(&pass) {
            for place in pass.state.active() {
                pass.hold(&place, reason.clone());
            }
            return Decision {
                records: pass.records,
                act: None,
            };
        }
        Self::walk(&mut pass);
        Decision {
            records: pass.records,
            act: pass.act,
        }
    }

    /// The first good look: servers, baselines and boxes are fixed.
    fn begin(&self, pass: &mut Pass<'_>) -> bool {
        if !pass.request.state {
            return false;
        }
        let boxes = self
            .spec
            .servers
            .iter()
            .map(|server| (server.name.clone(), server_box(pass.look, &server.name)));
        let mut baselines: BTreeMap<Target, Option<String>> = BTreeMap::new();
        baselines.insert(Target::Bmc, pass.look.bmc_version().map(str::to_owned));
        for server in &self.spec.servers {
            let version = pass.look.bios_version(&server.name).map(str::to_owned);
            baselines.insert(Target::Server(server.name.clone()), version);
        }
        let record = Record::Started {
            key: self.key.clone(),
            servers: self
                .spec
                .servers
                .iter()
                .map(|server| server.name.clone())
                .collect(),
            stages: self.heads(),
            digest: self.spec.digest.clone(),
            baselines,
            identity: pass.look.identity.clone(),
            boxes: boxes.collect(),
        };
        pass.record(record);
        true
    }

    /// Every active place takes its step, until nothing more follows from this look.
    fn walk(pass: &mut Pass<'_>) {
        for _ in 0..PASSES_MAX {
            let before = pass.records.len();
            for place in pass.state.active() {
                if !pass.state.works.contains_key(&place) {
                    pass.record(Record::StageStarted {
                        at: place.clone(),
                        attempt: 1,
                    });
                }
                if pass.is_active(&place) {
                    stage::step(pass, &place);
                }
            }
            Self::end(pass);
            if pass.records.len() == before || pass.state.end.is_some() || pass.act.is_some() {
                return;
            }
        }
        debug_assert!(false, "a pass over one look does not end");
    }

    fn end(pass: &mut Pass<'_>) {
        if pass.state.end.is_some() || !pass.state.active().is_empty() {
            return;
        }
        let failed: Vec<String> = pass
            .state
            .works
            .iter()
            .filter_map(|(place, work)| match &work.status {
                WorkStatus::Failed { fault, .. } => Some(format!(
                    "stage `{}` on {}: {fault}",
                    place.stage,
                    pass.name(&place.target)
                )),
                WorkStatus::Active | WorkStatus::Done { .. } => None,
            })
            .collect();
        let (phase, reason) = if failed.is_empty() {
            (RunPhase::Completed, "every stage is read back".to_owned())
        } else {
            (RunPhase::Failed, failed.join("; "))
        };
        pass.record(Record::Ended { phase, reason });
    }

    /// The BMC did not answer, or not us.
    fn not_seen(&self, now: Timestamp, fault: &Fault) -> Decision {
        let places = self.state.active();
        let absent = matches!(
            fault.kind,
            FaultKind::Unreachable
                | FaultKind::BadAnswer
                | FaultKind::NotReady
                | FaultKind::SessionsExhausted
        );
        let declared = places.iter().find_map(|place| self.outage(place));
        let mut records = Vec::new();
        if absent && self.state.gone_since.is_none() {
            let expected = declared.is_some();
            records.push(Record::Outage {
                gone: true,
                expected,
                reason: fault.to_string(),
            });
        } else if absent && self.state.root_good.is_some() {
            records.push(Record::RootGood { count: 0 });
        }
        let wait = if absent {
            self.absence(now, fault, declared)
        } else {
            Wait {
                reason: fault.to_string(),
                until: None,
                held: true,
            }
        };
        for place in places {
            let old = self
                .state
                .works
                .get(&place)
                .and_then(|work| work.wait.as_ref());
            if !old.is_some_and(|(old, _)| old.held == wait.held && old.reason == wait.reason) {
                records.push(Record::Waiting {
                    at: place,
                    wait: wait.clone(),
                });
            }
        }
        Decision { records, act: None }
    }

    fn absence(&self, now: Timestamp, fault: &Fault, declared_until: Option<Timestamp>) -> Wait {
        let since = self.state.gone_since.unwrap_or(now);
        let until = declared_until.unwrap_or_else(|| after(since, UNREACHABLE_TIMEOUT));
        if now < until {
            let why = if declared_until.is_some() {
                "the BMC is away, as expected"
            } else {
                "the BMC does not answer"
            };
            return Wait {
                reason: format!("{why}: {}", fault.message),
                until: Some(until),
                held: false,
            };
        }
        let at = since.strftime("%Y-%m-%d %H:%M:%S UTC");
        let known = if declared_until.is_some() {
            "; it may still be flashing, nothing is reset"
        } else {
            ""
        };
        let reason = format!(
            "the BMC has not answered since {at}: {}{known}",
            fault.message
        );
        Wait {
            reason,
            until: None,
            held: true,
        }
    }

    /// The end of the outage that a place has declared, if it has.
    fn outage(&self, place: &Place) -> Option<Timestamp> {
        let work = self
            .state
            .works
            .get(place)
            .filter(|work| work.status == WorkStatus::Active)?;
        let stage = self.spec.stage(&place.stage)?;
        stage::outage_until(work, stage, &place.target)
    }

    /// The unauthenticated root answers again; nobody logs in before it has done so for a while.
    fn root_seen(&self, now: Timestamp) -> Decision {
        let needed = self.spec.pace.settle_reads.max(1);
        let gap = spacing(self.spec.pace.settle_for, needed);
        let count = match self.state.root_good {
            None => 1,
            Some(good) if elapsed(good.last_at, now) >= gap => good.count + 1,
            Some(_) => return Decision::default(),
        };
        let mut records = vec![Record::RootGood { count }];
        if count >= needed {
            let reason = format!("{count} good reads of the service root");
            records.push(Record::Outage {
                gone: false,
                expected: true,
                reason,
            });
        }
        Decision { records, act: None }
    }

    /// Whether this process may leave the run as it stands: nothing is in flight, and no host is down by our doing.
    pub fn is_at_safe_point(&self) -> bool {
        self.state
            .active()
            .iter()
            .filter_map(|place| self.state.works.get(place))
            .all(|work| !matches!(work.step, Step::Acting(_) | Step::GoingDown | Step::Off))
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
        for place in self.state.active() {
            request.merge(stage::needs(&self.state, &self.spec, &place));
        }
        request
    }

    /// How long to wait between two looks, as things stand.
    pub fn interval(&self, now: Timestamp) -> Duration {
        let poll = self.spec.pace.task_poll;
        let settle = spacing(
            self.spec.pace.settle_for,
            self.spec.pace.settle_reads.max(1),
        );
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
                Step::Doubt(_) => {
                    spacing(self.spec.pace.probe_for, self.spec.pace.settle_reads.max(1)).min(poll)
                }
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
                | Step::Restoring => poll,
            })
        });
        each.min().unwrap_or(poll)
    }

    fn heads(&self) -> Vec<StageHead> {
        let kind = |kind: &StageKindSpec| match kind {
            StageKindSpec::BmcSettings(_) => StageWord::BmcSettings,
            StageKindSpec::BmcVersion(_) => StageWord::BmcVersion,
            StageKindSpec::BiosSettings(_) => StageWord::BiosSettings,
            StageKindSpec::BiosVersion(_) => StageWord::BiosVersion,
        };
        self.spec
            .stages
            .iter()
            .map(|stage| StageHead {
                name: stage.name.clone(),
                kind: kind(&stage.kind),
            })
            .collect()
    }
}

fn server_box(look: &Look, server: &ServerName) -> ServerBox {
    look.systems
        .get(server)
        .map_or_else(ServerBox::default, |system| ServerBox {
            uri: system.uri.clone(),
            serial: system.serial.clone(),
            uuid: system.uuid.clone(),
        })
}
