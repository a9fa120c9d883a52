//! This room is the service root.
//!
//! It deliberately names no vendor: a client must do without.

use serde_json::json;

use super::Documents;
use crate::docs::identity::Identity;
use crate::docs::odata;
use crate::script::{Expand, Habits};

pub(super) fn documents(identity: &Identity, habits: &Habits) -> Documents {
    let link = |name: &str| json!({ "@odata.id": format!("/redfish/v1/{name}") });
    let mut features = odata::features(habits.collections.expand() == Expand::Supported);
    features["MultipleHTTPRequests"] = true.into();
    features["TopSkipQuery"] = true.into();
    let document = json!({
        "@odata.id": "/redfish/v1/",
        "@odata.type": "#ServiceRoot.v1_17_0.ServiceRoot",
        "Id": "RootService",
        "Name": "Root Service",
        "RedfishVersion": "1.18.0",
        "UUID": identity.uuid,
        "Product": "mock-bmc generic",
        "ProtocolFeaturesSupported": features,
        "AccountService": link("AccountService"),
        "Chassis": link("Chassis"),
        "JobService": link("JobService"),
        "Managers": link("Managers"),
        "Registries": link("Registries"),
        "SessionService": link("SessionService"),
        "Systems": link("Systems"),
        "Tasks": link("TaskService"),
        "UpdateService": link("UpdateService"),
        "Links": {
            "ManagerProvidingService": link("Managers/BMC"),
            "Sessions": link("SessionService/Sessions"),
        },
    });
    vec![("/redfish/v1".into(), document)]
}
