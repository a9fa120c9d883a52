//! How failures look: positions in files through miette, everything else as error, causes, hints.

use std::fmt::Write as _;

use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteDiagnostic, NamedSource, Report,
};

use crate::model::Fault;
use crate::pipeline::{Diagnostic, Diagnostics, Severity};

/// Columns that a label under an excerpt is wrapped at.
const WIDTH: usize = 100;

/// How the first line of an excerpt begins, before its place.
const FRAME: &str = "╭─";

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
        let asked = fault.uri.as_ref().map(|uri| format!("`{uri}`"));
        let asked = asked.as_deref().unwrap_or("the request");
        let _infallible = write!(text, "\n  cause: {asked} was answered with status {status}");
    }
    for message in &fault.messages {
        let _infallible = write!(text, "\n  cause: the BMC says: {message}");
    }
    if let Some(hint) = &fault.hint {
        let _infallible = write!(text, "\n\nhint: {hint}");
    }
    text
}

/// Most findings that are told in full: nobody reads a thousand, and what is wrong everywhere shows in the first.
const FINDINGS_MAX: usize = 50;

/// The findings of a load, each with its file, line, column and the text underlined; errors first where there are too
/// many to tell.
pub(crate) fn findings(diagnostics: &Diagnostics) -> String {
    let mut text = String::new();
    let mut told: Vec<&Diagnostic> = diagnostics.findings.iter().collect();
    let left_out = told.len().saturating_sub(FINDINGS_MAX);
    if left_out > 0 {
        told.sort_by_key(|finding| finding.severity != Severity::Error);
        told.truncate(FINDINGS_MAX);
    }
    for finding in told {
        let _infallible = writeln!(text, "{}: {}", finding.severity, finding.message);
        text.push_str(&excerpt(diagnostics, finding));
        for related in &finding.related {
            let source = diagnostics.source(related.source);
            let place = source.position(related.span.start);
            let _infallible = writeln!(
                text,
                "see {}:{}:{}: {}",
                source.name(),
                place.line,
                place.column,
                related.label
            );
        }
        if let Some(hint) = &finding.hint {
            let _infallible = writeln!(text, "hint: {hint}");
        }
        text.push('\n');
    }
    if left_out > 0 {
        let _infallible = writeln!(text, "and {left_out} more\n");
    }
    let counts = [
        counted(diagnostics.count(Severity::Error), "error"),
        counted(diagnostics.count(Severity::Warning), "warning"),
    ];
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    if !counts.is_empty() {
        let _infallible = writeln!(text, "{}", counts.join(", "));
    }
    text
}

/// The lines around a finding, with its text underlined and its place above them.
///
/// miette draws a headline too, which is ours to say, and counts columns in bytes, where people count characters.
fn excerpt(diagnostics: &Diagnostics, finding: &Diagnostic) -> String {
    let source = diagnostics.source(finding.source);
    let span = finding.span.clone();
    let label = LabeledSpan::new(Some(finding.label.clone()), span.start, span.len().max(1));
    let report = Report::new(MietteDiagnostic::new(String::new()).with_label(label))
        .with_source_code(NamedSource::new(source.name(), source.text().to_owned()));
    let mut drawn = String::new();
    GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor())
        .with_width(WIDTH)
        .render_report(&mut drawn, report.as_ref())
        .ok();
    let place = source.position(span.start);
    let place = format!("[{}:{}:{}]", source.name(), place.line, place.column);
    let mut text = String::new();
    for line in drawn.lines().skip_while(|line| !line.contains(FRAME)) {
        match line.split_once(FRAME) {
            Some((margin, _)) => writeln!(text, "{margin}{FRAME}{place}"),
            None => writeln!(text, "{line}"),
        }
        .expect("a String takes every write");
    }
    text
}

fn counted(count: usize, what: &str) -> Option<String> {
    match count {
        0 => None,
        1 => Some(format!("1 {what}")),
        _ => Some(format!("{count} {what}s")),
    }
}

#[cfg(test)]
mod tests;
