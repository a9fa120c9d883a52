//! How often refused credentials may be tried: bounded per BMC, and over all BMCs that share them.
//!
//! Pure rules over one small record per credential value; whoever stores the record makes each change one atomic step.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// Most refused logins per BMC and credential value: the common lockout thresholds are 3 to 5.
const REFUSED_MAX: u32 = 3;

/// BMCs that may refuse one credential value before it counts as bad everywhere.
const REFUSING_BMCS_MAX: usize = 3;

/// Refusals of several BMCs belong together when they come within this time.
const REFUSALS_TOGETHER: Duration = Duration::from_mins(10);

/// Logins with one credential value under way at once, over all BMCs, while they succeed. Until a first one has
/// succeeded it is [`REFUSING_BMCS_MAX`]; each success lets one more in.
const LOGINS_AT_ONCE_MAX: usize = 16;

/// What is known of one credential value (a user name and password, named by a salted hash), over all BMCs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoginRecord {
    /// BMCs with something outstanding; a success takes its BMC out.
    #[serde(default)]
    pub bmcs: BTreeMap<String, BmcLogins>,
    /// Set when three BMCs refused it in a row: nobody is asked again until a person says so.
    #[serde(default)]
    pub bad_everywhere: bool,
    /// Successes in a row, over all BMCs, since the last refusal.
    #[serde(default)]
    pub accepted: u32,
    /// When the last success was.
    #[serde(default)]
    pub accepted_at: Option<Timestamp>,
}

/// What one BMC said to one credential value.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BmcLogins {
    /// Refusals in a row.
    #[serde(default)]
    pub refused: u32,
    /// When the last refusal came.
    #[serde(default)]
    pub refused_at: Option<Timestamp>,
    /// When a login was sent whose end is not written down yet.
    #[serde(default)]
    pub pending_since: Option<Timestamp>,
    /// Refused as often as allowed: not asked again until the credentials change or a person says so.
    #[serde(default)]
    pub bad: bool,
    /// Refused by a BMC that looked factory-reset: one refusal was enough.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reset: bool,
}

/// Limits for one BMC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoginRule {
    /// Most refusals.
    pub refused_max: u32,
    /// Least time between a refusal and the next login.
    pub apart: Duration,
    /// A login whose end was never written down belongs to a killed process once it is this old.
    pub abandoned_after: Duration,
}

impl LoginRule {
    /// The rule for a BMC: at most `min(3, threshold − 1)` refusals, `apart` from each other; a threshold of 0 or none
    /// means 3. A threshold of 1 leaves one: without any login nothing could ever be done.
    pub fn new(threshold: Option<u32>, apart: Duration, abandoned_after: Duration) -> Self {
        let refused_max = match threshold {
            None | Some(0) => REFUSED_MAX,
            Some(threshold) => (threshold - 1).clamp(1, REFUSED_MAX),
        };
        Self {
            refused_max,
            apart,
            abandoned_after,
        }
    }
}

/// Answer to "may I log in now?".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginLeave {
    /// Yes; the login is written down as under way, and its end must be told.
    Go,
    /// Not before this time: the last refusal is too fresh.
    Wait(Timestamp),
    /// Other logins with this credential value are under way: ask again soon.
    Busy,
    /// No: this BMC refused it, and looked factory-reset.
    LooksReset,
    /// No: this BMC refused it as often as allowed.
    BadHere,
    /// No: several BMCs refused it.
    BadEverywhere,
}

/// How a login ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginEnd {
    /// The BMC took it.
    Accepted,
    /// The BMC refused user or password.
    Refused,
    /// It did, and shows that it is not as it was: its accounts are not, either.
    LooksReset,
    /// Neither: it was not sent, its answer was lost, or the BMC was not ready.
    Unknown,
}

impl LoginRecord {
    /// Asks for leave to log in, and writes the login down where it is given.
    pub fn ask(&mut self, bmc: &str, now: Timestamp, rule: LoginRule) -> LoginLeave {
        self.drop_abandoned(now, rule);
        if self.bad_everywhere {
            return LoginLeave::BadEverywhere;
        }
        if let Some(here) = self.bmcs.get_mut(bmc) {
            if here.reset {
                return LoginLeave::LooksReset;
            }
            if here.bad || here.refused >= rule.refused_max {
                here.bad = true;
                return LoginLeave::BadHere;
            }
            if here.pending_since.is_some() {
                return LoginLeave::Busy;
            }
            // A clock that went back must not make the wait longer than the rule.
            if let Some(at) = here.refused_at.map(|at| at.min(now)) {
                let next = at + apart(rule.apart);
                if next > now {
                    return LoginLeave::Wait(next);
                }
            }
        }
        if self.outstanding_elsewhere(bmc, now) >= self.at_once(now) {
            return LoginLeave::Busy;
        }
        self.bmcs.entry(bmc.to_owned()).or_default().pending_since = Some(now);
        LoginLeave::Go
    }

