//! Whether a platform's name is one that a rule speaks of.

/// Whether a platform's name contains one of a rule's words, with nothing but a generation behind it.
///
/// `hpe-ilo5` contains `hpe` and `ilo`; `dellish` does not contain `dell`.
pub(super) fn speaks_of(platform: &str, words: &[&str]) -> bool {
    words
        .iter()
        .any(|word| generation(platform, word).is_some())
}

/// The digits behind a word of a platform's name, empty where the word stands alone: `5` for `ilo` in `hpe-ilo5`.
pub(super) fn generation(platform: &str, word: &str) -> Option<String> {
    let platform = platform.to_ascii_lowercase();
    platform
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter_map(|part| part.strip_prefix(word))
        .find(|rest| rest.bytes().all(|b| b.is_ascii_digit()))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_counts_only_whole() {
        assert!(!speaks_of("dellish", &["dell"]));
        assert!(!speaks_of("generic", &["dell", "hpe"]));
        assert!(speaks_of("Dell-iDRAC9", &["idrac"]));
    }

    #[test]
    fn a_generation_stands_behind_its_word() {
        assert_eq!(generation("hpe-ilo5", "ilo").as_deref(), Some("5"));
        assert_eq!(generation("hpe", "ilo"), None);
    }
}
