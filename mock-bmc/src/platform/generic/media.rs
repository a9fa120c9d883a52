//! This room is the manager's slot for virtual media.

use serde_json::{Value, json};

use super::{Documents, collection};

pub(super) const SLOTS: &str = "/redfish/v1/Managers/BMC/VirtualMedia";

pub(super) fn documents() -> Documents {
    let uri = format!("{SLOTS}/CD");
    vec![
        collection(
            SLOTS,
            "VirtualMediaCollection",
            "Virtual media",
            std::slice::from_ref(&uri),
        ),
        (uri.clone(), slot(&uri)),
    ]
}

fn slot(uri: &str) -> Value {
    json!({
        "@odata.id": uri,
        "@odata.type": "#VirtualMedia.v1_6_3.VirtualMedia",
        "Id": "CD",
        "Name": "Virtual CD",
        "MediaTypes": ["CD", "DVD"],
        "Image": null,
        "Inserted": false,
        "WriteProtected": true,
        "ConnectedVia": "NotConnected",
        "Actions": {
            "#VirtualMedia.InsertMedia": { "target": format!("{uri}/Actions/VirtualMedia.InsertMedia") },
            "#VirtualMedia.EjectMedia": { "target": format!("{uri}/Actions/VirtualMedia.EjectMedia") },
        },
    })
}
