//! This room is the one place that reads a clock, and turns real time into mock time and back.
//!
//! It deliberately never steps or pauses: mock time is the real time since start, times the scale.

use std::time::Duration;

use tokio::time::Instant;

use crate::time::Moment;

/// The fleet's clock; copies agree with each other.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Clock {
    started_at: Instant,
    scale: f64,
}

impl Clock {
    /// Starts at mock time zero; `scale` mock seconds pass in each real second.
    pub(crate) fn start(scale: f64) -> Self {
        Self {
            started_at: Instant::now(),
            scale,
        }
    }

    /// Mock time now.
    pub(crate) fn now(&self) -> Moment {
        let elapsed = self.started_at.elapsed().mul_f64(self.scale);
        Moment(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX))
    }

    /// How long a span of mock time really lasts.
    pub(crate) fn real(&self, mock: Duration) -> Duration {
        mock.div_f64(self.scale)
    }

    /// The real instant at which the clock shows `moment`, never before it does.
    pub(crate) fn instant_of(&self, moment: Moment) -> Instant {
        // `now` rounds down to a millisecond, so that half of one is added: a timer must not fire a hair too early.
        let mock = Duration::from_millis(moment.0) + Duration::from_micros(500);
        self.started_at + self.real(mock)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_scale_stretches_both_ways() {
        let clock = Clock::start(60.0);
        assert_eq!(clock.real(Duration::from_mins(1)), Duration::from_secs(1));
        let moment = Moment(6_000);
        tokio::time::sleep_until(clock.instant_of(moment)).await;
        assert!(clock.now() >= moment);
    }
}
