//! All that may be asked of a daemon from outside: how everything stands, what happened and what happens, and what
//! people order.
//!
//! Every call is short and blocks on the state alone; none reaches a BMC, and none waits for whoever asked.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::broadcast;

use super::board::Event;
use super::desk::Known;
use super::engine::Engine;
use super::fleet::Fleet;
use super::folds::Folds;
use super::history::{self, EventLine, Happened};
use super::metrics::{self, Begun};
use super::orders;
use super::summary::{self, Summary};
use super::verbs::{self, PipelineWord, Refused, RunWord, Taken};
use crate::model::{About, Fault, FaultKind, Order, PipelineName, Retry, RunKey, Verb};
use crate::observe::Metrics;
use crate::pipeline::Selector;
use crate::run::status::RunStatus;
use crate::store::RunRow;

/// Lines of the journal that are read at once for metrics.
const STAGE_LINES: usize = 1000;

/// One per daemon; clones are the same.
#[derive(Clone)]
pub struct Handle {
    shared: Arc<Shared>,
}

struct Shared {
    engine: Engine,
    folds: Mutex<Folds>,
    readiness: Mutex<Readiness>,
    fleet: Fleet,
    metrics: Metrics,
    begun: Mutex<Begun>,
}

/// Whether the daemon does its work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Readiness {
    /// It does.
    Ready,
    /// It does, but not with what its files say now: why each of them is not taken up.
    Stale(Vec<String>),
    /// It does not yet, or no longer: why.
    NotReady(String),
}

impl Handle {
    /// For a daemon that is about to start.
    pub fn new(engine: Engine, fleet: Fleet) -> Self {
        let starting = Readiness::NotReady("it is starting".to_owned());
        Self {
            shared: Arc::new(Shared {
                engine,
                folds: Mutex::default(),
                readiness: Mutex::new(starting),
                fleet,
                metrics: Metrics::new(),
                begun: Mutex::default(),
            }),
        }
    }

    /// What is known of the BMCs.
    pub fn fleet(&self) -> &Fleet {
        &self.shared.fleet
    }

    /// Says whether the daemon does its work, from now on.
    pub fn set_readiness(&self, readiness: Readiness) {
        *lock(&self.shared.readiness) = readiness;
    }

    /// Whether the daemon does its work. Asks the state, too: without it nothing is done.
    pub fn readiness(&self) -> Readiness {
        if let Err(fault) = self.last_cursor() {
            return Readiness::NotReady(format!("the state cannot be read: {fault}"));
        }
        let said = lock(&self.shared.readiness).clone();
        match (said, self.shared.fleet.files().refused) {
            (Readiness::Ready, Some(refused)) => Readiness::Stale(vec![refused]),
            (said, _) => said,
        }
    }

    /// Which process it is, in words.
    pub fn process(&self) -> String {
        self.shared.engine.owner().to_string()
    }

    /// Has the files read anew, changed or not.
    pub fn reload(&self) {
        self.shared.engine.desk().want_reload();
    }

    /// An order, and how far it came; `None` where there is none of that number.
    pub fn order(&self, id: u64) -> Result<Option<(Order, Known)>, Fault> {
        let known = self.shared.engine.desk().known(id);
        let orders = self.shared.engine.store().orders();
        let orders = orders.map_err(|error| error.fault())?;
        let order = orders.into_iter().find(|order| order.id == id);
        Ok(order.map(|order| (order, known)))
    }

    /// Orders a pipeline to be applied: as the daemon's files have it, which is `generation` where one is given.
    pub fn apply(
        &self,
        user: &str,
        pipeline: &str,
        generation: Option<&str>,
        limit: Option<String>,
    ) -> Result<Order, Refused> {
        let name = PipelineName::from(pipeline);
        let files = self.shared.fleet.files();
        let Some(ours) = files.pipelines.get(&name) else {
            return Err(Refused::Unknown {
                message: format!("no file of this daemon names pipeline `{name}`"),
                hint: "start the daemon with that file too, or add it to a folder that it reads"
                    .to_owned(),
            });
        };
        if generation.is_some_and(|wanted| wanted != ours) {
            return Err(Refused::Unfit {
                message: format!("this daemon's file of pipeline `{name}` says something else"),
                hint: "have it read its files anew, by SIGHUP or `POST /v1/reload`".to_owned(),
            });
        }
        if let Some(Err(message)) = limit.as_deref().map(Selector::parse) {
            return Err(Refused::Unfit {
                message: format!("limit: {message}"),
                hint: "give labels, such as `rack=r04,role in (db,web)`".to_owned(),
            });
        }
        let verb = Verb::Apply {
            generation: ours.clone(),
            limit,
        };
        let engine = &self.shared.engine;
        let order = orders::place(engine, user, &About::Pipeline(name), &verb)?;
        engine.desk().wake();
        Ok(order)
    }

    /// How everything stands.
    pub fn status(&self) -> Result<Summary, Fault> {
        let store = self.shared.engine.store();
        let mut found = summary::of_folds(store.as_ref(), &mut lock(&self.shared.folds))?;
        let rows = self.shared.engine.board().rows();
        for run in &mut found.runs {
            let shown = rows
                .get(&(run.pipeline.as_str().into(), run.bmc.as_str().into()))
                .and_then(|row| row.status.as_ref());
            run.next_wake = next_wake(run, shown);
        }
        Ok(found)
    }

