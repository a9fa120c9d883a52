//! Jobs: what people ordered, what was left by the last process, what drift asks for, and what became of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use tokio::time::Instant;

use super::Daemon;
use super::lines::{Moved, Prepared};
use crate::daemon::desk::Progress;
use crate::daemon::driver::RunEnd;
use crate::daemon::line::{Cause, Ending, Job, Told, Word};
use crate::daemon::prepare::Assignment;
use crate::model::{About, BmcName, Fault, FaultKind, Order, PipelineName, Retry, RunKey, Verb};
use crate::pipeline::Selector;

impl Daemon {
    /// Takes up what was ordered since it was last looked.
    pub(super) fn take_orders(&mut self) {
        let store = self.engine.store();
        let last = match store.last_order() {
            Ok(last) if last > self.last_order => last,
            Ok(_) => return,
            Err(error) => {
                tracing::error!(%error, "orders could not be read");
                return;
            }
        };
        let orders = match store.orders() {
            Ok(orders) => orders,
            Err(error) => {
                tracing::error!(%error, "orders could not be read");
                return;
            }
        };
        let before = std::mem::replace(&mut self.last_order, last);
        for order in orders.iter().filter(|order| order.id > before) {
            self.take_order(order);
        }
    }

    fn take_order(&mut self, order: &Order) {
        let about = match &order.about {
            About::Run(key) => Some(((key.pipeline.clone(), key.bmc.clone()), Progress::Open)),
            About::Pipeline(_) => None,
        };
        self.engine
            .desk()
            .take(order.id, about.into_iter().collect());
        match (&order.about, &order.verb) {
            (About::Run(key), Verb::Retry) => {
                let is_open = self.engine.has_open_run(&key.pipeline, &key.bmc);
                let cause = if is_open { Cause::Resume } else { Cause::Apply };
                self.drive(key, cause);
            }
            (About::Run(key), Verb::Approve { .. } | Verb::Cancel | Verb::Leave) => {
                self.drive(key, Cause::Resume);
            }
            (About::Pipeline(name), Verb::Resume) => {
                if let Some(mass) = self.mass.get_mut(name) {
                    mass.clear();
                }
                self.fleet.set_mass_drift(name, None);
                self.carry_on(Some(name));
            }
            (About::Pipeline(name), Verb::Apply { .. }) => self.apply(order, name),
            // Drivers see it by themselves.
            (About::Pipeline(_), Verb::Pause) => {}
            (About::Run(_), Verb::Pause | Verb::Resume | Verb::Apply { .. })
            | (
                About::Pipeline(_),
                Verb::Retry | Verb::Approve { .. } | Verb::Cancel | Verb::Leave,
            ) => tracing::warn!(about = %order.about, "an order that fits nothing"),
        }
    }

    /// Applies what was ordered to every BMC that has not begun since.
    fn apply(&mut self, order: &Order, name: &PipelineName) {
        let Verb::Apply { generation, limit } = &order.verb else {
            return;
        };
        let pipeline = self.pipelines.get(name);
        let ours = pipeline.and_then(|pipeline| self.engine.generation(pipeline).ok());
        let Some(ours) = ours else {
            let message = format!("no file of this daemon names pipeline `{name}`");
            self.refuse(order, message);
            return;
        };
        if ours != *generation {
            let message = format!("`{name}` was ordered to be applied as another file has it");
            self.tell(None, "apply-outdated", message.clone());
            self.refuse(order, message);
            return;
        }
        let limit = match limit.as_deref().map(Selector::parse).transpose() {
            Ok(limit) => limit,
            Err(message) => return self.refuse(order, format!("limit: {message}")),
        };
        let all = self
            .watched
            .values()
            .flat_map(|each| each.assignments.iter().chain(each.undecided.iter()));
        let (mut meant, mut undecided) = (Vec::new(), Vec::new());
        for each in all.filter(|each| each.pipeline.name == *name) {
            let limited = self.limited(each, limit.as_ref());
            match limited.selects_any() {
                Some(true) => meant.push(limited),
                Some(false) => {}
                None => undecided.push(limited.bmc.name.clone()),
            }
        }
        let mut progress = BTreeMap::new();
        for bmc in undecided {
            // Whether it is about them is known once they have answered.
            if let Some(watched) = self.watched.get_mut(&bmc) {
                watched.waiting.insert(name.clone());
            }
            progress.insert((name.clone(), bmc), Progress::Open);
        }
        let mut due = Vec::new();
        for assignment in meant {
            let name = (name.clone(), assignment.bmc.name.clone());
            match self.begun_since(&assignment, order.at) {
                Some(true) => drop(progress.insert(name, Progress::Over)),
                begun => {
                    progress.insert(name, Progress::Open);
                    // What has begun is carried on whatever is ordered.
                    due.extend(begun.is_none().then_some(assignment));
                }
            }
        }
        self.engine.desk().take(order.id, progress);
        for assignment in due {
            self.hand_on(assignment, Cause::Apply);
        }
    }

