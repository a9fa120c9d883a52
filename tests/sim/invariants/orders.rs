//! What people ordered: nothing begins against it, and what was ordered long ago was taken up.

use std::time::Duration;

use redpipe::model::{About, BmcName, Order, RunKey, ServerName, Verb};
use redpipe::run::Record;
use redpipe::run::record::{Intent, Place};
use tokio::time::Instant;

use super::seen::Seen;

/// Whoever drives a run takes orders up at each of its turns; a turn lasts for one look: 20 slow reads.
const TAKEN_UP_MAX: Duration = Duration::from_mins(30);

impl Seen {
    /// A record, with the orders that were ever given.
    pub(super) fn orders(&mut self, bmc: &BmcName, record: &Record, orders: &[Order]) {
        let now = Instant::now();
        for order in orders {
            self.ordered.entry(order.id).or_insert(now);
        }
        let of = self.bmc(bmc);
        if let Record::Started { key, servers, .. } = record {
            of.run = Some(key.clone());
            of.servers = servers.iter().cloned().collect();
            (of.is_paused, of.is_cancelled) = (false, false);
        } else if let Record::Ordered { order } = record {
            match order.verb {
                Verb::Cancel => of.is_cancelled = true,
                Verb::Pause => of.is_paused = true,
                Verb::Resume => of.is_paused = false,
                Verb::Approve { .. } | Verb::Retry | Verb::Leave | Verb::Apply { .. } => {}
            }
        } else if let Record::Edited { added, removed, .. } = record {
            of.servers.retain(|server| !removed.contains(server));
            of.servers.extend(added.iter().cloned());
        } else if let Record::Intent {
            at,
            intent: Intent::Update { .. },
            ..
        } = record
        {
            self.begins(bmc, at, orders);
        }
    }

    /// No hop begins in a run that is paused or cancelled, nor on a server that left the inventory.
    fn begins(&mut self, bmc: &BmcName, at: &Place, orders: &[Order]) {
        let of = self.bmc(bmc);
        let is_gone = |server: &ServerName| !of.servers.contains(server);
        let why = if of.is_cancelled {
            Some("its run is cancelled".to_owned())
        } else if of.is_paused {
            Some("its pipeline is paused".to_owned())
        } else if at.target.server().is_some_and(is_gone) {
            Some("the server left the inventory".to_owned())
        } else {
            let run = of.run.clone();
            let standing = run.and_then(|run| standing(orders, &run));
            let late = standing.filter(|order| self.ordered[&order.id].elapsed() > TAKEN_UP_MAX);
            late.map(|order| format!("it was told to {} at {}", order.verb.as_str(), order.at))
        };
        if let Some(why) = why {
            self.breaks("order", format!("a hop begins on {bmc} at {at:?}: {why}"));
        }
    }

    /// Whether a system is one of the run's, and still in the inventory.
    pub(super) fn is_listed(&self, bmc: &BmcName, index: usize) -> bool {
        let server = ServerName::from(format!("{bmc}-s{}", index + 1));
        self.bmcs[bmc.as_str()].servers.contains(&server)
    }
}

/// The order against which nothing begins in a run.
fn standing<'o>(orders: &'o [Order], run: &RunKey) -> Option<&'o Order> {
    let cancels =
        |order: &&Order| order.verb == Verb::Cancel && order.about == About::Run(run.clone());
    let about_all = |order: &&Order| {
        matches!(order.verb, Verb::Pause | Verb::Resume)
            && order.about == About::Pipeline(run.pipeline.clone())
    };
    let pause = orders.iter().rev().find(about_all);
    let pause = pause.filter(|order| order.verb == Verb::Pause);
    orders.iter().find(cancels).or(pause)
}
