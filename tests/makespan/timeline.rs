//! How one BMC spent its time: at work by its own ledger, read again as the rules demand, waited for, or neither.

use std::collections::BTreeSet;

use jiff::Timestamp;
use mock_bmc::ledger::{Kind, LedgerLine};
use redpipe::run::{Place, Record, RunPhase};

use super::support::world::EPOCH;

/// `settle_for` of the default pace: what `settle_reads` good reads are spread over.
const SETTLE_MS: u64 = 60_000;

/// The default pace lets one request through each 500 ms once its burst is used up; a longer gap is no wait for it.
const RATE_GAP_MS: u64 = 501;

/// A row of milliseconds from one moment to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Interval {
    from_ms: u64,
    to_ms: u64,
}

impl Interval {
    fn holds(self, at_ms: u64) -> bool {
        self.from_ms <= at_ms && at_ms < self.to_ms
    }
}

/// Milliseconds of one BMC from the begin of the apply to its last record, each counted once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Life {
    /// No slot: others were in front, or the run was held and waited for its next try.
    pub(crate) slot_ms: u64,
    /// The BMC did what it was asked, as its ledger has it.
    pub(crate) bmc_ms: u64,
    /// Good reads repeated over `settle_for`: no verdict is allowed earlier.
    pub(crate) settle_ms: u64,
    /// Requests waited for the pace.
    pub(crate) rate_ms: u64,
    /// The BMC was ready and nobody had seen it.
    pub(crate) lag_ms: u64,
    /// Everything else.
    pub(crate) engine_ms: u64,
    /// The last record, from the begin of the apply.
    pub(crate) end_ms: u64,
    pub(crate) phase: Option<RunPhase>,
    /// When the run was held for the first time.
    pub(crate) held_ms: Option<u64>,
    /// Tries of a held run.
    pub(crate) holds: usize,
    pub(crate) requests: usize,
}

/// Sums up a ledger and a journal.
pub(crate) fn life(ledger: &[LedgerLine], journal: &[(Timestamp, Record)]) -> Life {
    let epoch: Timestamp = EPOCH.parse().unwrap();
    let ms = |at: Timestamp| u64::try_from(at.duration_since(epoch).as_millis()).unwrap();
    let journal: Vec<(u64, &Record)> = journal
        .iter()
        .map(|(at, record)| (ms(*at), record))
        .collect();
    let requests: Vec<u64> = ledger
        .iter()
        .filter(|line| line.kind == Kind::Request)
        .map(|line| line.at_ms)
        .collect();
    let end_ms = journal.last().map_or(0, |(at, _)| *at);
    let (slot, holds) = without_slot(&requests, &journal);
    let busy = busy(ledger, end_ms);
    let kinds = [
        slot,
        busy.clone(),
        settling(&journal, end_ms),
        rate(&requests),
        lag(&busy, &journal),
    ];
    let mut life = Life {
        end_ms,
        holds,
        requests: requests.len(),
        held_ms: journal
            .iter()
            .find(|(_, record)| is_held(record))
            .map(|(at, _)| *at),
        phase: journal.iter().find_map(|(_, record)| {
            if let Record::Ended { phase, .. } = record {
                Some(*phase)
            } else {
                None
            }
        }),
        ..Life::default()
    };
    let mut edges: BTreeSet<u64> = kinds
        .iter()
        .flatten()
        .flat_map(|each| [each.from_ms, each.to_ms])
        .collect();
    edges.extend([0, end_ms]);
    let edges: Vec<u64> = edges.into_iter().filter(|at| *at <= end_ms).collect();
    for pair in edges.windows(2) {
        let [from_ms, to_ms] = *pair else { continue };
        let kind = kinds
            .iter()
            .position(|kind| kind.iter().any(|each| each.holds(from_ms)));
        let counted = match kind {
            Some(0) => &mut life.slot_ms,
            Some(1) => &mut life.bmc_ms,
            Some(2) => &mut life.settle_ms,
            Some(3) => &mut life.rate_ms,
            Some(4) => &mut life.lag_ms,
            Some(_) | None => &mut life.engine_ms,
        };
        *counted += to_ms - from_ms;
    }
    life
}

