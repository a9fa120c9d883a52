//! Managers and systems of one BMC, read together: they name each other.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

use super::discover::allowed_values;
use super::identity::ManagerClaims;
use super::links::{Links, SystemLinks};
use super::managers::{manager_links, manager_view, sort_managers};
use super::reader::Reader;
use super::systems::{system_links, system_view};
use crate::model::look::{ManagerView, SystemView};
use crate::model::{BmcName, Fault, ServerName};
use crate::redfish::wire::{at, link, same, text};

/// One line of the inventory: a server's name and the system it means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerRef {
    /// The inventory's name for it.
    pub name: ServerName,
    /// Member id or URI; `None` only where the BMC has exactly one system.
    pub system: Option<String>,
}

/// What one look saw of managers and systems.
#[derive(Debug, Default)]
pub(in crate::redfish) struct Boxes {
    /// Managers of type BMC first, by URI.
    pub(in crate::redfish) managers: Vec<ManagerView>,
    /// What each manager claims to be, by URI.
    pub(in crate::redfish) claims: BTreeMap<String, ManagerClaims>,
    /// Systems by URI.
    pub(in crate::redfish) systems: Vec<SystemView>,
}

/// Systems by the inventory's names.
#[derive(Debug, Default)]
pub(in crate::redfish) struct Assigned {
    /// Those that the inventory means.
    pub(in crate::redfish) named: BTreeMap<ServerName, SystemView>,
    /// Those it leaves out.
    pub(in crate::redfish) others: Vec<SystemView>,
    /// Those it names and the BMC does not show.
    pub(in crate::redfish) missing: Vec<ServerName>,
}

/// Which members are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::redfish) enum Members {
    /// Those that discovery found.
    Remembered,
    /// Those that the collections list now.
    Listed,
}

/// Reads all managers and systems, and brings what is remembered of them up to date. A remembered member that cannot be
/// read makes the collections be read again.
pub(in crate::redfish) async fn read_boxes(
    reader: &mut Reader<'_>,
    found: &mut Links,
    members: Members,
) -> Result<Boxes, Fault> {
    if members == Members::Remembered && !found.systems.is_empty() {
        let managers: Vec<String> = found.managers.iter().map(|m| m.uri.clone()).collect();
        let systems: Vec<String> = found.systems.iter().map(|s| s.uri.clone()).collect();
        let noted = reader.problems.len();
        if let Some(boxes) = read_members(reader, found, &managers, &systems).await? {
            return Ok(boxes);
        }
        reader.problems.truncate(noted);
    }
    let managers = listed(reader, found.root.managers.clone(), "manager").await?;
    let systems = listed(reader, found.root.systems.clone(), "system").await?;
    let boxes = read_some(reader, found, &managers, &systems).await?;
    Ok(boxes)
}

/// Gives systems the names of the inventory; all of them `BMC/ID` where it names none.
pub(in crate::redfish) fn assign(
    reader: &mut Reader<'_>,
    servers: &[ServerRef],
    bmc: &BmcName,
    found: &Links,
    systems: Vec<SystemView>,
) -> Assigned {
    let mut assigned = Assigned::default();
    if servers.is_empty() {
        assigned.named = systems
            .into_iter()
            .map(|view| (unlisted_name(bmc, &view.id), view))
            .collect();
        return assigned;
    }
    let mut left = systems;
    for server in servers {
        let uri = meant(found, server).map(|system| system.uri.clone());
        let place = uri.and_then(|uri| left.iter().position(|view| same(&view.uri, &uri)));
        if let Some(place) = place {
            let view = left.remove(place);
            assigned.named.insert(server.name.clone(), view);
        } else {
            reader.problem("system-missing", missing_text(found, server));
            assigned.missing.push(server.name.clone());
        }
    }
    assigned.others = left;
    assigned
}

/// The system that a server's name means, from what is remembered.
pub(in crate::redfish) fn system_named<'a>(
    found: &'a Links,
    servers: &[ServerRef],
    bmc: &BmcName,
    name: &ServerName,
) -> Option<&'a SystemLinks> {
    if servers.is_empty() {
        return found
            .systems
            .iter()
            .find(|system| unlisted_name(bmc, &system.id) == *name);
    }
    let server = servers.iter().find(|server| server.name == *name)?;
    meant(found, server)
}

