//! This file holds what the store in memory knows.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::model::id::{BmcName, RunKey};
use crate::model::order::Order;
use crate::store::fact_kind::FactKind;
use crate::store::happenings::HappeningRow;
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
    /// The last place in the stream of records and happenings.
    pub(super) last_cursor: i64,
    /// By place in the stream.
    pub(super) journal: BTreeMap<i64, (RunKey, JournalRow)>,
    /// Places of each run's records, in order.
    pub(super) places: BTreeMap<RunKey, Vec<i64>>,
    /// Oldest first.
    pub(super) happenings: VecDeque<HappeningRow>,
    pub(super) leases: BTreeMap<BmcName, LeaseState>,
    pub(super) facts: BTreeMap<(FactKind, String, String), Value>,
    /// Oldest first.
    pub(super) orders: Vec<Order>,
}

impl State {
    /// Takes the next place in the stream.
    pub(super) fn next_cursor(&mut self) -> i64 {
        self.last_cursor += 1;
        self.last_cursor
    }
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
