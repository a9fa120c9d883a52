//! When disruptive steps may run: a time of day, on some days of the week, in a time zone.
//!
//! Zones come from the data compiled into the program, so that a window means the same on every host.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use jiff::civil::{Date, Time, Weekday};
use jiff::tz::{TimeZone, TimeZoneDatabase};
use jiff::{Span, Timestamp};

/// Days looked ahead and back: a window opens at least once a week and is open for a day at most, and what follows on
/// without a gap is joined for a week.
const DAYS_MAX: i64 = 8;

/// A weekly window.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    days: Vec<Weekday>,
    start: Time,
    /// `None` = midnight at the end of the day.
    end: Option<Time>,
    zone: TimeZone,
    shown: String,
}

/// One time for which a window is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opening {
    /// When it opens.
    pub opens_at: Timestamp,
    /// When it closes; later where the next one follows without a gap.
    pub closes_at: Timestamp,
}

impl Opening {
    /// Whether something that begins at `now` and takes so long is over before it closes.
    pub fn fits(&self, now: Timestamp, expected: Duration) -> bool {
        let left = Duration::try_from(self.closes_at.duration_since(now.max(self.opens_at)));
        left.is_ok_and(|left| left >= expected)
    }
}

impl Window {
    /// A window that opens at `start` on these days (none = every day) and closes at `end`, on the next day where that
    /// is not later; `None` = at midnight. `None` where the zone is unknown.
    pub fn new(
        days: &BTreeSet<Day>,
        start: Time,
        end: Option<Time>,
        zone_name: &str,
    ) -> Option<Self> {
        let zone = TimeZoneDatabase::bundled().get(zone_name).ok()?;
        let every = [
            Day::Mon,
            Day::Tue,
            Day::Wed,
            Day::Thu,
            Day::Fri,
            Day::Sat,
            Day::Sun,
        ];
        let chosen: Vec<Day> = if days.is_empty() {
            every.to_vec()
        } else {
            days.iter().copied().collect()
        };
        let words: Vec<&str> = chosen.iter().map(|day| day.as_str()).collect();
        let days = if chosen.len() == every.len() {
            "daily".to_owned()
        } else {
            words.join(", ")
        };
        let clock = |time: Time| time.strftime("%H:%M").to_string();
        let shown = format!(
            "{days} {}-{} {zone_name}",
            clock(start),
            end.map_or_else(|| "24:00".to_owned(), clock)
        );
        Some(Self {
            days: chosen.into_iter().map(Day::weekday).collect(),
            start,
            end,
            zone,
            shown,
        })
    }

    /// The opening that is under way, else the next one; `None` only at the end of time.
    pub fn opening(&self, now: Timestamp) -> Option<Opening> {
        let today = now.to_zoned_datetime(self.zone.clone()).date();
        let mut found: Option<Opening> = None;
        for offset in -1..=DAYS_MAX {
            let Some(opening) = self.opening_on(today.checked_add(Span::new().days(offset)).ok()?)
            else {
                continue;
            };
            match &mut found {
                Some(found) if opening.opens_at <= found.closes_at => {
                    found.closes_at = found.closes_at.max(opening.closes_at);
                }
                Some(_) => break,
                None if opening.closes_at <= now => {}
                None => found = Some(opening),
            }
        }
        found
    }

    /// Whether it is open.
    pub fn is_open(&self, now: Timestamp) -> bool {
        self.opening(now)
            .is_some_and(|opening| opening.opens_at <= now)
    }

    /// A time as people in its zone write it.
    pub fn local(&self, at: Timestamp) -> String {
        at.to_zoned_datetime(self.zone.clone())
            .strftime("%a %Y-%m-%d %H:%M %Z")
            .to_string()
    }

