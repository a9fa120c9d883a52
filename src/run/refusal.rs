//! What a request that the BMC did not take leads to.

use std::time::Duration;

use super::deadline::{LATER_TIMEOUT, after, elapsed};
use super::pass::Pass;
use super::record::Place;
use super::state::Act;
use crate::model::{Fault, Outcome, Retry};

/// What a refused request leads to.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Refusal {
    /// Nothing was refused, or it is time to ask again.
    None,
    /// Not yet; what is waited for is said.
    Waiting,
    /// Asking again has no end.
    Final(Fault),
}

impl Pass<'_> {
    /// What a refused or unsent request leads to now.
    pub(super) fn refusal(&mut self, place: &Place) -> Refusal {
        let work = self.work(place);
        let tried = || {
            work.acts
                .iter()
                .rev()
                .filter(|act| act.attempt == work.attempt)
        };
        let Some(last) = tried().next().filter(|act| !act.never_arrived) else {
            return Refusal::None;
        };
        let (fault, pause) = match &last.outcome {
            Some(Outcome::Refused {
                fault,
                later: true,
                retry_after_secs,
            }) => (fault, Duration::from_secs(retry_after_secs.unwrap_or(0))),
            Some(Outcome::NotSent { fault }) if fault.retry == Retry::Transient => {
                (fault, Duration::ZERO)
            }
            Some(Outcome::Refused { fault, .. } | Outcome::NotSent { fault }) => {
                return Refusal::Final(fault.clone());
            }
            Some(Outcome::Accepted { .. } | Outcome::Lost { .. }) | None => return Refusal::None,
        };
        let fault = fault.clone();
        let first = tried()
            .take_while(|act: &&Act| !act.may_have_happened())
            .last()
            .unwrap_or(last);
        // Nobody asks while no process lives.
        let slept = work.slept.saturating_sub(first.slept);
        if elapsed(first.at, self.now).saturating_sub(slept) > LATER_TIMEOUT {
            return Refusal::Final(fault.with_cause(format!(
                "asked again for {} min, always in vain",
                LATER_TIMEOUT.as_secs() / 60
            )));
        }
        let until = after(last.at, pause.max(self.spec.pace.task_poll));
        if self.now < until {
            let reason = format!("the request did nothing and is repeated: {fault}");
            self.wait(place, reason, Some(until));
            return Refusal::Waiting;
        }
        Refusal::None
    }

    /// Whether the pass for this place is over because its last request was refused: it waits, or its try has failed.
    pub(super) fn is_refused(&mut self, place: &Place) -> bool {
        match self.refusal(place) {
            Refusal::None => false,
            Refusal::Waiting => true,
            Refusal::Final(fault) => {
                self.fail(place, fault);
                true
            }
        }
    }
}
