//! What the hardware says of itself, and what follows from it: which pipelines select a BMC.

use std::sync::Arc;

use super::Daemon;
use crate::daemon::desk::Progress;
use crate::daemon::line::Cause;
use crate::daemon::prepare::{Assignment, KnownFacts, Selected, select};
use crate::model::facts::Facts;
use crate::model::inventory::Inventory;
use crate::model::{About, BmcName, Fault, Look, Order, PipelineName, Verb};
use crate::pipeline::{Pipeline, Selector};

impl Daemon {
    /// Takes up what a look shows of the hardware; where it is news, the pipelines select anew.
    pub(super) fn heard(&mut self, name: &BmcName, look: &Look) {
        let Some(watched) = self.watched.get_mut(name) else {
            return;
        };
        let mut facts = Facts::of(look);
        if let Some(before) = &watched.facts {
            facts = facts.over(before);
            if facts == **before {
                return;
            }
        }
        watched.facts = Some(self.engine.keep_facts(name, facts));
        let waiting = std::mem::take(&mut watched.waiting);
        if self.pipelines.values().any(|each| each.needs_facts()) {
            self.select_anew(name);
        }
        for pipeline in waiting {
            self.decided(&pipeline, name);
        }
    }

    fn select_anew(&mut self, name: &BmcName) {
        let Some(watched) = self.watched.get(name) else {
            return;
        };
        let alone = Inventory {
            bmcs: vec![watched.bmc.clone()],
        };
        let pipelines: Vec<_> = self.pipelines.values().cloned().collect();
        let facts = watched.facts.clone();
        let selected = self.select(&alone, &pipelines, &|_| facts.clone());
        let of = |all: &[Assignment]| -> Vec<PipelineName> {
            all.iter().map(|each| each.pipeline.name.clone()).collect()
        };
        let (before, after) = (of(&watched.assignments), of(&selected.assignments));
        let bmc = watched.bmc.clone();
        if let Some(watched) = self.watched.get_mut(name) {
            watched.replace(&bmc, selected.assignments, selected.undecided);
            // What is wanted now was not compared yet.
            watched.full_at = None;
        }
        for pipeline in after.iter().filter(|name| !before.contains(name)) {
            let message = format!("`{pipeline}` selects it, by what its hardware says of itself");
            self.tell(Some(name), "selected", message);
        }
        for pipeline in before.iter().filter(|name| !after.contains(name)) {
            let message =
                format!("`{pipeline}` selects it no more, by what its hardware says of itself");
            self.tell(Some(name), "deselected", message);
        }
    }

    /// What was ordered while nobody knew whether it is about this BMC.
    fn decided(&mut self, pipeline: &PipelineName, bmc: &BmcName) {
        let about = About::Pipeline(pipeline.clone());
        let orders = self.engine.store().orders().unwrap_or_else(|error| {
            tracing::error!(%error, "orders could not be read");
            Vec::new()
        });
        let is_apply =
            |order: &&Order| order.about == about && matches!(order.verb, Verb::Apply { .. });
        let order = orders.iter().rev().find(is_apply);
        let meant = order.and_then(|order| Some((order, self.meant(order, pipeline, bmc)?)));
        let Some((order, assignment)) = meant else {
            let name = (pipeline.clone(), bmc.clone());
            let desk = self.engine.desk();
            desk.dismiss(&desk.open(&name), &name);
            return;
        };
        if self.begun_since(&assignment, order.at).is_none() {
            self.hand_on(assignment, Cause::Apply);
        }
    }

    /// What an order to apply wants of one BMC.
    fn meant(&self, order: &Order, pipeline: &PipelineName, bmc: &BmcName) -> Option<Assignment> {
        let Verb::Apply { generation, limit } = &order.verb else {
            return None;
        };
        let ours = self.engine.generation(self.pipelines.get(pipeline)?).ok()?;
        let limit = limit.as_deref().map(Selector::parse).transpose().ok()?;
        let assignments = &self.watched.get(bmc)?.assignments;
        let assignment = assignments
            .iter()
            .find(|each| each.pipeline.name == *pipeline)?;
        let assignment = self.limited(assignment, limit.as_ref());
        (ours == *generation && assignment.selects_any() == Some(true)).then_some(assignment)
    }

    /// An assignment narrowed by an order's limit, which may speak of facts where the pipeline does not.
    pub(super) fn limited(&self, assignment: &Assignment, limit: Option<&Selector>) -> Assignment {
        let needs_facts = assignment.needs_facts || limit.is_some_and(Selector::needs_facts);
        let watched = self.watched.get(&assignment.bmc.name);
        let facts = watched.and_then(|watched| watched.facts.clone());
        Assignment {
            limit: limit.cloned(),
            needs_facts,
            facts: facts.filter(|_| needs_facts),
            ..assignment.clone()
        }
    }

    /// Nothing is known yet of a BMC that does not answer: whoever ordered something of it hears why.
    pub(super) fn unheard(&self, name: &BmcName, fault: &Fault) {
        let Some(watched) = self.watched.get(name) else {
            return;
        };
        for pipeline in &watched.waiting {
            let name = (pipeline.clone(), name.clone());
            let mut fault = fault.clone();
            fault.message = format!(
                "whether `{pipeline}` selects it hangs on what its hardware says of itself: {}",
                fault.message
            );
            let desk = self.engine.desk();
            desk.settle(
                &desk.open(&name),
                &name,
                &Progress::NotStarted { fault, again: true },
            );
        }
    }

    /// Which pipelines select which BMCs.
    pub(super) fn select(
        &self,
        inventory: &Inventory,
        pipelines: &[Arc<Pipeline>],
        facts: KnownFacts<'_>,
    ) -> Selected {
        select(inventory, pipelines, None, &self.given, facts)
    }
}