    /// Writes down how a login ended; true when this end made the credentials bad (here or everywhere).
    pub fn end(&mut self, bmc: &str, now: Timestamp, rule: LoginRule, end: LoginEnd) -> bool {
        match end {
            LoginEnd::Accepted => {
                self.bmcs.remove(bmc);
                self.accepted = if self.accepted_lately(now) {
                    self.accepted.saturating_add(1)
                } else {
                    1
                };
                self.accepted_at = Some(now);
                false
            }
            LoginEnd::Unknown => {
                self.settle(bmc);
                false
            }
            LoginEnd::LooksReset => {
                // It says nothing of the credentials: other BMCs are asked as before.
                let here = self.bmcs.entry(bmc.to_owned()).or_default();
                here.pending_since = None;
                here.refused = here.refused.saturating_add(1);
                here.refused_at = None;
                (here.bad, here.reset) = (true, true);
                true
            }
            LoginEnd::Refused => {
                let here = self.bmcs.entry(bmc.to_owned()).or_default();
                here.pending_since = None;
                here.refused = here.refused.saturating_add(1);
                here.refused_at = Some(now);
                here.bad = here.refused >= rule.refused_max;
                let bad_here = here.bad;
                self.bad_everywhere |= self.refusing(now) >= REFUSING_BMCS_MAX;
                self.accepted = 0;
                bad_here || self.bad_everywhere
            }
        }
    }

    /// A person vouches for the credentials on this BMC: everything held against them is forgotten, here and everywhere.
    pub fn forgive(&mut self, bmc: &str) {
        self.bmcs.remove(bmc);
        if self.bad_everywhere {
            self.bad_everywhere = false;
            self.bmcs.clear();
        }
    }

    /// Whether no login will be tried on this BMC.
    pub fn is_bad(&self, bmc: &str) -> bool {
        self.bad_everywhere || self.bmcs.get(bmc).is_some_and(|here| here.bad)
    }

    /// Forgets a login whose process was killed before it wrote down the end.
    pub fn abandon(&mut self, bmc: &str) {
        self.settle(bmc);
    }

    fn settle(&mut self, bmc: &str) {
        if let Some(here) = self.bmcs.get_mut(bmc) {
            here.pending_since = None;
            if here.refused == 0 {
                self.bmcs.remove(bmc);
            }
        }
    }

    fn drop_abandoned(&mut self, now: Timestamp, rule: LoginRule) {
        for here in self.bmcs.values_mut() {
            let old =
                |since: Timestamp| now.duration_since(since).unsigned_abs() > rule.abandoned_after;
            if here.pending_since.is_some_and(old) {
                here.pending_since = None;
            }
        }
        self.bmcs
            .retain(|_, here| here.refused > 0 || here.pending_since.is_some());
    }

    /// BMCs other than this one that have refused lately, since the last success, or may be about to.
    fn outstanding_elsewhere(&self, bmc: &str, now: Timestamp) -> usize {
        let counts =
            |here: &BmcLogins| here.pending_since.is_some() || self.refused_lately(here, now);
        self.bmcs
            .iter()
            .filter(|(name, here)| name.as_str() != bmc && counts(here))
            .count()
    }

    fn refusing(&self, now: Timestamp) -> usize {
        self.bmcs
            .values()
            .filter(|here| self.refused_lately(here, now))
            .count()
    }

    fn refused_lately(&self, here: &BmcLogins, now: Timestamp) -> bool {
        here.refused_at.is_some_and(|at| {
            now.duration_since(at) <= apart(REFUSALS_TOGETHER)
                && self.accepted_at.is_none_or(|ok| ok < at)
        })
    }

    fn accepted_lately(&self, now: Timestamp) -> bool {
        self.accepted_at
            .is_some_and(|at| now.duration_since(at) <= apart(REFUSALS_TOGETHER))
    }

    fn at_once(&self, now: Timestamp) -> usize {
        let earned = if self.accepted_lately(now) {
            self.accepted
        } else {
            0
        };
        REFUSING_BMCS_MAX
            .saturating_add(usize::try_from(earned).unwrap_or(usize::MAX))
            .min(LOGINS_AT_ONCE_MAX)
    }
}

fn apart(duration: Duration) -> SignedDuration {
    SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX)
}
