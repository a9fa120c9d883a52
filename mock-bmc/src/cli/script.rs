//! This room reads a script file and says where it is wrong.
//!
//! It deliberately knows no key of a script; the library's types do.

use std::fs;
use std::path::Path;

use mock_bmc::script::Script;

use super::report::Failure;

/// Reads a script.
pub(crate) fn load(path: &Path) -> Result<Script, Failure> {
    let text = fs::read_to_string(path).map_err(|error| {
        Failure::usage(format!("cannot read the script `{}`", path.display()))
            .cause(error.to_string())
    })?;
    parse(&text, path)
}

fn parse(text: &str, path: &Path) -> Result<Script, Failure> {
    toml::from_str(text).map_err(|error| {
        let message = error.message().trim_end();
        let what = match error.span() {
            None => format!("{}: {message}", path.display()),
            Some(span) => {
                let spot = Spot::of(text, span.start);
                format!(
                    "{}:{}:{}: {message}\n{}",
                    path.display(),
                    spot.line,
                    spot.column,
                    spot.excerpt(span.len())
                )
            }
        };
        Failure::usage(what)
            .hint("`mock-bmc script --explain` lists every key with its type and default")
    })
}

/// A place in a text, counted from 1.
struct Spot<'a> {
    line: usize,
    column: usize,
    text: &'a str,
}

impl<'a> Spot<'a> {
    fn of(text: &'a str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before.get(start..).unwrap_or_default().chars().count() + 1,
            text: text
                .get(start..)
                .unwrap_or_default()
                .lines()
                .next()
                .unwrap_or_default(),
        }
    }

    /// The line with the offending part underlined.
    fn excerpt(&self, length: usize) -> String {
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        let room = self.text.chars().count().saturating_sub(self.column - 1);
        let carets = "^".repeat(length.clamp(1, room.max(1)));
        let indent = " ".repeat(self.column - 1);
        format!(
            "{margin} |\n{number} | {}\n{margin} | {indent}{carets}",
            self.text
        )
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn an_unknown_key_is_underlined_where_it_stands() {
        let failure = parse("# a comment\n  no_such_key = 1\n", Path::new("s.toml"))
            .unwrap_err()
            .to_string();
        assert!(
            failure.starts_with("error: s.toml:2:3: unknown field `no_such_key`, expected"),
            "{failure}"
        );
        assert!(
            failure.contains("2 |   no_such_key = 1\n  |   ^^^^^^^^^^^"),
            "{failure}"
        );
        assert!(
            failure.contains("hint: `mock-bmc script --explain`"),
            "{failure}"
        );
    }

    #[test]
    fn broken_toml_names_its_line() {
        let failure = parse("\n\n[[fault]\n", Path::new("s.toml"))
            .unwrap_err()
            .to_string();
        assert!(failure.starts_with("error: s.toml:3:"), "{failure}");
    }

    #[test]
    fn a_missing_script_is_named() {
        let failure = load(Path::new("/nowhere/s.toml")).unwrap_err().to_string();
        assert!(
            failure.starts_with("error: cannot read the script `/nowhere/s.toml`\n  cause: "),
            "{failure}"
        );
    }
}