    /// The opening that begins on a day; `None` where it is no day of the window, or a change of clocks swallows it.
    fn opening_on(&self, date: Date) -> Option<Opening> {
        if !self.days.contains(&date.weekday()) {
            return None;
        }
        let (closing_day, end) = match self.end {
            None => (date.tomorrow().ok()?, Time::midnight()),
            Some(end) if end <= self.start => (date.tomorrow().ok()?, end),
            Some(end) => (date, end),
        };
        let instant = |date: Date, time: Time| {
            let zoned = date.to_datetime(time).to_zoned_datetime(self.zone.clone());
            zoned.ok().map(|zoned| zoned.timestamp())
        };
        let opens_at = instant(date, self.start)?;
        let closes_at = instant(closing_day, end)?;
        (opens_at < closes_at).then_some(Opening {
            opens_at,
            closes_at,
        })
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

/// A day of the week.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Day {
    /// Monday.
    Mon,
    /// Tuesday.
    Tue,
    /// Wednesday.
    Wed,
    /// Thursday.
    Thu,
    /// Friday.
    Fri,
    /// Saturday.
    Sat,
    /// Sunday.
    Sun,
}

impl Day {
    /// The word of the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mon => "Mon",
            Self::Tue => "Tue",
            Self::Wed => "Wed",
            Self::Thu => "Thu",
            Self::Fri => "Fri",
            Self::Sat => "Sat",
            Self::Sun => "Sun",
        }
    }

    fn weekday(self) -> Weekday {
        match self {
            Self::Mon => Weekday::Monday,
            Self::Tue => Weekday::Tuesday,
            Self::Wed => Weekday::Wednesday,
            Self::Thu => Weekday::Thursday,
            Self::Fri => Weekday::Friday,
            Self::Sat => Weekday::Saturday,
            Self::Sun => Weekday::Sunday,
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn window(days: &[Day], start: &str, end: &str, zone: &str) -> Window {
        let time = |text: &str| text.parse::<Time>().ok();
        let days = days.iter().copied().collect();
        Window::new(&days, time(start).unwrap(), time(end), zone).unwrap()
    }

    /// Opening and closing of the window at a time, in UTC.
    fn opening(window: &Window, now: &str) -> [String; 2] {
        let found = window.opening(now.parse().unwrap()).unwrap();
        [found.opens_at.to_string(), found.closes_at.to_string()]
    }

    #[test]
    fn a_day_names_when_the_window_opens_and_the_night_belongs_to_it() {
        let nights = window(&[Day::Sat, Day::Sun], "22:00", "06:00", "Europe/Berlin");
        let saturday = ["2026-03-07T21:00:00Z", "2026-03-08T05:00:00Z"];
        // Saturday at 05:00 is Friday's night, and Friday is no day of it.
        assert_eq!(opening(&nights, "2026-03-07T04:00:00Z"), saturday);
        assert_eq!(opening(&nights, "2026-03-08T04:59:59Z"), saturday);
        let sunday = ["2026-03-08T21:00:00Z", "2026-03-09T05:00:00Z"];
        assert_eq!(opening(&nights, "2026-03-08T05:00:00Z"), sunday);
        // Monday at 05:59 is Sunday's night; after it the next Saturday comes.
        assert!(nights.is_open("2026-03-09T04:59:00Z".parse().unwrap()));
        assert!(!nights.is_open("2026-03-09T05:00:00Z".parse().unwrap()));
        assert_eq!(
            opening(&nights, "2026-03-09T05:00:00Z"),
            ["2026-03-14T21:00:00Z", "2026-03-15T05:00:00Z"]
        );
    }

    #[test]
    fn the_night_in_which_clocks_change_is_an_hour_shorter_or_longer() {
        let nights = window(&[Day::Sat], "22:00", "06:00", "Europe/Berlin");
        assert_eq!(
            opening(&nights, "2026-03-28T12:00:00Z"),
            ["2026-03-28T21:00:00Z", "2026-03-29T04:00:00Z"]
        );
        assert_eq!(
            opening(&nights, "2026-10-24T12:00:00Z"),
            ["2026-10-24T20:00:00Z", "2026-10-25T05:00:00Z"]
        );
    }

    #[test]
    fn a_time_that_clocks_leave_out_is_the_next_one_that_there_is() {
        let early = window(&[Day::Sun], "02:30", "05:00", "Europe/Berlin");
        assert_eq!(
            opening(&early, "2026-03-28T12:00:00Z"),
            ["2026-03-29T01:30:00Z", "2026-03-29T03:00:00Z"]
        );
        let swallowed = window(&[Day::Sun], "02:15", "02:45", "Europe/Berlin");
        assert!(
            swallowed
                .opening("2026-03-29T00:00:00Z".parse().unwrap())
                .is_some()
        );
    }

    #[test]
    fn windows_without_a_gap_are_one() {
        let weekend = window(&[Day::Sat, Day::Sun], "00:00", "24:00", "UTC");
        assert_eq!(
            opening(&weekend, "2026-03-06T12:00:00Z"),
            ["2026-03-07T00:00:00Z", "2026-03-09T00:00:00Z"]
        );
        let always = window(&[], "00:00", "00:00", "UTC");
        let found = always
            .opening("2026-03-06T12:00:00Z".parse().unwrap())
            .unwrap();
        assert!(found.fits(
            "2026-03-06T12:00:00Z".parse().unwrap(),
            Duration::from_hours(7 * 24)
        ));
    }

    #[test]
    fn what_takes_longer_than_is_left_does_not_fit() {
        let night = window(&[Day::Sat], "22:00", "23:00", "UTC");
        let opening = night
            .opening("2026-03-07T22:20:00Z".parse().unwrap())
            .unwrap();
        let fits =
            |now: &str, minutes| opening.fits(now.parse().unwrap(), Duration::from_mins(minutes));
        assert!(fits("2026-03-07T22:20:00Z", 40));
        assert!(!fits("2026-03-07T22:20:01Z", 40));
        assert!(
            fits("2026-03-07T12:00:00Z", 60),
            "counted from when it opens"
        );
        assert!(!fits("2026-03-07T12:00:00Z", 61));
    }

    #[test]
    fn a_window_shows_itself_and_local_time() {
        let night = window(&[Day::Sat, Day::Sun], "22:00", "06:00", "Europe/Berlin");
        assert_eq!(night.to_string(), "Sat, Sun 22:00-06:00 Europe/Berlin");
        assert_eq!(
            night.local("2026-03-07T21:00:00Z".parse().unwrap()),
            "Sat 2026-03-07 22:00 CET"
        );
        assert_eq!(
            window(&[], "22:00", "24:00", "UTC").to_string(),
            "daily 22:00-24:00 UTC"
        );
        let unknown = Window::new(&BTreeSet::new(), Time::midnight(), None, "Mars/Base");
        assert_eq!(unknown, None);
    }
}
