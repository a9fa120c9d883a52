//! This room proves what DSP0266 says of every service: who may ask, headers, methods, errors, queries.

use bytes::Bytes;
use http::{Method, StatusCode};
use serde_json::json;

use super::support::{BASIC, MANAGER, SYSTEM, bench, bench_of, keys, read};

const SESSIONS: &str = "/redfish/v1/SessionService/Sessions";

#[test]
fn anybody_reads_the_root_and_nothing_else() {
    let mut bench = bench("");
    for path in [
        "/redfish",
        "/redfish/v1",
        "/redfish/v1/",
        "/redfish/v1/odata",
        "/redfish/v1/$metadata",
    ] {
        let response = bench.send(Method::GET, path, &[], Bytes::new());
        assert_eq!(response.status, StatusCode::OK, "{path}");
        assert_eq!(response.headers["odata-version"], "4.0");
    }
    for path in ["/redfish/v1/Systems", "/redfish/v1/Nowhere"] {
        let response = bench.send(Method::GET, path, &[], Bytes::new());
        assert_eq!(response.status, StatusCode::UNAUTHORIZED, "{path}");
        assert!(response.headers.contains_key("www-authenticate"));
        assert_eq!(keys(&read(&response)), ["NoValidSession"]);
    }
}

#[test]
fn a_wrong_password_or_token_is_401() {
    let mut bench = bench("");
    for header in [
        ("authorization", "Basic cm9vdDp4"),
        ("authorization", "Bearer x"),
        ("x-auth-token", "x"),
    ] {
        let response = bench.send(Method::GET, "/redfish/v1/Systems", &[header], Bytes::new());
        assert_eq!(response.status, StatusCode::UNAUTHORIZED, "{header:?}");
    }
}

#[test]
fn a_session_lives_from_login_to_deletion() {
    let mut bench = bench("");
    let body = json!({"UserName": "root", "Password": "secret"});
    let login = bench.send(
        Method::POST,
        SESSIONS,
        &[("content-type", "application/json")],
        Bytes::from(body.to_string()),
    );
    assert_eq!(login.status, StatusCode::CREATED);
    let token = login.headers["x-auth-token"].to_str().unwrap().to_owned();
    let uri = login.headers["location"].to_str().unwrap().to_owned();
    let session = [("x-auth-token", token.as_str())];
    assert_eq!(
        bench
            .send(Method::GET, "/redfish/v1/Systems", &session, Bytes::new())
            .status,
        StatusCode::OK
    );
    let line = bench.bmc.ledger().last().unwrap();
    assert_eq!(line.session.as_deref(), Some("1"));
    assert_eq!(
        bench
            .send(Method::DELETE, &uri, &session, Bytes::new())
            .status,
        StatusCode::NO_CONTENT
    );
    assert_eq!(
        bench
            .send(Method::GET, "/redfish/v1/Systems", &session, Bytes::new())
            .status,
        StatusCode::UNAUTHORIZED
    );
    assert!(bench.has("session created 1") && bench.has("session deleted 1"));
    let masked = bench.bmc.ledger()[0].body.clone().unwrap();
    assert_eq!(masked["Password"], "***");
}

#[test]
fn a_ninth_session_is_refused_until_one_ends_by_itself() {
    let mut bench = bench("");
    let body = json!({"UserName": "root", "Password": "secret"});
    for _ in 0..8 {
        assert_eq!(bench.post(SESSIONS, &body).0, StatusCode::CREATED);
    }
    let (status, refused) = bench.post(SESSIONS, &body);
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(keys(&refused), ["SessionLimitExceeded"]);
    bench.wait(30 * 60);
    assert!(bench.state().sessions.is_empty());
    assert!(bench.has("session expired 1") && bench.has("session expired 8"));
    assert_eq!(bench.post(SESSIONS, &body).0, StatusCode::CREATED);
}

#[test]
fn a_service_without_sessions_still_takes_basic_authentication() {
    let mut bench = bench("[sessions]\noffered = false");
    let body = json!({"UserName": "root", "Password": "secret"});
    assert_eq!(
        bench.post(SESSIONS, &body).0,
        StatusCode::METHOD_NOT_ALLOWED
    );
    assert_eq!(bench.status(SYSTEM), StatusCode::OK);
}

#[test]
fn a_locked_account_stays_locked_for_its_time() {
    let mut bench = bench("[sessions]\nlockout_threshold = 2\nlockout = \"5m\"");
    let wrong = json!({"UserName": "root", "Password": "no"});
    for _ in 0..2 {
        assert_eq!(
            bench.post_anonymous(SESSIONS, &wrong),
            StatusCode::UNAUTHORIZED
        );
    }
    let right = json!({"UserName": "root", "Password": "secret"});
    assert_eq!(
        bench.post_anonymous(SESSIONS, &right),
        StatusCode::UNAUTHORIZED
    );
    bench.wait(300);
    assert_eq!(bench.post_anonymous(SESSIONS, &right), StatusCode::CREATED);
    assert!(bench.has("login refused root"));
}

