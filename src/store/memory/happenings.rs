//! This file keeps happenings in memory.

use jiff::Timestamp;

use super::state::MemoryStore;
use crate::model::id::BmcName;
use crate::store::error::StoreError;
use crate::store::happenings::{HAPPENINGS_KEPT, HappeningRow, Happenings};

impl Happenings for MemoryStore {
    fn add_happening(
        &self,
        at: Timestamp,
        bmc: Option<&BmcName>,
        kind: &str,
        message: &str,
    ) -> Result<i64, StoreError> {
        let mut state = self.state();
        let cursor = state.next_cursor();
        state.happenings.push_back(HappeningRow {
            cursor,
            at,
            bmc: bmc.cloned(),
            kind: kind.to_owned(),
            message: message.to_owned(),
        });
        if state.happenings.len() > HAPPENINGS_KEPT as usize {
            state.happenings.pop_front();
        }
        Ok(cursor)
    }

    fn happenings_after(&self, cursor: i64, limit: usize) -> Result<Vec<HappeningRow>, StoreError> {
        let state = self.state();
        let rows = state.happenings.iter().filter(|row| row.cursor > cursor);
        Ok(rows.take(limit).cloned().collect())
    }
}
