//! A simulated fleet from its first moment to its last: engines that live and die, people who interfere, and in the end a
//! time in which nothing goes wrong any more.

mod calm;
mod people;

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::LocalBoxFuture;
use futures_util::stream::FuturesUnordered;
use jiff::{SignedDuration, Timestamp};
use mock_bmc::bmc::Source;
use redpipe::daemon::{ApplyReport, EngineParts};
use redpipe::redfish::Clock;
use tokio::time::Instant;

use crate::case::Case;
use crate::invariants::{Broken, Judge, PLANNERS};
use crate::saboteurs::Saboteur;
use crate::support::lives::{Life, Lives};
use crate::support::process::{Death, Meddler, Nobody, Process};
use crate::support::world::World;

/// Between the end of one apply and the next while trouble lasts.
const PAUSE: Duration = Duration::from_mins(20);

/// What a simulation came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) broken: Option<Broken>,
    /// How every run ended, for people and for the comparison of two ways through one seed.
    pub(crate) ends: Vec<String>,
    /// Everything that happened, as a number.
    pub(crate) lines: usize,
    /// What was written down and what BMCs saw, where something broke.
    pub(crate) trace: String,
}

/// Plays a seed.
pub(crate) fn play(case: &Case, saboteur: Option<Saboteur>) -> Told {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let told = runtime.block_on(Fleet::new(case, saboteur).play());
    // What a killed engine still waited for is dropped with its runtime.
    drop(runtime);
    told
}

/// Tokio's clock, and what it was set forward or back.
struct JumpingClock {
    clock: Arc<dyn Clock>,
    seconds: Arc<AtomicI64>,
}

impl Clock for JumpingClock {
    fn now(&self) -> Timestamp {
        let jumped = SignedDuration::from_secs(self.seconds.load(Ordering::SeqCst));
        self.clock.now().saturating_add(jumped).unwrap()
    }
}

type Ended = (u32, Option<ApplyReport>);

struct Fleet<'a> {
    case: &'a Case,
    saboteur: Option<Saboteur>,
    world: World,
    lives: Lives,
    judge: Arc<Judge>,
    jumped: Arc<AtomicI64>,
    edited: bool,
    processes: u32,
    running: Vec<Arc<Process>>,
}

impl<'a> Fleet<'a> {
    fn new(case: &'a Case, saboteur: Option<Saboteur>) -> Self {
        let machines = case.platforms.iter().zip(&case.systems);
        let sources = machines.map(|(name, count)| (Source::Platform((*name).to_owned()), *count));
        let mut world = World::from_sources(sources.collect(), &case.script);
        writeln!(world.defaults, "{}", case.pace).unwrap();
        let lives = if case.in_file {
            Lives::in_file(&world)
        } else {
            Lives::new()
        };
        let jumped: Arc<AtomicI64> = Arc::default();
        let clock = Arc::new(JumpingClock {
            clock: world.clock(),
            seconds: Arc::clone(&jumped),
        });
        let store = Arc::clone(&lives.store);
        let judge = Judge::new(store, clock, world.bmcs.clone(), case);
        case.maintenance
            .set_hook(&world, !case.maintenance.hooks_fail);
        Self {
            case,
            saboteur,
            world,
            lives,
            judge,
            jumped,
            edited: false,
            processes: 0,
            running: Vec::new(),
        }
    }

    async fn play(mut self) -> Told {
        self.trouble().await;
        let mut ends = Vec::new();
        if self.judge.broken().is_none() {
            ends = self.calm().await;
        }
        let lines = self
            .world
            .bmcs
            .keys()
            .map(|name| self.world.ledger(name).len());
        let lines = lines.sum();
        let broken = self.judge.broken();
        let store = self.lives.store.as_ref();
        let names = self.world.bmcs.keys().filter(|_| broken.is_some());
        let traces = names.map(|name| format!("{name}:\n{}", self.world.trace_of(store, name)));
        Told {
            lines,
            trace: traces.collect(),
            broken,
            ends,
        }
    }

    /// A new engine.
    fn start(&mut self, death: Death) -> Life {
        self.processes += 1;
        let life = self.life(self.processes, death);
        self.running.push(Arc::clone(&life.process));
        life
    }

    fn life(&self, number: u32, death: Death) -> Life {
        let jumped = Arc::clone(&self.jumped);
        let judge = self.judge.clone();
        let meddler: Arc<dyn Meddler> = match self.saboteur {
            Some(saboteur) => Arc::new(saboteur.at_work(number >= PLANNERS)),
            None => Arc::new(Nobody),
        };
        let world = &self.world;
        self.lives
            .start_with(world, number, death, judge, meddler, |parts| EngineParts {
                clock: Arc::new(JumpingClock {
                    clock: Arc::clone(&parts.clock),
                    seconds: jumped,
                }),
                ..parts
            })
    }

    fn text(&self) -> String {
        self.case.pipeline(&self.world, self.edited)
    }

    /// An apply by a new engine, to be driven by whoever holds it.
    async fn applying(&mut self, death: Death) -> LocalBoxFuture<'static, Ended> {
        let life = self.start(death);
        let mut assignments = self.world.assignments(&[&self.text()]).await;
        if let Some(saboteur) = self.saboteur {
            saboteur.misreads(&mut assignments);
        }
        let (options, stop) = (self.world.options, self.world.stop.clone());
        Box::pin(async move {
            let work = Box::pin(redpipe::daemon::apply(
                &life.engine,
                assignments,
                options,
                &stop,
            ));
            let report = life.process.run(work).await;
            let number = life.process.number;
            // The sign of life is kept until here.
            drop(life);
            (number, report)
        })
    }

    /// Engines come and go, and everything that was drawn happens.
    async fn trouble(&mut self) {
        let started = Instant::now();
        let until = started + self.case.trouble_for;
        let mut deeds = self.case.deeds.clone().into_iter().peekable();
        let mut deaths = self.case.deaths.clone().into_iter();
        let mut running: FuturesUnordered<LocalBoxFuture<'static, Ended>> = FuturesUnordered::new();
        running.push(self.applying(deaths.next().unwrap_or(Death::Never)).await);
        let mut again = None;
        while self.judge.broken().is_none() && Instant::now() < until {
            let deed_at = deeds.peek().map_or(until, |(at, _)| started + *at);
            let next = deed_at.min(again.unwrap_or(until)).min(until);
            tokio::select! {
                biased;
                Some((number, report)) = running.next(), if !running.is_empty() => {
                    self.ended(number, report.as_ref());
                    if running.is_empty() {
                        again = Some(Instant::now() + PAUSE);
                    }
                }
                () = tokio::time::sleep_until(next) => {
                    if again.is_some_and(|at| at <= Instant::now()) {
                        again = None;
                        let death = deaths.next().unwrap_or(Death::Never);
                        running.push(self.applying(death).await);
                    } else if deeds.peek().is_some() && deed_at <= Instant::now() {
                        let (_, deed) = deeds.next().unwrap();
                        running.extend(self.does(&deed).await);
                    }
                }
            }
        }
        for process in &self.running {
            process.die();
        }
        while running.next().await.is_some() {}
    }
}
