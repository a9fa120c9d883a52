//! The hops of one component must climb, and only its last one may be strict or go down.

use super::context::Check;
use crate::model::component::Component;
use crate::model::version::{Comparison, compare};
use crate::pipeline::document::{At, KindDocument, MatchDocument, StageDocument};

pub(super) fn check_hops(stages: &[At<StageDocument>], check: &mut Check<'_>) {
    for (component, kind) in [
        (Component::Bmc, KindDocument::BmcVersion),
        (Component::Bios, KindDocument::BiosVersion),
    ] {
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
        check_order(&hops, component, check);
        if let Some((_, earlier)) = hops.split_last() {
            for hop in earlier {
                only_on_last(hop, check);
            }
        }
    }
}

/// A hop's version, where it is text without variables.
fn version_of(hop: &StageDocument) -> Option<&At<String>> {
    hop.version
        .as_ref()
        .filter(|version| !version.get().contains("${"))
}

fn check_order(hops: &[&StageDocument], component: Component, check: &mut Check<'_>) {
    let versions: Vec<(&StageDocument, &At<String>)> = hops
        .iter()
        .filter_map(|hop| version_of(hop).map(|version| (*hop, version)))
        .collect();
    for (index, (_, version)) in versions.iter().enumerate() {
        let earlier = &versions[..index];
        let sign = |before: &At<String>| {
            compare(before.get(), version.get(), None, Some(component)).comparison
        };
        let above = earlier
            .iter()
            .rev()
            .find(|(_, before)| sign(before) == Comparison::Greater);
        if let Some((_, before)) = above {
            descends(before, version, check);
        } else if let Some((_, before)) = earlier.last()
            && sign(before) == Comparison::Incomparable
        {
            incomparable(before, version, check);
        }
    }
}

fn descends(before: &At<String>, version: &At<String>, check: &mut Check<'_>) {
    let source = check.file.id;
    let message = format!(
        "hop to `{}` comes after the later version `{}`",
        version.get(),
        before.get()
    );
    check
        .error(version.span(), message, "goes down")
        .hint("put the hops of a component in ascending order")
        .related(source, before.span(), "the later version is here");
}

fn incomparable(before: &At<String>, version: &At<String>, check: &mut Check<'_>) {
    let source = check.file.id;
    let message = format!(
        "hops `{}` and `{}` cannot be compared",
        before.get(),
        version.get()
    );
    check
        .error(version.span(), message, "their order is not known")
        .warning()
        .hint(format!(
            "`redpipe versions '{}' '{}'` shows why; the stage will be blocked",
            before.get(),
            version.get()
        ))
        .related(source, before.span(), "the hop before it");
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
