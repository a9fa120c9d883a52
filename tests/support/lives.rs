//! One life of redpipe after another on the same store.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use redpipe::daemon::history::events_after;
use redpipe::daemon::{ApplyReport, Engine, EngineParts, apply};
use redpipe::run::Record;
use redpipe::store::{MemoryStore, Owner, SqliteStore, Store};

use super::process::{Death, Meddler, Nobody, Process, ProcessConnect, ProcessStore, Watcher};
use super::world::World;

/// The store that outlives them.
pub(crate) struct Lives {
    pub(crate) store: Arc<dyn Store>,
    /// Where it is a file, which each process opens anew.
    file: Option<PathBuf>,
}

/// One process: others see it live for as long as this is kept.
pub(crate) struct Life {
    pub(crate) process: Arc<Process>,
    pub(crate) engine: Engine,
    /// Never read: its kernel lock is the sign of life.
    _lock: File,
}

impl Lives {
    pub(crate) fn new() -> Self {
        Self {
            store: Arc::new(MemoryStore::new()),
            file: None,
        }
    }

    /// The records of a BMC's runs, oldest first.
    pub(crate) fn records(&self, bmc: &str) -> Vec<Record> {
        let events = events_after(self.store.as_ref(), 0, usize::MAX >> 1).unwrap();
        let of_bmc = events
            .into_iter()
            .filter(|event| event.key.bmc.as_str() == bmc);
        of_bmc.filter_map(|event| event.record).collect()
    }

    /// On the state of a lab, which is a file.
    pub(crate) fn in_file(world: &World) -> Self {
        let file = world.folder.path().join("state.db");
        Self {
            store: open(&file),
            file: Some(file),
        }
    }

    /// Starts the process of this number.
    pub(crate) fn start(
        &self,
        world: &World,
        number: u32,
        death: Death,
        watcher: Arc<dyn Watcher>,
    ) -> Life {
        self.start_with(world, number, death, watcher, Arc::new(Nobody), |parts| {
            parts
        })
    }

    /// Starts a process that a meddler makes a wrong one, with other parts.
    pub(crate) fn start_with(
        &self,
        world: &World,
        number: u32,
        death: Death,
        watcher: Arc<dyn Watcher>,
        meddler: Arc<dyn Meddler>,
        change: impl FnOnce(EngineParts) -> EngineParts,
    ) -> Life {
        let process = Process::new(number, death, watcher);
        let lock_file = world.folder.path().join(format!("{number}.lock"));
        let lock = File::create(&lock_file).unwrap();
        lock.lock().unwrap();
        let owner = Owner {
            host: "lab".to_owned(),
            pid: number,
            lock_file,
        };
        let store = Arc::new(ProcessStore {
            inner: self
                .file
                .as_deref()
                .map_or_else(|| Arc::clone(&self.store), open),
            process: Arc::clone(&process),
            meddler: Arc::clone(&meddler),
        });
        let mut parts = world.parts(store, owner);
        parts.connect = Arc::new(ProcessConnect {
            inner: parts.connect,
            process: Arc::clone(&process),
            meddler,
        });
        Life {
            engine: Engine::new(change(parts)),
            process,
            _lock: lock,
        }
    }
}

fn open(file: &Path) -> Arc<dyn Store> {
    Arc::new(SqliteStore::open(file).unwrap())
}

impl Life {
    /// Applies pipelines; `None` where the process died meanwhile.
    pub(crate) async fn apply(&self, world: &World, pipelines: &[&str]) -> Option<ApplyReport> {
        let assignments = world.assignments(pipelines).await;
        let work = Box::pin(apply(&self.engine, assignments, world.options, &world.stop));
        self.process.run(work).await
    }
}
