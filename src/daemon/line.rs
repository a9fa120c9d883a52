//! One pipeline over its BMCs: which run begins when. Name order, slots, canaries, and a failure budget.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::driver::{Drive, Later, RunEnd, drive};
use super::engine::Engine;
use super::prepare::Assignment;
use super::rollout::Rollout;
use super::scheduler::{ApplyOptions, ApplyReport, Turns};
use super::stop::Stop;
use crate::model::{BmcName, Fault, FaultKind, PipelineName, Retry};
use crate::pipeline::Pipeline;
use crate::run::record::Recovering;
use crate::run::status::RunStatus;
use crate::store::Selection;

/// Between two tries of what only a person or another process can end, where the operator chose to wait.
const WAIT_RETRY: Duration = Duration::from_secs(30);

/// One pipeline over its BMCs.
pub(super) struct Line {
    pub(super) engine: Engine,
    pub(super) stop: Stop,
    pub(super) process: Arc<tokio::sync::Semaphore>,
    pub(super) turns: Turns,
    pub(super) options: ApplyOptions,
}

/// One BMC that is to be driven, and why.
#[derive(Debug, Clone)]
pub(super) struct Job {
    pub(super) assignment: Assignment,
    pub(super) cause: Cause,
    /// Orders that wait for what comes of it.
    pub(super) orders: Vec<u64>,
}

/// Why a BMC is to be driven.
#[derive(Debug, Clone)]
pub(super) enum Cause {
    /// A person wants it to be as the pipeline says.
    Apply,
    /// Only the run that it has is to go on.
    Resume,
    /// It has drifted.
    Recovery(Recovering),
}

impl Cause {
    pub(super) fn only_resumes(&self) -> bool {
        matches!(self, Self::Resume)
    }

    /// What had drifted.
    pub(super) fn recovering(&self) -> Option<&Recovering> {
        match self {
            Self::Recovery(recovering) => Some(recovering),
            Self::Apply | Self::Resume => None,
        }
    }
}

/// How a line that outlives its first jobs hears of more, and tells what became of them.
pub(super) struct Inbox {
    pub(super) jobs: UnboundedReceiver<Job>,
    pub(super) ends: UnboundedSender<Told>,
}

/// What became of a job.
#[derive(Debug)]
pub(super) struct Told {
    /// Of which pipeline, on which BMC.
    pub(super) name: (PipelineName, BmcName),
    /// What.
    pub(super) ending: Ending,
    /// Orders that waited for it.
    pub(super) orders: Vec<u64>,
}

/// How far a job came.
#[derive(Debug)]
pub(super) enum Ending {
    /// The drive is over.
    End(RunEnd),
    /// It is tried again later, for as long as the process lives.
    Later(Fault),
    /// It does not begin before others are mended: those that have spent the budget.
    Halted(BTreeSet<BmcName>),
}

/// One BMC that waits for its turn.
struct Queued {
    assignment: Assignment,
    /// Its turn: name order, and behind all others for what has had one.
    place: usize,
    /// Not before; `None` = not before another run has ended.
    at: Option<Instant>,
    cause: Cause,
    /// Orders that hear of what comes of it.
    orders: Vec<u64>,
}

/// What a pipeline is about while it is applied.
struct Work {
    rollout: Arc<Rollout>,
    /// `None` = what there is to do is known.
    ends: Option<UnboundedSender<Told>>,
    /// BMCs that are driven now, with the orders that came meanwhile.
    driven: BTreeMap<BmcName, Vec<u64>>,
    slots: usize,
    queue: Vec<Queued>,
    /// The next place behind all others.
    last: usize,
    running: JoinSet<(Queued, Drive)>,
    report: ApplyReport,
}

impl Work {
    /// A place behind all others: nobody waits for what is tried again.
    fn behind(&mut self) -> usize {
        self.last += 1;
        self.last
    }

