//! Discovery: from the service root along its links to everything that later looks ask for.
//!
//! No path is guessed; the only address known beforehand is the service root.

use std::sync::Arc;

use serde_json::Value;

use super::links::{LINKS_FORMAT, Links, RootFacts, UpdateLinks};
use super::managers::job_collections;
use super::reader::{Expand, Reader};
use crate::model::{Fault, FaultKind, Retry};
use crate::redfish::wire::{at, flag, link, links, member, object, text, texts, whole};

/// Members read of one manager's interface collection: boards have at most a handful.
const INTERFACES_MAX: usize = 8;

/// Reads the service root's own words.
pub(in crate::redfish) async fn root_facts(reader: &mut Reader<'_>) -> Result<RootFacts, Fault> {
    let root = reader.root().await?;
    let facts = read_root(&root);
    if facts.systems.is_none() && facts.managers.is_none() {
        // Seen right after a reset: the root answers before the services behind it do.
        return Err(Fault::new(
            FaultKind::NotReady,
            Retry::Transient,
            "the service root shows neither systems nor managers",
        ));
    }
    Ok(facts)
}

/// Follows the root's links to the services. Managers and systems are read by the caller, who needs more of them.
pub(in crate::redfish) async fn services(
    reader: &mut Reader<'_>,
    root: RootFacts,
) -> Result<Links, Fault> {
    let mut found = Links {
        format: LINKS_FORMAT,
        root,
        ..Links::default()
    };
    let update = found.root.update_service.clone();
    if let Some(doc) = service(reader, update, "update-service").await? {
        found.software = link(&doc, "FirmwareInventory");
        found.update = update_links(reader, &mut found, &doc).await?;
    }
    let tasks = found.root.task_service.clone();
    if let Some(doc) = service(reader, tasks, "task-service").await? {
        found.tasks = link(&doc, "Tasks");
    }
    let jobs = found.root.job_service.clone();
    if let Some(doc) = service(reader, jobs, "job-service").await? {
        found.jobs.extend(link(&doc, "Jobs"));
    }
    Ok(found)
}

/// What only the managers' documents lead to: vendors' job collections where there is no job service, and the MACs of
/// the managers' interfaces. Each manager is read already.
pub(in crate::redfish) async fn beside_managers(
    reader: &mut Reader<'_>,
    found: &mut Links,
) -> Result<(), Fault> {
    let uris: Vec<String> = found.managers.iter().map(|m| m.uri.clone()).collect();
    for uri in uris {
        let Some(doc) = reader.seen(&uri) else {
            continue;
        };
        if found.jobs.is_empty() {
            found.jobs = job_collections(&doc);
        }
        if let Some(interfaces) = link(&doc, "EthernetInterfaces") {
            let members = reader.member_uris(&interfaces, "interfaces").await?;
            for member in members.iter().take(INTERFACES_MAX) {
                if let Some(doc) = reader.read_if_well(member, "interface").await? {
                    found.manager_macs.extend(mac_of(&doc));
                }
            }
        }
    }
    Ok(())
}

/// Allowed values of an action's parameter: beside the action, else in its ActionInfo, which is remembered.
pub(in crate::redfish) async fn allowed_values(
    reader: &mut Reader<'_>,
    found: &mut Links,
    action: &Value,
    parameter: &str,
) -> Result<Vec<String>, Fault> {
    let stated = texts(action, &format!("{parameter}@Redfish.AllowableValues"));
    if !stated.is_empty() {
        return Ok(stated);
    }
    let Some(info) = link(action, "@Redfish.ActionInfo") else {
        return Ok(Vec::new());
    };
    if !found.action_infos.contains_key(&info) {
        let Some(doc) = reader.read_if_well(&info, "action-info").await? else {
            return Ok(Vec::new());
        };
        let parameters = member(&doc, "Parameters").and_then(Value::as_array);
        let values = parameters
            .into_iter()
            .flatten()
            .filter_map(|one| Some((text(one, "Name")?, texts(one, "AllowableValues"))))
            .collect();
        found.action_infos.insert(info.clone(), values);
    }
    let known = found.action_infos.get(&info);
    Ok(known
        .and_then(|values| values.get(parameter))
        .cloned()
        .unwrap_or_default())
}

