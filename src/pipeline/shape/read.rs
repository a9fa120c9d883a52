//! One file from text to document.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde_json::Value;
use toml::de::{DeTable, Deserializer};

use super::form::Form;
use super::mask::secret_lines;
use super::walk::Walk;
use crate::pipeline::diagnostic::{Diagnostic, Source, SourceId};

/// What the checks of meaning need to know of a file besides its document.
pub(crate) struct File<'a> {
    /// Which one.
    pub(crate) id: SourceId,
    /// Its name and text.
    pub(crate) source: &'a Source,
    /// What its relative paths are joined onto.
    pub(crate) folder: PathBuf,
    keys: BTreeMap<usize, Range<usize>>,
    pruned: BTreeSet<(usize, usize, String)>,
}

impl File<'_> {
    /// The key before a value; the value itself where it has none.
    pub(crate) fn key_of(&self, value: &Range<usize>) -> Range<usize> {
        self.keys
            .get(&value.start)
            .cloned()
            .unwrap_or_else(|| value.clone())
    }

    /// Whether a key of a table was reported already and is absent for that reason alone.
    pub(crate) fn was_reported(&self, table: &Range<usize>, key: &str) -> bool {
        self.pruned
            .contains(&(table.start, table.end, key.to_owned()))
    }

    /// Whether any key of a table was reported already and is absent for that reason alone.
    pub(crate) fn was_any_reported(&self, table: &Range<usize>) -> bool {
        self.pruned
            .iter()
            .any(|(start, end, _)| (*start, *end) == (table.start, table.end))
    }

    /// Where a piece of a text value stands; the whole value where escapes hide it.
    pub(crate) fn piece_of(&self, value: &Range<usize>, piece: &str) -> Range<usize> {
        let raw = self.source.text().get(value.clone()).unwrap_or_default();
        match raw.find(piece) {
            Some(at) if !piece.is_empty() => value.start + at..value.start + at + piece.len(),
            Some(_) | None => value.clone(),
        }
    }
}

/// Parses a file against a schema. Everything wrong with its structure becomes a finding; `None` only where it is not
/// TOML at all. Bytes that nobody may see are added to `secrets`.
pub(crate) fn read<'a, T: DeserializeOwned>(
    id: SourceId,
    source: &'a Source,
    schema: &Value,
    findings: &mut Vec<Diagnostic>,
    secrets: &mut Vec<Range<usize>>,
) -> Option<(File<'a>, T)> {
    let (mut table, errors) = DeTable::parse_recoverable(source.text());
    if !errors.is_empty() {
        syntax_errors(id, source, &errors, findings);
        secrets.extend(secret_lines(source.text()));
        return None;
    }
    let mut walk = Walk {
        source: id,
        findings,
        keys: BTreeMap::new(),
        pruned: BTreeSet::new(),
        secrets: Vec::new(),
    };
    walk.file(&mut table, &Form::of(schema));
    secrets.append(&mut walk.secrets);
    let Walk { keys, pruned, .. } = walk;
    let folder = Path::new(source.name())
        .parent()
        .unwrap_or(Path::new(""))
        .to_owned();
    match T::deserialize(Deserializer::from(table)) {
        Ok(document) => Some((
            File {
                id,
                source,
                folder,
                keys,
                pruned,
            },
            document,
        )),
        Err(error) => {
            let span = error.span().unwrap_or(0..0);
            let mut finding = Diagnostic::error(id, span, error.message(), "does not fit");
            finding.hint("the schema and the parser of redpipe disagree here, which is a bug");
            findings.push(finding);
            None
        }
    }
}

/// One finding a line: a slip makes the parser stumble over the rest of its line too.
fn syntax_errors(
    id: SourceId,
    source: &Source,
    errors: &[toml::de::Error],
    findings: &mut Vec<Diagnostic>,
) {
    let mut lines = BTreeSet::new();
    for error in errors {
        let span = error.span().unwrap_or(0..0);
        if lines.insert(source.position(span.start).line) {
            let mut finding =
                Diagnostic::error(id, span, format!("not TOML: {}", error.message()), "here");
            finding.hint("the rest of this file is checked once this is mended");
            findings.push(finding);
        }
    }
}
