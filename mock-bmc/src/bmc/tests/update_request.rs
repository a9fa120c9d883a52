//! This room proves which update requests are taken, in which words the others are refused, and what the answer says.
//!
//! It deliberately looks no further than the answer.

use bytes::Bytes;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::support::{BASIC, Bench, MANAGER, SYSTEM, UPDATE, bench, bench_of, keys, read};
use crate::image::{self, Component};
use crate::message::Response;

const UPLOAD: &str = "/redfish/v1/UpdateService/upload";
const PUSH: &str = "/redfish/v1/UpdateService/push";

fn upload(bench: &mut Bench, parameters: &Value, image: &[u8]) -> Response {
    let mut body = format!("--b\r\nContent-Disposition: form-data; name=\"UpdateParameters\"\r\nContent-Type: application/json\r\n\r\n{parameters}\r\n--b\r\nContent-Disposition: form-data; name=\"UpdateFile\"; filename=\"fw.bin\"\r\nContent-Type: application/octet-stream\r\n\r\n").into_bytes();
    body.extend_from_slice(image);
    body.extend_from_slice(b"\r\n--b--\r\n");
    let headers = [
        ("authorization", BASIC),
        ("content-type", "multipart/form-data; boundary=b"),
    ];
    bench.send(Method::POST, UPLOAD, &headers, Bytes::from(body))
}

fn push(bench: &mut Bench, image: &[u8]) -> Response {
    let headers = [
        ("authorization", BASIC),
        ("content-type", "application/octet-stream"),
    ];
    bench.send(Method::POST, PUSH, &headers, Bytes::copy_from_slice(image))
}

#[test]
fn a_pull_is_refused_for_each_wrong_parameter() {
    let mut bench = bench("");
    for (body, key) in [
        (json!({"Targets": []}), "ActionParameterMissing"),
        (json!({"ImageURI": 1}), "ActionParameterValueTypeError"),
        (json!({"ImageURI": "fw.bin"}), "ActionParameterMissing"),
        (
            json!({"ImageURI": "tftp://h/fw.bin"}),
            "ActionParameterValueFormatError",
        ),
        (
            json!({"ImageURI": "h/fw.bin", "TransferProtocol": "TFTP"}),
            "ActionParameterValueNotInList",
        ),
        (
            json!({"ImageURI": "http://h/f", "Nope": 1}),
            "ActionParameterUnknown",
        ),
        (
            json!({"ImageURI": "http://h/f", "Targets": "x"}),
            "ActionParameterValueTypeError",
        ),
        (
            json!({"ImageURI": "http://h/f", "Targets": ["/redfish/v1/Nowhere"]}),
            "ActionParameterValueNotInList",
        ),
    ] {
        let (status, answer) = bench.post(UPDATE, &body);
        assert_eq!(
            (status, keys(&answer)),
            (StatusCode::BAD_REQUEST, vec![key.to_owned()]),
            "{body}"
        );
        assert!(bench.has(&format!("update refused {key}")), "{body}");
    }
    assert!(bench.bmc.take_fetches().is_empty());
}

#[test]
fn a_pull_is_answered_with_a_task_and_a_monitor() {
    let mut bench = bench("");
    let body = json!({"ImageURI": "http://u:p@files.test/fw.bin", "Targets": [MANAGER], "TransferProtocol": "HTTP", "Password": "x"});
    let headers = [
        ("authorization", BASIC),
        ("content-type", "application/json"),
    ];
    let response = bench.send(
        Method::POST,
        UPDATE,
        &headers,
        Bytes::from(body.to_string()),
    );
    assert_eq!(response.status, StatusCode::ACCEPTED);
    assert_eq!(
        response.headers["location"],
        "/redfish/v1/TaskService/TaskMonitors/1"
    );
    let task = read(&response);
    assert_eq!(
        (task["TaskState"].as_str(), task["TaskMonitor"].as_str()),
        (
            Some("Running"),
            Some("/redfish/v1/TaskService/TaskMonitors/1")
        )
    );
    let payload: Value =
        serde_json::from_str(task["Payload"]["JsonBody"].as_str().unwrap()).unwrap();
    assert_eq!(
        (payload["ImageURI"].as_str(), payload["Password"].as_str()),
        (Some("http://***@files.test/fw.bin"), Some("***"))
    );
    assert_eq!(task["Payload"]["TargetUri"], UPDATE);
    assert_eq!(
        bench.bmc.take_fetches()[0].url,
        "http://u:p@files.test/fw.bin"
    );
    let ledger = format!("{:?}", bench.bmc.ledger());
    assert!(ledger.contains("update accepted image http://***@files.test/fw.bin target /redfish/v1/Managers/BMC task 1"), "{ledger}");
    assert!(!ledger.contains("u:p@"));
}

