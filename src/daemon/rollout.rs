//! What the runs of a pipeline say of it, over all processes and runs: is its failure budget spent, and has a canary
//! shown what another BMC needs?
//!
//! The journals are the truth. Those of finished runs are read once, those of other processes now and then; what this
//! process drives says by itself when it ends.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::engine::Engine;
use super::history;
use crate::model::{BmcName, Fault, Look, StageName};
use crate::pipeline::Pipeline;
use crate::plan::{RunSpec, assess_version};
use crate::run::{RunState, Standing};
use crate::store::{RunRow, Store};

/// How old what is known of other processes may be. Within this process nothing is old.
const KNOWN_FOR: Duration = Duration::from_secs(5);

/// One pipeline of one process.
pub(super) struct Rollout {
    engine: Engine,
    pipeline: Arc<Pipeline>,
    generation: String,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    runs: BTreeMap<String, (u64, Told)>,
    read_at: Option<Instant>,
    failed: BTreeSet<BmcName>,
    shown: BTreeMap<BmcName, Shown>,
    /// BMCs that this process drives now.
    driven: BTreeSet<BmcName>,
    /// Those of them that are canaries, with their platforms.
    canaries: BTreeMap<BmcName, String>,
}

/// What one run says.
#[derive(Clone)]
struct Told {
    generation: String,
    standing: Standing,
    shown: Shown,
}

/// What a BMC has shown to work.
#[derive(Clone, Default)]
struct Shown {
    platform: String,
    applied: BTreeSet<StageName>,
}

/// What a BMC would have applied to it.
pub(super) struct Needs {
    platform: String,
    stages: BTreeSet<StageName>,
}

impl Needs {
    /// The version stages that a first look says are not reached.
    pub(super) fn of(spec: &RunSpec, look: &Look) -> Self {
        let is_needed = |stage: &&crate::plan::StageSpec| {
            stage.kind.targets().into_iter().any(|target| {
                let version = stage.kind.version(target);
                version.is_some_and(|v| !assess_version(stage, v, target, look).is_done())
            })
        };
        let stages = spec.stages.iter().filter(is_needed);
        Self {
            platform: look.capability.platform.clone(),
            stages: stages.map(|stage| stage.name.clone()).collect(),
        }
    }
}

impl Rollout {
    pub(super) fn new(engine: &Engine, pipeline: &Arc<Pipeline>) -> Result<Self, Fault> {
        Ok(Self {
            engine: engine.clone(),
            pipeline: Arc::clone(pipeline),
            generation: engine.generation(pipeline)?,
            known: Mutex::default(),
        })
    }

    /// As runs keep the generation of their file.
    pub(super) fn generation(&self) -> &str {
        &self.generation
    }

    /// This process begins to drive a BMC.
    pub(super) fn begins(&self, bmc: &BmcName) {
        self.known().driven.insert(bmc.clone());
    }

    /// This process drives a BMC no more: what its run says counts at once.
    pub(super) fn ends(&self, bmc: &BmcName) {
        let mut known = self.known();
        known.driven.remove(bmc);
        known.canaries.remove(bmc);
        known.read_at = None;
    }

    /// The BMCs that have spent the budget; empty while it is not spent.
    pub(super) fn spent(&self) -> BTreeSet<BmcName> {
        let limit = usize::try_from(self.pipeline.rollout.max_failures).unwrap_or(usize::MAX);
        if limit == 0 {
            return BTreeSet::new();
        }
        let known = self.read();
        if known.failed.len() >= limit {
            known.failed.clone()
        } else {
            BTreeSet::new()
        }
    }

    /// Whether a BMC may go on to another version stage: the budget is not spent, or this BMC has spent it already, so
    /// that mending it costs nothing more.
    pub(super) fn allows(&self, bmc: &BmcName) -> bool {
        let spent = self.spent();
        spent.is_empty() || spent.contains(bmc)
    }

    /// Whether a BMC with these needs may begin: others have shown what it needs, or it is one of the few that try.
    pub(super) fn admits(&self, bmc: &BmcName, needs: &Needs) -> bool {
        let canary = usize::try_from(self.pipeline.rollout.canary).unwrap_or(usize::MAX);
        if canary == 0 {
            return true;
        }
        let mut known = self.read();
        let shown = known
            .shown
            .iter()
            .filter(|(other, shown)| *other != bmc && shown.applied.is_superset(&needs.stages));
        let platforms: Vec<&String> = shown.map(|(_, shown)| &shown.platform).collect();
        if platforms.len() >= canary && platforms.contains(&&needs.platform) {
            return true;
        }
        let of_platform = known.canaries.values().filter(|p| **p == needs.platform);
        let may_try = of_platform.count() < canary;
        if may_try {
            known.canaries.insert(bmc.clone(), needs.platform.clone());
        }
        may_try
    }

    /// What is known, read anew where it is old.
    fn read(&self) -> MutexGuard<'_, Known> {
        let mut known = self.known();
        let now = Instant::now();
        if known.read_at.is_some_and(|at| now < at + KNOWN_FOR) {
            return known;
        }
        match self.tell(&mut known) {
            Ok(()) => known.read_at = Some(now),
            Err(fault) => {
                tracing::error!(pipeline = %self.pipeline.name, %fault, "the runs could not be read");
            }
        }
        known
    }

    fn tell(&self, known: &mut Known) -> Result<(), Fault> {
        let store = self.engine.store();
        let rows = store.runs().map_err(|error| error.fault())?;
        let (mut failed, mut shown) = (BTreeSet::new(), BTreeMap::<BmcName, Shown>::new());
        let mut applied: BTreeMap<BmcName, Shown> = BTreeMap::new();
        for row in rows
            .iter()
            .filter(|row| row.key.pipeline == self.pipeline.name)
        {
            let bmc = &row.key.bmc;
            if row.finished_at.is_none() && known.driven.contains(bmc) {
                continue;
            }
            let told = known.told(store.as_ref(), row)?;
            if told.generation != self.generation {
                continue;
            }
            let of_bmc = applied.entry(bmc.clone()).or_default();
            of_bmc.platform.clone_from(&told.shown.platform);
            of_bmc.applied.extend(told.shown.applied);
            match told.standing {
                Standing::Completed => {
                    failed.remove(bmc);
                    shown.insert(bmc.clone(), of_bmc.clone());
                }
                Standing::Failed => {
                    failed.insert(bmc.clone());
                    shown.remove(bmc);
                }
                Standing::Open => {}
            }
        }
        (known.failed, known.shown) = (failed, shown);
        Ok(())
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // Every change under this lock is whole by itself.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn told(&mut self, store: &dyn Store, row: &RunRow) -> Result<Told, Fault> {
        if let Some((seq, told)) = self.runs.get(&row.id)
            && *seq == row.last_seq
        {
            return Ok(told.clone());
        }
        let told = Told::of(&history::folded(store, row)?);
        self.runs
            .insert(row.id.clone(), (row.last_seq, told.clone()));
        Ok(told)
    }
}

impl Told {
    fn of(state: &RunState) -> Self {
        let start = state.start.as_ref();
        Self {
            generation: start.map_or_else(String::new, |start| start.generation.clone()),
            standing: state.standing(),
            shown: Shown {
                platform: start.map_or_else(String::new, |start| start.platform.clone()),
                applied: state.applied(),
            },
        }
    }
}