    /// Takes a job up. A BMC that is driven already sees by itself what was ordered; one that waits is looked at now.
    fn take(&mut self, job: Job, now: Instant) {
        let bmc = &job.assignment.bmc.name;
        if let Some(came) = self.driven.get_mut(bmc) {
            came.extend(job.orders);
            return;
        }
        let same = |queued: &&mut Queued| queued.assignment.bmc.name == *bmc;
        if let Some(queued) = self.queue.iter_mut().find(same) {
            queued.at = Some(now);
            if !job.cause.only_resumes() {
                queued.cause = job.cause;
            }
            queued.orders.extend(job.orders);
            return;
        }
        let place = self.behind();
        self.queue.push(Queued {
            assignment: job.assignment,
            place,
            at: Some(now),
            cause: job.cause,
            orders: job.orders,
        });
    }

    /// What waits for others has its chance anew.
    fn look_again(&mut self) {
        let now = Instant::now();
        for waiting in self.queue.iter_mut().filter(|queued| queued.at.is_none()) {
            waiting.at = Some(now);
        }
    }

    /// Queues what has had its turn once more.
    fn again(&mut self, mut queued: Queued, after: Duration) {
        queued.at = Some(Instant::now() + after);
        queued.place = self.behind();
        self.queue.push(queued);
    }

    /// Tells what became of a job.
    fn tell(&self, queued: &Queued, ending: Ending) {
        if let Some(ends) = &self.ends {
            let told = Told {
                name: name(&queued.assignment),
                ending,
                orders: queued.orders.clone(),
            };
            // Nobody listens any more where the process ends.
            ends.send(told).ok();
        }
    }

    /// Tells those who ordered what does not begin by itself.
    fn tell_halted(&self) {
        if self.queue.is_empty() {
            return;
        }
        let spent = self.rollout.spent();
        for queued in self.queue.iter().filter(|each| !each.orders.is_empty()) {
            self.tell(queued, Ending::Halted(spent.clone()));
        }
    }
}

impl Line {
    /// Runs these to their end.
    pub(super) async fn run(self, assignments: Vec<Assignment>) -> ApplyReport {
        let Some(first) = assignments.first() else {
            return ApplyReport::default();
        };
        let pipeline = Arc::clone(&first.pipeline);
        let Some(mut work) = self.begin(&pipeline) else {
            return ApplyReport::default();
        };
        self.set_out(&work.rollout, &assignments);
        let cause = if self.options.only_resume {
            Cause::Resume
        } else {
            Cause::Apply
        };
        let now = Instant::now();
        for assignment in assignments {
            let job = Job {
                assignment,
                cause: cause.clone(),
                orders: Vec::new(),
            };
            work.take(job, now);
        }
        loop {
            self.start_ready(&mut work);
            let next = self.next_start(&work);
            if work.running.is_empty() && next.is_none() {
                return self.rest(work);
            }
            tokio::select! {
                Some(joined) = work.running.join_next() => self.joined(&mut work, joined),
                () = until(next) => {}
                () = self.stop.asked(), if !self.stop.is_asked() => {}
            }
        }
    }

    /// Runs whatever comes, until it is stopped.
    pub(super) async fn serve(self, pipeline: Arc<Pipeline>, mut inbox: Inbox) {
        let Some(mut work) = self.begin(&pipeline) else {
            return;
        };
        work.ends = Some(inbox.ends);
        loop {
            self.start_ready(&mut work);
            let next = self.next_start(&work);
            if work.running.is_empty() && self.stop.is_asked() {
                return;
            }
            if work.running.is_empty() && next.is_none() {
                work.tell_halted();
            }
            tokio::select! {
                Some(joined) = work.running.join_next() => self.joined(&mut work, joined),
                Some(job) = inbox.jobs.recv(), if !self.stop.is_asked() => {
                    self.set_out(&work.rollout, std::slice::from_ref(&job.assignment));
                    work.take(job, Instant::now());
                }
                () = until(next) => {}
                // What others do may have given the budget back, or shown what a canary is for.
                () = tokio::time::sleep(WAIT_RETRY), if !work.queue.is_empty() => work.look_again(),
                () = self.stop.asked(), if !self.stop.is_asked() => {}
            }
        }
    }

