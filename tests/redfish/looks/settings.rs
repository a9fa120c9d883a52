//! Settings objects and registries.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_null_settings_link_means_the_resource_itself_and_nothing_waits() {
    let fake = service();
    fake.put("/redfish/v1/M/bmc", json!({"Id": "bmc", "FirmwareVersion": "1.50",
        "Links": {"Oem": {"Contoso": {"ContosoAttributes": [{"@odata.id": "/redfish/v1/M/bmc/A"}, {"@odata.id": "/redfish/v1/M/bmc/B"}]}}}}));
    fake.put(
        "/redfish/v1/M/bmc/A",
        json!({"Attributes": {"X": 1}, "@Redfish.Settings": {"SettingsObject": null}}),
    );
    fake.put(
        "/redfish/v1/M/bmc/B",
        json!({"Attributes": {"X": 2, "Y": true}, "@Redfish.Settings": null}),
    );
    let talks = client(&fake, &[]);
    let seen = look(&talks, &settings_of(Target::Bmc)).await;
    let view = &seen.settings[&Target::Bmc];
    assert!(
        view.resources
            .iter()
            .all(|r| r.write_uri == r.uri && r.pending.is_empty())
    );
    assert!(kinds(&seen).contains(&"attribute-twice"));
    fake.take();
    look(&talks, &settings_of(Target::Bmc)).await;
    let again = fake.take_lines();
    assert!(!again.contains(&"GET /redfish/v1/".to_owned()), "{again:?}");
    assert!(
        again.contains(&"GET /redfish/v1/M/bmc/B".to_owned()),
        "{again:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_settings_object_that_is_not_there_yet_holds_nothing_and_a_sick_one_ends_the_look() {
    let fake = service();
    fake.remove("/redfish/v1/S/1/Bios/Settings");
    let target = Target::Server("b/1".into());
    let talks = client(&fake, &[]);
    let seen = look(&talks, &settings_of(target.clone())).await;
    let resource = &seen.settings[&target].resources[0];
    assert_eq!(resource.write_uri, "/redfish/v1/S/1/Bios/Settings");
    assert!(resource.pending.is_empty());
    assert_eq!(resource.apply_times, ["OnReset"]);
    for _ in 0..3 {
        fake.once(
            &Method::GET,
            "/redfish/v1/S/1/Bios/Settings",
            Answer::Json(500, Value::Null),
        );
    }
    assert!(matches!(
        talks.look(&settings_of(target)).await,
        Seen::Failed(_)
    ));
}

#[tokio::test(start_paused = true)]
async fn a_registry_is_read_once_per_version() {
    let fake = service();
    let registry = json!({"Id": "r", "RegistryEntries": {"Attributes": [{"AttributeName": "A", "Type": "Enumeration",
        "Value": [{"ValueName": "x", "ValueDisplayName": "The X"}]}]}});
    fake.put(
        "/redfish/v1/R",
        json!({"Members": [{"@odata.id": "/redfish/v1/R/BiosAttributeRegistry"}]}),
    );
    fake.put("/redfish/v1/R/BiosAttributeRegistry", json!({"Location": [{"Language": "de", "Uri": "/r/de"}, {"Language": "En", "Uri": "/r/en"}]}));
    fake.put("/r/en", registry);
    fake.put(
        "/redfish/v1/S/1/Bios/Settings",
        json!({"Attributes": {"A": "The X"}}),
    );
    let target = Target::Server("b/1".into());
    let talks = client(&fake, &[]);
    let seen = look(&talks, &settings_of(target.clone())).await;
    let view = &seen.settings[&target];
    assert!(view.registry.is_some());
    assert!(
        view.resources[0].pending.is_empty(),
        "a display name in the settings object is no other value"
    );
    fake.take();
    look(&talks, &settings_of(target.clone())).await;
    assert!(!fake.take_lines().contains(&"GET /r/en".to_owned()));

    fake.put(
        "/redfish/v1/S/1",
        json!({"Id": "1", "BiosVersion": "2.20", "Bios": {"@odata.id": "/redfish/v1/S/1/Bios"}}),
    );
    let request = LookRequest {
        state: true,
        ..settings_of(target)
    };
    look(&talks, &request).await;
    assert!(
        fake.take_lines().contains(&"GET /r/en".to_owned()),
        "another BIOS may describe other attributes"
    );
}
