//! What an update request names as its `Targets`.

use super::spec::StageSpec;
use crate::model::action::UpdateMethod;
use crate::model::look::{SoftwareView, SystemView};
use crate::model::{Look, Target};

/// The `Targets` of an update request; empty = the request names none. The error says why no request may be sent.
///
/// Where a BMC has more than one system, an image that names no system may be flashed onto all of them: there a BIOS
/// hop names exactly the one system that is meant, or is not sent. Where no name is needed and the platform would take
/// one, it is given, but for a raw push, which has no place for it: there the bytes alone say what they are for.
pub fn update_targets(
    stage: &StageSpec,
    target: &Target,
    look: &Look,
    method: UpdateMethod,
) -> Result<Vec<String>, String> {
    let may_name = look.capability.named_targets && method != UpdateMethod::HttpPush;
    let authored = stage.options.targets.as_deref();
    let Some(server) = target.server() else {
        return Ok(match authored {
            Some(authored) => authored
                .iter()
                .map(|text| expand(text, None, look))
                .collect(),
            None if may_name => bmc_member(look).into_iter().collect(),
            None => Vec::new(),
        });
    };
    let Some(system) = look.systems.get(server) else {
        return Err(format!(
            "the BMC does not show the system of `{server}` now"
        ));
    };
    let is_only = look.systems.len() + look.other_systems.len() + look.missing_systems.len() == 1;
    match authored {
        Some(authored) => {
            let named: Vec<String> = authored
                .iter()
                .map(|text| expand(text, Some(system), look))
                .collect();
            match named
                .iter()
                .find(|uri| !is_only && !is_of_system(uri, system, look))
            {
                Some(foreign) => Err(format!(
                    "`targets` names `{foreign}`, which is not only of `{server}`"
                )),
                None if named.is_empty() && !is_only => Err(several(look)),
                None => Ok(named),
            }
        }
        None if is_only && may_name => Ok(found(system, look).into_iter().collect()),
        None if is_only => Ok(Vec::new()),
        None => found(system, look).map(|uri| vec![uri]),
    }
}

fn several(look: &Look) -> String {
    let count = look.systems.len() + look.other_systems.len() + look.missing_systems.len();
    format!("the BMC has {count} systems, and `targets` names none of them")
}

/// The one thing that means this system's BIOS and nothing else: its member of the firmware inventory, else its Bios.
fn found(system: &SystemView, look: &Look) -> Result<String, String> {
    let mine: Vec<&SoftwareView> = look
        .software
        .iter()
        .filter(|software| is_bios_of(software, system, look))
        .collect();
    let running: Vec<&SoftwareView> = mine
        .iter()
        .copied()
        .filter(|software| system.bios_version.is_some() && software.version == system.bios_version)
        .collect();
    match (mine.as_slice(), running.as_slice(), &system.bios_uri) {
        ([one], _, _) | (_, [one], _) => Ok(one.uri.clone()),
        ([], _, Some(bios)) => Ok(bios.clone()),
        ([], _, None) => Err(format!(
            "neither a firmware inventory member nor a Bios belongs to `{}`",
            system.uri
        )),
        (several, _, _) => {
            let uris: Vec<&str> = several
                .iter()
                .map(|software| software.uri.as_str())
                .collect();
            Err(format!(
                "more than one firmware inventory member belongs to its BIOS: {}",
                uris.join(", ")
            ))
        }
    }
}

/// The one updateable member of the firmware inventory that is the BMC's own.
fn bmc_member(look: &Look) -> Option<String> {
    let manager = look.manager()?;
    let mut own = look.software.iter().filter(|software| {
        let related = software.related.iter();
        !software.staged
            && software.updateable != Some(false)
            && software.related.len() == 1
            && related.into_iter().all(|uri| same_uri(uri, &manager.uri))
    });
    match (own.next(), own.next()) {
        (Some(only), None) => Some(only.uri.clone()),
        _ => None,
    }
}

fn is_bios_of(software: &SoftwareView, system: &SystemView, look: &Look) -> bool {
    let relates = |uri: &str| {
        software
            .related
            .iter()
            .any(|related| same_uri(related, uri))
    };
    // Network cards and drives relate to the system too; only the running BIOS version tells its BIOS from them.
    let by_version = relates(&system.uri)
        && system.bios_version.is_some()
        && software.version == system.bios_version;
    let mine = system.bios_uri.as_deref().is_some_and(relates) || by_version;
    mine && !software.staged
        && software.updateable != Some(false)
        && !relates_to_others(software, system, look)
}

fn relates_to_others(software: &SoftwareView, system: &SystemView, look: &Look) -> bool {
    let others = look
        .systems
        .values()
        .chain(&look.other_systems)
        .filter(|other| !same_uri(&other.uri, &system.uri));
    others.into_iter().any(|other| {
        software
            .related
            .iter()
            .any(|related| is_within(related, &other.uri))
    })
}

/// Whether an authored target means this system and no other.
fn is_of_system(uri: &str, system: &SystemView, look: &Look) -> bool {
    if is_within(uri, &system.uri)
        || system
            .bios_uri
            .as_deref()
            .is_some_and(|bios| same_uri(uri, bios))
    {
        return true;
    }
    look.software
        .iter()
        .filter(|software| same_uri(&software.uri, uri))
        .any(|software| {
            let mine = software.related.iter().any(|related| {
                is_within(related, &system.uri)
                    || system
                        .bios_uri
                        .as_deref()
                        .is_some_and(|bios| same_uri(related, bios))
            });
            mine && !relates_to_others(software, system, look)
        })
}

/// `{manager}`, `{system}` and `{bios}` stand for the resources of this target.
fn expand(text: &str, system: Option<&SystemView>, look: &Look) -> String {
    let manager = look.manager().map(|manager| manager.uri.as_str());
    let known = [
        ("{manager}", manager),
        ("{system}", system.map(|system| system.uri.as_str())),
        (
            "{bios}",
            system.and_then(|system| system.bios_uri.as_deref()),
        ),
    ];
    let stands = known
        .iter()
        .find_map(|(word, uri)| Some((text.strip_prefix(word)?, (*uri)?)));
    stands.map_or_else(|| text.to_owned(), |(rest, uri)| format!("{uri}{rest}"))
}

/// Some BMCs spell one link in several cases, and some end it with a slash.
fn same_uri(a: &str, b: &str) -> bool {
    a.trim_end_matches('/')
        .eq_ignore_ascii_case(b.trim_end_matches('/'))
}

fn is_within(uri: &str, parent: &str) -> bool {
    let (uri, parent) = (
        uri.to_ascii_lowercase(),
        parent.trim_end_matches('/').to_ascii_lowercase(),
    );
    uri.strip_prefix(&parent)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests;
