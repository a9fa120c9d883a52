//! What a stage has set so far.

use std::collections::BTreeMap;
use std::ops::Range;

use super::context::Check;

/// What a stage has set so far: attributes by name, resource members by URI and JSON pointer.
#[derive(Default)]
pub(super) struct Seen(BTreeMap<String, Range<usize>>);

impl Seen {
    /// Remembers one thing, and reports it where it was set before.
    pub(super) fn add(
        &mut self,
        id: String,
        what: &str,
        span: Range<usize>,
        check: &mut Check<'_>,
    ) {
        if let Some(first) = self.first(&id) {
            let source = check.file.id;
            check
                .error(
                    span,
                    format!("{what} is set twice in one stage"),
                    "again here",
                )
                .hint("keep one of them, or move one to a later stage")
                .related(source, first, "first here");
        } else {
            self.0.insert(id, span);
        }
    }

    /// Where the same thing, a part of it or a whole around it was set before.
    fn first(&self, id: &str) -> Option<Range<usize>> {
        let overlaps = |known: &str| {
            let (short, long) = if known.len() < id.len() {
                (known, id)
            } else {
                (id, known)
            };
            long.strip_prefix(short).is_some_and(|rest| {
                rest.is_empty() || short.starts_with('{') && rest.starts_with('/')
            })
        };
        self.0
            .iter()
            .find(|(known, _)| overlaps(known))
            .map(|(_, span)| span.clone())
    }
}
