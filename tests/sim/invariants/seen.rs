//! What the judge has seen so far, and what records and requests may be: leases, I1 and I2.

use std::collections::{BTreeMap, BTreeSet};

use mock_bmc::bmc::StateView;
use redpipe::model::{BmcName, IntentId, RunKey, ServerName};
use redpipe::run::Record;
use redpipe::run::record::Intent;
use redpipe::store::LeaseEpoch;
use serde_json::Value;
use tokio::time::Instant;

use super::Broken;
use super::budget::Budget;
use super::holds::HoldSeen;
use crate::case::{Case, Stage};
use crate::maintenance::Maintenance;
use crate::support::process::Process;

/// All of it.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) broken: Option<Broken>,
    pub(super) bmcs: BTreeMap<String, OfBmc>,
    pub(super) stages: BTreeMap<String, Stage>,
    pub(super) order: Vec<String>,
    /// BMCs that do not show what is staged: nobody can know it of them.
    pub(super) blind: BTreeSet<String>,
    pub(super) budget: Budget,
    pub(super) maintenance: Maintenance,
    /// Approvals that have served.
    pub(super) served: BTreeSet<u64>,
    /// When each order was first seen to stand.
    pub(super) ordered: BTreeMap<u64, Instant>,
    /// Settings that somebody else touched, by BMC and system.
    pub(super) touched: BTreeSet<(String, usize)>,
}

/// What is known of one BMC.
#[derive(Default)]
pub(super) struct OfBmc {
    pub(super) lines: usize,
    epoch: u64,
    epochs: BTreeMap<u64, u32>,
    /// Appended without an outcome so far.
    pub(super) open: Option<Open>,
    /// The update that the BMC works on, by its task.
    pub(super) update: Option<String>,
    /// An image is verified, and waits for its start.
    pub(super) verified: bool,
    /// Where the BMC takes pushes, as it says itself.
    pub(super) pushes: Vec<Value>,
    /// The place in which a push names its targets is taken.
    pub(super) claimed: bool,
    pub(super) staged: BTreeMap<String, String>,
    pub(super) last_write: u64,
    pub(super) last_read: u64,
    /// Power of each system when the run began.
    pub(super) power: Option<Vec<String>>,
    pub(super) power_is_excused: bool,
    pub(super) hold: HoldSeen,
    /// Its latest run.
    pub(super) run: Option<RunKey>,
    /// Its servers, less those that left the inventory since.
    pub(super) servers: BTreeSet<ServerName>,
    pub(super) is_paused: bool,
    pub(super) is_cancelled: bool,
}

/// An intent without an outcome.
#[derive(Clone)]
pub(super) struct Open {
    pub(super) id: IntentId,
    intent: Intent,
    process: u32,
    pub(super) updates: usize,
    pub(super) resets: usize,
    pub(super) jobs: usize,
}

