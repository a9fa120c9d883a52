//! I7: what begins once too many runs have failed, over all processes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use redpipe::model::BmcName;
use redpipe::run::Record;
use redpipe::run::record::{Intent, RunPhase};
use tokio::time::Instant;

use super::seen::Seen;
use crate::case::Case;

/// Within this time a process has noticed what others failed at.
const NOTICED: Duration = Duration::from_secs(6);

/// A run that had its slot when the budget was spent has looked at its BMC within this time: 20 slow reads and the wait of
/// who takes a lease over.
const FIRST_LOOK_MAX: Duration = Duration::from_mins(30);

/// The failure budget of a fleet.
#[derive(Default)]
pub(super) struct Budget {
    max_failures: usize,
    max_concurrent: usize,
    /// BMCs whose latest run has failed, by the generation of the file.
    failed: BTreeMap<String, BTreeSet<String>>,
    /// Generations whose budget is spent: since when, and runs that began since.
    spent: BTreeMap<String, (Instant, usize)>,
    /// By which generation a BMC is driven.
    generations: BTreeMap<String, String>,
}

impl Budget {
    pub(super) fn of(case: &Case) -> Self {
        Self {
            max_failures: usize::try_from(case.max_failures).unwrap(),
            max_concurrent: usize::try_from(case.max_concurrent).unwrap(),
            ..Self::default()
        }
    }

    /// Since when the budget is spent for a BMC that is no part of it, and what began since.
    fn spent(&mut self, bmc: &str) -> Option<&mut (Instant, usize)> {
        let generation = self.generations.get(bmc)?;
        let mended = self.failed.get(generation)?.contains(bmc);
        self.spent.get_mut(generation).filter(|_| !mended)
    }

    fn ended(&mut self, bmc: &str, phase: RunPhase, now: Instant) {
        let Some(generation) = self.generations.get(bmc).cloned() else {
            return;
        };
        let failed = self.failed.entry(generation.clone()).or_default();
        match phase {
            RunPhase::Failed => drop(failed.insert(bmc.to_owned())),
            RunPhase::Completed => drop(failed.remove(bmc)),
            RunPhase::Pending | RunPhase::InProgress | RunPhase::Held | RunPhase::Cancelled => {}
        }
        let is_spent = self.max_failures > 0 && failed.len() >= self.max_failures;
        if is_spent {
            self.spent.entry(generation).or_insert((now, 0));
        } else {
            self.spent.remove(&generation);
        }
    }
}

impl Seen {
    /// Behind the last failure that the budget bears no hop begins, and only what had its slot already begins at all.
    pub(super) fn budget(&mut self, bmc: &BmcName, record: &Record, now: Instant) {
        let budget = &mut self.budget;
        if let Record::Started { generation, .. } | Record::Resumed { generation, .. } = record {
            let generations = &mut budget.generations;
            generations.insert(bmc.to_string(), generation.clone());
        } else if let Record::Ended { phase, .. } = record {
            budget.ended(bmc.as_str(), *phase, now);
        }
        let slots = budget.max_concurrent;
        let Some((since, begun)) = budget.spent(bmc.as_str()) else {
            return;
        };
        let spent_for = now.duration_since(*since);
        if let Record::Started { .. } = record {
            *begun += 1;
            if spent_for > FIRST_LOOK_MAX || *begun > 2 * slots {
                let how = format!("a run on {bmc} begins {spent_for:?} after the budget is spent");
                self.breaks("I7", how);
            }
        } else if let Record::Intent {
            intent: Intent::Update { .. },
            ..
        } = record
            && spent_for > NOTICED
        {
            let how = format!("a hop on {bmc} begins {spent_for:?} after the budget is spent");
            self.breaks("I7", how);
        }
    }
}
