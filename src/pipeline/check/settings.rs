//! Bodies of settings stages.

use std::collections::BTreeMap;
use std::ops::Range;

use super::context::{Check, Names};
use super::not_yet::{ACTIONS, tls_change};
use super::sever::severing;
use super::stage::StagePlace;
use super::template;
use crate::pipeline::checked::{FlowItem, Guard, ResourcePatch, SettingsStage};
use crate::pipeline::document::{
    Any, At, FlowDocument, MatchDocument, ResourceDocument, StageDocument,
};
use crate::pipeline::template::Template;
use crate::pipeline::value::is_absent;

pub(super) fn check_settings(
    stage: &StageDocument,
    place: &StagePlace,
    check: &mut Check<'_>,
) -> Option<SettingsStage> {
    let guard = check_guard(stage, place, check);
    let mut seen = Seen::default();
    let (settings, flow) = (stage.settings.as_ref(), stage.flow.as_ref());
    if let (Some(settings), Some(flow)) = (settings, flow) {
        let message = format!("stage `{}` has both `settings` and `flow`", place.name);
        let settings_key = check.file.key_of(&settings.span());
        let id = check.file.id;
        check
            .error(settings_key, message, "short for one flow item")
            .hint("move it into a `[[stage.flow]]` item")
            .related(id, flow.span(), "the flow is here");
    }
    if settings.is_none() && flow.is_none() {
        missing_body(stage, place, check);
    }
    let mut items = Vec::new();
    if let Some(settings) = settings {
        if settings.get().is_empty() {
            let message = format!(
                "stage `{}` of kind `{}` sets nothing",
                place.name,
                place.kind()
            );
            check
                .error(settings.span(), message, "nothing in it")
                .hint("add an attribute, or remove the stage");
        }
        items.push(
            template::table(attributes(settings.get(), &mut seen, check), place, check).map(
                |settings| FlowItem {
                    name: "settings".to_owned(),
                    priority: 0,
                    settings,
                    resources: Vec::new(),
                },
            ),
        );
    }
    let flow = flow.map_or(&[][..], |flow| flow.get());
    let mut names = Names::default();
    items.extend(
        flow.iter()
            .map(|item| check_item(item, &mut names, &mut seen, place, check)),
    );
    let mut flow = items.into_iter().collect::<Option<Vec<_>>>()?;
    flow.sort_by_key(|item| item.priority);
    Some(SettingsStage { guard, flow })
}

/// What a stage has set so far: attributes by name, resource members by URI and JSON pointer.
#[derive(Default)]
struct Seen(BTreeMap<String, Range<usize>>);

fn missing_body(stage: &StageDocument, place: &StagePlace, check: &mut Check<'_>) {
    let reported = ["settings", "flow"]
        .iter()
        .any(|key| check.file.was_reported(&place.span, key));
    if stage.actions.is_none() && !reported {
        let message = format!(
            "stage `{}` of kind `{}` has neither `settings` nor `[[stage.flow]]`",
            place.name,
            place.kind()
        );
        check
            .error(place.span.clone(), message, "sets nothing")
            .hint("add `settings = { NAME = \"value\" }`");
    }
}

fn check_guard(stage: &StageDocument, place: &StagePlace, check: &mut Check<'_>) -> Option<Guard> {
    let exact = stage
        .matching
        .as_ref()
        .filter(|word| *word.get() == MatchDocument::Exact);
    let Some(version) = &stage.version else {
        if let Some(exact) = exact.filter(|_| !check.file.was_reported(&place.span, "version")) {
            let message = format!(
                "stage `{}` has `match = \"exact\"` and no `version`",
                place.name
            );
            check
                .error(exact.span(), message, "matches what?")
                .hint("add `version`, or remove `match`");
        }
        return None;
    };
    if version.get().contains("${") || is_absent(version.get()) {
        let message = format!("`version` of stage `{}` is not a version", place.name);
        check
            .error(version.span(), message, "no version")
            .hint("write it as the BMC states it, without variables");
        return None;
    }
    Some(Guard {
        version: version.get().clone(),
        exact: exact.is_some(),
    })
}

fn check_item(
    item: &At<FlowDocument>,
    names: &mut Names,
    seen: &mut Seen,
    place: &StagePlace,
    check: &mut Check<'_>,
) -> Option<FlowItem> {
    let document = item.get();
    let name = check.name("flow item", document.name.as_ref());
    if let Some(name) = name {
        check.unique(names, "flow item", name);
    }
    check.not_yet_key(&ACTIONS, document.actions.as_ref());
    tls_change(check, document.tls_change.as_ref());
    let severs = check.severs(document.severs.as_ref());
    let reported = ["settings", "resources"]
        .iter()
        .any(|key| check.file.was_reported(&item.span(), key));
    let empty =
        document.settings.is_empty() && document.resources.is_empty() && document.actions.is_none();
    if empty && !reported {
        let message = format!(
            "flow item of stage `{}` has neither `settings` nor `resources`",
            place.name
        );
        check
            .error(item.span(), message, "sets nothing")
            .hint("add one, or remove the item");
    }
    let settings = template::table(attributes(&document.settings, seen, check), place, check);
    let resources: Vec<_> = document
        .resources
        .iter()
        .map(|entry| check_resource(entry, severs, seen, place, check))
        .collect();
    Some(FlowItem {
        name: name?.get().clone(),
        priority: document
            .priority
            .as_ref()
            .map_or(0, |priority| *priority.get()),
        settings: settings?,
        resources: resources.into_iter().collect::<Option<Vec<_>>>()?,
    })
}

/// The attributes of one item, each reported where the stage set it before.
fn attributes<'d>(
    settings: &'d BTreeMap<At<String>, At<Any>>,
    seen: &mut Seen,
    check: &mut Check<'_>,
) -> impl Iterator<Item = (&'d At<String>, &'d At<Any>)> + use<'d> {
    for key in settings.keys() {
        seen.add(
            key.get().clone(),
            &format!("attribute `{}`", key.get()),
            key.span(),
            check,
        );
    }
    settings.iter()
}

impl Seen {
    fn add(&mut self, id: String, what: &str, span: Range<usize>, check: &mut Check<'_>) {
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

/// Links that a resource URI may start at.
const ROOTS: [&str; 4] = ["{manager}", "{system}", "{chassis}", "{root}"];

fn check_resource(
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
    let severs = check.severs(severs.as_ref()) || item_severs;
    let template = uri
        .as_ref()
        .map(|uri| check_uri(uri, place, check).and_then(|()| template::text(uri, place, check)));
    let fields = set.as_ref().map(|set| {
        if set.get().is_empty() {
            check
                .error(set.span(), "`set` is empty", "sets nothing")
                .hint("add a property, or remove the entry");
        }
        template::table(set.get().iter(), place, check)
    });
    if let (Some(uri), Some(set)) = (uri, set) {
        let resource = uri.get().trim_end_matches('/');
        for (pointer, span) in leaves(set.get()) {
            let what = format!("`{pointer}` of `{resource}`");
            seen.add(format!("{resource}#{pointer}"), &what, span, check);
        }
        if let Some((what, span)) = severing(uri, set.get()).filter(|_| !severs) {
            check
                .error(
                    span,
                    format!("{what} can cut redpipe's own connection"),
                    "needs `severs = true`",
                )
                .hint(
                    "`severs` is not supported yet: remove the entry and make this change by hand",
                );
        }
    }
    Some(ResourcePatch {
        uri: template??,
        set: Template::Table(fields??),
    })
}

fn check_uri(uri: &At<String>, place: &StagePlace, check: &mut Check<'_>) -> Option<()> {
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