async fn service(
    reader: &mut Reader<'_>,
    uri: Option<String>,
    what: &str,
) -> Result<Option<Arc<Value>>, Fault> {
    match uri {
        Some(uri) => reader.read_if_well(&uri, what).await,
        None => Ok(None),
    }
}

fn read_root(root: &Value) -> RootFacts {
    let oem: Vec<String> = object(root, "Oem")
        .map(|oem| {
            oem.iter()
                .filter(|(key, value)| !key.starts_with('@') && value.is_object())
                .map(|(key, _)| key.clone())
                .collect()
        })
        .unwrap_or_default();
    RootFacts {
        uuid: text(root, "UUID"),
        vendor: text(root, "Vendor").or_else(|| oem.first().cloned()),
        product: text(root, "Product"),
        managers: link(root, "Managers"),
        systems: link(root, "Systems"),
        chassis: link(root, "Chassis"),
        update_service: link(root, "UpdateService"),
        task_service: link(root, "Tasks").or_else(|| link(root, "TaskService")),
        job_service: link(root, "JobService"),
        registries: link(root, "Registries"),
        expand: offers_expand(root),
        oem,
    }
}

/// Whether one level of `$expand=.` is offered (DSP0266, "Expand parameter"): `.` leaves `Links` alone.
fn offers_expand(root: &Value) -> bool {
    at(root, &["ProtocolFeaturesSupported", "ExpandQuery"]).is_some_and(|query| {
        flag(query, "NoLinks") == Some(true) && flag(query, "Levels") == Some(true)
    })
}

/// Whether this reader may expand.
pub(in crate::redfish) fn expand_of(found: &Links) -> Expand {
    if found.root.expand && !found.expand_refused {
        Expand::Usable
    } else {
        Expand::Unusable
    }
}

async fn update_links(
    reader: &mut Reader<'_>,
    found: &mut Links,
    service: &Value,
) -> Result<UpdateLinks, Fault> {
    let mut update = UpdateLinks {
        multipart_push: link(service, "MultipartHttpPushUri"),
        http_push: link(service, "HttpPushUri"),
        push_targets: flag(service, "HttpPushUriTargetsBusy")
            .and_then(|_| found.root.update_service.clone()),
        push_apply_times: push_apply_times(service),
        max_image_bytes: whole(service, "MaxImageSizeBytes")
            .and_then(|bytes| u64::try_from(bytes).ok())
            .filter(|bytes| *bytes > 0),
        ..UpdateLinks::default()
    };
    update.start_update = at(service, &["Actions", "#UpdateService.StartUpdate"])
        .and_then(|action| link(action, "target"));
    let action = at(service, &["Actions", "#UpdateService.SimpleUpdate"]);
    if let Some(action) = action {
        update.simple_update = link(action, "target");
        update.simple_apply_times = apply_times(action);
        update.transfer_protocols =
            allowed_values(reader, found, action, "TransferProtocol").await?;
    }
    Ok(update)
}

fn apply_times(holder: &Value) -> Vec<String> {
    member(holder, "@Redfish.OperationApplyTimeSupport")
        .map(|support| texts(support, "SupportedValues"))
        .unwrap_or_default()
}

fn push_apply_times(service: &Value) -> Vec<String> {
    member(
        service,
        "MultipartHttpPushUri@Redfish.OperationApplyTimeSupport",
    )
    .map(|support| texts(support, "SupportedValues"))
    .unwrap_or_default()
}

/// The MAC that tells a board from another: the permanent one, never an empty, all-zero or broadcast one.
fn mac_of(interface: &Value) -> Option<String> {
    let mac = text(interface, "PermanentMACAddress").or_else(|| text(interface, "MACAddress"))?;
    let digits: String = mac
        .chars()
        .filter(char::is_ascii_hexdigit)
        .collect::<String>()
        .to_ascii_lowercase();
    let real = digits.len() == 12 && digits != "000000000000" && digits != "ffffffffffff";
    real.then(|| mac.trim().to_ascii_lowercase())
}

/// Chassis of a manager, for `{chassis}` of a BMC.
pub(super) fn manager_chassis(manager: &Value) -> Option<String> {
    let related = member(manager, "Links")?;
    link(related, "ManagerInChassis")
        .or_else(|| links(related, "ManagerForChassis").into_iter().next())
}
