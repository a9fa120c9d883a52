//! How often a BMC is brought back by itself before a person is asked, and when a whole pipeline is not.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use jiff::Timestamp;

use crate::model::{BmcName, Target};

/// Automatic recoveries of one BMC within a day.
pub const RECOVERIES_PER_DAY: usize = 3;

/// What "a day" is here.
const DAY: Duration = Duration::from_hours(24);

/// How long a recovered version must hold before it is recovered again by itself.
const WEEK: Duration = Duration::from_hours(7 * 24);

/// Within which many BMCs of one pipeline may not drift.
pub const MASS_WINDOW: Duration = Duration::from_hours(1);

/// So many drifting BMCs are never many.
const MASS_MIN: usize = 3;

/// Beyond this share of a pipeline's BMCs, in percent, they are many.
const MASS_PERCENT: usize = 5;

/// A recovery that was begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovery {
    /// When.
    pub at: Timestamp,
    /// Whose version it was to bring back.
    pub versions: BTreeSet<Target>,
}

/// Why a person is asked instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stuck {
    /// It was brought back too often within a day.
    TooOften,
    /// The same version was brought back within a week.
    VersionAgain(Target),
}

impl Stuck {
    /// For people.
    pub fn reason(&self) -> String {
        match self {
            Self::TooOften => format!(
                "it was brought back {RECOVERIES_PER_DAY} times within a day, and drifted again"
            ),
            Self::VersionAgain(target) => {
                format!(
                    "the version of {target} was brought back within the last week, and fell again"
                )
            }
        }
    }
}

/// Whether another recovery would be one too many; `past` are the BMC's own since a person last cleared them.
pub fn stuck(past: &[Recovery], versions: &BTreeSet<Target>, now: Timestamp) -> Option<Stuck> {
    let within = |recovery: &&Recovery, span| now.duration_since(recovery.at) < span_of(span);
    let again = past
        .iter()
        .filter(|recovery| within(recovery, WEEK))
        .find_map(|recovery| recovery.versions.intersection(versions).next());
    if let Some(target) = again {
        return Some(Stuck::VersionAgain(target.clone()));
    }
    let today = past.iter().filter(|recovery| within(recovery, DAY)).count();
    (today >= RECOVERIES_PER_DAY).then_some(Stuck::TooOften)
}

/// Which BMCs of one pipeline have begun to drift lately.
#[derive(Debug, Clone, Default)]
pub struct MassDrift {
    seen: VecDeque<(Timestamp, BmcName)>,
    /// Since when too many drift; until a person says that it is meant.
    since: Option<Timestamp>,
}

impl MassDrift {
    /// A BMC of a pipeline over so many BMCs has begun to drift.
    pub fn drifted(&mut self, at: Timestamp, bmc: &BmcName, of: usize) {
        self.seen.push_back((at, bmc.clone()));
        while let Some((first, _)) = self.seen.front()
            && at.duration_since(*first) >= span_of(MASS_WINDOW)
        {
            self.seen.pop_front();
        }
        if self.count() > most(of) {
            self.since.get_or_insert(at);
        }
    }

    /// Since when nothing is brought back, and how many drift.
    pub fn held(&self) -> Option<(Timestamp, usize)> {
        self.since.map(|since| (since, self.count()))
    }

    /// A person said that it is to be mended all the same.
    pub fn clear(&mut self) {
        self.since = None;
        self.seen.clear();
    }

    fn count(&self) -> usize {
        let bmcs: BTreeSet<&BmcName> = self.seen.iter().map(|(_, bmc)| bmc).collect();
        bmcs.len()
    }
}

fn most(of: usize) -> usize {
    MASS_MIN.max(of.saturating_mul(MASS_PERCENT) / 100)
}

fn span_of(span: Duration) -> jiff::SignedDuration {
    jiff::SignedDuration::try_from(span).unwrap_or(jiff::SignedDuration::MAX)
}
