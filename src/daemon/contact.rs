//! Facts of the hardware: kept from one process to the next, and heard on first contact where a selection hangs on them.
//!
//! While a run is not over the facts of its BMC stay as they were at its start: only the inventory adds servers to a run.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::engine::Engine;
use super::prepare::Assignment;
use super::stop::Stop;
use super::survey::{Awaited, looked, read, side_by_side};
use crate::model::facts::Facts;
use crate::model::inventory::Bmc;
use crate::model::{BmcName, Fault, FaultKind, LookRequest, Retry};

/// What hardware said of itself, by BMC; where it did not answer, why.
pub type Heard = BTreeMap<BmcName, Result<Arc<Facts>, Fault>>;

impl Engine {
    /// What the hardware behind a BMC said of itself when it was last heard.
    pub fn kept_facts(&self, bmc: &BmcName) -> Option<Arc<Facts>> {
        let kept = self.store().hardware(bmc);
        let kept = kept.unwrap_or_else(|error| {
            tracing::error!(%bmc, %error, "the facts of a BMC could not be read");
            None
        });
        kept.map(Arc::new)
    }

    /// The same of all BMCs.
    pub(super) fn all_kept_facts(&self) -> BTreeMap<BmcName, Arc<Facts>> {
        let kept = self.store().all_hardware();
        let kept = kept.unwrap_or_else(|error| {
            tracing::error!(%error, "the facts of the BMCs could not be read");
            BTreeMap::new()
        });
        let kept = kept.into_iter();
        kept.map(|(bmc, facts)| (bmc, Arc::new(facts))).collect()
    }

    /// Keeps what hardware says of itself, and returns what counts from now on.
    pub(super) fn keep_facts(&self, bmc: &BmcName, heard: Facts) -> Arc<Facts> {
        let before = self.kept_facts(bmc);
        let open = self.store().unfinished_run(bmc);
        let is_open = open.is_ok_and(|row| row.is_some());
        let counts = match &before {
            Some(before) if is_open => (**before).clone().over(&heard),
            Some(before) => heard.over(before),
            None => heard,
        };
        if before.as_deref() != Some(&counts)
            && let Err(error) = self.store().remember_hardware(bmc, &counts)
        {
            tracing::error!(%bmc, %error, "the facts of a BMC could not be kept");
        }
        Arc::new(counts)
    }

    async fn hear(&self, bmc: &Bmc, stop: &Stop) -> Option<Result<Arc<Facts>, Fault>> {
        let client = match self.client(bmc) {
            Ok(client) => client,
            Err(fault) => return Some(Err(fault)),
        };
        let look = read(&client, stop, async {
            let request = LookRequest {
                state: true,
                software: true,
                ..LookRequest::default()
            };
            looked(client.look(&request).await)
        });
        let look = look.await?;
        self.keep_links(&bmc.name, &client);
        Some(look.map(|look| self.keep_facts(&bmc.name, Facts::of(&look))))
    }
}

/// Asks every BMC of these what hardware is behind it; writes nothing to it but sessions and pins. `None` = stopped.
pub async fn hear(
    engine: &Engine,
    undecided: &[Assignment],
    stop: &Stop,
    awaited: &Awaited,
) -> Option<Heard> {
    let bmcs: BTreeMap<&BmcName, &Arc<Bmc>> = undecided
        .iter()
        .map(|each| (&each.bmc.name, &each.bmc))
        .collect();
    let readings = bmcs.into_values().cloned().map(|bmc| {
        let (engine, stop, name) = (engine.clone(), stop.clone(), bmc.name.clone());
        let hearing = async move {
            let heard = engine.hear(&bmc, &stop).await?;
            Some((bmc.name.clone(), heard))
        };
        (name, hearing)
    });
    let heard = side_by_side(readings, awaited).await?;
    Some(heard.into_iter().collect())
}

/// Why it is not known whether a pipeline selects a BMC, after it was asked.
pub fn unheard(assignment: &Assignment, heard: &Heard) -> Fault {
    let (pipeline, bmc) = (&assignment.pipeline.name, &assignment.bmc.name);
    let what = format!(
        "whether `{pipeline}` selects bmc `{bmc}` hangs on what its hardware says of itself"
    );
    if let Some(Err(fault)) = heard.get(bmc) {
        return Fault {
            message: format!("{what}, and it was not heard: {}", fault.message),
            ..fault.clone()
        };
    }
    let message = format!("{what}, and the BMC shows no system for a server of the inventory");
    Fault::new(FaultKind::SystemMissing, Retry::Operator, message)
        .with_hint("compare `system` in the inventory with `redpipe inventory check`")
}
