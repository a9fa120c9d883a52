//! Every run as its journal tells it, folded once: another look folds only runs that have news.
//!
//! A daemon is asked for its status again and again, and most runs of a fleet are over.

use std::collections::BTreeMap;

use super::history;
use crate::model::{BmcName, Fault, PipelineName, RunKey};
use crate::run::Standing;
use crate::run::status::{RunStatus, status};
use crate::store::{RunRow, Store};

/// Runs as far as they are folded.
#[derive(Debug, Default)]
pub(super) struct Folds(BTreeMap<String, Fold>);

/// One run.
#[derive(Debug, Clone)]
pub(super) struct Fold {
    last_seq: u64,
    /// Which run.
    pub(super) key: RunKey,
    /// As `status` shows it.
    pub(super) status: RunStatus,
    /// Generation of the file that it began with.
    pub(super) generation: Option<String>,
    /// What it says of its BMC.
    pub(super) standing: Standing,
}

impl Folds {
    /// All runs, by pipeline, BMC and number.
    pub(super) fn all(&mut self, store: &dyn Store) -> Result<Vec<&Fold>, Fault> {
        let rows = store.runs().map_err(|error| error.fault())?;
        let mut latest: BTreeMap<(&PipelineName, &BmcName), u32> = BTreeMap::new();
        for row in &rows {
            let number = latest.entry((&row.key.pipeline, &row.key.bmc)).or_default();
            *number = row.key.number.max(*number);
        }
        for row in &rows {
            let newest = latest.get(&(&row.key.pipeline, &row.key.bmc));
            self.take_up(store, row, newest == Some(&row.key.number))?;
        }
        Ok(rows.iter().filter_map(|row| self.0.get(&row.id)).collect())
    }

    /// One run.
    pub(super) fn one(&mut self, store: &dyn Store, row: &RunRow) -> Result<RunStatus, Fault> {
        let latest = store.latest_run(&row.key.pipeline, &row.key.bmc);
        let latest = latest.map_err(|error| error.fault())?;
        let is_latest = latest.is_some_and(|latest| latest.key == row.key);
        Ok(self.take_up(store, row, is_latest)?.status.clone())
    }

    fn take_up(
        &mut self,
        store: &dyn Store,
        row: &RunRow,
        is_latest: bool,
    ) -> Result<&Fold, Fault> {
        let known = self.0.get(&row.id).is_some_and(|fold| {
            fold.last_seq == row.last_seq && is_latest == is_named_latest(&fold.status, &fold.key)
        });
        if !known {
            let fold = fold(store, row, is_latest)?;
            self.0.insert(row.id.clone(), fold);
        }
        Ok(&self.0[&row.id])
    }
}

fn fold(store: &dyn Store, row: &RunRow, is_latest: bool) -> Result<Fold, Fault> {
    let state = history::folded(store, row)?;
    Ok(Fold {
        last_seq: row.last_seq,
        key: row.key.clone(),
        status: status(&row.key, &state, is_latest),
        generation: state.start.as_ref().map(|start| start.generation.clone()),
        standing: state.standing(),
    })
}

fn is_named_latest(status: &RunStatus, key: &RunKey) -> bool {
    status.id != key.to_string()
}
