//! This file holds what the store in memory knows.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::model::id::{BmcName, RunKey};
use crate::model::order::Order;
use crate::store::fact_kind::FactKind;
use crate::store::journal::{JournalRow, RunRow};
use crate::store::lease::LeaseState;

/// A store in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) runs: BTreeMap<RunKey, RunRow>,
    /// Place in the stream = index + 1.
    pub(super) journal: Vec<(RunKey, JournalRow)>,
    pub(super) leases: BTreeMap<BmcName, LeaseState>,
    pub(super) facts: BTreeMap<(FactKind, String, String), Value>,
    /// Oldest first.
    pub(super) orders: Vec<Order>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        // Every change is checked before the first field moves, so a panic elsewhere leaves nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
