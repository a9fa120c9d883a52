//! This room proves how settings of the manager are written, shown and applied.
//!
//! It deliberately reads them back from documents, as a client does.

use http::StatusCode;
use serde_json::json;

use super::support::{MANAGER, bench, keys};

const ATTRIBUTES: &str = "/redfish/v1/Managers/BMC/Oem/MockBmc/Attributes";

#[test]
fn attributes_of_the_manager_show_display_names_and_take_both() {
    let mut bench = bench("");
    assert_eq!(bench.get(ATTRIBUTES)["Attributes"]["NtpEnable"], "Off");
    assert_eq!(
        bench.get(ATTRIBUTES)["@Redfish.Settings"]["SettingsObject"],
        json!(null)
    );
    for value in ["Enabled", "On"] {
        assert_eq!(
            bench
                .patch(ATTRIBUTES, &json!({"Attributes": {"NtpEnable": value}}))
                .0,
            StatusCode::OK
        );
        assert_eq!(bench.get(ATTRIBUTES)["Attributes"]["NtpEnable"], "On");
    }
    assert_eq!(bench.state().bmc_attributes["NtpEnable"], "Enabled");
    let (status, answer) = bench.patch(ATTRIBUTES, &json!({"Attributes": {"Nope": 1, "SyslogPort": 0, "ProductName": "x", "SyslogServer": null}}));
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert_eq!(
        keys(&answer),
        [
            "PropertyUnknown",
            "PropertyNotWritable",
            "PropertyValueOutOfRange",
            "PropertyValueTypeError"
        ]
    );
}

#[test]
fn an_attribute_of_the_manager_can_wait_for_its_reset() {
    let mut bench = bench("");
    let (_, answer) = bench.patch(
        ATTRIBUTES,
        &json!({"Attributes": {"SshMaxSessions": 5, "SyslogPort": 515}}),
    );
    assert_eq!(keys(&answer), ["Success", "ResetRequired"]);
    assert_eq!(bench.get(ATTRIBUTES)["Attributes"]["SshMaxSessions"], 2);
    assert_eq!(bench.get(ATTRIBUTES)["Attributes"]["SyslogPort"], 515);
    bench.post(
        &format!("{MANAGER}/Actions/Manager.Reset"),
        &json!({"ResetType": "GracefulRestart"}),
    );
    bench.wait(121);
    assert_eq!(bench.get(ATTRIBUTES)["Attributes"]["SshMaxSessions"], 5);
    assert!(bench.has("settings manager applied SshMaxSessions"));
}

#[test]
fn attributes_of_the_manager_can_have_a_settings_object() {
    let mut bench = bench(
        "[bmc_settings]\nsettings_object = true\nattributes = { SyslogPort = 600, NtpEnable = \"On\" }",
    );
    let settings = bench.get(ATTRIBUTES)["@Redfish.Settings"]["SettingsObject"]["@odata.id"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(bench.get(ATTRIBUTES)["Attributes"]["SyslogPort"], 600);
    assert_eq!(
        bench
            .patch(ATTRIBUTES, &json!({"Attributes": {"SyslogPort": 1}}))
            .0,
        StatusCode::METHOD_NOT_ALLOWED
    );
    bench.patch(&settings, &json!({"Attributes": {"SshMaxSessions": 5}}));
    assert_eq!(
        bench.get(&settings)["Attributes"],
        json!({"SshMaxSessions": 5})
    );
}

#[test]
fn plain_resources_can_wait_for_a_reset_or_forget() {
    let mut bench = bench(
        "[bmc_settings]\nneeds_reset = [\"*/NetworkProtocol\"]\nnot_kept = [\"*/EthernetInterfaces/*\"]",
    );
    let protocol = format!("{MANAGER}/NetworkProtocol");
    let (_, answer) = bench.patch(&protocol, &json!({"HostName": "new"}));
    assert_eq!(keys(&answer), ["ResetRequired"]);
    assert_eq!(bench.get(&protocol)["HostName"], "mock-1");
    bench.post(
        &format!("{MANAGER}/Actions/Manager.Reset"),
        &json!({"ResetType": "GracefulRestart"}),
    );
    bench.wait(121);
    assert_eq!(bench.get(&protocol)["HostName"], "new");
    let port = format!("{MANAGER}/EthernetInterfaces/eth0");
    assert_eq!(
        bench.patch(&port, &json!({"MTUSize": 9000})).0,
        StatusCode::OK
    );
    assert_eq!(bench.get(&port)["MTUSize"], 1500);
}
