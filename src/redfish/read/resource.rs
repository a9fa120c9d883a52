//! Plain resources: from a template to a URI along links, and what of a desired object a resource lacks.
//!
//! A template starts at a link (`{manager}`, `{system}`, `{chassis}`, `{root}`); below it stand link names or path
//! segments.

use serde_json::{Map, Value};

use super::links::{Links, SystemLinks};
use super::reader::Reader;
use crate::model::Fault;
use crate::redfish::wire::{ROOT, key, last_segment, link, links, member};

/// The link that a template starts at, and what stands below it. `None` where this BMC has no such link.
pub(in crate::redfish) fn base_of<'a>(
    found: &Links,
    system: Option<&SystemLinks>,
    of_systems: &[&SystemLinks],
    template: &'a str,
) -> Option<(String, &'a str)> {
    let (name, rest) = template.strip_prefix('{')?.split_once('}')?;
    let rest = rest.trim_matches('/');
    let manager = match system {
        Some(system) => found.manager(&[system]),
        None => found.manager(of_systems),
    };
    let base = match name {
        "root" => Some(ROOT.to_owned()),
        "manager" => manager.map(|manager| manager.uri.clone()),
        "system" => system.map(|system| system.uri.clone()),
        "chassis" => system
            .and_then(|system| system.chassis.clone())
            .or_else(|| manager.and_then(|manager| manager.chassis.clone())),
        _ => None,
    }?;
    Some((base, rest))
}

/// Follows names below a base: a link of that name, a member of that id, an object whose links come next, else a path
/// segment. What a template led to is remembered.
pub(in crate::redfish) async fn resolve(
    reader: &mut Reader<'_>,
    found: &mut Links,
    base: &str,
    rest: &str,
) -> Result<String, Fault> {
    if rest.is_empty() {
        return Ok(base.to_owned());
    }
    let remembered = format!("{} {rest}", key(base));
    if let Some(uri) = found.templates.get(&remembered) {
        return Ok(uri.clone());
    }
    let mut uri = base.to_owned();
    // Collected, because a closure over borrowed names must not live across the reads below.
    let steps: Vec<&str> = rest.split('/').filter(|name| !name.is_empty()).collect();
    let mut names = steps.into_iter().peekable();
    while names.peek().is_some() {
        let doc = reader.read_if_well(&uri, "resource").await?;
        uri = match doc.as_deref().and_then(|doc| step(doc, &mut names)) {
            Some(next) => next,
            None => match names.next() {
                Some(name) => format!("{}/{name}", uri.trim_end_matches('/')),
                None => break,
            },
        };
    }
    found.templates.insert(remembered, uri.clone());
    Ok(uri)
}

/// One step along names of a document; names that are used up are taken, and none where the first leads nowhere.
fn step<'a>(
    doc: &Value,
    names: &mut std::iter::Peekable<impl Iterator<Item = &'a str> + Clone>,
) -> Option<String> {
    let mut ahead = names.clone();
    let mut inside = doc;
    loop {
        let name = ahead.next()?;
        if let Some(uri) = link(inside, name).filter(|uri| uri.starts_with('/')) {
            *names = ahead;
            return Some(uri);
        }
        let listed = links(inside, "Members")
            .into_iter()
            .find(|uri| last_segment(uri).eq_ignore_ascii_case(name));
        if let Some(uri) = listed {
            *names = ahead;
            return Some(uri);
        }
        inside = member(inside, name).filter(|value| value.is_object())?;
    }
}

/// What of `desired` is not in `found`: objects member by member, arrays and scalars whole. `None` where all is there.
pub(in crate::redfish) fn lacking(desired: &Value, found: &Value) -> Option<Value> {
    let Some(wanted) = desired.as_object() else {
        return (desired != found).then(|| desired.clone());
    };
    let missing: Map<String, Value> = wanted
        .iter()
        .filter_map(|(name, value)| {
            let now = found.get(name).unwrap_or(&Value::Null);
            lacking(value, now).map(|value| (name.clone(), value))
        })
        .collect();
    if missing.is_empty() && found.is_object() {
        None
    } else {
        Some(Value::Object(missing))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn steps(doc: &Value, path: &str) -> (Option<String>, Vec<String>) {
        let mut names = path.split('/').peekable();
        let uri = step(doc, &mut names);
        (uri, names.map(str::to_owned).collect())
    }

    #[test]
    fn names_lead_along_links_before_they_count_as_segments() {
        let manager = json!({"NetworkProtocol": {"@odata.id": "/redfish/v1/Managers/1/NetProto"},
            "Oem": {"Hpe": {"Links": {"SecurityService": {"@odata.id": "/redfish/v1/Managers/1/Sec"}}}}});
        assert_eq!(
            steps(&manager, "NetworkProtocol").0.as_deref(),
            Some("/redfish/v1/Managers/1/NetProto")
        );
        let (uri, left) = steps(&manager, "Oem/Hpe/Links/SecurityService/More");
        assert_eq!(uri.as_deref(), Some("/redfish/v1/Managers/1/Sec"));
        assert_eq!(left, ["More"]);
        let (none, left) = steps(&manager, "Oem/Other");
        assert_eq!(
            (none, left.len()),
            (None, 2),
            "nothing is used up where nothing is found"
        );
    }

    #[test]
    fn members_are_found_by_id_in_any_case() {
        let collection = json!({"Members": [{"@odata.id": "/x/ToHost"}, {"@odata.id": "/x/NIC"}]});
        assert_eq!(steps(&collection, "nic").0.as_deref(), Some("/x/NIC"));
    }

    #[test]
    fn only_what_is_not_there_is_sent() {
        let found = json!({"NTP": {"ProtocolEnabled": true, "NTPServers": ["a", "b"], "Port": 123}, "Other": 1});
        assert_eq!(
            lacking(&json!({"NTP": {"ProtocolEnabled": true}}), &found),
            None
        );
        assert_eq!(
            lacking(
                &json!({"NTP": {"ProtocolEnabled": true, "NTPServers": ["a"]}}),
                &found
            ),
            Some(json!({"NTP": {"NTPServers": ["a"]}}))
        );
        assert_eq!(
            lacking(&json!({"New": {"A": 1}}), &found),
            Some(json!({"New": {"A": 1}}))
        );
        assert_eq!(
            lacking(&json!({"New": {}}), &found),
            Some(json!({"New": {}}))
        );
        assert_eq!(lacking(&json!({"Secret": null}), &found), None);
    }
}
