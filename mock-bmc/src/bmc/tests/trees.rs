//! This room proves that a recorded tree comes alive by its own links, with its own versions and its own spelling.
//!
//! It deliberately uses a small tree of its own with a recorded service's oddities: push outside the service, no tasks,
//! an inventory that shows less of a version than the system, a manager that shows none at all.

use bytes::Bytes;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::support::{BASIC, Bench};
use crate::bmc::Source;
use crate::image::{self, Component};
use crate::tree::Tree;

const SYSTEM: &str = "/redfish/v1/Systems/Node0";
const MANAGER: &str = "/redfish/v1/Managers/bmc";
const BIOS: &str = "/redfish/v1/Systems/Node0/Bios";

fn link(uri: &str) -> Value {
    json!({ "@odata.id": uri })
}

fn collection(uri: &str, members: &[&str]) -> (String, Value) {
    let members: Vec<Value> = members.iter().map(|member| link(member)).collect();
    let document = json!({
        "@odata.id": uri,
        "Members@odata.count": members.len(),
        "Members": members,
    });
    (uri.to_owned(), document)
}

fn tree() -> Tree {
    let documents = [root(), system(), manager(), update()].concat();
    Tree {
        name: "small".into(),
        documents: documents.into_iter().collect(),
        ..Tree::default()
    }
}

fn root() -> Vec<(String, Value)> {
    let document = json!({
        "@odata.id": "/redfish/v1/",
        "@odata.type": "#ServiceRoot.v1_5_0.ServiceRoot",
        "RedfishVersion": "1.6.0",
        "UUID": "11111111-2222-3333-4444-555555555555",
        "Systems": link("/redfish/v1/Systems"),
        "Managers": link("/redfish/v1/Managers/"),
        "UpdateService": link("/redfish/v1/UpdateService"),
        "SessionService": link("/redfish/v1/SessionService"),
        "Links": { "Sessions": link("/redfish/v1/SessionService/Sessions") },
    });
    let sessions = json!({
        "@odata.id": "/redfish/v1/SessionService",
        "@odata.type": "#SessionService.v1_0_2.SessionService",
        "SessionTimeout": 30,
        "Sessions": link("/redfish/v1/SessionService/Sessions"),
    });
    vec![
        ("/redfish/v1".to_owned(), document),
        ("/redfish/v1/SessionService".to_owned(), sessions),
        collection(
            "/redfish/v1/SessionService/Sessions",
            &["/redfish/v1/SessionService/Sessions/old"],
        ),
    ]
}

fn system() -> Vec<(String, Value)> {
    let document = json!({
        "@odata.id": SYSTEM,
        "@odata.type": "#ComputerSystem.v1_5_0.ComputerSystem",
        "Id": "Node0",
        "BiosVersion": "P79 v1.45 (12/06/2017)",
        "PowerState": "On",
        "UUID": "38947555-7742-3448-3784-823347823834",
        "SerialNumber": "Node0",
        "Bios": link("/redfish/v1/systems/node0/bios"),
        "Links": { "ManagedBy": [link(MANAGER)] },
        "Actions": { "#ComputerSystem.Reset": { "target": format!("{SYSTEM}/Actions/Reset") } },
    });
    let settings = "/redfish/v1/systems/node0/bios/sd";
    let bios = json!({
        "@odata.id": BIOS,
        "@odata.type": "#Bios.v1_0_0.Bios",
        "Attributes": { "Mode": "A", "Count": 1 },
        "@Redfish.Settings": { "SettingsObject": link(settings) },
    });
    let pending = json!({
        "@odata.id": settings,
        "@odata.type": "#Bios.v1_0_0.Bios",
        "Attributes": { "Mode": "B", "Count": 1 },
    });
    vec![
        collection("/redfish/v1/Systems", &[SYSTEM]),
        (SYSTEM.to_owned(), document),
        ("/redfish/v1/systems/node0/bios".to_owned(), bios),
        (settings.to_owned(), pending),
    ]
}

fn manager() -> Vec<(String, Value)> {
    let document = json!({
        "@odata.id": MANAGER,
        "@odata.type": "#Manager.v1_5_0.Manager",
        "ManagerType": "BMC",
        "UUID": "58893887-8974-2487-2389-841168418919",
        "ServiceEntryPointUUID": "11111111-2222-3333-4444-555555555555",
        "Actions": { "#Manager.Reset": { "target": format!("{MANAGER}/Actions/Manager.Reset") } },
    });
    vec![
        collection("/redfish/v1/Managers", &[MANAGER]),
        (MANAGER.to_owned(), document),
    ]
}

fn update() -> Vec<(String, Value)> {
    let inventory = "/redfish/v1/UpdateService/FirmwareInventory";
    let service = json!({
        "@odata.id": "/redfish/v1/UpdateService",
        "@odata.type": "#UpdateService.v1_5_0.UpdateService",
        "HttpPushUri": "/FWUpdate",
        "FirmwareInventory": link(inventory),
    });
    let member = |id: &str, version: &str, related: &str| {
        let uri = format!("{inventory}/{id}");
        let document = json!({ "@odata.id": uri, "Id": id, "Version": version, "RelatedItem": [link(related)] });
        (uri, document)
    };
    let uris = ["BMC", "BIOS", "Lost"].map(|id| format!("{inventory}/{id}"));
    vec![
        ("/redfish/v1/UpdateService".to_owned(), service),
        collection(inventory, &uris.each_ref().map(String::as_str)),
        member("BMC", "1.45.455b66-rev4", MANAGER),
        member("BIOS", "P79 v1.45", SYSTEM),
    ]
}

