//! How long each wait may last before it turns into something else. Every number argues for itself.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

/// A BMC flash with its transfer; slow BMCs take 30 to 50 min in the field.
pub const BMC_UPDATE_TIMEOUT: Duration = Duration::from_hours(1);
/// A BIOS flash with staging, several reboots and POST; up to 4,000 s are documented.
pub const BIOS_UPDATE_TIMEOUT: Duration = Duration::from_mins(90);
/// One settings item with its reset and read-back.
pub const SETTINGS_TIMEOUT: Duration = Duration::from_mins(45);
/// A task that says nothing new for this long is looked at by a person.
pub const STALL_TIMEOUT: Duration = Duration::from_mins(20);
/// Versions are shown late: minutes on some BMCs, 480 s in the longest documented recipe.
pub const VERIFY_TIMEOUT: Duration = Duration::from_mins(20);
/// Attributes are read back late: 60 to 90 s after a boot on some BMCs.
pub const SETTINGS_VERIFY_TIMEOUT: Duration = Duration::from_mins(10);
/// What a graceful shutdown or restart gets before it counts as ignored.
pub const GRACE_TIMEOUT: Duration = Duration::from_mins(5);
/// How late a BMC may show that a host went off or into POST: seconds on most, a minute on the worst. Nothing is cut off
/// before a host has looked idle for twice that.
pub const POWER_LAG: Duration = Duration::from_mins(2);
/// A host that nobody looked at for this long may have restarted meanwhile: no server's shutdown and POST are shorter.
pub const UNSEEN_BOOT: Duration = Duration::from_secs(30);
/// A forced power act that shows no effect for this long has failed.
pub const FORCE_TIMEOUT: Duration = Duration::from_mins(5);
/// From power-on to the end of POST.
pub const POST_TIMEOUT: Duration = Duration::from_mins(30);
/// A manager reset until the BMC is reachable and stable.
pub const BMC_RESET_TIMEOUT: Duration = Duration::from_mins(15);
/// A BMC that does not answer outside any declared outage.
pub const UNREACHABLE_TIMEOUT: Duration = Duration::from_mins(15);
/// How long a request that the BMC asks to repeat later is repeated.
pub const LATER_TIMEOUT: Duration = Duration::from_mins(30);
/// Between two looks at something that only others can end.
pub const HELD_POLL: Duration = Duration::from_secs(30);
/// Between the first looks at a new task: one that lives 20 s must be seen.
pub const FIRST_POLL: Duration = Duration::from_secs(2);
/// A wait is looked at again after this part of the time that it has lasted, until `task_poll` is reached: a task that
/// ends is seen at most that part too late.
pub const POLLS_PER_WAIT: u32 = 10;
/// `at + duration`, saturating at the end of time.
pub fn after(at: Timestamp, duration: Duration) -> Timestamp {
    let signed = SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX);
    at.checked_add(signed).unwrap_or(Timestamp::MAX)
}

/// Time from `since` to `now`, zero where the clock went back.
pub fn elapsed(since: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(since)).unwrap_or(Duration::ZERO)
}
