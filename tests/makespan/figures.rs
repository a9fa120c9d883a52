//! The makespan of an apply over its lower bounds, and where the difference went.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use redpipe::run::RunPhase;

use super::fleet::FIRST;
use super::timeline::Life;

/// What one apply took. Minutes.
#[derive(Debug, Clone)]
pub(crate) struct Figures {
    pub(crate) makespan: f64,
    /// Of what the BMCs did, by their own ledgers, and nothing else.
    pub(crate) bound_bmc: f64,
    /// With the good reads over `settle_for` that must come before a verdict.
    pub(crate) bound: f64,
    pub(crate) completed: usize,
    lives: Vec<Life>,
    slots: f64,
}

/// When all but the first BMC were over. Milliseconds from the begin of the apply.
pub(crate) fn others_end_ms(lives: &BTreeMap<String, Life>) -> u64 {
    let others = lives.iter().filter(|(name, _)| *name != FIRST);
    others
        .map(|(_, life)| life.end_ms)
        .max()
        .unwrap_or_default()
}

pub(crate) fn minutes(ms: u64) -> f64 {
    std::time::Duration::from_millis(ms).as_secs_f64() / 60.0
}

impl Figures {
    pub(crate) fn of(lives: &BTreeMap<String, Life>, slots: usize) -> Self {
        let lives: Vec<Life> = lives.values().cloned().collect();
        let slots = f64::from(u32::try_from(slots).unwrap_or(u32::MAX));
        let bound = |of: &dyn Fn(&Life) -> u64| {
            let longest = lives.iter().map(of).max().unwrap_or_default();
            let sum: u64 = lives.iter().map(of).sum();
            minutes(longest).max(minutes(sum) / slots)
        };
        Self {
            makespan: minutes(
                lives
                    .iter()
                    .map(|life| life.end_ms)
                    .max()
                    .unwrap_or_default(),
            ),
            bound_bmc: bound(&|life| life.bmc_ms),
            bound: bound(&|life| life.bmc_ms + life.settle_ms),
            completed: lives
                .iter()
                .filter(|life| life.phase == Some(RunPhase::Completed))
                .count(),
            slots,
            lives,
        }
    }

    /// Makespan over the bound.
    pub(crate) fn ratio(&self) -> f64 {
        self.makespan / self.bound
    }

    /// Slot minutes that all BMCs together spent on something, per slot.
    fn per_slot(&self, of: impl Fn(&Life) -> u64) -> f64 {
        minutes(self.lives.iter().map(of).sum()) / self.slots
    }

    /// The table for people.
    pub(crate) fn table(&self) -> String {
        let mut text = String::new();
        let parts: [(&str, f64); 5] = [
            (
                "BMCs at work (their ledgers)",
                self.per_slot(|life| life.bmc_ms),
            ),
            (
                "good reads repeated over settle_for",
                self.per_slot(|life| life.settle_ms),
            ),
            (
                "rate wait (2 requests/s)",
                self.per_slot(|life| life.rate_ms),
            ),
            (
                "detection lag (ready, not yet seen)",
                self.per_slot(|life| life.lag_ms),
            ),
            (
                "engine (everything else)",
                self.per_slot(|life| life.engine_ms),
            ),
        ];
        let used: f64 = parts.iter().map(|(_, minutes)| minutes).sum();
        let line = |text: &mut String, what: &str, minutes: f64| {
            let share = 100.0 * minutes / self.bound;
            writeln!(text, "  {what:<38} {minutes:>8.2} min {share:>7.2} %").unwrap();
        };
        writeln!(text, "each slot's time, and its share of the bound").unwrap();
        for (what, minutes) in parts {
            line(&mut text, what, minutes);
        }
        line(
            &mut text,
            "slot empty: nobody is left to begin",
            self.makespan - used,
        );
        line(&mut text, "makespan", self.makespan);
        let count = f64::from(u32::try_from(self.lives.len()).unwrap_or(u32::MAX));
        let mean = |of: fn(&Life) -> u64| minutes(self.lives.iter().map(of).sum()) / count;
        let requests: usize = self.lives.iter().map(|life| life.requests).sum();
        writeln!(
            text,
            "slot wait: {:.1} min a BMC on average; {} holds waited for; {} requests a BMC",
            mean(|life| life.slot_ms),
            self.lives.iter().map(|life| life.holds).sum::<usize>(),
            requests / self.lives.len().max(1),
        )
        .unwrap();
        writeln!(
            text,
            "lower bound {:.2} min: makespan / bound {:.3}\n  of the BMCs' work alone {:.2} min: {:.3}",
            self.bound,
            self.ratio(),
            self.bound_bmc,
            self.makespan / self.bound_bmc
        )
        .unwrap();
        text
    }
}
