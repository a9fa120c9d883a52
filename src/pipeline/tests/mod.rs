//! Whole files in, findings and checked values out.

mod actions;
mod arbitrary;
mod catalogue;
mod everything;
mod examples;
mod inventory;
mod maintenance;
mod meaning_hops;
mod meaning_names;
mod meaning_values;
mod merged;
mod not_yet;
mod schema;
mod structure;

use super::{Diagnostic, Diagnostics, Loaded, Source, load};

/// A finding on one line: place, severity, message, label, hint, related places.
fn shown(all: &Diagnostics, finding: &Diagnostic) -> String {
    let place = |at: super::Position, file: &str| format!("{file}:{}:{}", at.line, at.column);
    let file = all.source(finding.source).name();
    let mut line = format!(
        "{} {}: {}",
        place(all.position(finding), file),
        finding.severity,
        finding.message
    );
    line.push_str(" | ");
    line.push_str(&finding.label);
    line.push_str(" | ");
    line.push_str(finding.hint.as_deref().unwrap_or("no hint"));
    for related in &finding.related {
        let source = all.source(related.source);
        line.push_str(" | ");
        line.push_str(&place(source.position(related.span.start), source.name()));
        line.push(' ');
        line.push_str(&related.label);
    }
    line
}

/// Every finding of a load, warnings of a good one included.
fn findings(inventory: &[(&str, &str)], pipelines: &[(&str, &str)]) -> Vec<String> {
    let all = match try_load(inventory, pipelines) {
        Ok(loaded) => loaded.warnings,
        Err(all) => all,
    };
    all.findings
        .iter()
        .map(|finding| shown(&all, finding))
        .collect()
}

fn try_load(inventory: &[(&str, &str)], pipelines: &[(&str, &str)]) -> Result<Loaded, Diagnostics> {
    let sources = |files: &[(&str, &str)]| -> Vec<Source> {
        files
            .iter()
            .map(|(name, text)| Source::new(*name, *text))
            .collect()
    };
    load(&sources(inventory), &sources(pipelines))
}

/// The load, where it must be good.
fn loaded(inventory: &[(&str, &str)], pipelines: &[(&str, &str)]) -> Loaded {
    match try_load(inventory, pipelines) {
        Ok(loaded) => loaded,
        Err(all) => panic!("{all}"),
    }
}

/// One faulty file, and all that is found in it.
struct Case {
    claim: &'static str,
    text: &'static str,
    findings: &'static [&'static str],
}

fn check_pipelines(cases: &[Case]) {
    check(cases, |text| findings(&[], &[("p.toml", text)]));
}

fn check_inventories(cases: &[Case]) {
    check(cases, |text| findings(&[("i.toml", text)], &[]));
}

fn check(cases: &[Case], find: impl Fn(&str) -> Vec<String>) {
    for Case {
        claim,
        text,
        findings,
    } in cases
    {
        let found = find(text);
        assert_eq!(found, *findings, "{claim}: found\n{}", found.join("\n"));
        assert!(
            !found.iter().any(|line| line.contains("hunter2")),
            "{claim}: a secret is shown"
        );
    }
}