/// Until the first request, and from each hold to the next try.
fn without_slot(requests: &[u64], journal: &[(u64, &Record)]) -> (Vec<Interval>, usize) {
    let first = requests.first().copied().unwrap_or_default();
    let mut all = vec![Interval {
        from_ms: 0,
        to_ms: first,
    }];
    let mut held_at = None;
    for (at, record) in journal {
        if is_held(record) {
            held_at = Some(*at);
        } else if matches!(record, Record::Resumed { .. }) {
            let from_ms = held_at.take().unwrap_or(*at);
            all.push(Interval {
                from_ms,
                to_ms: *at,
            });
        }
    }
    let holds = all.len() - 1;
    (all, holds)
}

fn is_held(record: &Record) -> bool {
    matches!(record, Record::Waiting { wait, .. } | Record::RunWaiting { wait } if wait.held)
}

/// From each accepted request to what ends its work.
fn busy(ledger: &[LedgerLine], end_ms: u64) -> Vec<Interval> {
    let mut all = Vec::new();
    let mut open: Option<u64> = None;
    for line in ledger {
        for caused in &line.caused {
            let begins = caused.starts_with("update accepted")
                || (caused.starts_with("reset /") && !caused.contains("refused"));
            if begins {
                open = open.or(Some(line.at_ms));
            }
        }
        let detail = line.detail.as_deref().unwrap_or_default();
        let ends = detail == "manager back"
            || detail == "power 1 Off"
            || detail == "post 1 ends"
            || detail.starts_with("bios 1 staged")
            || detail.starts_with("update failed");
        if ends && let Some(from_ms) = open.take() {
            all.push(Interval {
                from_ms,
                to_ms: line.at_ms,
            });
        }
    }
    if let Some(from_ms) = open {
        all.push(Interval {
            from_ms,
            to_ms: end_ms.max(from_ms),
        });
    }
    all
}

/// From a first good read over `settle_for`, or to where the row of good reads broke off.
fn settling(journal: &[(u64, &Record)], end_ms: u64) -> Vec<Interval> {
    let mut all: Vec<Interval> = Vec::new();
    let mut root: Option<u64> = None;
    let mut place: Option<(Place, u64)> = None;
    let row = |from_ms: u64, at: u64| Interval {
        from_ms,
        to_ms: at.min(from_ms + SETTLE_MS),
    };
    for (at, record) in journal {
        let at = *at;
        if let Record::RootGood { count: 1 } = record {
            root = Some(at);
        } else if let Record::RootGood { count: 0 } | Record::Outage { .. } = record {
            all.extend(root.take().map(|from| row(from, at)));
        } else if let Record::GoodReads { at: of, count: 1 } = record {
            place = Some((of.clone(), at));
        } else if let Record::GoodReads { at: of, count: 0 }
        | Record::Done { at: of, .. }
        | Record::ItemDone { at: of, .. }
        | Record::Boot { at: of, .. } = record
            && let Some((_, from)) = place.take_if(|(known, _)| known == of)
        {
            all.push(row(from, at));
        }
    }
    all.extend(root.map(|from| row(from, end_ms)));
    all.extend(place.map(|(_, from)| row(from, end_ms)));
    all
}

/// Between two requests that follow each other as fast as the pace lets them.
fn rate(requests: &[u64]) -> Vec<Interval> {
    requests
        .windows(2)
        .filter_map(|pair| match *pair {
            [from_ms, to_ms] if to_ms - from_ms <= RATE_GAP_MS => Some(Interval { from_ms, to_ms }),
            _ => None,
        })
        .collect()
}

/// From the end of the BMC's work to the first record after it.
fn lag(busy: &[Interval], journal: &[(u64, &Record)]) -> Vec<Interval> {
    busy.iter()
        .filter_map(|work| {
            let (to_ms, _) = journal.iter().find(|(at, _)| *at >= work.to_ms)?;
            Some(Interval {
                from_ms: work.to_ms,
                to_ms: *to_ms,
            })
        })
        .collect()
}
