//! Findings in files: what is wrong, where, and what to do. Drawing them is the command line's job.

use std::fmt;
use std::ops::Range;

/// A file as read: its name for people, and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    name: String,
    text: String,
    /// Where each line begins: a fleet's inventory has tens of thousands.
    lines: Vec<usize>,
}

impl Source {
    /// A file as read.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        let lines = std::iter::once(0).chain(ends).collect();
        Self {
            name: name.into(),
            text,
            lines,
        }
    }

    /// Path as the person gave it; relative paths in the text are joined onto its folder.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whole content.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where a byte stands.
    pub fn position(&self, offset: usize) -> Position {
        let offset = self.text.floor_char_boundary(offset);
        let line = self.lines.partition_point(|start| *start <= offset);
        let before = &self.text[self.lines[line - 1]..offset];
        Position {
            line,
            column: before.chars().count() + 1,
        }
    }
}

/// Which [`Source`] of a [`Diagnostics`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(pub usize);

/// Line and column, both from 1; a column is a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
}

/// Whether a finding stops the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It does.
    Error,
    /// It does not.
    Warning,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}

/// Another place that a finding speaks of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Related {
    /// In which file.
    pub source: SourceId,
    /// Bytes to underline.
    pub span: Range<usize>,
    /// What stands there.
    pub label: String,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Whether it stops the load.
    pub severity: Severity,
    /// What is wrong: a lower-case fragment without full stop.
    pub message: String,
    /// In which file.
    pub source: SourceId,
    /// Bytes to underline.
    pub span: Range<usize>,
    /// What to say under the line: what was found, or expected.
    pub label: String,
    /// What a person can do.
    pub hint: Option<String>,
    /// Other places it speaks of.
    pub related: Vec<Related>,
}

impl Diagnostic {
    /// A finding that stops the load.
    pub fn error(
        source: SourceId,
        span: Range<usize>,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Self {
        Self {
            severity: Severity::Error,
            message: message.into(),
            source,
            span,
            label: label.into(),
            hint: None,
            related: Vec::new(),
        }
    }

    /// Makes it one that does not stop the load.
    pub fn warning(&mut self) -> &mut Self {
        self.severity = Severity::Warning;
        self
    }

    /// Says what a person can do.
    pub fn hint(&mut self, hint: impl Into<String>) -> &mut Self {
        self.hint = Some(hint.into());
        self
    }

    /// Points at another place too.
    pub fn related(
        &mut self,
        source: SourceId,
        span: Range<usize>,
        label: impl Into<String>,
    ) -> &mut Self {
        self.related.push(Related {
            source,
            span,
            label: label.into(),
        });
        self
    }
}

/// All findings of one load, with the texts they point into.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diagnostics {
    /// Every file given, inventory files first.
    pub sources: Vec<Source>,
    /// By file, then by place.
    pub findings: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Whether any finding stops the load.
    pub fn has_errors(&self) -> bool {
        self.count(Severity::Error) > 0
    }

    /// How many findings of one severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings
            .iter()
            .filter(|finding| finding.severity == severity)
            .count()
    }

    /// The file of a finding.
    pub fn source(&self, id: SourceId) -> &Source {
        assert!(
            id.0 < self.sources.len(),
            "a finding points into a file of its own load"
        );
        &self.sources[id.0]
    }

    /// Where a finding starts.
    pub fn position(&self, finding: &Diagnostic) -> Position {
        self.source(finding.source).position(finding.span.start)
    }
}

impl fmt::Display for Diagnostics {
    /// One line a finding, `FILE:LINE:COLUMN: SEVERITY: MESSAGE`, for logs and tests.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, finding) in self.findings.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            let Position { line, column } = self.position(finding);
            let file = self.source(finding.source).name();
            write!(
                f,
                "{file}:{line}:{column}: {}: {}",
                finding.severity, finding.message
            )?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        let source = Source::new("a", "ab\ncäd\n");
        let at = |offset| {
            let Position { line, column } = source.position(offset);
            (line, column)
        };
        assert_eq!(
            (at(0), at(3), at(6), at(7)),
            ((1, 1), (2, 1), (2, 3), (2, 4))
        );
        assert_eq!((at(5), at(999)), ((2, 2), (3, 1)));
    }
}
