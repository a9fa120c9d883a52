//! Texts with a form of their own: durations, digests, names.

use std::time::Duration;

/// Longest duration that a file may ask for: keeps every sum of deadlines far from overflow.
const DURATION_DAYS_MAX: f64 = 366.0;

/// What to write, for hints.
pub(crate) const DURATION_HINT: &str =
    "write a number and `ms`, `s`, `m`, `h` or `d`, such as \"90s\" or \"45m\"";

/// A duration such as `90s`, `45m`, `2h`, `250ms`, `1.5h` or `1h30m`.
pub(crate) fn parse_duration(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    let mut seconds = 0.0_f64;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        let unit_end = rest[digits..]
            .find(|c: char| !c.is_ascii_alphabetic())
            .map_or(rest.len(), |at| digits + at);
        let factor = match &rest[digits..unit_end] {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3_600.0,
            "d" => 86_400.0,
            _ => return None,
        };
        seconds += number * factor;
        rest = &rest[unit_end..];
    }
    (seconds <= DURATION_DAYS_MAX * 86_400.0)
        .then(|| Duration::try_from_secs_f64(seconds).ok())
        .flatten()
}

/// A SHA-256 as 64 lower-case hexadecimal digits.
pub(crate) fn parse_sha256(text: &str) -> Option<String> {
    (text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()))
        .then(|| text.to_ascii_lowercase())
}

/// What is wrong with a name. Runs are called `PIPELINE/BMC` and `PIPELINE/BMC#n`, unlisted servers `BMC/ID`.
pub(crate) fn name_problem(name: &str) -> Option<String> {
    if name.is_empty() {
        return Some("is empty".to_owned());
    }
    name.chars()
        .find(|c| c.is_whitespace() || c.is_control() || "/#,=()!\"'`".contains(*c))
        .map(|c| {
            format!(
                "has a {} in it",
                if c.is_whitespace() {
                    "space".to_owned()
                } else {
                    format!("`{}`", c.escape_default())
                }
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_need_a_number_and_a_known_unit() {
        for text in [
            "", "90", "m", "90 s", "90x", "-1s", "1.2.3s", "1s2", "99999d", "1min",
        ] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
        let cases = [
            ("90s", 90_000),
            ("45m", 2_700_000),
            ("2h", 7_200_000),
            ("250ms", 250),
            ("1h30m", 5_400_000),
            ("0.5s", 500),
            ("1d", 86_400_000),
            ("0s", 0),
        ];
        for (text, millis) in cases {
            assert_eq!(
                parse_duration(text),
                Some(Duration::from_millis(millis)),
                "{text}"
            );
        }
    }

    #[test]
    fn names_have_nothing_in_them_that_run_names_are_built_with() {
        for (name, problem) in [
            ("", "is empty"),
            ("a/b", "has a `/` in it"),
            ("a b", "has a space in it"),
        ] {
            assert_eq!(name_problem(name).as_deref(), Some(problem), "{name}");
        }
        assert_eq!(name_problem("r04-c1.lab_2"), None);
    }
}
