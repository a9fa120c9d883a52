//! What every check needs: the file it looks at, and where findings go.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use crate::pipeline::checked::ImageFile;
use crate::pipeline::diagnostic::{Diagnostic, SourceId};
use crate::pipeline::document::At;
use crate::pipeline::maintenance::Hook;
use crate::pipeline::shape::File;
use crate::pipeline::template::Variable;
use crate::pipeline::value::{DURATION_HINT, name_problem, parse_duration, parse_sha256};

/// A file, and the findings of the whole load.
pub(crate) struct Check<'a> {
    /// The file looked at.
    pub(crate) file: &'a File<'a>,
    /// Findings of all files.
    pub(crate) findings: &'a mut Vec<Diagnostic>,
    /// Where values from outside are named, for when they turn out to be missing.
    pub(crate) references: Vec<(Variable, SourceId, Range<usize>)>,
    /// Where image files are named, for when one turns out to be unusable.
    pub(crate) images: Vec<(ImageFile, SourceId, Range<usize>)>,
    /// Images of the catalogue that hops may be made of, as written.
    pub(crate) hop_images: BTreeSet<String>,
    /// Where programs are named, for when they turn out not to be there.
    pub(crate) hooks: Vec<(Hook, SourceId, Range<usize>)>,
}

impl<'a> Check<'a> {
    /// Starts on a file.
    pub(crate) fn new(file: &'a File<'a>, findings: &'a mut Vec<Diagnostic>) -> Self {
        Self {
            file,
            findings,
            references: Vec::new(),
            images: Vec::new(),
            hop_images: BTreeSet::new(),
            hooks: Vec::new(),
        }
    }

    /// Adds an error.
    pub(crate) fn error(
        &mut self,
        span: Range<usize>,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> &mut Diagnostic {
        self.findings
            .push(Diagnostic::error(self.file.id, span, message, label));
        self.findings.last_mut().expect("one was pushed just now")
    }

    /// A path of the file, joined onto its folder.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.file.folder.join(path)
    }

    /// A program of the file, joined onto its folder; never a bare name, which would be looked for elsewhere.
    pub(crate) fn program(&self, path: &str) -> PathBuf {
        let path = self.path(path);
        if path.components().count() == 1 && path.is_relative() {
            return PathBuf::from(".").join(path);
        }
        path
    }

    /// A duration.
    pub(crate) fn duration(&mut self, key: &str, text: &At<String>) -> Option<Duration> {
        let duration = parse_duration(text.get());
        if duration.is_none() {
            self.error(
                text.span(),
                format!("`{key}` is not a duration"),
                "not a duration",
            )
            .hint(DURATION_HINT);
        }
        duration
    }

    /// A SHA-256.
    pub(crate) fn sha256(&mut self, key: &str, text: &At<String>) -> Option<String> {
        let digest = parse_sha256(text.get());
        if digest.is_none() {
            let label = format!(
                "{} characters, not 64 hexadecimal digits",
                text.get().chars().count()
            );
            self.error(text.span(), format!("`{key}` is not a SHA-256"), label)
                .hint("`sha256sum FILE` prints the 64 hexadecimal digits");
        }
        digest
    }

    /// A name that may be part of a run's name. `None` where it is absent or faulty.
    pub(crate) fn name<'d>(
        &mut self,
        what: &str,
        name: Option<&'d At<String>>,
    ) -> Option<&'d At<String>> {
        let name = name?;
        if let Some(problem) = name_problem(name.get()) {
            self.error(
                name.span(),
                format!("name of a {what} {problem}"),
                "not a name",
            )
            .hint("use letters, digits, `-`, `_` and `.`");
            return None;
        }
        Some(name)
    }

    /// Remembers a name, and reports it where it was there before. Whether it is new.
    pub(crate) fn unique(&mut self, names: &mut Names, what: &str, name: &At<String>) -> bool {
        let here = (self.file.id, name.span());
        if let Some((source, span)) = names.0.get(name.get()).cloned() {
            self.error(
                name.span(),
                format!("{what} `{}` is there twice", name.get()),
                "again here",
            )
            .hint("give one of them another name")
            .related(source, span, "first here");
            return false;
        }
        names.0.insert(name.get().clone(), here);
        true
    }
}

/// Names seen, and where.
#[derive(Debug, Default)]
pub(crate) struct Names(pub(crate) BTreeMap<String, (SourceId, Range<usize>)>);
