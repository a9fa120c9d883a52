//! This room reads a script file and says where it is wrong.
//!
//! It deliberately knows no key of a script; the library's types do.

use std::fs;
use std::path::Path;

use mock_bmc::script::Script;

use super::report::Failure;

/// Reads a script for BMCs of these names.
pub(crate) fn load(path: &Path, bmcs: &[String]) -> Result<Script, Failure> {
    let text = fs::read_to_string(path).map_err(|error| {
        Failure::usage(format!("cannot read the script `{}`", path.display()))
            .cause(error.to_string())
    })?;
    let script = parse(&text, path)?;
    match strangers(&script, bmcs).first() {
        None => Ok(script),
        Some(stranger) => Err(unknown_bmc(&text, path, stranger, bmcs)),
    }
}

fn parse(text: &str, path: &Path) -> Result<Script, Failure> {
    text.parse().map_err(|error: toml::de::Error| {
        let message = error.message().trim_end();
        let what = match error.span() {
            None => format!("{}: {message}", path.display()),
            Some(span) => Spot::of(text, span.start).report(path, message, span.len()),
        };
        Failure::usage(what)
            .hint("`mock-bmc script --explain` lists every key with its type and default")
    })
}

/// Names in a script that no BMC of the fleet has: what stands there would never have an effect.
fn strangers(script: &Script, bmcs: &[String]) -> Vec<String> {
    let mut named: Vec<&String> = script.bmc.iter().map(|bmc| &bmc.name).collect();
    named.extend(script.system.iter().filter_map(|entry| entry.bmc.as_ref()));
    named.extend(
        script
            .requirement
            .iter()
            .filter_map(|entry| entry.bmc.as_ref()),
    );
    named.extend(
        script
            .task_fault
            .iter()
            .filter_map(|entry| entry.bmc.as_ref()),
    );
    named.extend(
        script
            .foreign_task
            .iter()
            .filter_map(|entry| entry.bmc.as_ref()),
    );
    named.extend(
        script
            .foreign_job
            .iter()
            .filter_map(|entry| entry.bmc.as_ref()),
    );
    named.extend(script.fault.iter().filter_map(|entry| entry.bmc.as_ref()));
    named.retain(|name| !bmcs.contains(name));
    named.into_iter().cloned().collect()
}

fn unknown_bmc(text: &str, path: &Path, stranger: &str, bmcs: &[String]) -> Failure {
    let last = bmcs.last().map_or("mock-1", String::as_str);
    let expected = if bmcs.len() > 1 {
        format!("`mock-1` to `{last}`")
    } else {
        "`mock-1`".to_owned()
    };
    let message = format!("found BMC `{stranger}`, expected {expected}");
    let spelt = [format!("\"{stranger}\""), format!("'{stranger}'")];
    let at = spelt.iter().find_map(|spelt| text.find(spelt.as_str()));
    Failure::usage(match at {
        None => format!("{}: {message}", path.display()),
        Some(at) => Spot::of(text, at).report(path, &message, stranger.len() + 2),
    })
    .hint("BMCs are numbered over all sources in the order of the command line; `--bmcs` counts per source")
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

    /// The message with its place, and the line with the offending part underlined.
    fn report(&self, path: &Path, message: &str, length: usize) -> String {
        let Self { line, column, .. } = self;
        format!(
            "{}:{line}:{column}: {message}\n{}",
            path.display(),
            self.excerpt(length)
        )
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
        let failure = load(Path::new("/nowhere/s.toml"), &[])
            .unwrap_err()
            .to_string();
        assert!(
            failure.starts_with("error: cannot read the script `/nowhere/s.toml`\n  cause: "),
            "{failure}"
        );
    }

    #[test]
    fn a_bmc_that_is_not_in_the_fleet_is_underlined() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("s.toml");
        let bmcs = ["mock-1".to_owned(), "mock-2".to_owned()];
        fs::write(
            &file,
            "[[bmc]]\nname = \"mock-2\"\n[[fault]]\nbmc = \"mock-3\"\n",
        )
        .unwrap();
        let failure = load(&file, &bmcs).unwrap_err().to_string();
        assert!(
            failure.contains("s.toml:4:7: found BMC `mock-3`, expected `mock-1` to `mock-2`"),
            "{failure}"
        );
        assert!(
            failure.contains("4 | bmc = \"mock-3\"\n  |       ^^^^^^^^"),
            "{failure}"
        );
    }
}
