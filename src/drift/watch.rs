//! When an observation counts: drift is what two observations in a row agree on.

use jiff::Timestamp;

use super::compare::{Comparison, DriftItem};

/// Observations in a row that must agree before drift is declared.
const AGREEING: u32 = 2;

/// What was seen of one pipeline on one BMC.
#[derive(Debug, Clone, Default)]
pub struct Watch {
    candidates: Vec<Candidate>,
}

/// A difference, and how often in a row it was seen.
#[derive(Debug, Clone)]
struct Candidate {
    item: DriftItem,
    since: Timestamp,
    seen: u32,
}

/// Drift that is declared.
#[derive(Debug, Clone, PartialEq)]
pub struct Declared {
    /// What.
    pub item: DriftItem,
    /// When it was seen first.
    pub since: Timestamp,
}

/// What an observation changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Change {
    /// Something was declared that was not before.
    pub declared: bool,
    /// Something that was declared is gone.
    pub cleared: bool,
    /// A difference waits for an observation that agrees: worth a second look soon.
    pub suspected: bool,
}

impl Watch {
    /// Takes an observation in. One that differs from the last starts the count anew, and one that shows a thing as wanted
    /// clears it.
    pub fn observe(&mut self, at: Timestamp, found: &Comparison) -> Change {
        let before = std::mem::take(&mut self.candidates);
        let was_declared = before.iter().filter(|c| c.seen >= AGREEING).count();
        let mut kept = 0;
        let mut change = Change::default();
        for item in &found.items {
            let known = before.iter().find(|known| known.item.is_same_as(item));
            let (since, seen) = match known {
                Some(known) => (known.since, known.seen.saturating_add(1)),
                None => (at, 1),
            };
            kept += usize::from(known.is_some_and(|known| known.seen >= AGREEING));
            change.declared |= seen == AGREEING;
            change.suspected |= seen < AGREEING;
            self.candidates.push(Candidate {
                item: item.clone(),
                since,
                seen,
            });
        }
        change.cleared = kept < was_declared;
        change
    }

    /// Whether nothing differed when it was last seen.
    pub fn is_empty(&self) -> bool {
        self.candidates.is_empty()
    }

    /// Nothing that was seen counts any more: a run or a stranger was at work meanwhile.
    pub fn forget(&mut self) {
        self.candidates.clear();
    }

    /// All drift that is declared, in stage order.
    pub fn declared(&self) -> Vec<Declared> {
        let declared = self.candidates.iter().filter(|c| c.seen >= AGREEING);
        declared
            .map(|candidate| Declared {
                item: candidate.item.clone(),
                since: candidate.since,
            })
            .collect()
    }
}

impl DriftItem {
    /// Whether two observations agree on it.
    pub fn is_same_as(&self, other: &Self) -> bool {
        self.target == other.target
            && self.name == other.name
            && self.expected == other.expected
            && self.actual == other.actual
    }
}
