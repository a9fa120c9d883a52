//! This room is a span of mock time as a script writes it.
//!
//! It deliberately knows no negative spans and no calendar.

use std::time::Duration;

use jiff::SignedDuration;
use serde::{Deserialize, Deserializer, de};

/// A span of mock time: `"90s"`, `"8m"`, `"1h 30m"`.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(pub Duration);

impl Span {
    /// A span of whole seconds.
    pub const fn from_secs(seconds: u64) -> Self {
        Self(Duration::from_secs(seconds))
    }

    /// A span of whole minutes.
    pub const fn from_mins(minutes: u64) -> Self {
        Self(Duration::from_secs(minutes * 60))
    }

    /// The span as seconds, rounded down.
    pub const fn as_secs(self) -> u64 {
        self.0.as_secs()
    }
}

impl From<Duration> for Span {
    fn from(span: Duration) -> Self {
        Self(span)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let wrong = || {
            de::Error::custom(format!(
                "found `{text}`, expected a span such as `90s`, `8m` or `1h 30m`"
            ))
        };
        let signed: SignedDuration = text.parse().map_err(|_| wrong())?;
        Duration::try_from(signed).map(Self).map_err(|_| wrong())
    }
}