#[test]
fn protocol_and_user_of_a_pull_make_its_url() {
    let mut bench = bench("");
    let body = json!({"ImageURI": "h/fw.bin", "TransferProtocol": "HTTPS", "Username": "u", "Password": "p"});
    assert_eq!(bench.post(UPDATE, &body).0, StatusCode::ACCEPTED);
    assert_eq!(bench.bmc.take_fetches()[0].url, "https://u:p@h/fw.bin");
}

#[test]
fn an_uploaded_image_is_named_in_the_ledger() {
    let mut bench = bench("");
    let image = image::build(Component::Bmc, "1.60", None, 5000);
    let response = upload(
        &mut bench,
        &json!({"Targets": [MANAGER], "@Redfish.OperationApplyTime": "Immediate"}),
        &image,
    );
    assert_eq!(response.status, StatusCode::ACCEPTED);
    assert!(bench.has("update accepted bmc 1.60 target /redfish/v1/Managers/BMC task 1"));
    let line = bench
        .bmc
        .ledger()
        .iter()
        .find(|line| line.body.is_some())
        .unwrap();
    assert!(line.body.as_ref().unwrap()["bytes"].as_u64().unwrap() > 5000);
}

#[test]
fn a_bare_push_goes_where_the_service_holds_its_targets() {
    let mut bench = bench_of("", 2);
    let image = image::build(Component::Bios, "2.20", None, 100);
    let refused = push(&mut bench, &image);
    assert_eq!(
        (refused.status, keys(&read(&refused))),
        (
            StatusCode::BAD_REQUEST,
            vec!["ActionParameterMissing".to_owned()]
        )
    );
    let targets =
        json!({"HttpPushUriTargets": ["/redfish/v1/Systems/2"], "HttpPushUriTargetsBusy": true});
    assert_eq!(
        bench.patch("/redfish/v1/UpdateService", &targets).0,
        StatusCode::OK
    );
    assert_eq!(push(&mut bench, &image).status, StatusCode::ACCEPTED);
    assert!(bench.has("update accepted bios 2.20 target /redfish/v1/Systems/2 task 1"));
    let form = [
        ("authorization", BASIC),
        ("content-type", "multipart/form-data; boundary=b"),
    ];
    assert_eq!(
        bench.send(Method::POST, PUSH, &form, Bytes::new()).status,
        StatusCode::UNSUPPORTED_MEDIA_TYPE
    );
}

