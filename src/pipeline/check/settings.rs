//! Bodies of settings stages.

use std::collections::BTreeMap;

use super::action::check_action;
use super::context::{Check, Names};
use super::not_yet::tls_change;
use super::resource::check_resource;
use super::seen::Seen;
use super::sever::agreed;
use super::stage::StagePlace;
use super::template;
use crate::model::version::is_absent;
use crate::pipeline::checked::{FlowItem, Guard, SettingsStage};
use crate::pipeline::document::{Any, At, FlowDocument, MatchDocument, StageDocument};

pub(super) fn check_settings(
    stage: &StageDocument,
    place: &StagePlace,
    check: &mut Check<'_>,
) -> Option<SettingsStage> {
    let guard = check_guard(stage, place, check);
    actions_of_stage(stage, place, check);
    let severs = agreed(stage.severs.as_ref());
    let mut seen = Seen::default();
    let (settings, flow) = (stage.settings.as_ref(), stage.flow.as_ref());
    match (settings, flow) {
        (Some(settings), Some(flow)) => both_bodies(settings, flow, place, check),
        (None, None) => missing_body(stage, place, check),
        (_, _) => {}
    }
    let mut items = Vec::new();
    items.extend(
        settings.map(|settings| check_short_form(settings, severs, &mut seen, place, check)),
    );
    let flow = flow.map_or(&[][..], |flow| flow.get());
    let mut names = Names::default();
    items.extend(
        flow.iter()
            .map(|item| check_item(item, severs, &mut names, &mut seen, place, check)),
    );
    let mut flow = items.into_iter().collect::<Option<Vec<_>>>()?;
    flow.sort_by_key(|item| item.priority);
    Some(SettingsStage { guard, flow })
}

/// `actions` right in the stage would have no place in its order.
fn actions_of_stage(stage: &StageDocument, place: &StagePlace, check: &mut Check<'_>) {
    if let Some(actions) = &stage.actions {
        let message = format!("`actions` right in stage `{}`", place.name);
        let key = check.file.key_of(&actions.span());
        check
            .error(key, message, "belongs in a flow item")
            .hint("move it into a `[[stage.flow]]` item");
    }
}

fn both_bodies<S, F>(settings: &At<S>, flow: &At<F>, place: &StagePlace, check: &mut Check<'_>) {
    let message = format!("stage `{}` has both `settings` and `flow`", place.name);
    let source = check.file.id;
    check
        .error(
            check.file.key_of(&settings.span()),
            message,
            "short for one flow item",
        )
        .hint("move it into a `[[stage.flow]]` item")
        .related(source, flow.span(), "the flow is here");
}

/// `settings` right in the stage: one flow item.
fn check_short_form(
    settings: &At<BTreeMap<At<String>, At<Any>>>,
    severs: bool,
    seen: &mut Seen,
    place: &StagePlace,
    check: &mut Check<'_>,
) -> Option<FlowItem> {
    if settings.get().is_empty() && !check.file.was_any_reported(&settings.span()) {
        let message = format!(
            "stage `{}` of kind `{}` sets nothing",
            place.name,
            place.kind()
        );
        check
            .error(settings.span(), message, "nothing in it")
            .hint("add an attribute, or remove the stage");
    }
    let settings = template::table(attributes(settings.get(), seen, check), place, check)?;
    Some(FlowItem {
        name: "settings".to_owned(),
        priority: 0,
        settings,
        resources: Vec::new(),
        actions: Vec::new(),
        severs,
    })
}

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
    stage_severs: bool,
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
    tls_change(check, document.tls_change.as_ref());
    let severs = agreed(document.severs.as_ref()) || stage_severs;
    let of_entries = document.resources.iter().map(|entry| &entry.get().severs);
    let of_entries = of_entries.chain(document.actions.iter().map(|entry| &entry.get().severs));
    let any_severs = severs || of_entries.into_iter().any(|entry| agreed(entry.as_ref()));
    let reported = ["settings", "resources", "actions"]
        .iter()
        .any(|key| check.file.was_reported(&item.span(), key));
    let empty = document.settings.is_empty()
        && document.resources.is_empty()
        && document.actions.is_empty();
    if empty && !reported {
        let message = format!(
            "flow item of stage `{}` has no `settings`, `resources` or `actions`",
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
    let actions: Vec<_> = document
        .actions
        .iter()
        .map(|entry| check_action(entry, severs, seen, place, check))
        .collect();
    Some(FlowItem {
        name: name?.get().clone(),
        priority: document
            .priority
            .as_ref()
            .map_or(0, |priority| *priority.get()),
        settings: settings?,
        resources: resources.into_iter().collect::<Option<Vec<_>>>()?,
        actions: actions.into_iter().collect::<Option<Vec<_>>>()?,
        severs: any_severs,
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
