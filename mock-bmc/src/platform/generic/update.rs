//! This room is the update service and the firmware inventory.
//!
//! It deliberately lists only what can be updated: the manager and each system's BIOS.

use serde_json::{Value, json};

use super::{BIOS_VERSION, BMC_VERSION, Documents, collection};
use crate::script::{Habits, Targets};

const SERVICE: &str = "/redfish/v1/UpdateService";

pub(super) fn documents(systems: usize, habits: &Habits) -> Documents {
    let inventory = format!("{SERVICE}/FirmwareInventory");
    let mut members = vec![(
        format!("{inventory}/BMC"),
        "BMC firmware".to_owned(),
        BMC_VERSION,
        "/redfish/v1/Managers/BMC".to_owned(),
    )];
    for number in 1..=systems {
        members.push((
            format!("{inventory}/BIOS_{number}"),
            format!("BIOS of system {number}"),
            BIOS_VERSION,
            format!("/redfish/v1/Systems/{number}"),
        ));
    }
    if habits.update.staging_slot_keeps_what_ran() {
        members.push((
            format!("{inventory}/Staging_BMC"),
            "BMC staging".to_owned(),
            BMC_VERSION,
            "/redfish/v1/Managers/BMC".to_owned(),
        ));
    }
    let uris: Vec<String> = members.iter().map(|(uri, ..)| uri.clone()).collect();
    let mut documents = vec![
        (SERVICE.into(), service(habits)),
        (
            format!("{SERVICE}/SimpleUpdateActionInfo"),
            action_info(habits),
        ),
        collection(
            &inventory,
            "SoftwareInventoryCollection",
            "Firmware inventory",
            &uris,
        ),
    ];
    for (uri, name, version, related) in members {
        documents.push((uri.clone(), software(&uri, &name, version, &related)));
    }
    documents
}

fn service(habits: &Habits) -> Value {
    let update = &habits.update;
    let apply_times = json!({ "@odata.type": "#Settings.v1_3_3.OperationApplyTimeSupport", "SupportedValues": ["Immediate", "OnReset"] });
    let mut document = json!({
        "@odata.id": SERVICE,
        "@odata.type": "#UpdateService.v1_11_2.UpdateService",
        "Id": "UpdateService",
        "Name": "Update Service",
        "ServiceEnabled": true,
        "Status": { "State": "Enabled", "Health": "OK" },
        "FirmwareInventory": { "@odata.id": format!("{SERVICE}/FirmwareInventory") },
        "Actions": {},
    });
    if update.http_push() {
        document["HttpPushUri"] = format!("{SERVICE}/push").into();
        document["HttpPushUriOptions"] =
            json!({ "HttpPushUriApplyTime": { "ApplyTime": "Immediate" } });
        document["HttpPushUriOptionsBusy"] = false.into();
        if update.targets() != Targets::Absent {
            document["HttpPushUriTargets"] = json!([]);
            document["HttpPushUriTargetsBusy"] = false.into();
        }
    }
    if update.multipart() {
        document["MultipartHttpPushUri"] = format!("{SERVICE}/upload").into();
        document["MultipartHttpPushUri@Redfish.OperationApplyTimeSupport"] = apply_times;
    }
    if update.max_image_bytes() > 0 {
        document["MaxImageSizeBytes"] = update.max_image_bytes().into();
    }
    if update.simple_update() {
        document["Actions"]["#UpdateService.SimpleUpdate"] = json!({
            "target": format!("{SERVICE}/Actions/UpdateService.SimpleUpdate"),
            "TransferProtocol@Redfish.AllowableValues": update.protocols(),
            "@Redfish.ActionInfo": format!("{SERVICE}/SimpleUpdateActionInfo"),
        });
    }
    document
}

fn action_info(habits: &Habits) -> Value {
    let parameter = |name: &str, kind: &str, required: bool| json!({ "Name": name, "DataType": kind, "Required": required });
    let mut protocol = parameter("TransferProtocol", "String", false);
    protocol["AllowableValues"] = json!(habits.update.protocols());
    let mut parameters = vec![
        parameter("ImageURI", "String", true),
        protocol,
        parameter("Username", "String", false),
        parameter("Password", "String", false),
        parameter("ForceUpdate", "Boolean", false),
    ];
    if habits.update.targets() != Targets::Absent {
        parameters.push(parameter("Targets", "StringArray", false));
    }
    json!({
        "@odata.id": format!("{SERVICE}/SimpleUpdateActionInfo"),
        "@odata.type": "#ActionInfo.v1_3_0.ActionInfo",
        "Id": "SimpleUpdateActionInfo",
        "Name": "Parameters of SimpleUpdate",
        "Parameters": parameters,
    })
}

fn software(uri: &str, name: &str, version: &str, related: &str) -> Value {
    json!({
        "@odata.id": uri,
        "@odata.type": "#SoftwareInventory.v1_10_0.SoftwareInventory",
        "Id": uri.rsplit('/').next().unwrap_or_default(),
        "Name": name,
        "Manufacturer": "mock-bmc",
        "Version": version,
        "Updateable": true,
        "Status": { "State": "Enabled", "Health": "OK" },
        "RelatedItem": [{ "@odata.id": related }],
        "RelatedItem@odata.count": 1,
    })
}