    /// Nothing of an order is done.
    fn refuse(&self, order: &Order, message: String) {
        tracing::warn!(
            order = order.id,
            message,
            "an order that is not carried out"
        );
        let fault = Fault::new(FaultKind::Blocked, Retry::Operator, message);
        self.engine.desk().refuse(order.id, fault);
    }

    /// Whether the run that has begun since a time is over; `None` = none has.
    pub(super) fn begun_since(&self, assignment: &Assignment, at: Timestamp) -> Option<bool> {
        let (pipeline, bmc) = (&assignment.pipeline.name, &assignment.bmc.name);
        let latest = self.engine.store().latest_run(pipeline, bmc).ok()??;
        (latest.opened_at >= at).then_some(latest.finished_at.is_some())
    }

    /// Takes up the last apply of every pipeline once more: a process before this one may not have begun all of it.
    pub(super) fn apply_again(&mut self) {
        let orders = match self.engine.store().orders() {
            Ok(orders) => orders,
            Err(error) => {
                tracing::error!(%error, "orders could not be read");
                return;
            }
        };
        let names: Vec<PipelineName> = self.pipelines.keys().cloned().collect();
        for name in names {
            let about = About::Pipeline(name.clone());
            let is_apply =
                |order: &&Order| order.about == about && matches!(order.verb, Verb::Apply { .. });
            if let Some(order) = orders.iter().rev().find(is_apply) {
                self.apply(order, &name);
            }
        }
    }

    /// Carries on every run that is not over: of one pipeline, or of all.
    pub(super) fn carry_on(&mut self, of: Option<&PipelineName>) {
        let rows = match self.engine.store().runs() {
            Ok(rows) => rows,
            Err(error) => {
                tracing::error!(%error, "runs could not be read");
                return;
            }
        };
        let open = rows.into_iter().filter(|row| row.finished_at.is_none());
        let keys: Vec<RunKey> = open
            .map(|row| row.key)
            .filter(|key| of.is_none_or(|name| key.pipeline == *name))
            .collect();
        for key in keys {
            self.drive(&key, Cause::Resume);
        }
    }

    fn drive(&mut self, key: &RunKey, cause: Cause) {
        let watched = self.watched.get(&key.bmc);
        let of_it = watched.and_then(|watched| {
            let mut assignments = watched.assignments.iter();
            assignments
                .find(|each| each.pipeline.name == key.pipeline)
                .cloned()
        });
        // A run goes on even where its BMC is selected no more.
        let assignment = of_it.or_else(|| self.assignment_of(key));
        let Some(assignment) = assignment else {
            tracing::warn!(run = %key, "the files name its pipeline or its BMC no more; the run stays as it is");
            let message = format!(
                "the files name pipeline `{}` or bmc `{}` no more; the run stays as it is",
                key.pipeline, key.bmc
            );
            self.settle_all(&(key.pipeline.clone(), key.bmc.clone()), message);
            return;
        };
        self.hand_on(assignment, cause);
    }

    /// Whoever ordered something of a BMC hears why nothing comes of it.
    fn settle_all(&self, name: &(PipelineName, BmcName), message: String) {
        let fault = Fault::new(FaultKind::Blocked, Retry::Operator, message);
        let desk = self.engine.desk();
        desk.settle(&desk.open(name), name, &not_started(fault));
    }