impl Seen {
    pub(super) fn of<'a>(case: &Case, bmcs: impl Iterator<Item = &'a String>) -> Self {
        Self {
            bmcs: bmcs.map(|name| (name.clone(), OfBmc::default())).collect(),
            blind: case.blind.clone(),
            budget: Budget::of(case),
            maintenance: case.maintenance.clone(),
            ..Self::default()
        }
    }

    pub(super) fn wants(&mut self, stages: &[Stage]) {
        self.order = stages.iter().map(|stage| stage.name.clone()).collect();
        for stage in stages {
            self.stages.insert(stage.name.clone(), stage.clone());
        }
    }

    pub(super) fn breaks(&mut self, invariant: &'static str, how: impl Into<String>) {
        if self.broken.is_none() {
            self.broken = Some(Broken {
                invariant,
                how: how.into(),
            });
        }
    }

    pub(super) fn bmc(&mut self, bmc: &BmcName) -> &mut OfBmc {
        self.bmcs.get_mut(bmc.as_str()).unwrap()
    }

    /// A run begins: what power was before it.
    pub(super) fn powers(&mut self, bmc: &BmcName, state: &StateView) {
        let systems = state.systems.iter();
        let power = systems.map(|system| system.power.clone()).collect();
        let of = self.bmc(bmc);
        of.power = Some(power);
        of.power_is_excused = false;
    }

    /// Epochs of a BMC only grow, and each belongs to one process.
    pub(super) fn epoch(&mut self, process: &Process, bmc: &BmcName, lease: LeaseEpoch) {
        let of = self.bmc(bmc);
        let owner = *of.epochs.entry(lease.0).or_insert(process.number);
        let old = lease.0 < of.epoch;
        of.epoch = of.epoch.max(lease.0);
        if old || owner != process.number {
            let how = format!(
                "process {} appends under epoch {lease} of {bmc}, which is over or not its own",
                process.number
            );
            self.breaks("lease", how);
        }
    }

    /// A process that had a request out says first what came of it. Only what a person ordered may be written down before
    /// that: it begins nothing.
    pub(super) fn outcome_first(&mut self, process: &Process, bmc: &BmcName, records: &[Record]) {
        let Some(open) = self.bmc(bmc).open.clone() else {
            return;
        };
        let told = records
            .iter()
            .any(|record| matches!(record, Record::Outcome { id, .. } if *id == open.id));
        let is_order = matches!(records.first(), Some(Record::Ordered { .. }))
            && !records
                .iter()
                .any(|record| matches!(record, Record::Intent { .. }));
        if !told && !is_order && !records.is_empty() {
            let how = format!(
                "process {} goes on with {bmc} and never says what came of {}",
                process.number, open.id
            );
            self.breaks("record", how);
        }
    }

    pub(super) fn record(&mut self, process: &Process, bmc: &BmcName, record: &Record) {
        let of = self.bmc(bmc);
        if let Record::Intent { id, intent, .. } = record {
            of.open = Some(Open {
                id: id.clone(),
                intent: intent.clone(),
                process: process.number,
                updates: 0,
                resets: 0,
                jobs: 0,
            });
        } else if let Record::Outcome { .. } = record {
            of.open = None;
        } else if matches!(record, Record::Notice { .. } | Record::Failed { .. }) {
            of.power_is_excused = true;
        }
    }

    /// I1 and I2, before the bytes leave: the lease is ours, and an intent of ours is durable.
    pub(super) fn may_leave(
        &mut self,
        process: &Process,
        bmc: &BmcName,
        what: &str,
        holder: Option<u32>,
    ) {
        let of = &self.bmcs[bmc.as_str()];
        let open = of
            .open
            .as_ref()
            .filter(|open| open.process == process.number);
        // A lease that was lost a moment ago is noticed within its third; its taker waits longer than that.
        let other_is_at_work = holder.is_some_and(|other| {
            other != process.number && of.epochs.get(&of.epoch) == Some(&other)
        });
        if other_is_at_work {
            let how = format!(
                "process {} sends {what} to {bmc}, which another drives",
                process.number
            );
            return self.breaks("I1", how);
        }
        let Some(open) = open else {
            // What a push had taken may be given back at any time, and twice does not differ from once.
            if of.claimed && what == "PATCH /redfish/v1/UpdateService" {
                return;
            }
            let how = format!(
                "process {} sends {what} to {bmc} without an intent",
                process.number
            );
            return self.breaks("I2", how);
        };
        let fits = match &open.intent {
            Intent::Update { .. } => {
                what.contains("/UpdateService")
                    || what
                        .split_once(' ')
                        .is_some_and(|(_, path)| of.pushes.iter().any(|push| push == path))
            }
            Intent::ResetSystem { .. } => what.ends_with("ComputerSystem.Reset"),
            Intent::ResetManager { .. } => what.ends_with("Manager.Reset"),
            Intent::Withdraw { .. } => what.starts_with("DELETE "),
            Intent::Call { .. } => what.starts_with("POST "),
            Intent::Attributes { .. } => {
                what.starts_with("PATCH ") || what == "POST /redfish/v1/JobService/Jobs"
            }
            Intent::Resource { .. } => what.starts_with("PATCH "),
        };
        if !fits {
            let how = format!(
                "{what} to {bmc} is no request of {} {:?}",
                open.id, open.intent
            );
            self.breaks("I2", how);
        }
    }
}
