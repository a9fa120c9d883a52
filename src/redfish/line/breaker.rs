//! Leaves a BMC alone that does not answer.
//!
//! Pure: time is passed in. What counts as a failure is the caller's decision.

use std::time::Duration;

use tokio::time::Instant;

/// Failures in a row that open the breaker.
const FAILURES_MAX: u32 = 3;

/// Counts failures in a row.
#[derive(Debug)]
pub(super) struct Breaker {
    open_for: Duration,
    failures: u32,
    open_until: Option<Instant>,
    last: String,
}

/// No request may be sent now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::redfish) struct Open {
    /// For how long not.
    pub(super) wait: Duration,
    /// What the last failure was.
    pub(super) why: String,
}

impl Breaker {
    /// A closed breaker; once open it stays so for `open_for`, then lets one trial through.
    pub(super) fn new(open_for: Duration) -> Self {
        Self {
            open_for,
            failures: 0,
            open_until: None,
            last: String::new(),
        }
    }

    /// Whether a request may be sent; if not, how long not and why.
    pub(super) fn admit(&mut self, now: Instant) -> Result<(), Open> {
        match self.open_until {
            Some(until) if until > now => Err(Open {
                wait: until - now,
                why: self.last.clone(),
            }),
            Some(_) => {
                // Half open: the next failure opens it again at once.
                self.open_until = None;
                self.failures = FAILURES_MAX - 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// The BMC answered.
    pub(super) fn good(&mut self) {
        self.failures = 0;
        self.open_until = None;
    }

    /// It did not; `why` is told to whoever is turned away because of it.
    pub(super) fn bad(&mut self, now: Instant, why: String) {
        self.last = why;
        self.failures = self.failures.saturating_add(1);
        if self.failures >= FAILURES_MAX {
            self.open_until = Some(now + self.open_for);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN_FOR: Duration = Duration::from_mins(2);

    #[test]
    fn three_failures_open_it_and_one_trial_follows() {
        let now = Instant::now();
        let mut breaker = Breaker::new(OPEN_FOR);
        let open = |why: &str| {
            Err(Open {
                wait: OPEN_FOR,
                why: why.to_owned(),
            })
        };
        breaker.bad(now, "first".to_owned());
        breaker.bad(now, "second".to_owned());
        assert_eq!(breaker.admit(now), Ok(()));
        breaker.bad(now, "third".to_owned());
        assert_eq!(breaker.admit(now), open("third"));
        let later = now + OPEN_FOR;
        assert_eq!(breaker.admit(later), Ok(()));
        breaker.bad(later, "fourth".to_owned());
        assert_eq!(breaker.admit(later), open("fourth"));
    }

    #[test]
    fn an_answer_starts_the_count_anew() {
        let now = Instant::now();
        let mut breaker = Breaker::new(OPEN_FOR);
        for _ in 0..10 {
            breaker.bad(now, String::new());
            breaker.bad(now, String::new());
            breaker.good();
        }
        assert_eq!(breaker.admit(now), Ok(()));
    }
}