    fn joined(&self, work: &mut Work, joined: Result<(Queued, Drive), tokio::task::JoinError>) {
        let (queued, drive) =
            joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
        let came = work.driven.remove(&queued.assignment.bmc.name);
        self.ended(work, queued, drive, came.unwrap_or_default());
    }

    fn begin(&self, pipeline: &Arc<Pipeline>) -> Option<Work> {
        let rollout = match Rollout::new(&self.engine, pipeline) {
            Ok(rollout) => Arc::new(rollout),
            Err(fault) => {
                tracing::error!(pipeline = %pipeline.name, %fault, "the state could not be read");
                return None;
            }
        };
        Some(Work {
            rollout,
            ends: None,
            driven: BTreeMap::new(),
            slots: usize::try_from(pipeline.rollout.max_concurrent.max(1)).unwrap_or(usize::MAX),
            queue: Vec::new(),
            last: 0,
            running: JoinSet::new(),
            report: ApplyReport::default(),
        })
    }

    /// Writes down what the pipeline sets out to do, so that whoever asks later counts the BMCs that wait.
    fn set_out(&self, rollout: &Rollout, assignments: &[Assignment]) {
        let Some(first) = assignments.first() else {
            return;
        };
        let bmcs = assignments.iter().map(|each| each.bmc.name.clone());
        let selection = Selection {
            bmcs: bmcs.collect(),
            max_failures: first.pipeline.rollout.max_failures,
            generation: rollout.generation().to_owned(),
        };
        let pipeline = &first.pipeline.name;
        let more = first.limit.is_some() || self.options.only_resume || self.options.serves;
        let store = self.engine.store();
        if let Err(error) = store.remember_selection(pipeline, &selection, more) {
            tracing::error!(%pipeline, %error, "the number of waiting BMCs could not be written down");
        }
    }

    /// When something that may begin is due; `None` where nothing may, or where there is no slot for it.
    fn next_start(&self, work: &Work) -> Option<Instant> {
        if self.stop.is_asked() || work.running.len() >= work.slots {
            return None;
        }
        let may = work
            .queue
            .iter()
            .filter(|queued| self.may_begin(work, queued));
        may.filter_map(|queued| queued.at).min()
    }

    fn may_begin(&self, work: &Work, queued: &Queued) -> bool {
        let bmc = &queued.assignment.bmc.name;
        work.rollout.allows(bmc) || self.has_begun(&queued.assignment)
    }

    /// Whether a run has begun that is not over: what it has under way is followed, whatever the budget says.
    fn has_begun(&self, assignment: &Assignment) -> bool {
        let open = self.engine.store().unfinished_run(&assignment.bmc.name);
        matches!(open, Ok(Some(row)) if row.key.pipeline == assignment.pipeline.name)
    }

    /// Starts what may begin, in name order, as far as there are slots.
    fn start_ready(&self, work: &mut Work) {
        let now = Instant::now();
        while work.running.len() < work.slots && !self.stop.is_asked() {
            let is_due = |queued: &Queued| queued.at.is_some_and(|at| at <= now);
            let ready = work.queue.iter().enumerate();
            let ready = ready.filter(|(_, queued)| is_due(queued) && self.may_begin(work, queued));
            let Some((index, _)) = ready.min_by_key(|(_, queued)| queued.place) else {
                return;
            };
            let next = work.queue.remove(index);
            self.start(work, next);
        }
    }

    fn start(&self, work: &mut Work, next: Queued) {
        let (engine, stop) = (self.engine.clone(), self.stop.clone());
        let bmc = next.assignment.bmc.name.clone();
        let (turn, process) = (self.turns.of(&bmc), Arc::clone(&self.process));
        let rollout = Arc::clone(&work.rollout);
        work.driven.insert(bmc.clone(), Vec::new());
        work.running.spawn(async move {
            let _turn = turn.lock_owned().await;
            let _place = process.acquire_owned().await;
            rollout.begins(&bmc);
            let end = Box::pin(drive(
                &engine,
                &next.assignment,
                &stop,
                &rollout,
                &next.cause,
            ))
            .await;
            rollout.ends(&bmc);
            (next, end)
        });
    }

