//! What people and other engines do to a fleet.

use std::sync::atomic::Ordering;

use futures_util::future::LocalBoxFuture;
use redpipe::daemon::{Awaited, plan};
use redpipe::model::{About, BmcName, PipelineName, Verb};

use super::{Ended, Fleet};
use crate::case::Deed;
use crate::invariants::{PLANNERS, number};
use crate::support::process::Death;

impl Fleet<'_> {
    pub(super) async fn does(&mut self, deed: &Deed) -> Option<LocalBoxFuture<'static, Ended>> {
        match deed {
            Deed::Kill => self.running.iter().for_each(|process| process.die()),
            Deed::Second => return Some(self.applying(Death::Never).await),
            Deed::Plan => self.plans().await,
            Deed::Jump(seconds) => {
                self.jumped.fetch_add(*seconds, Ordering::SeqCst);
            }
            Deed::Edit => {
                self.edited = true;
                // Who runs goes on by what it read; whoever comes next reads anew.
                self.running.iter().for_each(|process| process.die());
                self.judge.wants(&self.case.edited);
            }
            Deed::Approve => self.approves(),
            Deed::Hooks => self.case.maintenance.set_hook(&self.world, true),
            Deed::Flash(bmc, system, version) => self.flash(bmc, *system, version),
            Deed::Pend(bmc, system) => {
                self.judge.touched(bmc, *system);
                self.world.bmc(bmc, |bmc| {
                    bmc.set_pending(*system, "BootMode", "LegacyBios".into());
                });
            }
            Deed::Order(bmc, verb) => self.orders(bmc, verb),
            Deed::Pause(begins) => self.pauses(*begins),
            Deed::Listed(server, is_listed) => {
                if *is_listed {
                    self.world.unlisted.remove(server);
                } else {
                    self.world.unlisted.insert(server.clone());
                }
                // Who runs goes on by what it read; whoever comes next reads anew.
                self.running.iter().for_each(|process| process.die());
            }
        }
        None
    }

    /// An order about whatever run of a BMC was the last to begin.
    fn orders(&self, bmc: &str, verb: &Verb) {
        let store = &self.lives.store;
        let run = store.latest_run(&PipelineName::from("p"), &BmcName::from(bmc));
        if let Some(run) = run.unwrap() {
            let now = self.world.wall();
            store
                .place_order(now, "ann", &About::Run(run.key), verb)
                .unwrap();
        }
    }

    /// The pipeline stands still from now on, or goes on.
    pub(super) fn pauses(&self, begins: bool) {
        let verb = if begins { Verb::Pause } else { Verb::Resume };
        let about = About::Pipeline(PipelineName::from("p"));
        let now = self.world.wall();
        self.lives
            .store
            .place_order(now, "ann", &about, &verb)
            .unwrap();
    }

    /// A person agrees to all that is asked for.
    pub(super) fn approves(&self) {
        for bmc in self.world.bmcs.keys() {
            if let Some((key, digest)) = self.judge.asked(bmc) {
                let (about, verb) = (About::Run(key), Verb::Approve { digest });
                let now = self.world.wall();
                self.lives
                    .store
                    .place_order(now, "ann", &about, &verb)
                    .unwrap();
            }
        }
    }

    /// By hand, never down, and never into a flash.
    fn flash(&self, bmc: &str, system: Option<usize>, version: &str) {
        self.world.bmc(bmc, |bmc| {
            let state = bmc.state();
            let (runs, is_busy) = match system {
                None => {
                    let is_busy = state.open_tasks.iter().any(|task| !task.foreign);
                    (state.bmc_version, is_busy)
                }
                Some(index) => {
                    let of = &state.systems[index];
                    (of.bios_version.clone(), of.in_post)
                }
            };
            let is_higher = runs.as_deref().and_then(number) < number(version);
            match system {
                _ if is_busy || !is_higher => {}
                None => bmc.set_bmc_version(version),
                Some(index) => bmc.set_bios_version(index, version),
            }
        });
    }

    /// A plan by another process, beside whatever runs.
    async fn plans(&mut self) {
        self.processes += 1;
        let life = self.life(PLANNERS + self.processes, Death::Never);
        let assignments = self.world.assignments(&[&self.text()]).await;
        let awaited = Awaited::default();
        let work = Box::pin(plan(&life.engine, &assignments, &self.world.stop, &awaited));
        life.process.run(work).await;
    }
}
