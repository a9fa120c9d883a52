//! What the daemon knows of every BMC now, for whoever asks: the last observation, what has drifted, and what is held.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use serde::Serialize;
use tokio::sync::watch;

use super::last_seen::{Alike, LastSeen};
use super::metrics::BmcFigures;
use super::observation::{BmcDrift, DriftDocument, DriftLine};
use crate::drift::DriftState;
use crate::model::inventory::Bmc;
use crate::model::look::{Power, Problem};
use crate::model::{BmcName, PipelineName, ServerName, Target};

/// Happenings kept for whoever looks later: a page of them for every state a small fleet can be in.
const HAPPENED_MAX: usize = 1_000;

/// Shared by the daemon (who writes) and its faces (who read).
#[derive(Clone)]
pub struct Fleet {
    inner: Arc<Mutex<Inner>>,
    changed: watch::Sender<u64>,
    told: watch::Sender<u64>,
}

#[derive(Default)]
struct Inner {
    bmcs: BTreeMap<BmcName, LastSeen>,
    alike: Alike,
    mass_drift: BTreeMap<PipelineName, String>,
    files: Files,
    happened: VecDeque<FleetEvent>,
    polls: BTreeMap<PollResult, u64>,
}

/// How one observation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PollResult {
    /// All that is watched was read and compared.
    Compared,
    /// The BMC says what it said when it was last observed.
    Unchanged,
    /// It did not say how it stands.
    Missed,
    /// A run drives it: it was not asked.
    Driven,
}

impl PollResult {
    /// Every one.
    pub const ALL: [Self; 4] = [Self::Compared, Self::Unchanged, Self::Missed, Self::Driven];

    /// A stable word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Compared => "compared",
            Self::Unchanged => "unchanged",
            Self::Missed => "missed",
            Self::Driven => "driven",
        }
    }
}

/// One BMC as it was last seen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BmcWatched {
    /// Its name.
    pub bmc: BmcName,
    /// Where it answers.
    pub address: String,
    /// Labels as written, and `redfish.*` facts as read.
    pub labels: BTreeMap<String, String>,
    /// How it stands to all pipelines that select it; `None` = not observed yet, or by none.
    pub state: Option<DriftState>,
    /// Drift that is declared: two observations in a row agreed on it.
    pub items: Vec<DriftLine>,
    /// What is worth telling: `ahead`, `not-observable`, why it could not be read, why nothing is mended.
    pub problems: Vec<Problem>,
    /// What runs on the BMC, byte for byte.
    pub bmc_version: Option<String>,
    /// What is to run in the end, as the pipelines write it, once it was observed.
    #[serde(skip)]
    pub desired_versions: Box<[(Target, String)]>,
    /// The servers behind it.
    pub servers: Vec<ServerWatched>,
    /// Whether a run drives it now; it is not observed meanwhile.
    pub driven: bool,
    /// Observations since the daemon began.
    pub polls: u64,
    /// Failed observations in a row.
    pub failures: u32,
    /// When it was last observed, well or not.
    pub polled_at: Option<Timestamp>,
    /// When it will be observed next.
    pub next_poll_at: Option<Timestamp>,
}

/// One server as it was last seen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ServerWatched {
    /// Its name.
    pub server: ServerName,
    /// URI of its ComputerSystem.
    pub system: String,
    /// What runs, byte for byte.
    pub bios_version: Option<String>,
    /// `PowerState`.
    pub power_state: Power,
}

/// The files that the daemon goes by.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Files {
    /// When the state in use was read.
    pub loaded_at: Option<Timestamp>,
    /// Why the newest state of the files is not in use; `None` = it is.
    pub refused: Option<String>,
    /// How often they were read, well or not.
    pub reads: u64,
    /// The pipelines in use, each with the generation of its file as runs and orders keep it.
    pub pipelines: BTreeMap<PipelineName, String>,
}

/// Something that happened to a BMC outside any run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FleetEvent {
    /// When.
    pub at: Timestamp,
    /// Which BMC; `None` = the daemon itself.
    pub bmc: Option<BmcName>,
    /// A stable kebab-case word: `drift-detected`, `drift-cleared`, `unreachable`, `reachable`, `recovery`,
    /// `drift-stuck`, `mass-drift`, `drift-left`, `not-applied`, `not-completed`, `looks-factory-reset`, `selected`,
    /// `deselected`, `image-unusable`, `apply-outdated`, `files-refused`, `files-loaded`.
    pub kind: &'static str,
    /// For people.
    pub message: String,
}

impl Fleet {
    /// Nothing is known.
    pub fn new() -> Self {
        Self {
            inner: Arc::default(),
            changed: watch::channel(0).0,
            told: watch::channel(0).0,
        }
    }

