//! Files: taken up at the start and whenever they change; wrong ones change nothing, and are told loudly.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use rand::SeedableRng as _;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::lines::Lines;
use super::watched::Watched;
use super::{Daemon, Service, Taken};
use crate::daemon::fleet::Files;
use crate::daemon::prepare::{Assignment, assign_run};
use crate::daemon::scheduler::Turns;
use crate::model::inventory::Inventory;
use crate::model::{BmcName, RunKey};
use crate::pipeline::Pipeline;

/// No first observation waits longer than this, however seldom a BMC is asked later.
const SPREAD_MAX: Duration = Duration::from_mins(5);

impl Daemon {
    pub(super) fn begin(service: Service) -> Result<Self, String> {
        let Service {
            engine,
            fleet,
            source,
            files: (signature, taken),
            stop,
            max_concurrent,
            seed,
            heartbeat: _,
        } = service;
        let last_order = engine.store().last_order();
        let last_order = last_order.map_err(|error| error.fault().to_string())?;
        engine.desk().begin(last_order);
        let mut daemon = Self {
            lines: Lines::new(&stop, max_concurrent),
            engine: engine.keeping_clients(),
            fleet,
            source,
            stop,
            turns: Turns::default(),
            chance: rand::rngs::SmallRng::seed_from_u64(seed),
            given: Arc::clone(&taken.given),
            inventory: Inventory::default(),
            pipelines: BTreeMap::new(),
            watched: BTreeMap::new(),
            due: BTreeSet::new(),
            polls: JoinSet::new(),
            closing: JoinSet::new(),
            mass: BTreeMap::new(),
            last_order,
            signature,
        };
        daemon.take_up(taken);
        daemon.begin_lines();
        Ok(daemon)
    }

    /// Lines for the pipelines as they are now, and all runs that were begun.
    pub(super) fn begin_lines(&mut self) {
        let pipelines = self.pipelines.values();
        self.lines.begin(&self.engine, &self.turns, pipelines);
        self.carry_on(None);
        self.apply_again();
        self.settle_strangers();
    }

    /// Reads the files anew where they seem to have changed.
    pub(super) fn look_at_files(&mut self) {
        if self.source.signature() != self.signature {
            self.reload();
        }
    }

    /// Reads the files anew. Wrong ones leave everything as it was.
    pub(super) fn reload(&mut self) {
        self.signature = self.source.signature();
        let files = self.fleet.files();
        match self.source.load() {
            Ok(taken) => {
                self.tell(None, "files-loaded", "the files are taken up".to_owned());
                self.take_up(taken);
                // Runs come to a safe point, and go on by the new files.
                self.lines.retire();
                if self.lines.have_ended() {
                    self.begin_lines();
                }
            }
            Err(message) => {
                let is_new = files.refused.as_ref() != Some(&message);
                self.fleet.set_files(Files {
                    refused: Some(message.clone()),
                    reads: files.reads + 1,
                    ..files
                });
                if is_new {
                    self.tell(None, "files-refused", message);
                }
            }
        }
    }

    fn take_up(&mut self, taken: Taken) {
        let Taken {
            inventory,
            pipelines,
            given,
        } = taken;
        self.given = given;
        let mut facts = self.engine.all_kept_facts();
        let selected = self.select(&inventory, &pipelines, &|bmc| facts.get(bmc).cloned());
        let mut by_bmc = by_bmc_name(selected.assignments);
        let mut undecided = by_bmc_name(selected.undecided);
        self.fleet.list(&inventory.bmcs);
        let (count, start) = (inventory.bmcs.len(), Instant::now());
        let mut before = std::mem::take(&mut self.watched);
        let (mut new, mut kept) = (Vec::new(), Vec::new());
        for (place, bmc) in inventory.bmcs.iter().enumerate() {
            let mut assignments = by_bmc.remove(&bmc.name).unwrap_or_default();
            assignments.sort_by(|a, b| a.pipeline.name.cmp(&b.pipeline.name));
            let undecided = undecided.remove(&bmc.name).unwrap_or_default();
            let mut watched = if let Some(mut known) = before.remove(&bmc.name) {
                known.replace(bmc, assignments, undecided);
                known
            } else {
                let first = start + spread(place, count, bmc.poll_interval);
                new.push((bmc.name.clone(), first));
                Watched::new(bmc, assignments, undecided)
            };
            watched.facts = facts.remove(&bmc.name);
            kept.push((bmc.name.clone(), watched));
        }
        self.watched = kept.into_iter().collect();
        self.due.retain(|(_, name)| self.watched.contains_key(name));
        for (name, at) in new {
            self.schedule(&name, at);
        }
        self.close(&inventory);
        self.pipelines = pipelines
            .into_iter()
            .map(|pipeline| (pipeline.name.clone(), pipeline))
            .collect();
        self.mass
            .retain(|name, _| self.pipelines.contains_key(name));
        self.inventory = inventory;
        let generations = self.pipelines.iter().filter_map(|(name, pipeline)| {
            let generation = self.engine.generation(pipeline).ok()?;
            Some((name.clone(), generation))
        });
        self.fleet.set_files(Files {
            loaded_at: Some(self.engine.clock().now()),
            refused: None,
            reads: self.fleet.files().reads + 1,
            pipelines: generations.collect(),
        });
    }

    /// Ends the sessions with BMCs that are listed no more, or otherwise.
    fn close(&mut self, inventory: &Inventory) {
        for client in self.engine.forget_clients(&inventory.bmcs) {
            self.closing.spawn(async move { client.close().await });
        }
    }

    /// The assignment of a run, whatever is selected now.
    pub(super) fn assignment_of(&self, key: &RunKey) -> Option<Assignment> {
        let pipelines: Vec<Arc<Pipeline>> = self.pipelines.values().cloned().collect();
        assign_run(&self.inventory, &pipelines, key, &self.given)
    }
}

fn by_bmc_name(assignments: Vec<Assignment>) -> BTreeMap<BmcName, Vec<Assignment>> {
    let mut by_bmc: BTreeMap<BmcName, Vec<Assignment>> = BTreeMap::new();
    for assignment in assignments {
        let name = assignment.bmc.name.clone();
        by_bmc.entry(name).or_default().push(assignment);
    }
    by_bmc.values_mut().for_each(Vec::shrink_to_fit);
    by_bmc
}

/// First observations are spread evenly: the first one at once, the last one when the first is due again.
fn spread(place: usize, count: usize, interval: Duration) -> Duration {
    let share = u32::try_from(place).unwrap_or(u32::MAX);
    let of = u32::try_from(count.max(1)).unwrap_or(u32::MAX);
    interval
        .min(SPREAD_MAX)
        .mul_f64(f64::from(share) / f64::from(of))
}
