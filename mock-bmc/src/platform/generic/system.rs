//! This room is a system.
//!
//! It deliberately describes processors and memory in summary only: nobody flashes them here.

use serde_json::{Value, json};

use super::{BIOS_VERSION, Documents};
use crate::docs::identity::Identity;
use crate::script::Habits;

pub(super) fn collection(systems: usize) -> Documents {
    let members: Vec<String> = (1..=systems)
        .map(|number| format!("/redfish/v1/Systems/{number}"))
        .collect();
    vec![super::collection(
        "/redfish/v1/Systems",
        "ComputerSystemCollection",
        "Systems",
        &members,
    )]
}

pub(super) fn documents(identity: &Identity, number: usize, habits: &Habits) -> Documents {
    let id = number.to_string();
    let uri = format!("/redfish/v1/Systems/{id}");
    let mut document = json!({
        "@odata.id": uri,
        "@odata.type": "#ComputerSystem.v1_20_0.ComputerSystem",
        "Id": id,
        "Name": format!("System {id}"),
        "SystemType": "Physical",
        "Manufacturer": "mock-bmc",
        "Model": "generic server",
        "SKU": "GS-1",
        "PartNumber": "GS-1-0001",
        "SerialNumber": identity.system_serial(&id, habits),
        "UUID": identity.system_uuid(&id, habits),
        "AssetTag": "",
        "HostName": format!("{}-host-{id}", identity.name),
        "BiosVersion": BIOS_VERSION,
        "PowerState": "On",
        "LocationIndicatorActive": false,
        "Status": { "State": "Enabled", "Health": "OK" },
        "BootProgress": { "LastState": "OSRunning" },
        "Boot": boot(),
        "ProcessorSummary": { "Count": 2, "CoreCount": 64, "LogicalProcessorCount": 64, "Model": "generic processor" },
        "MemorySummary": { "TotalSystemMemoryGiB": 256 },
        "Bios": { "@odata.id": format!("{uri}/Bios") },
    });
    document["Links"] = json!({
        "Chassis": [{ "@odata.id": "/redfish/v1/Chassis/1" }],
        "Chassis@odata.count": 1,
        "ManagedBy": [{ "@odata.id": "/redfish/v1/Managers/BMC" }],
        "ManagedBy@odata.count": 1,
    });
    document["Actions"] = json!({
        "#ComputerSystem.Reset": {
            "target": format!("{uri}/Actions/ComputerSystem.Reset"),
            "ResetType@Redfish.AllowableValues": ["On", "ForceOff", "GracefulShutdown", "GracefulRestart", "ForceRestart", "PowerCycle"],
        },
    });
    vec![(uri, document)]
}

fn boot() -> Value {
    json!({
        "BootSourceOverrideEnabled": "Disabled",
        "BootSourceOverrideEnabled@Redfish.AllowableValues": ["Disabled", "Once", "Continuous"],
        "BootSourceOverrideTarget": "None",
        "BootSourceOverrideTarget@Redfish.AllowableValues": ["None", "Pxe", "Hdd", "Cd", "Usb", "BiosSetup", "UefiHttp"],
        "BootSourceOverrideMode": "UEFI",
        "BootSourceOverrideMode@Redfish.AllowableValues": ["UEFI", "Legacy"],
    })
}
