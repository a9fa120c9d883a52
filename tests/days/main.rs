//! A daemon over a fleet for two days, with drift at random. The example `days` does it for a fleet of any size.

#![expect(clippy::unwrap_used, reason = "tests")]

#[path = "../support/mod.rs"]
mod support;

mod fleet;

use fleet::{Case, days};

/// Given two days of drift at random, then the fleet ends in sync, with no flash beyond what drift explains.
#[tokio::test(start_paused = true)]
async fn a_fleet_that_drifts_at_random_for_two_days_ends_in_sync() {
    let case = Case {
        bmcs: 24,
        hours: 48,
        seed: 1,
    };
    let end = days(case).await;
    assert!(end.fell > 0 && end.changed > 0, "{end:?}");
    assert_eq!(end.wrong, [""; 0], "{end:?}");
}
