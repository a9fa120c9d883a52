//! What people ordered, as a run takes it up: each order once, by a record.
//!
//! All of it follows from the journal alone, so that an order that needs no look at the BMC is carried out without one.

use jiff::Timestamp;

use super::machine::{Decision, RunMachine};
use super::record::{Place, Record, RunPhase, StageWord, Wait};
use super::state::{RunState, Work, WorkStatus};
use super::{LOOKING_AGAIN, hold};
use crate::model::{Order, Target, Verb};

/// What a pause is called, at the front of the reason.
const PAUSED: &str = "paused";

impl RunState {
    /// Whether an order was taken up.
    pub fn has_taken_up(&self, order: &Order) -> bool {
        self.orders.iter().any(|taken| taken.id == order.id)
    }

    /// The order that cancelled the run.
    pub fn cancel(&self) -> Option<&Order> {
        self.orders.iter().find(|order| order.verb == Verb::Cancel)
    }

    /// The pause that stands.
    pub fn pause(&self) -> Option<&Order> {
        let is_pause = |order: &&Order| matches!(order.verb, Verb::Pause | Verb::Resume);
        let last = self.orders.iter().rev().find(is_pause)?;
        (last.verb == Verb::Pause).then_some(last)
    }

    /// What follows from an order; nothing where it was taken up before, or says what is so already.
    pub fn ordered(&self, now: Timestamp, order: &Order) -> Vec<Record> {
        if self.end.is_some() || self.has_taken_up(order) {
            return Vec::new();
        }
        let mut after = Follow {
            state: self.clone(),
            now,
            records: Vec::new(),
        };
        let takes_effect = match &order.verb {
            Verb::Resume => self.pause().is_some(),
            Verb::Approve { .. } | Verb::Retry | Verb::Cancel | Verb::Pause | Verb::Leave => true,
            // It is about runs that are to begin.
            Verb::Apply { .. } => false,
        };
        if !takes_effect {
            return Vec::new();
        }
        let phase = self.phase();
        after.record(Record::Ordered {
            order: order.clone(),
        });
        match &order.verb {
            Verb::Approve { .. } | Verb::Pause | Verb::Apply { .. } => {}
            Verb::Retry => after.look_again(|_| true),
            Verb::Resume => after.look_again(|reason| reason.starts_with(PAUSED)),
            Verb::Cancel => after.cancel(),
            Verb::Leave if phase == RunPhase::Held || self.cancel().is_some() => {
                after.leave(order);
            }
            Verb::Leave => after.record(Record::Notice {
                at: None,
                text: "only a run that is held or cancelled can be released; nothing is changed"
                    .to_owned(),
            }),
        }
        after.records
    }
}

/// Why a step that would begin is held while its pipeline is paused.
pub(super) fn paused(order: &Order) -> String {
    let since = order.at.strftime("%Y-%m-%d %H:%M:%S UTC");
    format!(
        "{PAUSED} by {} since {since}; `redpipe resume {}` goes on",
        order.by,
        order.about.pipeline()
    )
}

/// Records that follow from an order, each seeing the one before it.
struct Follow {
    state: RunState,
    now: Timestamp,
    records: Vec<Record>,
}

impl Follow {
    fn record(&mut self, record: Record) {
        self.state.apply(self.now, &record);
        self.records.push(record);
    }

    /// Holds whose reason is meant are judged anew by the next look.
    fn look_again(&mut self, is_meant: impl Fn(&str) -> bool) {
        let wait = Wait {
            reason: LOOKING_AGAIN.to_owned(),
            until: None,
            held: false,
        };
        let is_meant = |old: &Option<(Wait, Timestamp)>| {
            old.as_ref()
                .is_some_and(|(old, _)| old.held && is_meant(&old.reason))
        };
        let held: Vec<Place> = self
            .state
            .active()
            .into_iter()
            .filter(|place| {
                self.state
                    .works
                    .get(place)
                    .is_some_and(|work| is_meant(&work.wait))
            })
            .collect();
        for at in held {
            self.record(Record::Waiting {
                at,
                wait: wait.clone(),
            });
        }
        if is_meant(&self.state.wait) {
            self.record(Record::RunWaiting { wait });
        }
    }

    /// Everything of which nothing is under way ends at once; the rest is followed to its end.
    fn cancel(&mut self) {
        for place in self.state.active() {
            let kind = self.state.start.as_ref().and_then(|start| {
                let head = start.stages.iter().find(|head| head.name == place.stage)?;
                Some(head.kind)
            });
            let work = self.state.works.get(&place);
            if let Some(work) = work.filter(|work| work.is_at_rest()) {
                let reason = stopped(&self.state, &place.target, work, kind);
                self.record(Record::Stopped { at: place, reason });
            }
        }
        if let Some((phase, reason)) = cancelled(&self.state) {
            self.end(phase, reason);
        }
    }

    /// A person answers for what is left.
    fn leave(&mut self, order: &Order) {
        let mut left = Vec::new();
        for (place, work) in self.state.works.clone() {
            if work.status != WorkStatus::Active {
                continue;
            }
            let what = work
                .wait
                .map_or_else(|| "no reason is known".to_owned(), |(wait, _)| wait.reason);
            left.push(format!(
                "stage `{}` on {}: {what}",
                place.stage, place.target
            ));
            let reason = format!("released {}, and left as it was: {what}", order.said());
            self.record(Record::Stopped { at: place, reason });
        }
        let reason = format!(
            "released {}; left as it was: {}",
            order.said(),
            left.join("; ")
        );
        self.end(RunPhase::Cancelled, reason);
    }

    /// Servers that are held are given back first, by hooks: that is for whoever drives the run.
    fn end(&mut self, phase: RunPhase, reason: String) {
        if hold::ended(&self.state).is_some() {
            return;
        }
        let record = hold::releasing(&self.state, Some(phase), &reason);
        self.record(record.unwrap_or(Record::Ended { phase, reason }));
    }
}

/// Why a stage ended before its aim was reached, and what a person should know of it.
pub(super) fn stopped(
    state: &RunState,
    target: &Target,
    work: &Work,
    kind: Option<StageWord>,
) -> String {
    let why = state.given_up(target).unwrap_or_default();
    let is_settings = matches!(kind, Some(StageWord::BmcSettings | StageWord::BiosSettings));
    if is_settings && work.written {
        return format!(
            "{why}; what was written stays, and some of it may take effect at the next restart"
        );
    }
    why
}

/// The end of a cancelled run, once nothing of it is under way; one with a failure has failed.
pub(super) fn cancelled(state: &RunState) -> Option<(RunPhase, String)> {
    let order = state.cancel()?;
    if !state.active().is_empty() || state.end.is_some() {
        return None;
    }
    let failed: Vec<String> = state
        .works
        .iter()
        .filter_map(|(place, work)| match &work.status {
            WorkStatus::Failed { fault, .. } => Some(format!(
                "stage `{}` on {}: {fault}",
                place.stage, place.target
            )),
            WorkStatus::Active | WorkStatus::Done { .. } | WorkStatus::Stopped { .. } => None,
        })
        .collect();
    let by = format!("cancelled {}", order.said());
    Some(if failed.is_empty() {
        (RunPhase::Cancelled, by)
    } else {
        (RunPhase::Failed, format!("{}; {by}", failed.join("; ")))
    })
}

impl RunMachine {
    /// Takes an order up, unless it was before.
    pub(super) fn ordered(&self, now: Timestamp, order: &Order) -> Decision {
        Decision::only(self.state.ordered(now, order))
    }
}
