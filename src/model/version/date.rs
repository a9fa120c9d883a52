//! Dates beside versions: they tell, and decide only where the numbers tie.
//!
//! There is deliberately no calendar here: a date is a key that sorts.

/// A date in a form that sorts as text: `YYYYMMDD`, with a time of day behind it where one is stated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Date {
    day: String,
    time: String,
}

impl Date {
    /// Which of two dates is later; a time of day counts only where both have one.
    pub(super) fn order(&self, other: &Self) -> std::cmp::Ordering {
        let days = self.day.cmp(&other.day);
        if self.time.is_empty() || other.time.is_empty() {
            days
        } else {
            days.then_with(|| self.time.cmp(&other.time))
        }
    }

    /// Reads one date, in lower case: `12/31/2024`, `dec 31 2024`, `2024-12-31[t23:59:59..]`, `20241231` or
    /// `123120242359` (month first). `None` where the text is no date.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (day, time) = match text.split_once('t') {
            Some((day, time)) if day.contains('-') => (day, time),
            Some(_) | None => (text, ""),
        };
        let (year, month, day, rest) = slots(day)?;
        let time: String = if time.is_empty() {
            rest
        } else {
            time.chars().filter(char::is_ascii_digit).collect()
        };
        let in_calendar =
            ("01".."13").contains(&month.as_str()) && ("01".."32").contains(&day.as_str());
        let in_width = year.len() == 4 && month.len() == 2 && day.len() == 2;
        (in_calendar && in_width).then(|| Self {
            day: format!("{year}{month}{day}"),
            time,
        })
    }
}

/// Takes a date off the end of a version text in lower case, and the brackets around it.
pub(super) fn split_date(text: &str) -> (&str, Option<Date>) {
    // From the front, so that the longest tail that is a date wins; a date has at most two spaces inside.
    for (at, _) in text.match_indices(' ') {
        let (Some(head), Some(tail)) = (text.get(..at), text.get(at + 1..)) else {
            continue;
        };
        let bare = tail
            .strip_prefix('(')
            .and_then(|t| t.strip_suffix(')'))
            .unwrap_or(tail);
        let spelled = bare.contains(['/', '-', ' ']);
        if let Some(date) = Date::parse(bare).filter(|_| spelled) {
            return (head, Some(date));
        }
    }
    (text, None)
}

/// Year, month, day and whatever digits follow.
fn slots(text: &str) -> Option<(String, String, String, String)> {
    let parts: Vec<&str> = text.split(['/', '-', ' ']).collect();
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let own = |y: &str, m: &str, d: &str, rest: &str| {
        Some((y.to_owned(), m.to_owned(), d.to_owned(), rest.to_owned()))
    };
    match parts.as_slice() {
        [m, d, y] if text.contains('/') && digits(m) && digits(d) && digits(y) => {
            own(y, &two(m), &two(d), "")
        }
        [y, m, d] if text.contains('-') && digits(m) && digits(d) && digits(y) => {
            own(y, &two(m), &two(d), "")
        }
        [m, d, y] if text.contains(' ') && digits(d) && digits(y) => own(y, month(m)?, &two(d), ""),
        [all] if digits(all) && all.len() == 8 => {
            own(all.get(..4)?, all.get(4..6)?, all.get(6..)?, "")
        }
        [all] if digits(all) && all.len() == 12 => {
            own(all.get(4..8)?, all.get(..2)?, all.get(2..4)?, all.get(8..)?)
        }
        _ => None,
    }
}

fn two(digits: &str) -> String {
    format!("{digits:0>2}")
}

fn month(name: &str) -> Option<&'static str> {
    const MONTHS: [(&str, &str); 12] = [
        ("jan", "01"),
        ("feb", "02"),
        ("mar", "03"),
        ("apr", "04"),
        ("may", "05"),
        ("jun", "06"),
        ("jul", "07"),
        ("aug", "08"),
        ("sep", "09"),
        ("oct", "10"),
        ("nov", "11"),
        ("dec", "12"),
    ];
    MONTHS
        .iter()
        .find(|(short, _)| *short == name)
        .map(|(_, number)| *number)
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::*;

    #[test]
    fn what_is_no_date_is_not_read_as_one() {
        for text in [
            "",
            "13/01/2024",
            "01/32/2024",
            "2024-00-10",
            "foo 01 2024",
            "1/2",
            "99999999",
            "1/2/24",
        ] {
            assert_eq!(Date::parse(text), None, "{text}");
        }
    }

    #[test]
    fn every_form_gives_the_same_day() {
        let forms = [
            "12/31/2024",
            "dec 31 2024",
            "2024-12-31",
            "2024-12-31t23:59:59+00:00",
            "20241231",
            "123120242359",
        ];
        for (a, b) in forms.iter().zip(forms.iter().skip(1)) {
            let order = Date::parse(a).zip(Date::parse(b)).map(|(a, b)| a.order(&b));
            assert_eq!(order, Some(Ordering::Equal), "{a} {b}");
        }
    }

    #[test]
    fn a_date_leaves_the_end_of_a_text() {
        for (text, head) in [
            ("1.60 (01/02/2026)", "1.60"),
            ("1.60 jan 02 2026", "1.60"),
            ("x 1.60 2026-01-02", "x 1.60"),
            ("1.60 20260102", "1.60 20260102"),
        ] {
            assert_eq!(split_date(text).0, head, "{text}");
        }
    }
}
