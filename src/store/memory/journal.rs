//! This file keeps runs and journals in memory.

use jiff::Timestamp;

use super::state::{MemoryStore, State};
use crate::model::id::{BmcName, PipelineName, RunKey};
use crate::store::error::StoreError;
use crate::store::journal::{EventRow, Journal, JournalRow, OPENED, RunMark, RunRow, StoredRecord};
use crate::store::lease::LeaseEpoch;

impl Journal for MemoryStore {
    fn open_run(
        &self,
        pipeline: &PipelineName,
        bmc: &BmcName,
        lease: &LeaseEpoch,
        at: Timestamp,
        first: &[StoredRecord],
    ) -> Result<RunRow, StoreError> {
        let mut state = self.state();
        state.check_lease(bmc, *lease)?;
        if let Some(open) = state
            .runs
            .values()
            .find(|run| run.key.bmc == *bmc && run.finished_at.is_none())
        {
            return Err(StoreError::UnfinishedRun {
                bmc: bmc.clone(),
                run: open.key.to_string(),
            });
        }
        let of_pair = state
            .runs
            .keys()
            .filter(|key| key.pipeline == *pipeline && key.bmc == *bmc);
        let number = of_pair
            .map(|key| key.number)
            .max()
            .unwrap_or(0)
            .saturating_add(1);
        let key = RunKey {
            pipeline: pipeline.clone(),
            bmc: bmc.clone(),
            number,
        };
        let run = RunRow {
            id: key.id(),
            key: key.clone(),
            phase: OPENED.to_owned(),
            opened_at: at,
            changed_at: at,
            finished_at: None,
            last_seq: 0,
        };
        state.runs.insert(key.clone(), run.clone());
        let last_seq = state.push(&key, *lease, 0, first);
        Ok(RunRow { last_seq, ..run })
    }

    fn append_and_mark(
        &self,
        run_id: &str,
        lease: &LeaseEpoch,
        expected_seq: u64,
        records: &[StoredRecord],
        mark: Option<&RunMark>,
    ) -> Result<u64, StoreError> {
        let mut state = self.state();
        let run = state.unfinished(run_id)?;
        state.check_lease(&run.key.bmc, *lease)?;
        if run.last_seq != expected_seq {
            let run = run_id.to_owned();
            return Err(StoreError::Moved {
                run,
                expected: expected_seq,
                found: state.last_seq(run_id),
            });
        }
        let found = state
            .of_run(&run.key)
            .map(|row| row.record.version)
            .max()
            .unwrap_or(0);
        if let Some(written) = records.iter().map(|record| record.version).max()
            && written < found
        {
            return Err(StoreError::NewerRecords {
                run: run_id.to_owned(),
                found,
                written,
            });
        }
        let last_seq = state.push(&run.key, *lease, expected_seq, records);
        if let Some(mark) = mark {
            state.mark(&run.key, mark);
        }
        Ok(last_seq)
    }

    fn mark_run(&self, run_id: &str, lease: &LeaseEpoch, mark: &RunMark) -> Result<(), StoreError> {
        let mut state = self.state();
        let run = state.unfinished(run_id)?;
        state.check_lease(&run.key.bmc, *lease)?;
        state.mark(&run.key, mark);
        Ok(())
    }

    fn load(&self, run_id: &str) -> Result<Vec<JournalRow>, StoreError> {
        let state = self.state();
        let run = state.run(run_id).ok_or_else(|| StoreError::UnknownRun {
            run: run_id.to_owned(),
        })?;
        Ok(state.of_run(&run.key).cloned().collect())
    }

    fn events_after(&self, cursor: i64, limit: usize) -> Result<Vec<EventRow>, StoreError> {
        let state = self.state();
        let later = state.journal.range(cursor.saturating_add(1)..);
        Ok(later.take(limit).map(event).collect())
    }

