//! The run machine: decisions are pure, state changes only through records.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::hold::HookCall;
use super::pass::Pass;
pub use super::pass::Permits;
use super::record::{HookOutcome, Record, Recovering, ServerBox, StageHead, StageWord, Wait};
use super::state::RunState;
use super::{LOOKING_AGAIN, edit, finish, held, hold, identity, stage};
use crate::model::{
    Action, Fault, FaultKind, IntentId, Look, LookRequest, Order, Outcome, Retry, RunKey, Seen,
    ServerName, Target,
};
use crate::plan::{Remembered, RunSpec, StageKindSpec, kept_generation};

/// Passes over one look before it is certain that something is wrong with us: each ends a stage or begins one, and a
/// pipeline of a hundred stages on eight servers has fewer.
const PASSES_MAX: usize = 4096;

/// One run of one pipeline on one BMC.
#[derive(Debug, Clone)]
pub struct RunMachine {
    key: RunKey,
    run_id: String,
    /// What is run: what the files say, but for what was begun before they said it.
    pub(super) spec: RunSpec,
    /// What the files say.
    file: RunSpec,
    context: Remembered,
    recovery: Option<Recovering>,
    pub(super) state: RunState,
}

/// What happened.
#[derive(Debug, Clone, Copy)]
pub enum Input<'a> {
    /// This process took the run up from its journal.
    Restored,
    /// A person gave an order that concerns this run.
    Ordered(&'a Order),
    /// A look ended.
    Looked {
        /// What was asked.
        request: &'a LookRequest,
        /// What was found.
        seen: &'a Seen,
    },
    /// A hook ended.
    HookEnded {
        /// Which.
        call: &'a HookCall,
        /// How.
        outcome: &'a HookOutcome,
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
    /// A hook to run, after what says so is durable; never beside an act. One that dies with its process is run again.
    pub hook: Option<HookCall>,
}

impl Decision {
    /// Records, and nothing to send.
    pub(super) fn only(records: Vec<Record>) -> Self {
        Self {
            records,
            act: None,
            hook: None,
        }
    }
}

impl RunMachine {
    /// A run without records.
    pub fn new(key: RunKey, spec: RunSpec, context: Remembered) -> Self {
        let run_id = key.id();
        Self {
            key,
            run_id,
            file: spec.clone(),
            spec,
            context,
            recovery: None,
            state: RunState::default(),
        }
    }

    /// The same, begun because something had drifted.
    pub fn recovering(mut self, recovery: Option<Recovering>) -> Self {
        self.recovery = recovery;
        self
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
        if matches!(record, Record::Edited { .. } | Record::Done { .. }) {
            self.spec = edit::as_begun(&self.file, &self.state);
        }
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
            Input::Ordered(order) => self.ordered(now, order),
            Input::ActEnded { id, outcome } => self.act_ended(id, outcome),
            Input::HookEnded { call, outcome } => Decision::only(vec![call.ended(outcome)]),
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
            generation: self.generation(),
        }];
        records.extend(edit::edits(&self.file, &self.state));
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
                reason: LOOKING_AGAIN.to_owned(),
                until: None,
                held: false,
            };
            records.push(Record::Waiting { at: place, wait });
        }
        Decision::only(records)
    }

    fn act_ended(&self, id: &IntentId, outcome: &Outcome) -> Decision {
        let place = self
            .state
            .works
            .iter()
            .find(|(_, work)| work.act(id).is_some())
            .map(|(place, _)| place.clone());
        let record = place.map(|at| Record::Outcome {
            at,
            id: id.clone(),
            outcome: outcome.clone(),
        });
        Decision::only(record.into_iter().collect())
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
            adopted: BTreeMap::new(),
            records: Vec::new(),
            is_over: false,
            act: None,
            hook: None,
            shut: false,
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
                return Decision::only(pass.records);
            }
        } else if let Some(reason) = identity::other_box(&pass) {
            pass.hold_all(&reason);
            return Decision::only(pass.records);
        }
        Self::walk(&mut pass);
        Decision {
            records: pass.records,
            act: pass.act,
            hook: pass.hook,
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
            platform: pass.look.capability.platform.clone(),
            generation: self.generation(),
            recovery: self.recovery.clone(),
            paths: self.spec.paths.clone(),
        };
        pass.record(record);
        true
    }

    /// Every active place takes its step, until nothing more follows from this look.
    fn walk(pass: &mut Pass<'_>) {
        for _ in 0..PASSES_MAX {
            let before = pass.records.len();
            for place in pass.state.active() {
                pass.start(&place);
                if pass.is_active(&place) {
                    stage::step(pass, &place);
                }
                if pass.is_over {
                    return;
                }
            }
            held::expire(pass);
            hold::settle(pass);
            finish::end(pass);
            let leaves = pass.act.is_some() || pass.hook.is_some();
            if pass.records.len() == before || pass.state.end.is_some() || leaves {
                return;
            }
        }
        debug_assert!(false, "a pass over one look does not end");
    }

    fn generation(&self) -> String {
        kept_generation(&self.context.salt, &self.spec.generation)
    }

    fn heads(&self) -> Vec<StageHead> {
        let kind = |kind: &StageKindSpec| match kind {
            StageKindSpec::BmcSettings(_) => StageWord::BmcSettings,
            StageKindSpec::BmcVersion(_) => StageWord::BmcVersion,
            StageKindSpec::BiosSettings(_) => StageWord::BiosSettings,
            StageKindSpec::BiosVersion(_) => StageWord::BiosVersion,
        };
        self.file
            .stages
            .iter()
            .map(|stage| StageHead {
                wants: edit::wants(stage),
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
