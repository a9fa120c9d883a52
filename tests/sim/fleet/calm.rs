//! Nothing goes wrong any more: I6, I9, I10 and the sessions.

use std::sync::atomic::Ordering;
use std::time::Duration;

use mock_bmc::ledger::{Kind, LedgerLine};
use mock_bmc::script::Script;
use redpipe::daemon::trust::{What, trust};
use redpipe::daemon::{ApplyReport, RunEnd, summary};
use redpipe::run::RunPhase;

use super::Fleet;
use crate::case::Deed;
use crate::hazard::Hazard;
use crate::invariants::PLANNERS;
use crate::support::process::Death;
use crate::support::world::World;

/// Longest time for one apply once nothing goes wrong any more. A stage takes at most some three hours with all of its
/// deadlines; there are at most seven stages on at most eight targets of at most four BMCs, one after another.
const CALM_MAX: Duration = Duration::from_hours(14 * 24);

/// Applies of a person who is told each time that the run is held.
const CALM_TRIES: usize = 4;

impl Fleet<'_> {
    /// Everything goes as it should from now on: every run comes to an end, or says what it is held by.
    pub(super) async fn calm(&mut self) -> Vec<String> {
        self.jumped.store(0, Ordering::SeqCst);
        let calm: Script = self.case.calm.parse().unwrap();
        for name in self.world.bmcs.keys() {
            self.world.bmc(name, |bmc| bmc.set_script(&calm));
        }
        self.trusts().await;
        self.case.maintenance.set_hook(&self.world, true);
        self.pauses(false);
        self.world.unlisted.clear();
        let mut ends = Vec::new();
        for _ in 0..CALM_TRIES {
            self.approves();
            let apply = self.applying(Death::Never).await;
            let Ok((number, Some(report))) = tokio::time::timeout(CALM_MAX, apply).await else {
                self.judge
                    .breaks("I6", format!("an apply does not end in {CALM_MAX:?}"));
                return ends;
            };
            self.ended(number, Some(&report));
            ends = report.ends.iter().map(told).collect();
            if self.judge.broken().is_some() {
                return ends;
            }
            self.sessions();
            if is_completed(&report) {
                self.again().await;
                return ends;
            }
            tokio::time::sleep(self.pause_between()).await;
        }
        ends
    }

    /// A person has a look at what changed its certificate or refused logins.
    async fn trusts(&mut self) {
        let life = self.life(PLANNERS, Death::Never);
        let what = What {
            certificate: true,
            credentials: true,
            identity: false,
        };
        for assignment in self.world.assignments(&[&self.text()]).await {
            trust(&life.engine, &assignment.bmc, what).unwrap();
        }
    }

    /// Between two applies of a person who is told that a run is held.
    fn pause_between(&self) -> Duration {
        match self.case.maintenance.window {
            None => Duration::ZERO,
            Some(_) => Duration::from_hours(5),
        }
    }

    /// I9.
    async fn again(&mut self) {
        let writes = |world: &World| -> Vec<String> {
            let names = world.bmcs.keys();
            names.flat_map(|name| world.writes(name)).collect()
        };
        let before = writes(&self.world).len();
        let apply = self.applying(Death::Never).await;
        if let (number, Some(report)) = apply.await {
            self.ended(number, Some(&report));
        }
        let after = writes(&self.world);
        if after.len() > before {
            let how = format!(
                "a finished pipeline is applied again and sends {:?}",
                &after[before..]
            );
            self.judge.breaks("I9", how);
        }
    }

    /// No session of ours is left on a BMC that answers. One that it called over while it was not is nobody's; and one
    /// whose login was never answered is told by its age, which nobody knows once the host's clock went back: at a jump, or
    /// when what it had jumped ahead is set right at the end of the trouble.
    fn sessions(&self) {
        if self.case.hazards.contains(&Hazard::Unauthorized) {
            return;
        }
        let mut deeds = self.case.deeds.iter();
        let went_back = deeds.any(|(_, deed)| matches!(deed, Deed::Jump(_)));
        for name in self.world.bmcs.keys() {
            let state = self.world.bmc(name, |bmc| bmc.state());
            let nobodys = if went_back { self.lost_logins(name) } else { 0 };
            if state.listening && state.sessions.len() > nobodys {
                let how = format!("{name}: sessions are left: {:?}", state.sessions);
                self.judge.breaks("sessions", how);
            }
        }
    }

    /// Logins of which the answer was harmed on its way.
    fn lost_logins(&self, bmc: &str) -> usize {
        let is_login = |line: &LedgerLine| {
            let harmed = line.detail.as_deref().unwrap_or_default();
            line.kind == Kind::Fault
                && harmed.ends_with(" POST /redfish/v1/SessionService/Sessions")
        };
        self.world
            .ledger(bmc)
            .iter()
            .filter(|line| is_login(line))
            .count()
    }

    /// I6 and I10, after every apply.
    pub(super) fn ended(&mut self, number: u32, report: Option<&ApplyReport>) {
        self.running.retain(|process| process.number != number);
        for name in self.world.bmcs.keys() {
            self.judge.look(name);
        }
        let stored = summary::of_store(self.lives.store.as_ref()).unwrap();
        let mut summaries = vec![stored];
        summaries.extend(report.map(summary::of_report));
        for summary in summaries {
            let completed = |bmc: &String| {
                let ours = |run: &&redpipe::run::status::RunStatus| {
                    run.bmc == *bmc && run.id == format!("p/{bmc}")
                };
                let latest = summary.runs.iter().find(ours);
                latest.is_some_and(|run| run.phase == RunPhase::Completed)
            };
            let claims = summary
                .pipelines
                .iter()
                .any(|pipeline| pipeline.phase == summary::PipelinePhase::Completed);
            if claims && !self.world.bmcs.keys().all(completed) {
                let how = "the pipeline is said to be completed, and not every BMC is";
                self.judge.breaks("I10", how);
            }
        }
        for (key, end) in report.iter().flat_map(|report| &report.ends) {
            let named = match end {
                RunEnd::Over(status) => status.phase.is_terminal(),
                RunEnd::Held(status) => !status.reason.is_empty(),
                RunEnd::NotStarted(fault) => !fault.message.is_empty(),
                RunEnd::Interrupted(_) => false,
            };
            if !named {
                self.judge
                    .breaks("I6", format!("{key:?} ended without a reason: {end:?}"));
            }
        }
    }
}

fn is_completed(report: &ApplyReport) -> bool {
    let completed =
        |end: &RunEnd| matches!(end, RunEnd::Over(status) if status.phase == RunPhase::Completed);
    report.halted.is_empty() && report.ends.values().all(completed)
}

fn told(
    (key, end): (
        &(redpipe::model::PipelineName, redpipe::model::BmcName),
        &RunEnd,
    ),
) -> String {
    let what = match end {
        RunEnd::Over(status) | RunEnd::Held(status) | RunEnd::Interrupted(Some(status)) => {
            format!("{:?}: {}", status.phase, status.reason)
        }
        RunEnd::NotStarted(fault) => format!("not started: {fault}"),
        RunEnd::Interrupted(None) => "interrupted".to_owned(),
    };
    format!("{}: {what}", key.1)
}
