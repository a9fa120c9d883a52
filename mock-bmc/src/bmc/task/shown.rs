//! This room is what a task shows at a moment, with its lies.
//!
//! It deliberately changes nothing.

use serde_json::{Value, json};

use super::Task;
use crate::docs::messages::Message;
use crate::script::{Messages, Vanish};
use crate::time::Moment;

impl Task {
    /// How far it is at a moment.
    pub(super) fn percent_at(&self, now: Moment) -> Option<u32> {
        let Some(progress) = self.progress.filter(|_| self.ended.is_none()) else {
            return self.percent;
        };
        let whole = progress.until.since(progress.from).as_millis().max(1);
        let done = now.since(progress.from).as_millis().min(whole);
        let span = u128::from(progress.high.saturating_sub(progress.low));
        let gained = u32::try_from(span * done / whole).unwrap_or(0);
        Some(progress.low + gained)
    }

    /// Whether it shows an end that is none.
    fn ends_early(&self, now: Moment) -> bool {
        let after = self.fault.as_ref().and_then(|fault| fault.ends_after);
        after.is_some_and(|after| now >= self.started + after.0)
    }

    /// Whether it can no longer be found.
    pub(super) fn is_lost(&self, now: Moment) -> bool {
        let Some(fault) = &self.fault else {
            return false;
        };
        let later = fault.vanish_after.unwrap_or_default().0;
        match fault.vanish {
            Some(Vanish::Running) => now >= self.started + later,
            Some(Vanish::Ended) => {
                let early = fault
                    .ends_after
                    .filter(|_| self.ends_early(now))
                    .map(|after| self.started + after.0);
                let ended = [self.ended, early].into_iter().flatten().min();
                ended.is_some_and(|ended| now >= ended + later)
            }
            None => false,
        }
    }

    /// State and status as they are shown.
    pub(super) fn shown_state(&self, now: Moment) -> (String, String) {
        let Some(fault) = &self.fault else {
            return (self.state.clone(), self.status.clone());
        };
        let early = self.ended.is_none() && self.ends_early(now);
        if (self.ended.is_some() || early) && !fault.never_ends {
            let state = if early {
                "Completed"
            } else {
                self.state.as_str()
            };
            let state = fault.end_state.as_deref().unwrap_or(state);
            let status = fault.end_status.as_deref().unwrap_or(&self.status);
            return (state.to_owned(), status.to_owned());
        }
        let running = fault.running_state.as_deref();
        let running = running.or((self.ended.is_some()).then_some("Running"));
        (
            running.unwrap_or(&self.state).to_owned(),
            self.status.clone(),
        )
    }

    /// How far it says it is.
    pub(super) fn shown_percent(&self, now: Moment) -> Option<u32> {
        let percent = self.percent_at(now)?;
        let Some(fault) = &self.fault else {
            return Some(percent);
        };
        let percent = if fault.percent_back && percent > 50 && self.ended.is_none() {
            percent - 40
        } else {
            percent
        };
        let percent = fault.stuck_at.map_or(percent, |stuck| percent.min(stuck));
        (!fault.no_percent).then_some(percent)
    }

    /// Its messages as they are shown; none where there is no such member.
    pub(super) fn shown_messages(&self) -> Option<Vec<Value>> {
        let form = self
            .fault
            .as_ref()
            .map(|fault| fault.messages)
            .unwrap_or_default();
        let ids = |message: &Message| json!({ "MessageId": message.id });
        match form {
            Messages::Usual => Some(self.messages.iter().map(Message::to_json).collect()),
            Messages::Ids => Some(self.messages.iter().map(ids).collect()),
            Messages::None => None,
        }
    }
}

/// States after which nothing more comes (DSP0268, Task).
pub(super) fn is_end(state: &str) -> bool {
    ["Completed", "Killed", "Exception", "Cancelled"].contains(&state)
}