    fn events_of(
        &self,
        run_id: &str,
        cursor: i64,
        limit: usize,
    ) -> Result<Vec<EventRow>, StoreError> {
        let state = self.state();
        let of_it = state.places.iter().find(|(key, _)| key.id() == run_id);
        let places = of_it.into_iter().flat_map(|(_, places)| places);
        let later = places.filter(|place| **place > cursor).take(limit);
        Ok(later
            .filter_map(|place| state.journal.get_key_value(place).map(event))
            .collect())
    }

    fn last_cursor(&self) -> Result<i64, StoreError> {
        Ok(self.state().last_cursor)
    }

    fn runs(&self) -> Result<Vec<RunRow>, StoreError> {
        Ok(self.state().runs.values().cloned().collect())
    }

    fn run(&self, run_id: &str) -> Result<Option<RunRow>, StoreError> {
        Ok(self.state().run(run_id).cloned())
    }

    fn latest_run(
        &self,
        pipeline: &PipelineName,
        bmc: &BmcName,
    ) -> Result<Option<RunRow>, StoreError> {
        let state = self.state();
        let of_pair = state
            .runs
            .values()
            .filter(|run| run.key.pipeline == *pipeline && run.key.bmc == *bmc);
        Ok(of_pair.max_by_key(|run| run.key.number).cloned())
    }

    fn unfinished_run(&self, bmc: &BmcName) -> Result<Option<RunRow>, StoreError> {
        Ok(self
            .state()
            .runs
            .values()
            .find(|run| run.key.bmc == *bmc && run.finished_at.is_none())
            .cloned())
    }
}

fn event((cursor, (key, row)): (&i64, &(RunKey, JournalRow))) -> EventRow {
    EventRow {
        cursor: *cursor,
        run_id: key.id(),
        key: key.clone(),
        seq: row.seq,
        record: row.record.clone(),
    }
}

impl State {
    fn run(&self, run_id: &str) -> Option<&RunRow> {
        self.runs.values().find(|run| run.id == run_id)
    }

    fn unfinished(&self, run_id: &str) -> Result<RunRow, StoreError> {
        let run = self.run(run_id).ok_or_else(|| StoreError::UnknownRun {
            run: run_id.to_owned(),
        })?;
        match run.finished_at {
            Some(_) => Err(StoreError::RunFinished {
                run: run_id.to_owned(),
            }),
            None => Ok(run.clone()),
        }
    }

    fn last_seq(&self, run_id: &str) -> u64 {
        self.run(run_id).map_or(0, |run| run.last_seq)
    }

    fn of_run(&self, key: &RunKey) -> impl Iterator<Item = &JournalRow> {
        let places = self.places.get(key).into_iter().flatten();
        places.filter_map(|place| self.journal.get(place).map(|(_, row)| row))
    }

    fn check_lease(&self, bmc: &BmcName, epoch: LeaseEpoch) -> Result<(), StoreError> {
        let held = self
            .leases
            .get(bmc)
            .is_some_and(|state| state.epoch == epoch && state.holder.is_some());
        if held {
            Ok(())
        } else {
            Err(StoreError::LeaseLost {
                bmc: bmc.clone(),
                epoch: epoch.0,
            })
        }
    }

    fn push(
        &mut self,
        key: &RunKey,
        lease_epoch: LeaseEpoch,
        from: u64,
        records: &[StoredRecord],
    ) -> u64 {
        let mut seq = from;
        for record in records {
            seq += 1;
            let row = JournalRow {
                seq,
                lease_epoch,
                record: record.clone(),
            };
            let place = self.next_cursor();
            self.journal.insert(place, (key.clone(), row));
            self.places.entry(key.clone()).or_default().push(place);
        }
        if let Some(run) = self.runs.get_mut(key) {
            run.last_seq = seq;
        }
        seq
    }

    fn mark(&mut self, key: &RunKey, mark: &RunMark) {
        if let Some(run) = self.runs.get_mut(key) {
            run.phase.clone_from(&mark.phase);
            run.changed_at = mark.at;
            run.finished_at = mark.finished.then_some(mark.at);
        }
    }
}
