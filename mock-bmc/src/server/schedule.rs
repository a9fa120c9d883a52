//! This room remembers when each BMC wants to be woken next, for one timer that serves a whole fleet.
//!
//! It deliberately wakes nobody itself: [`Schedule::take_due`] names who is due, the timer does the rest.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

use crate::time::Moment;

/// Who is due when. Indices are positions in the fleet.
#[derive(Debug, Default)]
pub(crate) struct Schedule {
    entries: Mutex<Entries>,
    /// Rung when an earlier moment than before became the first.
    pub(crate) changed: Notify,
}

#[derive(Debug, Default)]
struct Entries {
    order: BTreeSet<(Moment, usize)>,
    of: BTreeMap<usize, Moment>,
}

impl Schedule {
    /// Replaces when `index` is due; `None` takes it off.
    pub(crate) fn set(&self, index: usize, due: Option<Moment>) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let first = entries.order.first().copied();
        if let Some(old) = entries.of.remove(&index) {
            entries.order.remove(&(old, index));
        }
        if let Some(due) = due {
            entries.of.insert(index, due);
            entries.order.insert((due, index));
        }
        let earlier = match (entries.order.first(), first) {
            (Some(new), Some(old)) => *new < old,
            (Some(_), None) => true,
            (None, _) => false,
        };
        if earlier {
            self.changed.notify_one();
        }
    }

    /// The first moment at which somebody is due.
    pub(crate) fn next(&self) -> Option<Moment> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.order.first().map(|(moment, _)| *moment)
    }

    /// Takes everybody off who is due by `now`.
    pub(crate) fn take_due(&self, now: Moment) -> Vec<usize> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let mut due = Vec::new();
        while let Some((moment, index)) = entries.order.first().copied() {
            if moment > now {
                break;
            }
            entries.order.remove(&(moment, index));
            entries.of.remove(&index);
            due.push(index);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_word_of_a_bmc_counts() {
        let schedule = Schedule::default();
        schedule.set(0, Some(Moment(50)));
        schedule.set(1, Some(Moment(20)));
        schedule.set(0, Some(Moment(10)));
        schedule.set(1, None);
        assert_eq!(schedule.next(), Some(Moment(10)));
        assert_eq!(schedule.take_due(Moment(9)), Vec::<usize>::new());
        assert_eq!(schedule.take_due(Moment(60)), vec![0]);
        assert_eq!(schedule.next(), None);
    }
}
