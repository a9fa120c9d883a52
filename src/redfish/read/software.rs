//! The firmware inventory: what runs, what is staged, and what is only a spare copy.

use serde_json::Value;

use super::links::Links;
use super::reader::{Member, Reader};
use crate::model::Fault;
use crate::model::look::SoftwareView;
use crate::redfish::quirk::{
    is_named_spare, is_namesake, is_pending_slot, keeps_what_ran, means_none,
};
use crate::redfish::wire::{flag, last_segment, links, member, same, text};

/// Reads the whole inventory.
pub(in crate::redfish) async fn read_software(
    reader: &mut Reader<'_>,
    found: &Links,
) -> Result<Vec<SoftwareView>, Fault> {
    let Some(collection) = found.software.clone() else {
        return Ok(Vec::new());
    };
    let members = reader.members(&collection, "software", "Version").await?;
    let mut software: Vec<SoftwareView> = members
        .iter()
        .flat_map(|member| software_views(member, found))
        .collect();
    empty_used_slots(&mut software);
    Ok(software)
}

/// Nothing waits in a slot that shows the version which runs: what is left of it is one more copy.
fn empty_used_slots(software: &mut [SoftwareView]) {
    let runs = |slot: &SoftwareView| {
        software.iter().any(|view| {
            let is_same = match (&slot.version, &view.version) {
                (Some(waiting), Some(running)) => keeps_what_ran(waiting, running),
                (_, None) | (None, _) => false,
            };
            !view.staged && is_same && view.related.iter().any(|uri| slot.related.contains(uri))
        })
    };
    let used: Vec<String> = software
        .iter()
        .filter(|slot| slot.staged && is_pending_slot(&slot.id) && runs(slot))
        .map(|slot| slot.uri.clone())
        .collect();
    for slot in software.iter_mut().filter(|slot| used.contains(&slot.uri)) {
        slot.staged = false;
        slot.related.clear();
    }
}

/// Reads only these members; `None` where one of them is no longer there.
pub(in crate::redfish) async fn read_some(
    reader: &mut Reader<'_>,
    found: &Links,
    uris: &[String],
) -> Result<Option<Vec<SoftwareView>>, Fault> {
    let mut software = Vec::new();
    for uri in uris {
        let Some(doc) = reader.read_if_well(uri, "software").await? else {
            return Ok(None);
        };
        let uri = uri.clone();
        software.extend(software_views(&Member { uri, doc }, found));
    }
    Ok(Some(software))
}

/// The members that tell the version of what shows none itself: those that are named as firmware of their kind, where
/// there are any, so that a warm look does not read a dozen parts for one version. `owner` is the system of a Bios.
pub(in crate::redfish) fn version_sources(
    software: &[SoftwareView],
    silent: &str,
    owner: Option<&str>,
) -> Vec<String> {
    const NAMES: [&str; 3] = ["bios", "uefi", "bmc"];
    let related = |to: &str| -> Vec<&SoftwareView> {
        software
            .iter()
            .filter(|view| !view.staged && view.related.iter().any(|uri| uri == to))
            .collect()
    };
    let named = |views: &[&SoftwareView]| -> Vec<String> {
        let is_named = |view: &&&SoftwareView| {
            let words = format!("{} {}", view.id, view.name.as_deref().unwrap_or_default());
            let words = words.to_ascii_lowercase();
            NAMES.iter().any(|name| words.contains(name))
        };
        views
            .iter()
            .filter(is_named)
            .map(|view| view.uri.clone())
            .collect()
    };
    let own = related(silent);
    match (named(&own), owner) {
        (sources, _) if !sources.is_empty() => sources,
        (_, Some(owner)) if own.is_empty() => named(&related(owner)),
        _ => own.iter().map(|view| view.uri.clone()).collect(),
    }
}

/// One member as seen: one view, or two where it tells a running version and a staged one.
fn software_views(entry: &Member, found: &Links) -> Vec<SoftwareView> {
    let doc = entry.doc.as_ref();
    let id = text(doc, "Id").unwrap_or_else(|| last_segment(&entry.uri).to_owned());
    let related = if is_spare(&id, doc) {
        Vec::new()
    } else {
        links(doc, "RelatedItem")
            .iter()
            .map(|uri| found.spelled(uri))
            .collect()
    };
    let staged = is_staged(&id, doc);
    let view = SoftwareView {
        uri: entry.uri.clone(),
        name: text(doc, "Name"),
        version: text(doc, "Version"),
        staged,
        related,
        updateable: flag(doc, "Updateable"),
        id,
    };
    match staged_version(doc) {
        Some(version) if !staged => {
            let waiting = SoftwareView {
                version: Some(version),
                staged: true,
                ..view.clone()
            };
            vec![view, waiting]
        }
        Some(version) => {
            let running = SoftwareView {
                staged: false,
                ..view.clone()
            };
            let same_text = view.version.as_deref() == Some(version.as_str());
            let waiting = SoftwareView {
                version: Some(version),
                ..view
            };
            if same_text {
                vec![waiting]
            } else {
                vec![running, waiting]
            }
        }
        None => vec![view],
    }
}

