//! One BMC as the daemon goes about observing it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::daemon::observation::Known;
use crate::daemon::prepare::Assignment;
use crate::drift::Watch;
use crate::model::PipelineName;
use crate::model::facts::Facts;
use crate::model::inventory::Bmc;

/// A BMC that does not answer is not asked more seldom than this.
const BACK_OFF_MAX: Duration = Duration::from_hours(1);

/// After so long everything is read, whatever seems to have stayed the same.
const FULL_AFTER: Duration = Duration::from_hours(24);

/// An observation may take the twentieth part of a BMC's time.
const REST_SHARE: u32 = 19;

/// One BMC.
pub(super) struct Watched {
    pub(super) bmc: Arc<Bmc>,
    /// All pipelines that select it, in name order.
    pub(super) assignments: Arc<Vec<Assignment>>,
    /// Those of which that is not known before it has answered.
    pub(super) undecided: Arc<[Assignment]>,
    /// Pipelines that were ordered to be applied, and wait for what its hardware says of itself.
    pub(super) waiting: BTreeSet<PipelineName>,
    /// What the hardware said of itself; while a run is not over, as it was at its start.
    pub(super) facts: Option<Arc<Facts>>,
    /// What they want of it, once known.
    pub(super) known: Option<Known>,
    /// By pipeline, where something differs.
    pub(super) watches: BTreeMap<PipelineName, Watch>,
    /// When it is observed next; `None` = it is being observed.
    pub(super) due: Option<Instant>,
    /// Failed observations in a row.
    pub(super) failures: u32,
    /// A difference waits for an observation that agrees.
    pub(super) is_suspect: bool,
    /// When everything was last read.
    pub(super) full_at: Option<Instant>,
    /// Pipelines whose recovery is under way.
    pub(super) recovering: BTreeSet<PipelineName>,
    /// Why nothing is mended, by pipeline: each is told once.
    pub(super) left: BTreeMap<PipelineName, (&'static str, String)>,
}

impl Watched {
    pub(super) fn new(
        bmc: &Arc<Bmc>,
        assignments: Vec<Assignment>,
        undecided: Vec<Assignment>,
    ) -> Self {
        Self {
            bmc: Arc::clone(bmc),
            assignments: Arc::new(assignments),
            undecided: undecided.into(),
            waiting: BTreeSet::new(),
            facts: None,
            known: None,
            watches: BTreeMap::new(),
            due: None,
            failures: 0,
            is_suspect: false,
            full_at: None,
            recovering: BTreeSet::new(),
            left: BTreeMap::new(),
        }
    }

    /// Takes over what the files say now.
    pub(super) fn replace(
        &mut self,
        bmc: &Arc<Bmc>,
        assignments: Vec<Assignment>,
        undecided: Vec<Assignment>,
    ) {
        self.undecided = undecided.into();
        self.bmc = Arc::clone(bmc);
        self.known = None;
        let names: Vec<&PipelineName> = assignments.iter().map(|a| &a.pipeline.name).collect();
        self.watches.retain(|name, _| names.contains(&name));
        self.recovering.retain(|name| names.contains(&name));
        self.left.retain(|name, _| names.contains(&name));
        self.assignments = Arc::new(assignments);
    }

    /// What was seen so far counts no more: a run or a stranger was at work. The next observation reads everything.
    pub(super) fn forget(&mut self) {
        self.watches.values_mut().for_each(Watch::forget);
        self.is_suspect = false;
        self.full_at = None;
    }

    /// Keeps what was seen of pipelines from which something differs: most of a fleet is as wanted.
    pub(super) fn keep_watches(&mut self) {
        let watches = std::mem::take(&mut self.watches).into_iter();
        self.watches = watches.filter(|(_, watch)| !watch.is_empty()).collect();
    }

    /// Whether the next observation asks everything, and who is at work.
    pub(super) fn is_full_due(&self, now: Instant) -> bool {
        let is_old = self
            .full_at
            .is_none_or(|at| now.duration_since(at) >= FULL_AFTER);
        is_old || self.is_suspect || self.failures > 0
    }

    /// How long it rests now; `share` is drawn from 0 to 1.
    pub(super) fn rest(&self, took: Duration, share: f64) -> Duration {
        let interval = self.bmc.poll_interval;
        let base = if self.is_suspect {
            self.bmc.pace.settle_for.min(interval)
        } else if self.failures > 1 {
            let doubled = 1_u32
                .checked_shl(self.failures.min(16) - 1)
                .unwrap_or(u32::MAX);
            let longest = BACK_OFF_MAX.max(interval);
            interval.saturating_mul(doubled).min(longest)
        } else {
            interval
        };
        let jittered = base.mul_f64(0.9 + 0.2 * share);
        jittered.max(took.saturating_mul(REST_SHARE))
    }
}