#[test]
fn a_password_that_must_change_can_show_at_the_login_already() {
    let login = json!({"UserName": "root", "Password": "secret"});
    for (form, status) in [
        ("login", StatusCode::FORBIDDEN),
        ("unauthorized", StatusCode::UNAUTHORIZED),
    ] {
        let script =
            format!("[sessions]\nmust_change_password = true\npassword_change = \"{form}\"");
        let mut bench = bench(&script);
        assert_eq!(bench.post_anonymous(SESSIONS, &login), status);
        assert!(!bench.has("login refused root"), "the password is right");
    }
}

#[test]
fn a_password_that_must_change_bars_everything_else() {
    let mut bench = bench("[sessions]\nmust_change_password = true");
    let (status, body) = bench.json(Method::GET, SYSTEM, &json!({}));
    assert_eq!(
        (status, keys(&body)),
        (
            StatusCode::FORBIDDEN,
            vec!["PasswordChangeRequired".to_owned()]
        )
    );
    let account = "/redfish/v1/AccountService/Accounts/1";
    assert_eq!(
        bench.patch(account, &json!({"Password": "secret"})).0,
        StatusCode::OK
    );
    assert_eq!(bench.status(SYSTEM), StatusCode::OK);
}

#[test]
fn what_is_not_there_is_404_and_a_wrong_method_405_with_allow() {
    let mut bench = bench("");
    let (status, body) = bench.json(Method::GET, "/redfish/v1/Nowhere", &json!({}));
    assert_eq!(
        (status, keys(&body)),
        (
            StatusCode::NOT_FOUND,
            vec!["ResourceMissingAtURI".to_owned()]
        )
    );
    let wrong = [
        (Method::POST, SYSTEM, "GET, HEAD, PATCH"),
        (Method::PUT, SYSTEM, "GET, HEAD, PATCH"),
        (Method::DELETE, MANAGER, "GET, HEAD, PATCH"),
        (Method::PATCH, "/redfish/v1/Systems", "GET, HEAD"),
        (
            Method::GET,
            "/redfish/v1/Systems/1/Actions/ComputerSystem.Reset",
            "POST",
        ),
        (Method::PATCH, "/redfish/v1/Systems/1/Bios", "GET, HEAD"),
    ];
    for (method, path, allow) in wrong {
        let response = bench.send(
            method.clone(),
            path,
            &[("authorization", BASIC)],
            Bytes::from_static(b"{}"),
        );
        assert_eq!(
            response.status,
            StatusCode::METHOD_NOT_ALLOWED,
            "{method} {path}"
        );
        assert_eq!(response.headers["allow"], allow, "{method} {path}");
    }
}

#[test]
fn head_and_options_tell_without_a_body() {
    let mut bench = bench("");
    let headers = [("authorization", BASIC)];
    let head = bench.send(Method::HEAD, SYSTEM, &headers, Bytes::new());
    assert!(
        head.status == StatusCode::OK && head.body.is_empty() && head.headers.contains_key("etag")
    );
    assert!(
        head.headers["link"]
            .to_str()
            .unwrap()
            .contains("ComputerSystem.json>; rel=describedby")
    );
    let options = bench.send(Method::OPTIONS, SYSTEM, &headers, Bytes::new());
    assert_eq!(options.status, StatusCode::NO_CONTENT);
    assert_eq!(options.headers["allow"], "GET, HEAD, PATCH");
}

#[test]
fn a_request_of_another_version_or_kind_is_refused() {
    let mut bench = bench("");
    let version = bench.send(
        Method::GET,
        SYSTEM,
        &[("authorization", BASIC), ("odata-version", "3.0")],
        Bytes::new(),
    );
    assert_eq!(version.status, StatusCode::PRECONDITION_FAILED);
    let cases = [
        (
            "text/plain",
            "{\"AssetTag\":\"x\"}",
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "HeaderInvalid",
        ),
        (
            "application/json",
            "{",
            StatusCode::BAD_REQUEST,
            "MalformedJSON",
        ),
        (
            "application/json",
            "[]",
            StatusCode::BAD_REQUEST,
            "UnrecognizedRequestBody",
        ),
        (
            "application/json",
            "{}",
            StatusCode::BAD_REQUEST,
            "EmptyJSON",
        ),
        (
            "application/json",
            "{\"@odata.id\":\"x\"}",
            StatusCode::BAD_REQUEST,
            "NoOperation",
        ),
    ];
    for (kind, body, status, key) in cases {
        let headers = [("authorization", BASIC), ("content-type", kind)];
        let response = bench.send(Method::PATCH, SYSTEM, &headers, Bytes::from(body));
        assert_eq!(
            (response.status, keys(&read(&response))),
            (status, vec![key.to_owned()]),
            "{body}"
        );
    }
}

