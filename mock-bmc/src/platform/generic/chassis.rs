//! This room is the chassis that holds manager and systems.
//!
//! It deliberately has no reset: one would cut the power of every system at once.

use serde_json::{Value, json};

use super::{Documents, collection};
use crate::docs::identity::Identity;

const CHASSIS: &str = "/redfish/v1/Chassis/1";

pub(super) fn documents(identity: &Identity, systems: usize) -> Documents {
    let sensors = format!("{CHASSIS}/Sensors");
    let inlet = format!("{sensors}/InletTemp");
    let power = format!("{sensors}/TotalPower");
    vec![
        collection(
            "/redfish/v1/Chassis",
            "ChassisCollection",
            "Chassis",
            &[CHASSIS.into()],
        ),
        (CHASSIS.into(), chassis(identity, systems)),
        collection(
            &sensors,
            "SensorCollection",
            "Sensors",
            &[inlet.clone(), power.clone()],
        ),
        (
            inlet.clone(),
            sensor(&inlet, "Inlet temperature", ("Temperature", 24.0, "Cel")),
        ),
        (
            power.clone(),
            sensor(&power, "Power of the chassis", ("Power", 412.0, "W")),
        ),
    ]
}

fn chassis(identity: &Identity, systems: usize) -> Value {
    let systems: Vec<Value> = (1..=systems)
        .map(|number| json!({ "@odata.id": format!("/redfish/v1/Systems/{number}") }))
        .collect();
    json!({
        "@odata.id": CHASSIS,
        "@odata.type": "#Chassis.v1_23_0.Chassis",
        "Id": "1",
        "Name": "Chassis",
        "ChassisType": "RackMount",
        "Manufacturer": "mock-bmc",
        "Model": "generic chassis",
        "SerialNumber": identity.serial_of("chassis"),
        "PartNumber": "GC-1-0001",
        "AssetTag": "",
        "LocationIndicatorActive": false,
        "PowerState": "On",
        "Status": { "State": "Enabled", "Health": "OK" },
        "Sensors": { "@odata.id": format!("{CHASSIS}/Sensors") },
        "Links": {
            "ComputerSystems": systems,
            "ComputerSystems@odata.count": systems.len(),
            "ManagedBy": [{ "@odata.id": "/redfish/v1/Managers/BMC" }],
            "ManagedBy@odata.count": 1,
            "ManagersInChassis": [{ "@odata.id": "/redfish/v1/Managers/BMC" }],
            "ManagersInChassis@odata.count": 1,
        },
    })
}

fn sensor(uri: &str, name: &str, (kind, reading, units): (&str, f64, &str)) -> Value {
    json!({
        "@odata.id": uri,
        "@odata.type": "#Sensor.v1_7_0.Sensor",
        "Id": uri.rsplit('/').next().unwrap_or_default(),
        "Name": name,
        "ReadingType": kind,
        "Reading": reading,
        "ReadingUnits": units,
        "Status": { "State": "Enabled", "Health": "OK" },
    })
}
