//! `Retry-After` in both forms, never believed without limit.
//!
//! A BMC's clock may stand in 1970, so a date is read against the BMC's own `Date` where it sends one.

use std::time::Duration;

use http::HeaderMap;
use http::header::{DATE, RETRY_AFTER};
use jiff::fmt::rfc2822::DateTimeParser;
use jiff::{SignedDuration, Timestamp};

/// The wait that an answer asks for: seconds, or the time until a date; at most `max`.
pub(super) fn retry_after(headers: &HeaderMap, now: Timestamp, max: Duration) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(Duration::from_secs(seconds).min(max));
    }
    let until = parse_date(text)?;
    let bmc_now = headers
        .get(DATE)
        .and_then(|date| date.to_str().ok())
        .and_then(parse_date);
    let wait: SignedDuration = until.duration_since(bmc_now.unwrap_or(now));
    Some(Duration::try_from(wait).unwrap_or(Duration::ZERO).min(max))
}

/// An HTTP date (RFC 9110, "Date/Time Formats"), as far as servers still send it.
fn parse_date(text: &str) -> Option<Timestamp> {
    static PARSER: DateTimeParser = DateTimeParser::new().relaxed_weekday(true);
    PARSER.parse_timestamp(text.trim()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: Duration = Duration::from_mins(2);

    fn wait(retry: &str, date: Option<&str>) -> Option<Duration> {
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().expect("a valid time");
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, retry.parse().expect("a valid header"));
        if let Some(date) = date {
            headers.insert(DATE, date.parse().expect("a valid header"));
        }
        retry_after(&headers, now, MAX)
    }

    #[test]
    fn nonsense_asks_for_nothing() {
        assert_eq!(wait("soon", None), None);
        assert_eq!(wait("-5", None), None);
    }

    #[test]
    fn seconds_are_clamped() {
        assert_eq!(wait("30", None), Some(Duration::from_secs(30)));
        assert_eq!(wait("86400", None), Some(MAX));
    }

    #[test]
    fn dates_are_read_against_the_clock_of_the_bmc() {
        let ten_past = "Thu, 01 Jan 1970 00:10:30 GMT";
        assert_eq!(
            wait(ten_past, Some("Thu, 01 Jan 1970 00:10:00 GMT")),
            Some(Duration::from_secs(30))
        );
        assert_eq!(
            wait(ten_past, None),
            Some(Duration::ZERO),
            "in the past of our clock"
        );
        assert_eq!(
            wait("Sun, 01 Mar 2026 12:00:20 GMT", None),
            Some(Duration::from_secs(20))
        );
        assert_eq!(
            wait(
                "Sun, 01 Mar 2026 12:00:20 GMT",
                Some("Thu, 01 Jan 1970 00:00:00 GMT")
            ),
            Some(MAX)
        );
        assert_eq!(wait("Fri, 01 Jan 2100 00:00:00 GMT", None), Some(MAX));
    }
}
