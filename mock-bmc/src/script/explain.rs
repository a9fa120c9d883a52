//! This room writes the explanation of the script format: a script with every key, each switched off.
//!
//! It deliberately has no words of its own on single keys; it prints the ones at their declaration.

use std::fmt::Write as _;

use super::fault::Fault;
use super::foreign::{ForeignJob, ForeignTask, Requirement, SystemScript, TaskFault};
use super::habits::SECTIONS;
use super::keys::{Key, Table};

const TAKES: &str = "a String takes every write";

const HEAD: &str = "\
# A script says how the BMCs of a fleet deviate from what they are by default.
#
# Every key is optional. Below each stands as `#key = default`, with its type behind it; a key without a default behind
# `=` is one that means something of its own when it is left out. Spans are mock time: \"90s\", \"8m\", \"1h 30m\".
#
# The first tables count for every BMC of the fleet. A table `[[bmc]]` with `name = \"mock-2\"` holds the same tables for
# one of them, as `[bmc.durations]` and so on. The tables with double brackets at the end may stand any number of times.
";

/// The text of `mock-bmc script --explain`: a script in which every key is explained and switched off.
pub fn explanation() -> String {
    let mut text = HEAD.to_owned();
    for table in SECTIONS {
        write_table(&mut text, table, ('[', ']'));
    }
    for table in [
        SystemScript::TABLE,
        Requirement::TABLE,
        Fault::TABLE,
        TaskFault::TABLE,
        ForeignTask::TABLE,
        ForeignJob::TABLE,
    ] {
        write_table(&mut text, &table, ('[', ']'));
    }
    text.truncate(text.trim_end().len());
    text
}

fn write_table(text: &mut String, table: &Table, brackets: (char, char)) {
    let single = SECTIONS
        .iter()
        .any(|section| section.header == table.header);
    let (open, close) = brackets;
    let header = format!("{open}{}{close}", table.header);
    let header = if single {
        header
    } else {
        format!("#{open}{header}{close}")
    };
    text.push('\n');
    for line in table.about {
        writeln!(text, "#{line}").expect(TAKES);
    }
    writeln!(text, "{header}").expect(TAKES);
    for key in table.keys {
        write_key(text, key);
    }
}

fn write_key(text: &mut String, key: &Key) {
    for line in key.about {
        writeln!(text, "#{line}").expect(TAKES);
    }
    let assignment = format!("#{} = {}", key.name, key.default);
    writeln!(text, "{:<40} # {}", assignment.trim_end(), key.form).expect(TAKES);
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::script::Script;

    #[test]
    fn the_explanation_is_itself_a_script_without_any_deviation() {
        let script: Script = explanation().parse().unwrap();
        assert_eq!(script, Script::default());
    }

    #[test]
    fn every_default_that_is_shown_can_be_written() {
        let switched_on: Vec<String> = explanation()
            .lines()
            .filter(|line| !line.starts_with("# ") && *line != "#")
            .map(|line| line.strip_prefix('#').unwrap_or(line))
            .filter(|line| {
                !line
                    .split('#')
                    .next()
                    .unwrap_or_default()
                    .trim_end()
                    .ends_with('=')
            })
            .map(str::to_owned)
            .collect();
        let script: Script = switched_on.join("\n").parse().unwrap();
        assert_eq!(script.durations.post(), Script::default().durations.post());
        assert_eq!(script.fault.len(), 1);
    }

    #[test]
    fn a_span_that_is_none_says_what_was_expected() {
        let error = "[durations]\npost = \"soon\""
            .parse::<Script>()
            .unwrap_err();
        assert!(
            error.message().contains("found `soon`, expected a span"),
            "{error}"
        );
        let error = "[durations]\npost = \"-4m\"".parse::<Script>().unwrap_err();
        assert!(error.message().contains("found `-4m`"), "{error}");
    }

    #[test]
    fn an_unknown_key_or_table_is_an_error() {
        for text in [
            "posts = 1",
            "[durations]\nposts = \"1m\"",
            "[[fault]]\nanswer = \"no\"",
            "[bmc]\nname=1",
        ] {
            assert!(text.parse::<Script>().is_err(), "{text}");
        }
    }
}
