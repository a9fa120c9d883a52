//! What everybody who watches may see: the latest status of every run, and the stream of its records.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use tokio::sync::broadcast;

use crate::model::{BmcName, Fault, PipelineName, RunKey};
use crate::run::Record;
use crate::run::status::RunStatus;

/// Events kept for a slow watcher before it is told that it missed some.
const EVENTS_KEPT: usize = 4096;

/// Shared by drivers (who write) and displays (who read).
#[derive(Clone)]
pub struct Board {
    rows: Arc<Mutex<BTreeMap<(PipelineName, BmcName), Row>>>,
    /// Each is kept once, and a place for one that is still to come takes a few bytes.
    events: broadcast::Sender<Arc<Event>>,
}

/// One run as the board shows it.
#[derive(Debug, Clone)]
pub struct Row {
    /// Its latest status, once it has one.
    pub status: Option<RunStatus>,
    /// Why it has not started, where it has not.
    pub not_started: Option<Fault>,
    /// Bytes of an upload under way: sent, in all.
    pub upload: Option<(u64, u64)>,
}

/// One thing that happened.
#[derive(Debug, Clone)]
pub struct Event {
    /// Which run.
    pub key: RunKey,
    /// When.
    pub at: Timestamp,
    /// What.
    pub record: Record,
}

impl Board {
    /// An empty board.
    pub fn new() -> Self {
        Self {
            rows: Arc::default(),
            events: broadcast::channel(EVENTS_KEPT).0,
        }
    }

    /// All rows, by pipeline and BMC.
    pub fn rows(&self) -> BTreeMap<(PipelineName, BmcName), Row> {
        self.rows
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Everything that happens from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<Arc<Event>> {
        self.events.subscribe()
    }

    pub(super) fn update(
        &self,
        pipeline: &PipelineName,
        bmc: &BmcName,
        change: impl FnOnce(&mut Row),
    ) {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let row = rows
            .entry((pipeline.clone(), bmc.clone()))
            .or_insert_with(|| Row {
                status: None,
                not_started: None,
                upload: None,
            });
        change(row);
    }

    pub(super) fn publish(&self, event: Event) {
        // Nobody watching is no failure.
        self.events.send(Arc::new(event)).ok();
    }
}

impl Default for Board {
    fn default() -> Self {
        Self::new()
    }
}
