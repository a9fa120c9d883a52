//! What is no version at all, and what around a version is only packing.

/// Texts, in lower case, that BMCs send where they have no version to show.
///
/// `string` is a schema's placeholder that reached the wire; `e` is a status letter in the version field.
const ABSENT: [&str; 14] = [
    "n/a",
    "na",
    "xx",
    "e",
    "undefined",
    "unknown",
    "none",
    "null",
    "not present",
    "not available",
    "not applicable",
    "version not available",
    "unavailable",
    "string",
];

/// Whether a text only says that there is no version: empty, punctuation alone, or a word such as `N/A` or `Unknown`.
///
/// An absent version is neither older nor later than any other, and not equal to another absent one.
pub fn is_absent(text: &str) -> bool {
    Clean::new(text).is_absent()
}

/// A text without its packing: white space and NUL around it, white space doubled inside it, and one `v` before its
/// first digit.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Clean {
    /// In its own case.
    pub(super) own: String,
    /// In lower case, which is how texts are told apart.
    pub(super) lower: String,
}

impl Clean {
    pub(super) fn new(text: &str) -> Self {
        let words = text
            .split(|c: char| c.is_whitespace() || c == '\0')
            .filter(|word| !word.is_empty());
        let unpacked = words.collect::<Vec<_>>().join(" ");
        let own = match unpacked.strip_prefix(['v', 'V']) {
            Some(rest) if rest.starts_with(|c: char| c.is_ascii_digit()) => rest.to_owned(),
            Some(_) | None => unpacked,
        };
        Self {
            lower: own.to_ascii_lowercase(),
            own,
        }
    }

    pub(super) fn is_absent(&self) -> bool {
        !self.lower.chars().any(char::is_alphanumeric) || ABSENT.contains(&self.lower.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_nothing_are_absent() {
        let absent = [
            "",
            " ",
            "\0",
            "-*",
            "-",
            "--",
            "N/A",
            "NA",
            "na",
            "xx",
            "undefined",
            "Unknown",
            "Not Present",
            "version not available",
            "E ",
            "string",
            "Not Available",
        ];
        for text in absent {
            assert!(is_absent(text), "{text:?}");
        }
    }

    #[test]
    fn odd_versions_are_present() {
        for text in ["0", "0.0.0", "E1", "A2", "v0", "Grace A02", "NA1"] {
            assert!(!is_absent(text), "{text:?}");
        }
    }

    #[test]
    fn packing_goes_and_nothing_else() {
        assert_eq!(
            Clean::new(" V1.88  (BUILD ID AMBT08R)\0").own,
            "1.88 (BUILD ID AMBT08R)"
        );
        assert_eq!(Clean::new("Viking-1").lower, "viking-1");
    }
}
