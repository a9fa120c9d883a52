//! The hops of one component must climb, and only its last one may be strict or go down.

use super::context::Check;
use crate::pipeline::document::{At, KindDocument, MatchDocument, StageDocument};

pub(super) fn check_hops(stages: &[At<StageDocument>], check: &mut Check<'_>) {
    for kind in [KindDocument::BmcVersion, KindDocument::BiosVersion] {
        let hops: Vec<&StageDocument> = stages
            .iter()
            .map(At::get)
            .filter(|stage| {
                stage
                    .kind
                    .as_ref()
                    .is_some_and(|found| *found.get() == kind)
            })
            .collect();
        if let Some((_, earlier)) = hops.split_last() {
            for hop in earlier {
                only_on_last(hop, check);
            }
        }
    }
}

fn only_on_last(hop: &StageDocument, check: &mut Check<'_>) {
    let exact = hop
        .matching
        .as_ref()
        .filter(|word| *word.get() == MatchDocument::Exact)
        .map(At::span);
    let downgrade = hop
        .allow_downgrade
        .as_ref()
        .filter(|allowed| *allowed.get())
        .map(At::span);
    for (what, span) in [("match = \"exact\"", exact), ("allow_downgrade", downgrade)] {
        if let Some(span) = span {
            let name = hop.name.as_ref().map_or("?", |name| name.get().as_str());
            let message =
                format!("`{what}` on stage `{name}`, which is not its component's last hop");
            check
                .error(
                    check.file.key_of(&span),
                    message,
                    "counts only on the last hop",
                )
                .hint("remove it, or move it to the component's last version stage");
        }
    }
}