#[test]
fn expand_pages_and_only_do_what_the_root_promises() {
    let mut bench = bench_of("[collections]\npage_size = 2", 3);
    let first = bench.get("/redfish/v1/Systems");
    let next = first["Members@odata.nextLink"].as_str().unwrap().to_owned();
    let second = bench.get(&next);
    assert_eq!(first["Members"].as_array().unwrap().len(), 2);
    assert_eq!(first["Members@odata.count"], 3);
    assert_eq!(
        second["Members"],
        json!([{"@odata.id": "/redfish/v1/Systems/3"}])
    );
    let expanded = bench.get("/redfish/v1/Managers?$expand=.($levels=1)");
    assert_eq!(expanded["Members"][0]["FirmwareVersion"], "1.50");
    assert_eq!(bench.get("/redfish/v1/Managers?only")["Id"], "BMC");
    for (query, status) in [
        ("$select=Id", StatusCode::NOT_IMPLEMENTED),
        ("$expand=x", StatusCode::BAD_REQUEST),
        ("unknown=1", StatusCode::OK),
    ] {
        assert_eq!(
            bench.status(&format!("{SYSTEM}?{query}")),
            status,
            "{query}"
        );
    }
}

#[test]
fn a_service_may_refuse_or_ignore_expand() {
    let refuses =
        bench("[collections]\nexpand = \"refused\"").status("/redfish/v1/Systems?$expand=.");
    assert_eq!(refuses, StatusCode::NOT_IMPLEMENTED);
    let ignores = bench("[collections]\nexpand = \"ignored\"").get("/redfish/v1/Systems?$expand=.");
    assert_eq!(ignores["Members"][0], json!({"@odata.id": SYSTEM}));
}

#[test]
fn accounts_come_go_and_have_only_their_rights() {
    let mut bench = bench("");
    let accounts = "/redfish/v1/AccountService/Accounts";
    let new = json!({"UserName": "ro", "Password": "longer", "RoleId": "ReadOnly"});
    let (status, account) = bench.post(accounts, &new);
    assert_eq!(status, StatusCode::CREATED);
    assert_eq!(account["Password"], json!(null));
    assert_eq!(bench.post(accounts, &new).0, StatusCode::BAD_REQUEST);
    // ro:longer
    let reader = [
        ("authorization", "Basic cm86bG9uZ2Vy"),
        ("content-type", "application/json"),
    ];
    assert_eq!(
        bench
            .send(Method::GET, SYSTEM, &reader, Bytes::new())
            .status,
        StatusCode::OK
    );
    let write = bench.send(
        Method::PATCH,
        SYSTEM,
        &reader,
        Bytes::from_static(b"{\"AssetTag\":\"x\"}"),
    );
    assert_eq!(write.status, StatusCode::FORBIDDEN);
    let uri = account["@odata.id"].as_str().unwrap();
    assert_eq!(
        bench.json(Method::DELETE, uri, &json!({})).0,
        StatusCode::NO_CONTENT
    );
    assert_eq!(
        bench
            .send(Method::GET, SYSTEM, &reader, Bytes::new())
            .status,
        StatusCode::UNAUTHORIZED
    );
}

#[test]
fn plain_resources_change_and_say_what_they_refuse() {
    let mut bench = bench("");
    let protocol = format!("{MANAGER}/NetworkProtocol");
    let change = json!({"NTP": {"ProtocolEnabled": true, "NTPServers": ["10.0.0.1"]}, "SSH": {"ProtocolEnabled": false}});
    assert_eq!(bench.patch(&protocol, &change).0, StatusCode::OK);
    let now = bench.get(&protocol);
    assert_eq!(now["NTP"]["NTPServers"], json!(["10.0.0.1"]));
    assert_eq!(now["SSH"]["ProtocolEnabled"], false);
    let (status, body) = bench.patch(&protocol, &json!({"Id": "x", "Nope": 1}));
    assert_eq!(
        (status, keys(&body)),
        (
            StatusCode::BAD_REQUEST,
            vec![
                "PropertyNotWritable".to_owned(),
                "PropertyUnknown".to_owned()
            ]
        )
    );
    assert!(
        bench
            .story()
            .iter()
            .any(|line| line.starts_with("resource changed"))
    );
}

#[test]
fn two_bmcs_share_no_identity_and_one_keeps_its_own() {
    let mut one = bench("");
    let mut other = bench("");
    assert_eq!(one.get(SYSTEM)["UUID"], other.get(SYSTEM)["UUID"]);
    let mut scripted =
        bench("[identity]\nuuid = \"00000000-0000-0000-0000-000000000000\"\nsystem_serial = \"S\"");
    assert_eq!(
        scripted.get("/redfish/v1")["UUID"],
        "00000000-0000-0000-0000-000000000000"
    );
    assert_eq!(scripted.get(SYSTEM)["SerialNumber"], "S");
    assert_ne!(
        scripted.get("/redfish/v1")["UUID"],
        one.get("/redfish/v1")["UUID"]
    );
    assert_ne!(one.get("/redfish/v1")["UUID"], one.get(SYSTEM)["UUID"]);
}