    /// Every BMC, by name.
    pub fn bmcs(&self) -> Vec<BmcWatched> {
        self.lock().bmcs.values().map(LastSeen::told).collect()
    }

    /// Every BMC, as far as metrics tell of it.
    pub(super) fn figures(&self) -> Vec<BmcFigures> {
        self.lock().bmcs.values().map(LastSeen::figures).collect()
    }

    /// One BMC.
    pub fn bmc(&self, name: &BmcName) -> Option<BmcWatched> {
        self.lock().bmcs.get(name).map(LastSeen::told)
    }

    /// The whole fleet as `drift` tells it; BMCs that no pipeline speaks about are left out.
    pub fn drift(&self) -> DriftDocument {
        let inner = self.lock();
        let drift = |one: &LastSeen| {
            Some(BmcDrift {
                bmc: one.bmc.name.clone(),
                state: one.state?,
                items: one.items.clone(),
                problems: one.problems.clone(),
            })
        };
        DriftDocument {
            bmcs: inner.bmcs.values().filter_map(drift).collect(),
        }
    }

    /// Pipelines of which too many BMCs drift, with the reason for which nothing is mended.
    pub fn mass_drift(&self) -> BTreeMap<PipelineName, String> {
        self.lock().mass_drift.clone()
    }

    /// The files in use.
    pub fn files(&self) -> Files {
        self.lock().files.clone()
    }

    /// Observations since the daemon began, by how they ended.
    pub fn polls(&self) -> BTreeMap<PollResult, u64> {
        self.lock().polls.clone()
    }

    /// What happened lately outside runs, oldest first.
    pub fn happened(&self) -> Vec<FleetEvent> {
        self.lock().happened.iter().cloned().collect()
    }

    /// Moves with every happening; the happenings themselves are in the state.
    pub fn news(&self) -> watch::Receiver<u64> {
        self.told.subscribe()
    }

    /// Moves with every change.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Takes up what the inventory lists; what it lists no more is gone.
    pub(super) fn list(&self, bmcs: &[Arc<Bmc>]) {
        let mut inner = self.lock();
        let Inner {
            bmcs: kept, alike, ..
        } = &mut *inner;
        let mut before = std::mem::take(kept);
        let listed = bmcs.iter().map(|bmc| {
            let known = before.remove(&bmc.name);
            let mut seen = known.unwrap_or_else(|| LastSeen::listed(bmc, alike));
            seen.bmc = Arc::clone(bmc);
            (bmc.name.clone(), seen)
        });
        *kept = listed.collect();
        drop(inner);
        self.moved();
    }

    pub(super) fn update(&self, bmc: &BmcName, change: impl FnOnce(&mut LastSeen)) {
        self.update_alike(bmc, |seen, _| change(seen));
    }

    /// The same, where texts come in that many BMCs say alike.
    pub(super) fn update_alike(
        &self,
        bmc: &BmcName,
        change: impl FnOnce(&mut LastSeen, &mut Alike),
    ) {
        let mut inner = self.lock();
        let Inner { bmcs, alike, .. } = &mut *inner;
        if let Some(seen) = bmcs.get_mut(bmc) {
            change(seen, alike);
        }
        drop(inner);
        self.moved();
    }

    pub(super) fn count_poll(&self, result: PollResult) {
        *self.lock().polls.entry(result).or_default() += 1;
    }

    pub(super) fn set_mass_drift(&self, pipeline: &PipelineName, reason: Option<String>) {
        let mut inner = self.lock();
        match reason {
            Some(reason) => drop(inner.mass_drift.insert(pipeline.clone(), reason)),
            None => drop(inner.mass_drift.remove(pipeline)),
        }
        drop(inner);
        self.moved();
    }

    pub(super) fn set_files(&self, files: Files) {
        self.lock().files = files;
        self.moved();
    }

    pub(super) fn tell(&self, event: FleetEvent) {
        let FleetEvent {
            bmc, kind, message, ..
        } = &event;
        let bmc = bmc.as_ref().map(BmcName::as_str).unwrap_or_default();
        if matches!(*kind, "drift-cleared" | "reachable" | "files-loaded") {
            tracing::info!(bmc, kind, message, "observed");
        } else {
            tracing::warn!(bmc, kind, message, "observed");
        }
        let mut inner = self.lock();
        if inner.happened.len() >= HAPPENED_MAX {
            inner.happened.pop_front();
        }
        inner.happened.push_back(event);
        drop(inner);
        self.told
            .send_modify(|count| *count = count.wrapping_add(1));
        self.moved();
    }

    fn moved(&self) {
        self.changed
            .send_modify(|count| *count = count.wrapping_add(1));
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Every change under this lock is whole by itself.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Fleet {
    fn default() -> Self {
        Self::new()
    }
}
