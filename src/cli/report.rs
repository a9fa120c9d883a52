//! How failures look: positions in files through miette, everything else as error, causes, hints.

use std::fmt;
use std::fmt::Write as _;

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteDiagnostic, NamedSource};

use crate::model::Fault;
use crate::pipeline::{Diagnostic, Diagnostics, Severity};

/// Columns of a report where the terminal does not say.
const WIDTH: usize = 100;

/// A fault as a person reads it.
pub(crate) fn fault(context: &str, fault: &Fault) -> String {
    let mut text = if context.is_empty() || fault.message.starts_with(context) {
        format!("error: {}", fault.message)
    } else {
        format!("error: {context}: {}", fault.message)
    };
    for cause in &fault.causes {
        let _infallible = write!(text, "\n  cause: {cause}");
    }
    if let Some(status) = fault.status {
        let uri = fault.uri.as_deref().unwrap_or("the request");
        let _infallible = write!(text, "\n  cause: {uri} answered {status}");
    }
    for message in &fault.messages {
        let _infallible = write!(text, "\n  cause: the BMC says: {message}");
    }
    if let Some(hint) = &fault.hint {
        let _infallible = write!(text, "\n\nhint: {hint}");
    }
    text
}

/// Every finding of a load, each with its file, line, column and the text underlined.
pub(crate) fn findings(diagnostics: &Diagnostics) -> String {
    let handler =
        GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor()).with_width(WIDTH);
    let mut text = String::new();
    for finding in &diagnostics.findings {
        let report = Finding {
            diagnostics,
            finding,
        };
        let place = diagnostics.position(finding);
        let file = &diagnostics.source(finding.source).name;
        let _infallible = writeln!(text, "{}: {}", finding.severity, finding.message);
        let _infallible = writeln!(text, "  at {file}:{}:{}", place.line, place.column);
        handler
            .render_report(&mut text, report.diagnostic().as_ref())
            .ok();
        for related in &finding.related {
            let source = diagnostics.source(related.source);
            let place = source.position(related.span.start);
            let _infallible = writeln!(
                text,
                "  see {}:{}:{}: {}",
                source.name, place.line, place.column, related.label
            );
        }
        if let Some(hint) = &finding.hint {
            let _infallible = writeln!(text, "hint: {hint}");
        }
        text.push('\n');
    }
    let (errors, warnings) = (
        diagnostics.count(Severity::Error),
        diagnostics.count(Severity::Warning),
    );
    if errors + warnings > 0 {
        let _infallible = writeln!(text, "{errors} errors, {warnings} warnings");
    }
    text
}

struct Finding<'a> {
    diagnostics: &'a Diagnostics,
    finding: &'a Diagnostic,
}

impl Finding<'_> {
    /// Only the underlined excerpt: message and hint are ours to print.
    fn diagnostic(&self) -> Box<dyn miette::Diagnostic> {
        let source = self.diagnostics.source(self.finding.source);
        let span = self.finding.span.clone();
        let label = LabeledSpan::new(
            Some(self.finding.label.clone()),
            span.start,
            span.len().max(1),
        );
        Box::new(Excerpt {
            inner: MietteDiagnostic::new(String::new()).with_label(label),
            source: NamedSource::new(&source.name, source.text.clone()),
        })
    }
}

#[derive(Debug)]
struct Excerpt {
    inner: MietteDiagnostic,
    source: NamedSource<String>,
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(" ")
    }
}

impl std::error::Error for Excerpt {}

impl miette::Diagnostic for Excerpt {
    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.inner.labels()
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        Some(&self.source)
    }
}
