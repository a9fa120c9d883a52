//! Where systems, managers and resources are found.

use super::*;

#[tokio::test(start_paused = true)]
async fn systems_are_found_by_id_by_segment_and_by_uri_in_any_case() {
    let server = |name: &str, system: &str| ServerRef {
        name: ServerName::from(name),
        system: Some(system.to_owned()),
    };
    let servers = vec![
        server("a", "SYSTEM1"),
        server("b", "/redfish/v1/systems/System_Multi2/"),
        server("c", "nope"),
    ];
    let Some(world) = world("google-2hosts", servers, None) else {
        return;
    };
    let state = LookRequest {
        state: true,
        ..LookRequest::default()
    };
    let seen = look(&world, &state).await;
    let uris: Vec<(&str, &str)> = seen
        .systems
        .iter()
        .map(|(name, view)| (name.as_str(), view.uri.as_str()))
        .collect();
    assert_eq!(
        uris,
        [
            ("a", "/redfish/v1/Systems/system_multi1"),
            ("b", "/redfish/v1/Systems/system_multi2")
        ]
    );
    assert_eq!(seen.missing_systems, [ServerName::from("c")]);
    assert!(seen.other_systems.is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_acting_manager_is_the_bmc_of_the_selected_system() {
    let server = |system: &str| {
        vec![ServerRef {
            name: ServerName::from("s"),
            system: Some(system.to_owned()),
        }]
    };
    let state = LookRequest {
        state: true,
        ..LookRequest::default()
    };
    for (system, manager, others) in [
        ("DGX", "/redfish/v1/Managers/BMC", 1),
        ("HGX_Baseboard_0", "/redfish/v1/Managers/HGX_BMC_0", 1),
    ] {
        let Some(world) = world("nvidia-dgxh100-ami", server(system), None) else {
            return;
        };
        let seen = look(&world, &state).await;
        assert_eq!(seen.manager().unwrap().uri, manager);
        assert_eq!(seen.other_systems.len(), others);
    }
}

#[tokio::test(start_paused = true)]
async fn resources_are_reached_along_links() {
    let Some(world) = world("hpe-dl380agen11-ilo6-1.66", Vec::new(), None) else {
        return;
    };
    let wanted = [
        "{manager}/NetworkProtocol",
        "{manager}/Oem/Hpe/Links/SecurityService",
        "{root}/AccountService",
        "{manager}/NoSuchThing",
    ];
    let request = LookRequest {
        resources: wanted
            .iter()
            .map(|uri| (Target::Bmc, (*uri).to_owned()))
            .collect(),
        ..LookRequest::default()
    };
    let seen = look(&world, &request).await;
    let id = |template: &str| {
        let doc = seen.resources[&(Target::Bmc, template.to_owned())].as_ref()?;
        Some(
            doc["@odata.id"]
                .as_str()
                .unwrap()
                .trim_end_matches('/')
                .to_owned(),
        )
    };
    assert_eq!(
        id(wanted[0]).as_deref(),
        Some("/redfish/v1/Managers/1/NetworkProtocol")
    );
    assert_eq!(
        id(wanted[1]).as_deref(),
        Some("/redfish/v1/Managers/1/SecurityService")
    );
    assert_eq!(id(wanted[2]).as_deref(), Some("/redfish/v1/AccountService"));
    assert_eq!(id(wanted[3]), None);
}