    /// Notes an end; what can go on later is queued again.
    fn ended(&self, work: &mut Work, mut queued: Queued, drive: Drive, came: Vec<u64>) {
        if !matches!(drive, Drive::Later(Later::Canary)) {
            // Whatever ended may be what others wait for.
            work.look_again();
        }
        let may_wait = self.options.wait && !self.stop.is_asked();
        let is_overtaken = !came.is_empty();
        queued.orders.extend(came);
        let end = match drive {
            Drive::Later(Later::Canary) => {
                queued.at = None;
                work.queue.push(queued);
                return;
            }
            Drive::Later(Later::Waits(fault)) => {
                self.show(&queued.assignment, &fault);
                if may_wait {
                    // Whoever drives it carries out what was ordered of it.
                    if self.options.serves && fault.kind == FaultKind::LeaseHeld {
                        queued.cause = Cause::Resume;
                    }
                    work.tell(&queued, Ending::Later(fault));
                    work.again(queued, WAIT_RETRY);
                    return;
                }
                RunEnd::NotStarted(fault)
            }
            Drive::End(RunEnd::Held(_)) if may_wait && is_overtaken => {
                // It may have come to rest just before it could hear of what was ordered.
                queued.cause = Cause::Resume;
                work.again(queued, Duration::ZERO);
                return;
            }
            Drive::End(RunEnd::Held(status)) if may_wait => {
                let rest = self.rest_of(&queued, &status);
                let end = RunEnd::Held(status);
                work.tell(&queued, Ending::End(end.clone()));
                work.report.ends.insert(name(&queued.assignment), end);
                queued.cause = Cause::Resume;
                work.again(queued, rest);
                return;
            }
            Drive::End(RunEnd::NotStarted(fault)) => {
                self.show(&queued.assignment, &fault);
                let will_pass = fault.retry == Retry::Transient && self.options.serves;
                if will_pass && may_wait && matches!(queued.cause, Cause::Apply) {
                    let rest = queued.assignment.bmc.poll_interval.max(WAIT_RETRY);
                    work.tell(&queued, Ending::Later(fault));
                    work.again(queued, rest);
                    return;
                }
                RunEnd::NotStarted(fault)
            }
            Drive::End(end) => end,
        };
        work.tell(&queued, Ending::End(end.clone()));
        work.report.ends.insert(name(&queued.assignment), end);
    }

    /// How long a held run rests before the BMC is looked at again. One that serves hears of orders at once, and need not
    /// ask more often than it observes, but where it is known that something comes to be earlier.
    fn rest_of(&self, queued: &Queued, status: &RunStatus) -> Duration {
        if !self.options.serves {
            return WAIT_RETRY;
        }
        let longest = queued.assignment.bmc.poll_interval.max(WAIT_RETRY);
        let now = self.engine.clock().now();
        let next = status.next_wake.or(status.deadline);
        let known = next.and_then(|next| Duration::try_from(next.duration_since(now)).ok());
        known.map_or(longest, |known| known.clamp(WAIT_RETRY, longest))
    }

    fn show(&self, assignment: &Assignment, fault: &Fault) {
        let (pipeline, bmc) = name(assignment);
        self.engine.board().update(&pipeline, &bmc, |row| {
            row.not_started = Some(fault.clone());
        });
    }

    /// What never began.
    fn rest(&self, work: Work) -> ApplyReport {
        let mut report = work.report;
        let spent = work.rollout.spent();
        for left in work.queue {
            let name = name(&left.assignment);
            if report.ends.contains_key(&name) {
                continue;
            }
            if self.stop.is_asked() {
                report.waiting.insert(name);
            } else {
                report.spent.insert(name.0.clone(), spent.clone());
                report.halted.insert(name);
            }
        }
        report
    }
}

fn name(assignment: &Assignment) -> (PipelineName, BmcName) {
    (
        assignment.pipeline.name.clone(),
        assignment.bmc.name.clone(),
    )
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
