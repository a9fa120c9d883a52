//! The daemon: observes every BMC, tells what has drifted, brings back what may be, carries on what was begun, and takes
//! up changed files.
//!
//! One loop owns all of it; only observations and runs are tasks of their own, and a panic in one of them is a panic of
//! the process: the next one carries on.

mod facts;
mod lines;
mod order;
mod poll;
mod recover;
mod reload;
mod watched;

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;
use tokio::time::Instant;

use self::lines::Lines;
use self::poll::Polled;
use self::watched::Watched;
use super::engine::Engine;
use super::fleet::Fleet;
use super::prepare::Assignment;
use super::scheduler::Turns;
use super::stop::Stop;
use crate::drift::MassDrift;
use crate::model::inventory::Inventory;
use crate::model::{BmcName, Fault, PipelineName};
use crate::pipeline::{Given, Pipeline};

/// Between two looks for orders that other processes wrote down: who orders something sees it taken up.
const ORDERS_POLL: Duration = Duration::from_secs(2);

/// Between two looks whether a file has changed.
const FILES_POLL: Duration = Duration::from_mins(1);

/// Observations under way at once: each BMC is asked at its own pace, and a process has only so many sockets.
const POLLS_MAX: usize = 128;

/// The files that a daemon goes by, all checked.
#[derive(Debug, Clone)]
pub struct Taken {
    /// All BMCs.
    pub inventory: Inventory,
    /// All pipelines.
    pub pipelines: Vec<Arc<Pipeline>>,
    /// What they name of environment and files.
    pub given: Arc<Given>,
}

/// Something that ends later.
pub type Later<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Where files come from.
pub trait Source: Send + Sync {
    /// Another text whenever a file may have changed; costs little.
    fn signature(&self) -> String;

    /// Reads and checks all of them; the error is for people, whole.
    fn load(&self) -> Result<Taken, String>;

    /// The same with a signature that is no younger.
    fn read(&self) -> Result<(String, Taken), String> {
        let signature = self.signature();
        Ok((signature, self.load()?))
    }

    /// Finds, downloads and hashes the images of an assignment.
    fn with_images(&self, assignment: Assignment) -> Later<'_, Result<Assignment, Fault>>;
}

/// What reaches a running daemon from outside the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Read the files anew, changed or not.
    Reload,
}

/// A daemon that has not begun.
pub struct Service {
    /// What it drives and observes by.
    pub engine: Engine,
    /// What it knows, for whoever asks.
    pub fleet: Fleet,
    /// Where files come from.
    pub source: Arc<dyn Source>,
    /// What [`Source::read`] said last: what the daemon begins with.
    pub files: (String, Taken),
    /// Asked to stop at the next safe point, or at once.
    pub stop: Stop,
    /// BMCs in progress at once over all pipelines; `None` = only the pipelines' own limits.
    pub max_concurrent: Option<usize>,
    /// Seed of what is drawn by chance: when a BMC is asked next.
    pub seed: u64,
    /// Called as long as the loop turns: more often than every ten seconds.
    pub heartbeat: Arc<dyn Fn() + Send + Sync>,
}

/// A running daemon.
struct Daemon {
    engine: Engine,
    fleet: Fleet,
    source: Arc<dyn Source>,
    stop: Stop,
    turns: Turns,
    chance: rand::rngs::SmallRng,
    inventory: Inventory,
    given: Arc<Given>,
    pipelines: BTreeMap<PipelineName, Arc<Pipeline>>,
    watched: BTreeMap<BmcName, Watched>,
    due: BTreeSet<(Instant, BmcName)>,
    polls: JoinSet<Polled>,
    /// Sessions that are being ended.
    closing: JoinSet<()>,
    lines: Lines,
    mass: BTreeMap<PipelineName, MassDrift>,
    last_order: u64,
    signature: String,
}

impl Service {
    /// Runs until it is stopped. A state that cannot be read at the start is an error, for people.
    pub async fn run(self, mut commands: UnboundedReceiver<Command>) -> Result<(), String> {
        let heartbeat = Arc::clone(&self.heartbeat);
        let mut daemon = Daemon::begin(self)?;
        let mut orders = tokio::time::interval(ORDERS_POLL);
        let mut woken = daemon.engine.desk().woken();
        let mut files = tokio::time::interval(FILES_POLL);
        while !daemon.stop.is_asked() {
            daemon.start_polls();
            let next_poll = daemon.next_poll();
            tokio::select! {
                Some(joined) = daemon.polls.join_next() => {
                    let polled = joined
                        .unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
                    daemon.polled(polled);
                }
                happened = daemon.lines.next() => daemon.line_moved(happened),
                Some(joined) = daemon.closing.join_next() => {
                    joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
                }
                () = until(next_poll) => {}
                _ = orders.tick() => {
                    heartbeat();
                    daemon.take_orders();
                }
                Ok(()) = woken.changed() => daemon.wake(),
                _ = files.tick() => daemon.look_at_files(),
                Some(Command::Reload) = commands.recv() => daemon.reload(),
                () = daemon.stop.asked() => {}
            }
        }
        daemon.end().await;
        Ok(())
    }
}

impl Daemon {
    /// Does at once what somebody asks for who does not wait for the next look.
    fn wake(&mut self) {
        if self.engine.desk().take_reload() {
            self.reload();
        }
        self.take_orders();
    }

    /// Lets runs come to a safe point, and ends every session; a second request leaves sessions to the next start.
    async fn end(mut self) {
        self.polls.abort_all();
        while let Some(joined) = self.polls.join_next().await {
            if let Err(error) = joined
                && error.is_panic()
            {
                std::panic::resume_unwind(error.into_panic());
            }
        }
        self.lines.end().await;
        let clients = self.engine.forget_clients(&[]);
        let closing = clients.iter().map(|client| client.close());
        tokio::select! {
            _ = futures_util::future::join_all(closing) => {}
            () = self.stop.aborted() => {}
        }
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