    /// What was ordered of BMCs that the files name no more comes to nothing.
    pub(super) fn settle_strangers(&self) {
        for name in self.engine.desk().all_open() {
            let watched = self.watched.get(&name.1);
            let is_selected = watched.is_some_and(|watched| {
                let mut assignments = watched.assignments.iter();
                assignments.any(|each| each.pipeline.name == name.0)
            });
            let is_open = self.engine.has_open_run(&name.0, &name.1);
            if !is_selected && !is_open {
                let message = format!(
                    "the files do not select bmc `{}` for `{}` any more",
                    name.1, name.0
                );
                self.settle_all(&name, message);
            }
        }
    }

    /// Hands a job to its line, once its images are there.
    pub(super) fn hand_on(&mut self, assignment: Assignment, cause: Cause) {
        let (pipeline, bmc) = (&assignment.pipeline.name, &assignment.bmc.name);
        if self.engine.has_open_run(pipeline, bmc) {
            self.lines.say(pipeline, Word::Owed(bmc.clone()));
        }
        let job = Job {
            assignment,
            cause,
            orders: Vec::new(),
        };
        let source = Arc::clone(&self.source);
        self.lines.prepare(async move {
            let prepared = match source.with_images(job.assignment.clone()).await {
                Ok(assignment) => Prepared {
                    job: Job { assignment, ..job },
                    fault: None,
                },
                Err(fault) => Prepared {
                    job,
                    fault: Some(fault),
                },
            };
            Box::new(prepared)
        });
    }

    /// Notes what happened to a line or a job.
    pub(super) fn line_moved(&mut self, moved: Moved) {
        match moved {
            Moved::Prepared(prepared) => self.prepared(*prepared),
            Moved::Told(told) => self.told(&told),
            Moved::AllEnded => self.begin_lines(),
        }
    }

    fn prepared(&mut self, Prepared { mut job, fault }: Prepared) {
        let pipeline = job.assignment.pipeline.name.clone();
        let bmc = job.assignment.bmc.name.clone();
        let name = (pipeline.clone(), bmc.clone());
        job.orders = self.engine.desk().open(&name);
        let Some(fault) = fault else {
            if self.lines.say(&pipeline, Word::Job(Box::new(job))) {
                self.fleet.update(&bmc, |shown| shown.driven = true);
            }
            return;
        };
        self.lines.say(&pipeline, Word::NotOwed(bmc.clone()));
        let message = format!("`{pipeline}` cannot begin: {fault}");
        let progress = not_started(fault);
        self.engine.desk().settle(&job.orders, &name, &progress);
        self.tell(Some(&bmc), "image-unusable", message);
        if let Some(watched) = self.watched.get_mut(&bmc) {
            watched.recovering.remove(&pipeline);
        }
    }

    fn told(&mut self, told: &Told) {
        let progress = match &told.ending {
            // The next process, or the next line, carries on.
            Ending::End(RunEnd::Interrupted(_)) => Progress::Open,
            Ending::End(RunEnd::Over(_)) => Progress::Over,
            Ending::End(RunEnd::Held(_)) => Progress::Held,
            Ending::End(RunEnd::NotStarted(fault)) => not_started(fault.clone()),
            Ending::Later(fault) => Progress::NotStarted {
                fault: fault.clone(),
                again: true,
            },
            Ending::Halted(spent) => Progress::Halted {
                spent: spent.clone(),
            },
        };
        let desk = self.engine.desk();
        desk.settle(&told.orders, &told.name, &progress);
        match &told.ending {
            Ending::End(end) => self.run_ended(&told.name, end),
            Ending::Later(_) | Ending::Halted(_) => {}
        }
    }

    /// Whatever was seen before a run counts no more; the BMC is looked at again soon.
    fn run_ended(&mut self, (pipeline, bmc): &(PipelineName, BmcName), end: &RunEnd) {
        let is_over = match end {
            RunEnd::Over(_) | RunEnd::NotStarted(_) | RunEnd::Interrupted(_) => true,
            RunEnd::Held(_) => false,
        };
        let Some(watched) = self.watched.get_mut(bmc) else {
            return;
        };
        watched.forget();
        if is_over {
            watched.recovering.remove(pipeline);
        }
        let soon = watched.bmc.pace.settle_for;
        let is_waiting = watched.due.is_some();
        self.fleet.update(bmc, |shown| shown.driven = false);
        if is_waiting {
            self.schedule(bmc, Instant::now() + soon);
        }
    }
}

fn not_started(fault: Fault) -> Progress {
    Progress::NotStarted {
        fault,
        again: false,
    }
}