/// The systems that the inventory means, all of them where it names none.
pub(in crate::redfish) fn systems_meant<'a>(
    found: &'a Links,
    servers: &[ServerRef],
) -> Vec<&'a SystemLinks> {
    if servers.is_empty() {
        return found.systems.iter().collect();
    }
    servers
        .iter()
        .filter_map(|server| meant(found, server))
        .collect()
}

fn meant<'a>(found: &'a Links, server: &ServerRef) -> Option<&'a SystemLinks> {
    match (&server.system, found.systems.as_slice()) {
        (Some(named), _) => found.system(named),
        (None, [only]) => Some(only),
        (None, _) => None,
    }
}

fn missing_text(found: &Links, server: &ServerRef) -> String {
    let ids: Vec<&str> = found
        .systems
        .iter()
        .map(|system| system.id.as_str())
        .collect();
    let shown = if ids.is_empty() {
        "none".to_owned()
    } else {
        ids.join(", ")
    };
    match &server.system {
        Some(system) => format!(
            "server `{}` is system `{system}`, the BMC shows {shown}",
            server.name
        ),
        None => format!(
            "server `{}` names no system, the BMC shows {shown}: add `system` to the inventory",
            server.name
        ),
    }
}

fn unlisted_name(bmc: &BmcName, id: &str) -> ServerName {
    format!("{bmc}/{id}").into()
}

async fn listed(
    reader: &mut Reader<'_>,
    collection: Option<String>,
    what: &str,
) -> Result<Vec<String>, Fault> {
    match collection {
        Some(uri) => reader.member_uris(&uri, what).await,
        None => Ok(Vec::new()),
    }
}

/// All of these members, or `None` where one of them is no longer there.
async fn read_members(
    reader: &mut Reader<'_>,
    found: &mut Links,
    managers: &[String],
    systems: &[String],
) -> Result<Option<Boxes>, Fault> {
    for (uris, what) in [(managers, "manager"), (systems, "system")] {
        for uri in uris {
            if reader.read_if_well(uri, what).await?.is_none() {
                return Ok(None);
            }
        }
    }
    read_some(reader, found, managers, systems).await.map(Some)
}

/// Those of these members that can be read.
async fn read_some(
    reader: &mut Reader<'_>,
    found: &mut Links,
    managers: &[String],
    systems: &[String],
) -> Result<Boxes, Fault> {
    let mut boxes = Boxes::default();
    found.managers.clear();
    for uri in managers {
        if let Some(doc) = reader.read_if_well(uri, "manager").await? {
            boxes.managers.push(manager_view(uri, &doc));
            found.managers.push(manager_links(uri, &doc));
            boxes.claims.insert(uri.clone(), claims(&doc));
        }
    }
    sort_managers(&mut boxes.managers);
    found
        .managers
        .sort_by(|a, b| (!a.is_bmc, &a.uri).cmp(&(!b.is_bmc, &b.uri)));
    let clock = managers
        .iter()
        .find_map(|uri| time_of(reader.seen(uri)?.as_ref()));
    found.systems.clear();
    for uri in systems {
        if let Some(doc) = reader.read_if_well(uri, "system").await? {
            boxes
                .systems
                .push(one_system(reader, found, uri, &doc, clock).await?);
        }
    }
    boxes.systems.sort_by(|a, b| a.uri.cmp(&b.uri));
    found.systems = boxes.systems.iter().map(system_links).collect();
    Ok(boxes)
}

async fn one_system(
    reader: &mut Reader<'_>,
    found: &mut Links,
    uri: &str,
    doc: &Arc<Value>,
    clock: Option<Timestamp>,
) -> Result<SystemView, Fault> {
    let mut view = system_view(uri, doc, clock);
    view.managed_by = view
        .managed_by
        .iter()
        .map(|uri| found.spelled(uri))
        .collect();
    let action = at(doc, &["Actions", "#ComputerSystem.Reset"]);
    view.no_reset = action.and_then(|action| link(action, "target")).is_none();
    if let Some(action) = action {
        view.reset_types = allowed_values(reader, found, action, "ResetType").await?;
    }
    Ok(view)
}

/// What a manager believes the time is.
fn time_of(manager: &Value) -> Option<Timestamp> {
    text(manager, "DateTime")?.parse().ok()
}

fn claims(doc: &Value) -> ManagerClaims {
    ManagerClaims {
        uuid: text(doc, "UUID"),
        serial: text(doc, "SerialNumber"),
    }
}
