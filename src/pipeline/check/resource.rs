//! Entries of `resources`.

use std::collections::BTreeMap;
use std::ops::Range;

use super::context::Check;
use super::not_yet::tls_change;
use super::seen::Seen;
use super::sever::{SAY_SO, agreed, severing};
use super::stage::StagePlace;
use super::template;
use crate::pipeline::checked::ResourcePatch;
use crate::pipeline::document::{Any, At, ResourceDocument};
use crate::pipeline::template::Template;

/// Links that a resource URI may start at.
const ROOTS: [&str; 4] = ["{manager}", "{system}", "{chassis}", "{root}"];

pub(super) fn check_resource(
    entry: &At<ResourceDocument>,
    item_severs: bool,
    seen: &mut Seen,
    place: &StagePlace,
    check: &mut Check<'_>,
) -> Option<ResourcePatch> {
    let ResourceDocument {
        uri,
        set,
        severs,
        tls_change: change,
    } = entry.get();
    tls_change(check, change.as_ref());
    let severs = agreed(severs.as_ref()) || item_severs;
    let template = uri
        .as_ref()
        .map(|uri| check_uri(uri, place, check).and_then(|()| template::text(uri, place, check)));
    let fields = set.as_ref().map(|set| check_set(set, place, check));
    if let (Some(uri), Some(set)) = (uri, set) {
        remember(uri, set.get(), seen, check);
        if let Some((what, span)) = severing(uri, set.get()).filter(|_| !severs) {
            let message = format!("{what} can cut redpipe's own connection");
            check
                .error(span, message, "needs `severs = true`")
                .hint(SAY_SO);
        }
    }
    Some(ResourcePatch {
        uri: template??,
        set: Template::Table(fields??),
    })
}

/// Properties of a resource, at least one.
pub(super) fn check_set(
    set: &At<BTreeMap<At<String>, At<Any>>>,
    place: &StagePlace,
    check: &mut Check<'_>,
) -> Option<BTreeMap<String, Template>> {
    if set.get().is_empty() && !check.file.was_any_reported(&set.span()) {
        check
            .error(set.span(), "`set` is empty", "sets nothing")
            .hint("add a property, or remove the entry");
    }
    template::table(set.get().iter(), place, check)
}

pub(super) fn remember(
    uri: &At<String>,
    set: &BTreeMap<At<String>, At<Any>>,
    seen: &mut Seen,
    check: &mut Check<'_>,
) {
    let resource = uri.get().trim_end_matches('/');
    for (pointer, span) in leaves(set) {
        let what = format!("`{pointer}` of `{resource}`");
        seen.add(format!("{resource}#{pointer}"), &what, span, check);
    }
}

pub(super) fn check_uri(uri: &At<String>, place: &StagePlace, check: &mut Check<'_>) -> Option<()> {
    let text = uri.get();
    let root = ROOTS.iter().find(|root| {
        text.strip_prefix(**root)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    let Some(root) = root else {
        check
            .error(uri.span(), format!("resource URI `{text}` starts at no link"), "a guessed path")
            .hint("start it with `{manager}`, `{system}`, `{chassis}` or `{root}`, such as `{manager}/NetworkProtocol`");
        return None;
    };
    if *root == "{system}" && place.is_bmc() {
        let here = check.file.piece_of(&uri.span(), root);
        let message = format!(
            "`{{system}}` in stage `{}` of kind `{}`",
            place.name,
            place.kind()
        );
        check
            .error(
                here,
                message,
                "the stage acts on the BMC, not on one server",
            )
            .hint("move the entry to a stage of kind `bios-settings`");
        return None;
    }
    Some(())
}

/// Members that a table sets, by JSON pointer: tables are merged, anything else replaces.
fn leaves(set: &BTreeMap<At<String>, At<Any>>) -> Vec<(String, Range<usize>)> {
    let mut found = Vec::new();
    for (key, value) in set {
        collect_leaves(&format!("/{}", escape(key.get())), key, value, &mut found);
    }
    found
}

fn collect_leaves(
    pointer: &str,
    key: &At<String>,
    value: &At<Any>,
    found: &mut Vec<(String, Range<usize>)>,
) {
    match value.get() {
        Any::Table(fields) if !fields.is_empty() => {
            for (key, value) in fields {
                collect_leaves(
                    &format!("{pointer}/{}", escape(key.get())),
                    key,
                    value,
                    found,
                );
            }
        }
        Any::Boolean(_)
        | Any::Integer(_)
        | Any::Float(_)
        | Any::Text(_)
        | Any::Array(_)
        | Any::Table(_) => {
            found.push((pointer.to_owned(), key.span()));
        }
    }
}

fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