/// Marks the software that a manager names as its active image as related to it: some services leave `RelatedItem` empty.
pub(in crate::redfish) fn relate_active(
    software: &mut [SoftwareView],
    manager_uri: &str,
    manager: &Value,
) {
    let active = member(manager, "Links")
        .and_then(|all| crate::redfish::wire::link(all, "ActiveSoftwareImage"));
    let Some(active) = active else {
        return;
    };
    for view in software.iter_mut().filter(|view| same(&view.uri, &active)) {
        if !view.related.iter().any(|uri| uri == manager_uri) {
            view.related.push(manager_uri.to_owned());
        }
    }
}

/// Marks the software that is named like a manager as related to it, where neither of them says more.
pub(in crate::redfish) fn relate_namesake(
    software: &mut [SoftwareView],
    manager_uri: &str,
    manager: &Value,
) {
    let is_related = |view: &SoftwareView| view.related.iter().any(|uri| uri == manager_uri);
    if text(manager, "FirmwareVersion").is_some() || software.iter().any(is_related) {
        return;
    }
    for view in software.iter_mut() {
        let is_free = !view.staged && view.related.is_empty();
        if is_free && is_namesake(&view.id, last_segment(manager_uri)) {
            view.related.push(manager_uri.to_owned());
        }
    }
}

/// Whether an image waits for its activation: `Staged` as several services send it, or a slot of its own for what waits.
fn is_staged(id: &str, doc: &Value) -> bool {
    flag(doc, "Staged").unwrap_or_else(|| {
        is_pending_slot(id) && text(doc, "Version").is_some_and(|version| !means_none(&version))
    })
}

fn staged_version(doc: &Value) -> Option<String> {
    text(doc, "StagedVersion").filter(|version| !means_none(version))
}

/// Whether it is a copy that does not run. It relates to nothing, so that nobody takes its version for the running one.
fn is_spare(id: &str, doc: &Value) -> bool {
    let state = member(doc, "Status").and_then(|status| text(status, "State"));
    let rests = state.is_some_and(|state| {
        ["StandbySpare", "StandbyOffline", "Absent"]
            .iter()
            .any(|word| state.eq_ignore_ascii_case(word))
    });
    rests || is_named_spare(id, text(doc, "Name").as_deref())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;

    fn views(doc: Value) -> Vec<SoftwareView> {
        let entry = Member {
            uri: "/f/1".to_owned(),
            doc: Arc::new(doc),
        };
        software_views(&entry, &Links::default())
    }

    #[test]
    fn a_spare_copy_relates_to_nothing() {
        let backup = views(
            json!({"Id": "BMC-Backup", "Version": "1", "RelatedItem": [{"@odata.id": "/m"}]}),
        );
        assert!(backup[0].related.is_empty());
        let spare = views(
            json!({"Id": "x", "Status": {"State": "StandbySpare"}, "RelatedItem": [{"@odata.id": "/m"}]}),
        );
        assert!(spare[0].related.is_empty());
    }

    #[test]
    fn a_pending_slot_counts_only_when_it_holds_a_version() {
        assert!(!views(json!({"Id": "BMC-Primary-Pending", "Version": "-*"}))[0].staged);
        assert!(views(json!({"Id": "BMC-Primary-Pending", "Version": "42S-2.84"}))[0].staged);
        assert!(views(json!({"Id": "Installed-159", "Version": "2.1", "Staged": true}))[0].staged);
    }

    #[test]
    fn a_slot_that_shows_what_runs_holds_nothing() {
        let related = json!([{"@odata.id": "/m"}]);
        let slot = |version: &str| json!({"Id": "Staging_BMC", "Version": version, "RelatedItem": related});
        let waits = |version: &str| {
            let mut all =
                views(json!({"Id": "BMC", "Version": "11.01.01", "RelatedItem": related}));
            let mut staged = views(slot(version));
            for view in &mut staged {
                view.uri = "/f/2".to_owned();
            }
            all.extend(staged);
            empty_used_slots(&mut all);
            all.iter().any(|view| view.staged)
        };
        assert!(!waits("11.01.01"));
        assert!(waits("11.02.01"));
    }

    #[test]
    fn a_member_with_a_staged_version_is_two_views() {
        let two = views(json!({"Id": "BIOS", "Version": "2.10", "StagedVersion": "2.20"}));
        assert_eq!(two.len(), 2);
        assert!(!two[0].staged && two[1].staged);
        assert_eq!(two[1].version.as_deref(), Some("2.20"));
    }

    #[test]
    fn versions_stay_byte_for_byte() {
        assert_eq!(
            views(json!({"Version": "01.02.04        "}))[0]
                .version
                .as_deref(),
            Some("01.02.04        ")
        );
    }
}
