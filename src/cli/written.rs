//! Texts as they stand in the files that redpipe writes for people.

/// A TOML string.
pub(crate) fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// A text as a name in these files: letters, digits, `.`, `-` and `_`; `other` stands for all else.
pub(crate) fn word(text: &str, other: char) -> String {
    let kept = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
    text.chars()
        .map(|c| if kept(c) { c } else { other })
        .collect()
}
