//! Entries of `actions`.

use std::ops::Range;

use super::context::Check;
use super::resource::{check_set, check_uri, remember};
use super::seen::Seen;
use super::sever::{SAY_SO, agreed, severing};
use super::stage::StagePlace;
use super::template;
use crate::model::is_secret;
use crate::pipeline::checked::{ActionCall, ResourcePatch};
use crate::pipeline::document::{ActionDocument, Any, At, KindDocument, ProbeDocument};
use crate::pipeline::template::Template;

/// Actions that flash or restart something: each has a way of its own here that looks first, and none may go around it.
const CAREFUL: [(&str, &str); 11] = [
    ("chassispowercontrol", "cuts power"),
    ("forcefailover", "resets"),
    ("httppush", "flashes"),
    ("idracresetcfg", "resets"),
    ("installpackage", "flashes"),
    ("powercontrol", "cuts power"),
    ("resetbios", "resets"),
    ("resettodefaults", "resets"),
    ("resettofactorydefaults", "resets"),
    ("simpleupdate", "flashes"),
    ("startupdate", "flashes"),
];

/// The same by how their names end. Vendors name the ones that cut the power of a whole chassis so:
/// `HpeComputerSystemExt.SystemReset`, `LenovoComputerSystem.SystemReset`, `NvidiaChassis.AuxPowerReset`.
const CAREFUL_ENDS: [(&str, &str); 2] = [("powercycle", "cuts power"), ("reset", "resets")];

/// Actions that can cut redpipe's own connection.
const SEVERING_ACTIONS: [(&str, &str); 3] = [
    ("changepassword", "an account"),
    ("rekey", "the certificate"),
    ("replacecertificate", "the certificate"),
];

pub(super) fn check_action(
    entry: &At<ActionDocument>,
    item_severs: bool,
    seen: &mut Seen,
    place: &StagePlace,
    check: &mut Check<'_>,
) -> Option<ActionCall> {
    let ActionDocument {
        uri,
        body,
        satisfied_when,
        severs,
    } = entry.get();
    if place.kind != KindDocument::BmcSettings {
        let message = format!(
            "`actions` in stage `{}` of kind `{}`",
            place.name,
            place.kind()
        );
        check
            .error(entry.span(), message, "acts on the BMC")
            .hint("move it to a stage of kind `bmc-settings`");
        return None;
    }
    let severs = agreed(severs.as_ref()) || item_severs;
    let template = uri.as_ref().map(|uri| {
        careful(uri, check)?;
        check_uri(uri, place, check)?;
        template::text(uri, place, check)
    });
    if let Some((what, span)) = uri
        .as_ref()
        .and_then(|uri| severing_action(uri).or_else(|| severing(uri, body)))
        .filter(|_| !severs)
    {
        let message = format!("{what} can cut redpipe's own connection");
        check
            .error(span, message, "needs `severs = true`")
            .hint(SAY_SO);
    }
    let body = template::table(body.iter(), place, check);
    let probe = satisfied_when
        .as_ref()
        .map(|probe| check_probe(probe, seen, place, check));
    Some(ActionCall {
        uri: template??,
        body: Template::Table(body?),
        satisfied_when: probe??,
    })
}

fn check_probe(
    probe: &At<ProbeDocument>,
    seen: &mut Seen,
    place: &StagePlace,
    check: &mut Check<'_>,
) -> Option<ResourcePatch> {
    let ProbeDocument { uri, set } = probe.get();
    let template = uri
        .as_ref()
        .map(|uri| check_uri(uri, place, check).and_then(|()| template::text(uri, place, check)));
    let fields = set.as_ref().map(|set| check_set(set, place, check));
    if let (Some(uri), Some(set)) = (uri, set) {
        remember(uri, set.get(), seen, check);
        for (key, value) in set.get() {
            hidden(key, value, check);
        }
    }
    Some(ResourcePatch {
        uri: template??,
        set: Template::Table(fields??),
    })
}

/// A probe goes by what is read, and secrets are never shown.
fn hidden(key: &At<String>, value: &At<Any>, check: &mut Check<'_>) {
    if is_secret(key.get()) {
        let message = format!("`{}` in `satisfied_when` is never shown", key.get());
        check
            .error(key.span(), message, "reads back as nothing")
            .hint("name a property that shows that the action was done");
    }
    match value.get() {
        Any::Table(fields) => fields
            .iter()
            .for_each(|(key, value)| hidden(key, value, check)),
        Any::Boolean(_) | Any::Integer(_) | Any::Float(_) | Any::Text(_) | Any::Array(_) => {}
    }
}

fn careful(uri: &At<String>, check: &mut Check<'_>) -> Option<()> {
    let path = uri.get().to_ascii_lowercase();
    let action = action_name(&path);
    let by_end = || CAREFUL_ENDS.iter().find(|(end, _)| action.ends_with(end));
    let by_name = CAREFUL.iter().find(|(name, _)| *name == action);
    let by_name = by_name.or_else(by_end);
    let of_updates = path.split('/').any(|piece| piece == "updateservice");
    let does = match by_name {
        Some((_, does)) => *does,
        None if of_updates => "flashes",
        None => return Some(()),
    };
    let hint = if does == "flashes" {
        "write a stage of kind `bmc-version` or `bios-version`"
    } else {
        "redpipe makes the resets that its stages need, after looking; make any other by hand"
    };
    let message = format!("`{}` {does}, which no setting may do", uri.get());
    check.error(uri.span(), message, "not a setting").hint(hint);
    None
}

fn severing_action(uri: &At<String>) -> Option<(&'static str, Range<usize>)> {
    let path = uri.get().to_ascii_lowercase();
    let found = SEVERING_ACTIONS
        .iter()
        .find(|(name, _)| *name == action_name(&path));
    found.map(|(_, what)| (*what, uri.span()))
}

/// `reset` of `{manager}/actions/manager.reset`.
fn action_name(path: &str) -> &str {
    path.rsplit(['/', '.', '#']).next().unwrap_or_default()
}
