//! What is read beside a look, wherever services put it.

use redpipe::model::circumstances::Licence;
use serde_json::{Value, json};

use super::*;
use crate::fake::Fake;

/// The usual manager with these Oem members.
fn with_oem(fake: &Fake, oem: &Value) {
    let manager = json!({"Id": "bmc", "FirmwareVersion": "1.50", "DateTime": "2026-03-01T10:00:00Z", "Oem": oem});
    fake.put("/redfish/v1/M/bmc", manager);
}

#[tokio::test(start_paused = true)]
async fn a_lock_and_licences_are_found_behind_links_of_the_manager() {
    let fake = service();
    let oem = json!({"Supermicro": {
        "SysLockdown": {"@odata.id": "/redfish/v1/M/bmc/SysLockdown"},
        "LicenseManager": {"@odata.id": "/redfish/v1/M/bmc/LicenseManager"},
    }});
    with_oem(&fake, &oem);
    fake.put(
        "/redfish/v1/M/bmc/SysLockdown",
        json!({"SysLockdownEnabled": true}),
    );
    fake.put(
        "/redfish/v1/M/bmc/LicenseManager",
        json!({"QueryLicense": {"@odata.id": "/redfish/v1/M/bmc/Query"}}),
    );
    let text = r#"{"Node": {"LicenseName": "SFT-OOB-LIC", "Key": "secret"}}"#;
    fake.put("/redfish/v1/M/bmc/Query", json!({"Licenses": [text]}));
    let client = client(&fake, &[]);
    look(&client, &state()).await;
    let known = client.circumstances().await.unwrap();
    assert_eq!(known.lockdown, Some(true));
    let licence = Licence {
        name: "SFT-OOB-LIC".to_owned(),
        kind: None,
    };
    assert_eq!(known.licences, Some(vec![licence]));
    assert_eq!(known.problems, []);
}

#[tokio::test(start_paused = true)]
async fn what_is_not_linked_is_not_known_and_what_cannot_be_read_is_a_problem() {
    let fake = service();
    with_oem(&fake, &json!({}));
    let client_of = client(&fake, &[]);
    look(&client_of, &state()).await;
    let known = client_of.circumstances().await.unwrap();
    assert_eq!((known.lockdown, known.licences), (None, None));

    with_oem(
        &fake,
        &json!({"Supermicro": {"SysLockdown": {"@odata.id": "/redfish/v1/gone"}}}),
    );
    let known = client_of.circumstances().await.unwrap();
    assert_eq!(known.lockdown, None);
    let kinds: Vec<&str> = known.problems.iter().map(|one| one.kind.as_str()).collect();
    assert_eq!(kinds, ["lockdown-unreadable"]);
}
