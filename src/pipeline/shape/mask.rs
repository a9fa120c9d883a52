//! Secrets in texts: findings show lines of the file, and these must show none.

use std::ops::Range;

use toml::Spanned;
use toml::de::DeValue;

/// The text with these bytes starred out; every offset stays valid.
pub(crate) fn masked(text: &str, secrets: &[Range<usize>]) -> String {
    let mut masked = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        if c != '\n' && secrets.iter().any(|span| span.contains(&at)) {
            masked.extend(std::iter::repeat_n('*', c.len_utf8()));
        } else {
            masked.push(c);
        }
    }
    masked
}

/// Bytes of a value that nobody may see, by its key: literal passwords, and user info in URLs.
pub(super) fn secret_part(key: &str, value: &Spanned<DeValue<'_>>) -> Option<Range<usize>> {
    let (span, text) = (value.span(), value.get_ref().as_str()?);
    if is_secret_key(key) && !text.contains("${") {
        return Some(span);
    }
    user_info(text).map(|_| span)
}

/// The user info of a URL.
pub(crate) fn user_info(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    authority.rsplit_once('@').map(|(user, _)| user)
}

/// The same for a file that cannot be parsed, by the look of its lines; too much rather than too little.
pub(super) fn secret_lines(text: &str) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let lower = line.to_lowercase();
        if lower.contains("password")
            || lower.contains("plain")
            || lower.contains("://") && line.contains('@')
        {
            let from = line.find('=').map_or(0, |at| at + 1);
            spans.push(start + from..start + line.len());
        }
        start += line.len();
    }
    spans
}

fn is_secret_key(key: &str) -> bool {
    key == "plain" || key.to_lowercase().ends_with("password")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_stay_valid_where_secrets_are_starred_out() {
        assert_eq!(
            masked("a = \"pä\"\nb", std::slice::from_ref(&(4..9))),
            "a = *****\nb"
        );
        assert_eq!(masked("a\nb", std::slice::from_ref(&(0..3))), "*\n*");
    }

    #[test]
    fn a_broken_file_hides_everything_after_a_password_key() {
        let text = "name = 1\npassword = { plain = \"x }\nuri = \"http://u:p@h/\"\n";
        let shown = masked(text, &secret_lines(text));
        assert_eq!(
            shown,
            "name = 1\npassword =***************\nuri =****************\n"
        );
    }

    #[test]
    fn user_info_is_what_stands_before_the_at_sign_of_a_host() {
        assert_eq!(user_info("http://u:p@w@host/x@y"), Some("u:p@w"));
        assert_eq!(user_info("http://host/x@y"), None);
    }
}