fn bench(script: &str) -> Bench {
    Bench::of(script, Source::Tree(tree()), 0)
}

fn push(bench: &mut Bench, component: Component, version: &str) -> StatusCode {
    let headers = [
        ("authorization", BASIC),
        ("content-type", "application/octet-stream"),
    ];
    let bytes = Bytes::from(image::build(component, version, None, 100));
    bench
        .send(Method::POST, "/FWUpdate", &headers, bytes)
        .status
}

#[test]
fn it_starts_with_its_own_versions_and_spelling() {
    let mut bench = bench("");
    let state = bench.state();
    assert_eq!(state.bmc_version.as_deref(), Some("1.45.455b66-rev4"));
    assert_eq!(
        state.systems[0].bios_version.as_deref(),
        Some("P79 v1.45 (12/06/2017)")
    );
    assert_eq!(state.systems[0].id, "Node0");
    assert_eq!(
        bench.get("/redfish/v1/UpdateService/FirmwareInventory/BIOS")["Version"],
        "P79 v1.45"
    );
    assert!(bench.get(MANAGER).get("FirmwareVersion").is_none());
    assert_eq!(
        bench.get("/redfish/v1/SYSTEMS/Node0/Bios")["Attributes"]["Mode"],
        "A"
    );
}

#[test]
fn what_every_client_needs_is_added_and_nothing_else() {
    let mut bench = bench("");
    let root = bench.get("/redfish/v1");
    assert_eq!(root["Tasks"], link("/redfish/v1/TaskService"));
    assert_eq!(root["ProtocolFeaturesSupported"]["SelectQuery"], false);
    assert!(root.get("JobService").is_none() && root.get("Chassis").is_none());
    let login = json!({"UserName": "root", "Password": "secret"});
    assert_eq!(
        bench.get("/redfish/v1/SessionService/Sessions")["Members@odata.count"],
        0
    );
    assert_eq!(
        bench.post("/redfish/v1/SessionService/Sessions", &login).0,
        StatusCode::CREATED
    );
    assert_eq!(
        bench.status("/redfish/v1/UpdateService/FirmwareInventory/Lost"),
        StatusCode::NOT_FOUND
    );
}

#[test]
fn it_has_an_identity_of_its_own_wherever_the_old_one_stood() {
    let mut bench = bench("");
    let uuid = bench.get("/redfish/v1")["UUID"].clone();
    assert_ne!(uuid, "11111111-2222-3333-4444-555555555555");
    assert_eq!(bench.get(MANAGER)["ServiceEntryPointUUID"], uuid);
    assert_ne!(
        bench.get(SYSTEM)["UUID"],
        "38947555-7742-3448-3784-823347823834"
    );
    assert_eq!(bench.get(SYSTEM)["Id"], "Node0");
    assert_ne!(bench.get(SYSTEM)["SerialNumber"], "Node0");
}

#[test]
fn its_firmware_is_flashed_by_its_own_methods() {
    let mut bench = bench("");
    assert_eq!(
        push(&mut bench, Component::Bmc, "1.50"),
        StatusCode::ACCEPTED
    );
    bench.wait(8 * 60);
    bench.wait(3 * 60);
    assert_eq!(
        bench.get("/redfish/v1/UpdateService/FirmwareInventory/BMC")["Version"],
        "1.50"
    );
    assert_eq!(
        push(&mut bench, Component::Bios, "P79 v1.50 (01/01/2020)"),
        StatusCode::ACCEPTED
    );
    bench.wait(120);
    assert_eq!(
        bench
            .post(
                &format!("{SYSTEM}/Actions/Reset"),
                &json!({"ResetType": "ForceRestart"})
            )
            .0,
        StatusCode::NO_CONTENT
    );
    bench.wait(2 + 360);
    assert_eq!(bench.get(SYSTEM)["BiosVersion"], "P79 v1.50 (01/01/2020)");
    assert_eq!(
        bench.get("/redfish/v1/UpdateService/FirmwareInventory/BIOS")["Version"],
        "P79 v1.50 (01/01/2020)"
    );
}

#[test]
fn nothing_that_the_recording_left_pending_waits_on_a_fresh_box() {
    let mut bench = bench("");
    let settings = "/redfish/v1/systems/node0/bios/sd";
    assert_eq!(
        bench.get(settings)["Attributes"],
        json!({"Mode": "A", "Count": 1})
    );
    assert_eq!(
        bench
            .patch(settings, &json!({"Attributes": {"Count": "two"}}))
            .0,
        StatusCode::BAD_REQUEST
    );
    assert_eq!(
        bench
            .patch(settings, &json!({"Attributes": {"Mode": "C"}}))
            .0,
        StatusCode::OK
    );
    assert_eq!(
        bench.get(settings)["Attributes"],
        json!({"Mode": "C", "Count": 1})
    );
    bench.post(
        &format!("{SYSTEM}/Actions/Reset"),
        &json!({"ResetType": "ForceRestart"}),
    );
    bench.wait(2 + 240);
    assert_eq!(
        bench.get("/redfish/v1/systems/node0/bios")["Attributes"]["Mode"],
        "C"
    );
}

#[test]
fn a_script_can_set_its_versions() {
    let mut bench = bench("[versions]\nbmc = \"2.0\"\nbios = \"P79 v2.00\"");
    assert_eq!(bench.get(SYSTEM)["BiosVersion"], "P79 v2.00");
    assert_eq!(
        bench.get("/redfish/v1/UpdateService/FirmwareInventory/BIOS")["Version"],
        "P79 v2.00"
    );
    assert_eq!(
        bench.get("/redfish/v1/UpdateService/FirmwareInventory/BMC")["Version"],
        "2.0"
    );
}