    /// How one run stands, by the name that people give it; `None` where there is none.
    pub fn run(&self, name: &str) -> Result<Option<(RunKey, RunStatus)>, Fault> {
        let Some(row) = self.row(name)? else {
            return Ok(None);
        };
        let store = self.shared.engine.store();
        let mut status = lock(&self.shared.folds).one(store.as_ref(), &row)?;
        let rows = self.shared.engine.board().rows();
        let pair = (row.key.pipeline.clone(), row.key.bmc.clone());
        let shown = rows.get(&pair).and_then(|row| row.status.as_ref());
        status.next_wake = next_wake(&status, shown);
        Ok(Some((row.key, status)))
    }

    /// At most `limit` lines of the journal of all runs, or of one, after a cursor; oldest first.
    pub fn events_after(
        &self,
        run: Option<&RunKey>,
        cursor: i64,
        limit: usize,
    ) -> Result<Vec<EventLine>, Fault> {
        let store = self.shared.engine.store();
        let found = match run {
            None => history::events_after(store.as_ref(), cursor, limit)?,
            Some(run) => history::events_of(store.as_ref(), run, cursor, limit)?,
        };
        Ok(found.iter().map(Happened::line).collect())
    }

    /// At most `limit` lines of all that happened after a cursor, runs or not; oldest first.
    pub fn all_after(&self, cursor: i64, limit: usize) -> Result<Vec<history::Line>, Fault> {
        history::all_after(self.shared.engine.store().as_ref(), cursor, limit)
    }

    /// Cursor of the newest record or happening.
    pub fn last_cursor(&self) -> Result<i64, Fault> {
        let store = self.shared.engine.store();
        store.last_cursor().map_err(|error| error.fault())
    }

    /// Wakes whoever waits for news of this process; the records themselves are in the journal.
    pub fn news(&self) -> broadcast::Receiver<Arc<Event>> {
        self.shared.engine.board().subscribe()
    }

    /// All metrics as they are now, as Prometheus reads them.
    pub fn metrics(&self) -> Result<String, Fault> {
        let (engine, fleet) = (&self.shared.engine, &self.shared.fleet);
        let store = engine.store();
        let summary = self.status()?;
        self.follow_stages(&summary)?;
        let is_ready = !matches!(self.readiness(), Readiness::NotReady(_));
        let mut families = metrics::of_work(&summary, is_ready, fleet);
        families.extend(metrics::of_fleet(fleet.figures()));
        families.push(metrics::of_polls(&fleet.polls()));
        families.extend(metrics::of_meters(engine.meters().all()));
        let leases = store.leases().map_err(|error| error.fault())?;
        let (now, owner) = (engine.clock().now(), engine.owner());
        let standing = leases.iter().filter(|lease| lease.expires_at > now);
        let (here, elsewhere): (Vec<_>, Vec<_>) = standing.partition(|lease| lease.owner == *owner);
        let count = |leases: Vec<_>| u32::try_from(leases.len()).unwrap_or(u32::MAX);
        families.push(metrics::of_leases(count(here), count(elsewhere)));
        let text = self.shared.metrics.exposition(families);
        text.map_err(|error| Fault::new(FaultKind::Bug, Retry::Never, error.to_string()))
    }

    /// Counts the stages that ended since the last scrape; those before the first are no business of this process.
    fn follow_stages(&self, summary: &Summary) -> Result<(), Fault> {
        let mut begun = lock(&self.shared.begun);
        let store = self.shared.engine.store();
        let Some(mut cursor) = begun.cursor else {
            begun.cursor = Some(self.last_cursor()?);
            return Ok(());
        };
        loop {
            let lines = history::events_after(store.as_ref(), cursor, STAGE_LINES)?;
            let Some(last) = lines.last() else {
                return Ok(());
            };
            cursor = last.cursor;
            begun.follow(&lines, summary, &self.shared.metrics);
        }
    }

    /// Says a word to a run, as the command line does.
    pub fn say(&self, user: &str, run: &str, word: RunWord) -> Result<Taken, Refused> {
        let taken = verbs::say(&self.shared.engine, user, run, word);
        self.shared.engine.desk().wake();
        taken
    }

    /// Says a word to a pipeline, as the command line does.
    pub fn say_to_pipeline(
        &self,
        user: &str,
        pipeline: &str,
        word: PipelineWord,
    ) -> Result<Order, Refused> {
        let order = verbs::say_to_pipeline(&self.shared.engine, user, pipeline, word);
        self.shared.engine.desk().wake();
        order
    }

    fn row(&self, name: &str) -> Result<Option<RunRow>, Fault> {
        let store = self.shared.engine.store();
        let failed = |error: crate::store::StoreError| error.fault();
        let (pair, number) = name
            .split_once('#')
            .map_or((name, None), |(pair, number)| (pair, Some(number)));
        let Some((pipeline, bmc)) = pair.split_once('/') else {
            return Ok(None);
        };
        let Some(number) = number else {
            let latest = store.latest_run(&pipeline.into(), &bmc.into());
            return latest.map_err(failed);
        };
        let Ok(number) = number.parse() else {
            return Ok(None);
        };
        let key = RunKey {
            pipeline: pipeline.into(),
            bmc: bmc.into(),
            number,
        };
        store.run(&key.id()).map_err(failed)
    }
}

/// When this process looks at a run again, as far as it is the run that watchers see.
fn next_wake(run: &RunStatus, shown: Option<&RunStatus>) -> Option<jiff::Timestamp> {
    let shown = shown.filter(|shown| shown.id == run.id && !run.phase.is_terminal())?;
    shown.next_wake
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
