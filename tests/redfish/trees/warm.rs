//! What a process that remembers asks for.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_warm_look_asks_only_for_what_it_wants_to_know() {
    let named = || {
        vec![ServerRef {
            name: ServerName::from("s"),
            system: Some("1".to_owned()),
        }]
    };
    let Some(cold) = world("lenovo-sr670v2-xcc-2.83", named(), None) else {
        return;
    };
    let state = LookRequest {
        state: true,
        ..LookRequest::default()
    };
    look(&cold, &state).await;
    let first = cold.recorded.take_asked();
    assert!(first.len() > 4, "{first:?}");
    look(&cold, &state).await;
    let again = cold.recorded.take_asked();
    assert_eq!(again, ["/redfish/v1/Managers/1", "/redfish/v1/Systems/1"]);

    let links = serde_json::to_string(&cold.client.links().unwrap()).unwrap();
    let remembered = serde_json::from_str(&links).unwrap();
    let warm = world("lenovo-sr670v2-xcc-2.83", named(), Some(remembered)).unwrap();
    let seen = look(&warm, &state).await;
    let next_process = warm.recorded.take_asked();
    assert_eq!(
        next_process,
        [
            "/redfish/v1/",
            "/redfish/v1/Managers/1",
            "/redfish/v1/Systems/1"
        ]
    );
    assert_eq!(seen.bmc_version(), Some("TGBT42S 2.83 2023-07-05"));
}

#[tokio::test(start_paused = true)]
async fn a_process_that_means_every_system_asks_once_which_there_are() {
    let Some(cold) = world("lenovo-sr670v2-xcc-2.83", Vec::new(), None) else {
        return;
    };
    let state = LookRequest {
        state: true,
        ..LookRequest::default()
    };
    look(&cold, &state).await;
    let links = cold.client.links();
    let warm = world("lenovo-sr670v2-xcc-2.83", Vec::new(), links).unwrap();
    for lists in [true, false] {
        look(&warm, &state).await;
        let asked = warm.recorded.take_asked();
        let listed = asked.iter().any(|path| path == "/redfish/v1/Systems");
        assert_eq!(listed, lists, "{asked:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn links_of_another_bmc_version_are_not_believed() {
    let Some(cold) = world("lenovo-sr670v2-xcc-2.83", Vec::new(), None) else {
        return;
    };
    let state = LookRequest {
        state: true,
        ..LookRequest::default()
    };
    look(&cold, &state).await;
    let mut links = cold.client.links().unwrap();
    links.bmc_version = Some("older".to_owned());
    links.software = Some("/nowhere".to_owned());
    let other = world("lenovo-sr670v2-xcc-2.83", Vec::new(), Some(links)).unwrap();
    look(&other, &state).await;
    let found = other.client.links().unwrap();
    assert_eq!(found, cold.client.links().unwrap());
}
