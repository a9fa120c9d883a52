//! How fast one BMC is asked: a token bucket, few requests in flight, never two that change something.
//!
//! Follows tokio's clock, so that tests which pause it see the same waits.

use std::num::NonZeroU32;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep, sleep_until};

use crate::model::inventory::Pace;
use crate::redfish::lock::lock;

/// Requests in flight where the BMC speaks HTTP/2: they share one connection.
const IN_FLIGHT_HTTP2: u32 = 4;

/// Longest wait that a `Retry-After` can cause, at the default pace: BMCs ask for 10 to 30 s, and one whose clock is
/// wrong may ask for years.
const RETRY_AFTER_MAX: Duration = Duration::from_mins(2);

/// Slowest steady pace that is meant, in requests per second: one an hour.
const RATE_MIN: f64 = 1.0 / 3600.0;

/// Every wait that is not written in a [`Pace`] itself, shrunk with it.
///
/// A mock that plays minutes as seconds comes with a pace divided alike. Only a pace that is both faster and settles
/// sooner than the default shrinks anything, and nothing ever grows.
pub(in crate::redfish) fn scaled(pace: &Pace, wait: Duration) -> Duration {
    let default = Pace::default();
    let faster = default.requests_per_second / pace.requests_per_second.max(RATE_MIN);
    let sooner = pace.settle_for.as_secs_f64() / default.settle_for.as_secs_f64();
    wait.mul_f64(faster.max(sooner).clamp(0.0001, 1.0))
}

/// Longest wait that a `Retry-After` can cause at this pace.
pub(super) fn retry_after_max(pace: &Pace) -> Duration {
    scaled(pace, RETRY_AFTER_MAX)
}

/// The gate before one BMC.
pub(super) struct Gate {
    limiter: RateLimiter<NotKeyed, InMemoryState, PausableClock, NoOpMiddleware<Duration>>,
    clock: PausableClock,
    in_flight: Semaphore,
    in_flight_configured: u32,
    widened: AtomicBool,
    mutating: Semaphore,
    not_before: Mutex<Option<Instant>>,
}

/// One request's leave to be in flight; ends when dropped.
pub(super) struct Turn<'a> {
    _in_flight: SemaphorePermit<'a>,
    _mutating: Option<SemaphorePermit<'a>>,
}

impl Gate {
    pub(super) fn new(pace: &Pace) -> Self {
        let clock = PausableClock {
            start: Instant::now(),
        };
        let in_flight = pace.in_flight.max(1);
        Self {
            limiter: RateLimiter::direct_with_clock(quota(pace), clock),
            clock,
            in_flight: Semaphore::new(usize::try_from(in_flight).unwrap_or(1)),
            in_flight_configured: in_flight,
            widened: AtomicBool::new(false),
            mutating: Semaphore::new(1),
            not_before: Mutex::new(None),
        }
    }

    /// Waits for leave to send one request.
    ///
    /// The token is taken last: queueing behind a slow answer must not use it up.
    pub(super) async fn turn(&self, changes: bool) -> Turn<'_> {
        let mutating = if changes {
            Some(acquire(&self.mutating).await)
        } else {
            None
        };
        let in_flight = acquire(&self.in_flight).await;
        loop {
            let not_before = *lock(&self.not_before);
            if let Some(until) = not_before.filter(|until| *until > Instant::now()) {
                sleep_until(until).await;
                continue;
            }
            match self.limiter.check() {
                Ok(()) => {
                    return Turn {
                        _in_flight: in_flight,
                        _mutating: mutating,
                    };
                }
                Err(early) => sleep(early.wait_time_from(self.clock.now())).await,
            }
        }
    }

    /// Nothing is sent before `wait` is over.
    pub(super) fn hold(&self, wait: Duration) {
        let until = Instant::now() + wait;
        let mut not_before = lock(&self.not_before);
        *not_before = Some(not_before.map_or(until, |old| old.max(until)));
    }

    /// The BMC speaks HTTP/2: more requests may be in flight from now on.
    pub(super) fn widen(&self) {
        if self.in_flight_configured < IN_FLIGHT_HTTP2
            && !self.widened.swap(true, Ordering::Relaxed)
        {
            let more = IN_FLIGHT_HTTP2 - self.in_flight_configured;
            self.in_flight
                .add_permits(usize::try_from(more).unwrap_or(0));
        }
    }
}

/// Tokio's clock as durations since its start.
#[derive(Debug, Clone, Copy)]
struct PausableClock {
    start: Instant,
}

impl Clock for PausableClock {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.start.elapsed()
    }
}

fn quota(pace: &Pace) -> Quota {
    let period = Duration::from_secs_f64(1.0 / pace.requests_per_second.max(RATE_MIN));
    let burst = NonZeroU32::new(pace.burst).unwrap_or(NonZeroU32::MIN);
    Quota::with_period(period.max(Duration::from_nanos(1)))
        .expect("the period is at least one nanosecond")
        .allow_burst(burst)
}

async fn acquire(semaphore: &Semaphore) -> SemaphorePermit<'_> {
    semaphore
        .acquire()
        .await
        .expect("the gate never closes its semaphores")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_burst_passes_and_then_the_rate_holds() {
        let gate = Gate::new(&Pace::default());
        let start = Instant::now();
        for _ in 0..4 {
            drop(gate.turn(false).await);
        }
        assert_eq!(start.elapsed(), Duration::ZERO);
        for _ in 0..4 {
            drop(gate.turn(false).await);
        }
        let waited = start.elapsed();
        assert!(
            waited >= Duration::from_secs(2) && waited < Duration::from_millis(2100),
            "{waited:?}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn one_request_is_in_flight_and_four_over_http2() {
        let gate = Gate::new(&Pace::default());
        let first = gate.turn(false).await;
        assert!(
            tokio::time::timeout(Duration::from_mins(1), gate.turn(false))
                .await
                .is_err()
        );
        gate.widen();
        gate.widen();
        let more = (
            gate.turn(false).await,
            gate.turn(false).await,
            gate.turn(false).await,
        );
        assert!(
            tokio::time::timeout(Duration::from_mins(1), gate.turn(false))
                .await
                .is_err()
        );
        drop((first, more));
    }

    #[tokio::test(start_paused = true)]
    async fn two_changes_never_fly_together_however_wide_the_gate() {
        let gate = Gate::new(&Pace {
            in_flight: 8,
            ..Pace::default()
        });
        let change = gate.turn(true).await;
        assert!(
            tokio::time::timeout(Duration::from_mins(1), gate.turn(true))
                .await
                .is_err()
        );
        drop(gate.turn(false).await);
        drop(change);
        drop(gate.turn(true).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_hold_delays_everything_and_never_shrinks() {
        let gate = Gate::new(&Pace::default());
        gate.hold(Duration::from_secs(30));
        gate.hold(Duration::from_secs(5));
        let start = Instant::now();
        drop(gate.turn(false).await);
        assert_eq!(start.elapsed(), Duration::from_secs(30));
    }

    #[test]
    fn waits_shrink_only_with_the_whole_pace() {
        let minute = Duration::from_mins(1);
        let fast = Pace {
            requests_per_second: 120.0,
            ..Pace::default()
        };
        assert_eq!(scaled(&fast, minute), minute);
        let slow = Pace {
            requests_per_second: 0.1,
            ..Pace::default()
        };
        assert_eq!(scaled(&slow, minute), minute);
        let mock = Pace {
            settle_for: Duration::from_secs(1),
            ..fast
        };
        assert_eq!(scaled(&mock, minute), Duration::from_secs(1));
    }
}
