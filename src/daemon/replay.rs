//! What another process drives, shown as if it were driven here: its records come from the state.

use std::collections::BTreeSet;

use super::board::Event;
use super::engine::Engine;
use super::history;
use crate::model::{BmcName, Fault, PipelineName, RunKey};

/// Lines of the journal that are read at once.
const PAGE_LINES: usize = 500;

/// Follows the runs of some BMCs.
pub struct Replay<'a> {
    engine: &'a Engine,
    wanted: &'a BTreeSet<(PipelineName, BmcName)>,
    cursor: i64,
}

impl<'a> Replay<'a> {
    /// From now on.
    pub fn begin(
        engine: &'a Engine,
        wanted: &'a BTreeSet<(PipelineName, BmcName)>,
    ) -> Result<Self, Fault> {
        let cursor = engine.store().last_cursor();
        Ok(Self {
            engine,
            wanted,
            cursor: cursor.map_err(|error| error.fault())?,
        })
    }

    /// What happened since the last time, oldest first; the board of this process shows how those runs stand.
    pub fn news(&mut self) -> Result<Vec<Event>, Fault> {
        let store = self.engine.store();
        let (mut events, mut moved) = (Vec::new(), BTreeSet::<RunKey>::new());
        loop {
            let page = history::events_after(store.as_ref(), self.cursor, PAGE_LINES)?;
            let Some(last) = page.last() else { break };
            self.cursor = last.cursor;
            for happened in page {
                let key = happened.key;
                if !self
                    .wanted
                    .contains(&(key.pipeline.clone(), key.bmc.clone()))
                {
                    continue;
                }
                moved.insert(key.clone());
                events.extend(happened.record.map(|record| Event {
                    key,
                    at: happened.at,
                    record,
                }));
            }
        }
        for key in moved {
            let status = history::of(store.as_ref(), &key)?;
            self.engine.board().update(&key.pipeline, &key.bmc, |row| {
                row.status = Some(status);
                row.not_started = None;
            });
        }
        Ok(events)
    }
}