#[test]
fn an_upload_with_wrong_parts_or_parameters_is_refused() {
    let mut bench = bench("[update]\nmax_image_bytes = 1000");
    let headers = [
        ("authorization", BASIC),
        ("content-type", "multipart/form-data; boundary=b"),
    ];
    let broken = bench.send(Method::POST, UPLOAD, &headers, Bytes::from_static(b"x"));
    assert_eq!(keys(&read(&broken)), ["MissingOrMalformedPart"]);
    let image = image::build(Component::Bmc, "1.60", None, 500);
    let unknown = upload(&mut bench, &json!({"Nope": 1}), &image);
    assert_eq!(keys(&read(&unknown)), ["PropertyUnknown"]);
    let large = upload(
        &mut bench,
        &json!({}),
        &image::build(Component::Bmc, "1.60", None, 1001),
    );
    assert_eq!(large.status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[test]
fn a_hop_from_too_old_a_version_is_refused_at_once_or_in_the_task() {
    let needy = image::build(Component::Bmc, "1.80", Some("1.60"), 100);
    let mut header = bench("");
    let refused = upload(&mut header, &json!({}), &needy);
    assert_eq!(
        (refused.status, keys(&read(&refused))),
        (
            StatusCode::BAD_REQUEST,
            vec!["MinimumFirmwareVersionRequirementNotMet".to_owned()]
        )
    );
    assert!(
        read(&refused)["error"]["message"]
            .as_str()
            .unwrap()
            .contains("'1.60'")
    );

    let mut scripted = bench(
        "[[requirement]]\ncomponent = \"bmc\"\nversion = \"1.80\"\nat_least = \"1.60\"\nmessage_id = \"X.1.0.Old\"\nmessage = \"too old: %3\"",
    );
    let refused = upload(
        &mut scripted,
        &json!({}),
        &image::build(Component::Bmc, "1.80", None, 100),
    );
    assert_eq!(read(&refused)["error"]["message"], "too old: 1.50");
    assert_eq!(
        upload(
            &mut scripted,
            &json!({}),
            &image::build(Component::Bmc, "1.60", None, 100)
        )
        .status,
        StatusCode::ACCEPTED
    );

    let mut late = bench("[update]\nrefused_at = \"task\"");
    assert_eq!(
        upload(&mut late, &json!({}), &needy).status,
        StatusCode::ACCEPTED
    );
    late.wait(11);
    let task = late.get("/redfish/v1/TaskService/Tasks/1");
    assert_eq!(task["TaskState"], "Exception");
    assert!(late.has("update failed task 1 MinimumFirmwareVersionRequirementNotMet"));
}

#[test]
fn a_downgrade_is_taken_unless_the_script_refuses_it() {
    let old = image::build(Component::Bmc, "1.40", None, 100);
    assert_eq!(
        upload(&mut bench(""), &json!({}), &old).status,
        StatusCode::ACCEPTED
    );
    let refused = upload(
        &mut bench("[update]\ndowngrade = \"refused\""),
        &json!({}),
        &old,
    );
    assert_eq!(keys(&read(&refused)), ["DowngradeNotAllowed"]);
}

#[test]
fn a_second_update_waits_outside() {
    let mut bench = bench("");
    bench.update(Component::Bmc, "1.60", &[]);
    let body = json!({"ImageURI": "http://h/f"});
    let headers = [
        ("authorization", BASIC),
        ("content-type", "application/json"),
    ];
    let busy = bench.send(
        Method::POST,
        UPDATE,
        &headers,
        Bytes::from(body.to_string()),
    );
    assert_eq!(busy.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(busy.headers["retry-after"], "30");
    assert_eq!(keys(&read(&busy)), ["ServiceTemporarilyUnavailable"]);
}

#[test]
fn an_image_for_something_else_than_its_targets_is_refused() {
    let mut bench = bench("");
    let bios = image::build(Component::Bios, "2.20", None, 100);
    assert_eq!(
        upload(&mut bench, &json!({"Targets": [MANAGER]}), &bios).status,
        StatusCode::BAD_REQUEST
    );
    let task = bench.pull(image::build(Component::Bmc, "1.60", None, 100), &[SYSTEM]);
    bench.wait(11);
    let task = bench.get(task["@odata.id"].as_str().unwrap());
    assert_eq!(task["TaskState"], "Exception");
    assert_eq!(bench.state().bmc_version.as_deref(), Some("1.50"));
}

#[test]
fn the_answer_names_its_task_in_every_way_there_is() {
    for (handle, location, body) in [
        ("both", true, "/redfish/v1/TaskService/Tasks/1"),
        ("location", true, ""),
        ("body", false, "/redfish/v1/TaskService/Tasks/1"),
        ("none", false, ""),
    ] {
        let mut bench = bench(&format!(
            "[update]\nhandle = \"{handle}\"\nlocation = \"absolute\""
        ));
        let response = upload(
            &mut bench,
            &json!({}),
            &image::build(Component::Bmc, "1.60", None, 100),
        );
        let found = response
            .headers
            .get("location")
            .map(|value| value.to_str().unwrap().to_owned());
        assert_eq!(found.is_some(), location, "{handle}");
        assert!(found.is_none_or(|found| found.starts_with("https://bmc.test/redfish")));
        assert_eq!(
            read(&response)["@odata.id"].as_str().unwrap_or_default(),
            body,
            "{handle}"
        );
    }
    let mut bench = bench("[update]\nhandle = \"message\"\nstatus = 200");
    let response = upload(
        &mut bench,
        &json!({}),
        &image::build(Component::Bmc, "1.60", None, 100),
    );
    assert_eq!(response.status, StatusCode::OK);
    assert_eq!(
        read(&response)["@Message.ExtendedInfo"][0]["MessageArgs"][0],
        "/redfish/v1/TaskService/Tasks/1"
    );
}

#[test]
fn what_the_script_does_not_offer_is_not_there() {
    let mut bench = bench(
        "[update]\nsimple_update = false\nmultipart = false\nhttp_push = false\ntargets = \"absent\"",
    );
    let service = bench.get("/redfish/v1/UpdateService");
    assert!(service.get("HttpPushUri").is_none() && service.get("MultipartHttpPushUri").is_none());
    assert_eq!(service["Actions"], json!({}));
    assert_eq!(bench.post(UPDATE, &json!({})).0, StatusCode::NOT_FOUND);
}

#[test]
fn an_action_with_a_condition_is_taken_or_refused_by_habit() {
    let body = Bytes::from(json!({"ResetType": "ForceOff"}).to_string());
    let path = format!("{SYSTEM}/Actions/ComputerSystem.Reset");
    let headers = [
        ("authorization", BASIC),
        ("content-type", "application/json"),
        ("if-match", "\"x\""),
    ];
    assert_eq!(
        bench("")
            .send(Method::POST, &path, &headers, body.clone())
            .status,
        StatusCode::NO_CONTENT
    );
    let mut strict = bench("[etag]\non_action = \"refused\"");
    assert_eq!(
        strict.send(Method::POST, &path, &headers, body).status,
        StatusCode::PRECONDITION_FAILED
    );
}
