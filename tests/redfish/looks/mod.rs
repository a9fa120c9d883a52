//! What a look makes of services that misbehave.

mod circumstances;
mod on;
mod settings;

use std::collections::BTreeSet;

use http::Method;
use redpipe::model::look::{Followed, Power};
use redpipe::model::{FaultKind, LookRequest, Seen, ServerName, Target, TaskHandle};
use serde_json::{Value, json};

use crate::fake::{Answer, client, look, service, state, work};

fn kinds(look: &redpipe::model::Look) -> Vec<&str> {
    look.problems
        .iter()
        .map(|problem| problem.kind.as_str())
        .collect()
}

fn settings_of(target: Target) -> LookRequest {
    LookRequest {
        settings: BTreeSet::from([target]),
        ..LookRequest::default()
    }
}

#[tokio::test(start_paused = true)]
async fn a_root_without_links_is_not_ready() {
    let fake = service();
    fake.put("/redfish/v1", json!({"UUID": "x", "Systems": null}));
    let Seen::Failed(fault) = client(&fake, &[]).look(&state()).await else {
        panic!("not failed");
    };
    assert_eq!(fault.kind, FaultKind::NotReady);
}

#[tokio::test(start_paused = true)]
async fn a_bare_root_look_asks_for_the_root_alone() {
    let fake = service();
    let request = LookRequest {
        root_only: true,
        ..LookRequest::default()
    };
    let seen = look(&client(&fake, &[]), &request).await;
    assert_eq!(fake.take_lines(), ["GET /redfish/v1/"]);
    assert_eq!(
        seen.identity.root_uuid.as_deref(),
        Some("92384634-2938-2342-8820-489239905423")
    );
}

#[tokio::test(start_paused = true)]
async fn a_sick_collection_of_systems_ends_the_look_and_a_sick_member_does_not() {
    let fake = service();
    fake.remove("/redfish/v1/S/2");
    let seen = look(
        &client(&fake, &[("a", Some("1")), ("b", Some("2"))]),
        &state(),
    )
    .await;
    assert_eq!(seen.systems.len(), 1);
    assert_eq!(seen.missing_systems, [ServerName::from("b")]);
    assert!(kinds(&seen).contains(&"system-unreadable"));

    let fake = service();
    for _ in 0..3 {
        fake.once(
            &Method::GET,
            "/redfish/v1/S",
            Answer::Json(500, Value::Null),
        );
    }
    assert!(matches!(
        client(&fake, &[]).look(&state()).await,
        Seen::Failed(_)
    ));
}

#[tokio::test(start_paused = true)]
async fn a_server_without_a_system_is_found_only_where_there_is_one() {
    let fake = service();
    let seen = look(&client(&fake, &[("a", None)]), &state()).await;
    assert_eq!(seen.missing_systems, [ServerName::from("a")]);
    assert_eq!(seen.other_systems.len(), 2);
    fake.put(
        "/redfish/v1/S",
        json!({"Members": [{"@odata.id": "/redfish/v1/S/1"}]}),
    );
    let seen = look(&client(&fake, &[("a", None)]), &state()).await;
    assert_eq!(seen.systems[&ServerName::from("a")].id, "1");
}

#[tokio::test(start_paused = true)]
async fn links_in_another_spelling_still_tie_a_system_to_its_manager() {
    let fake = service();
    let seen = look(&client(&fake, &[]), &state()).await;
    let system = &seen.systems[&ServerName::from("b/1")];
    assert_eq!(system.managed_by, ["/redfish/v1/M/bmc"]);
    assert_eq!((system.power, system.reset_types.len()), (Power::On, 3));
    assert_eq!(seen.bmc_version(), Some("1.50"));
    assert_eq!(seen.capability.manager_reset_types, ["ForceRestart"]);
    assert_eq!(
        seen.identity.serials,
        BTreeSet::from(["SER1".to_owned(), "SER2".to_owned()])
    );
}

#[tokio::test(start_paused = true)]
async fn a_version_that_no_manager_shows_is_looked_for_in_the_inventory() {
    let fake = service();
    fake.put(
        "/redfish/v1/M/bmc",
        json!({"Id": "bmc", "FirmwareVersion": null}),
    );
    let talks = client(&fake, &[]);
    let seen = look(&talks, &state()).await;
    assert_eq!(seen.bmc_version(), Some("1.50"));
    fake.take();
    let seen = look(&talks, &state()).await;
    assert_eq!(seen.bmc_version(), Some("1.50"));
    let asked = fake.take_lines();
    assert!(asked.contains(&"GET /redfish/v1/U/F/bmc".to_owned()));
    assert!(!asked.contains(&"GET /redfish/v1/U/F".to_owned()));
    fake.put("/redfish/v1/U/F/bmc", json!({"Id": "bmc", "Version": null}));
    let seen = look(&client(&fake, &[]), &state()).await;
    assert_eq!(seen.bmc_version(), None);
}

#[tokio::test(start_paused = true)]
async fn pages_are_followed_and_null_members_are_none() {
    let fake = service();
    fake.put("/redfish/v1/S", json!({"Members": [{"@odata.id": "/redfish/v1/S/1"}], "Members@odata.nextLink": "/redfish/v1/S?$skip=1"}));
    fake.put("/redfish/v1/S?$skip=1", json!({"Members": [{"@odata.id": "/redfish/v1/S/2"}], "Members@odata.nextLink": "/redfish/v1/S?$skip=1"}));
    fake.put("/redfish/v1/T/Tasks", json!({"Members": null}));
    let seen = look(&client(&fake, &[]), &work()).await;
    assert_eq!(seen.systems.len(), 2);
    assert!(seen.tasks.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_collection_that_would_take_an_hour_to_read_is_one_clear_fault() {
    let fake = service();
    let members: Vec<Value> = (0..1_001)
        .map(|id| json!({"@odata.id": format!("/redfish/v1/S/{id}")}))
        .collect();
    fake.put("/redfish/v1/S", json!({"Members": members}));
    let Seen::Failed(fault) = client(&fake, &[]).look(&work()).await else {
        panic!("1,001 systems were read one by one");
    };
    assert!(
        fault.message.contains("`/redfish/v1/S` lists 1001 members"),
        "{fault}"
    );
    assert!(fake.take_lines().len() < 50);
}

#[tokio::test(start_paused = true)]
async fn a_task_list_that_cannot_be_read_ends_the_look_and_one_that_is_not_there_is_a_problem() {
    let fake = service();
    for _ in 0..3 {
        fake.once(
            &Method::GET,
            "/redfish/v1/T/Tasks",
            Answer::Json(500, Value::Null),
        );
    }
    assert!(matches!(
        client(&fake, &[]).look(&work()).await,
        Seen::Failed(_)
    ));
    fake.remove("/redfish/v1/T/Tasks");
    let seen = look(&client(&fake, &[]), &work()).await;
    assert_eq!(kinds(&seen), ["task-link-broken"]);
}

#[tokio::test(start_paused = true)]
async fn what_others_do_is_seen() {
    let fake = service();
    fake.put("/redfish/v1/T/Tasks", json!({"Members": [{"@odata.id": "/redfish/v1/T/Tasks/1"}, {"@odata.id": "/redfish/v1/T/Tasks/2"}]}));
    fake.put(
        "/redfish/v1/T/Tasks/1",
        json!({"TaskState": "Running", "StartTime": "2026-01-01T00:00:00Z",
        "Payload": {"TargetUri": "/redfish/v1/S/1/Bios/Settings", "JsonBody": "{}"}}),
    );
    fake.put(
        "/redfish/v1/S/2/Bios/Settings",
        json!({"Attributes": {"A": "y", "N": 5}}),
    );
    let request = LookRequest {
        work: true,
        ..settings_of(Target::Server("b/1".into()))
    };
    let seen = look(&client(&fake, &[("b/1", Some("1"))]), &request).await;
    assert_eq!(seen.tasks.len(), 1);
    assert_eq!(kinds(&seen), ["task-unreadable"]);
    assert_eq!(
        seen.other_systems[0].pending,
        BTreeSet::from(["A".to_owned()])
    );
    assert!(seen.systems[&ServerName::from("b/1")].pending.is_empty());
    assert_eq!(
        seen.settings[&Target::Server("b/1".into())].config_jobs,
        ["`/redfish/v1/T/Tasks/1` (Running)"]
    );
}

#[tokio::test(start_paused = true)]
async fn expand_is_used_where_offered_and_never_again_where_refused() {
    let fake = service();
    let query = "/redfish/v1/U/F?$expand=.($levels=1)";
    fake.put("/redfish/v1", json!({"Managers": {"@odata.id": "/redfish/v1/M"}, "Systems": {"@odata.id": "/redfish/v1/S"},
        "UpdateService": {"@odata.id": "/redfish/v1/U"},
        "ProtocolFeaturesSupported": {"ExpandQuery": {"NoLinks": true, "Levels": true}}}));
    let software = LookRequest {
        software: true,
        ..LookRequest::default()
    };
    let talks = client(&fake, &[]);
    fake.once(&Method::GET, query, Answer::Json(200, json!({"Members": [
        {"@odata.id": "/redfish/v1/U/F/bmc", "Id": "bmc", "Version": "1.50"}, {"@odata.id": "/redfish/v1/U/F/half", "Id": "half"}]})));
    fake.put(
        "/redfish/v1/U/F/half",
        json!({"Id": "half", "Version": "7"}),
    );
    let seen = look(&talks, &software).await;
    let versions: Vec<_> = seen
        .software
        .iter()
        .filter_map(|s| s.version.as_deref())
        .collect();
    assert_eq!(
        versions,
        ["1.50", "7"],
        "a member that lost its version is read by itself"
    );

    fake.take();
    fake.once(&Method::GET, query, Answer::Json(400, Value::Null));
    let seen = look(&talks, &software).await;
    assert_eq!(seen.software.len(), 1);
    assert_eq!(
        fake.take_lines(),
        [
            format!("GET {query}"),
            "GET /redfish/v1/U/F".to_owned(),
            "GET /redfish/v1/U/F/bmc".to_owned()
        ]
    );
    let seen = look(&talks, &software).await;
    assert!(!seen.capability.expand);
    assert_eq!(
        fake.take_lines(),
        ["GET /redfish/v1/U/F", "GET /redfish/v1/U/F/bmc"]
    );
}

#[tokio::test(start_paused = true)]
async fn handles_are_followed_to_their_own_task() {
    let fake = service();
    let talks = client(&fake, &[]);
    look(&talks, &state()).await;
    fake.put(
        "/redfish/v1/T/Tasks/7",
        json!({"TaskState": "Completed", "StartTime": "2026-01-01T00:00:00Z"}),
    );
    let handle = |task: Option<&str>, monitor: Option<&str>, start: Option<&str>| TaskHandle {
        task: task.map(str::to_owned),
        monitor: monitor.map(str::to_owned),
        start_time: start.map(str::to_owned),
    };
    let request = LookRequest {
        tasks: vec![
            handle(
                Some("/redfish/v1/T/Tasks/7"),
                Some("/redfish/v1/T/Mon/7"),
                None,
            ),
            handle(
                Some("/redfish/v1/T/Tasks/7"),
                None,
                Some("2025-01-01T00:00:00Z"),
            ),
            handle(Some("/redfish/v1/T/Tasks/8"), None, None),
            handle(None, Some("/redfish/v1/T/Mon/9"), None),
        ],
        ..LookRequest::default()
    };
    fake.once(
        &Method::GET,
        "/redfish/v1/T/Mon/9",
        Answer::Json(204, Value::Null),
    );
    fake.take();
    let seen = look(&talks, &request).await;
    assert!(matches!(&seen.followed[0], Followed::Task(task) if task.is_finished()));
    assert_eq!(seen.followed[1], Followed::Gone);
    assert_eq!(seen.followed[2], Followed::Gone);
    assert_eq!(seen.followed[3], Followed::Ended(Vec::new()));
    let asked = fake.take_lines();
    assert!(
        !asked.contains(&"GET /redfish/v1/T/Mon/7".to_owned()),
        "the monitor of a known task is left alone"
    );
}

#[tokio::test(start_paused = true)]
async fn after_an_outage_nothing_remembered_is_trusted() {
    let fake = service();
    let talks = client(&fake, &[]);
    look(&talks, &state()).await;
    fake.put(
        "/redfish/v1/S",
        json!({"Members": [{"@odata.id": "/redfish/v1/S/2"}]}),
    );
    fake.take();
    let request = LookRequest {
        fresh_session: true,
        ..state()
    };
    let seen = look(&talks, &request).await;
    assert_eq!(seen.systems.len(), 1);
    assert_eq!(fake.take_lines()[0], "GET /redfish/v1/");
}

#[tokio::test(start_paused = true)]
async fn a_remembered_system_that_is_gone_makes_the_collections_be_read_again() {
    let fake = service();
    let talks = client(&fake, &[]);
    look(&talks, &state()).await;
    fake.remove("/redfish/v1/S/1");
    fake.put(
        "/redfish/v1/S",
        json!({"Members": [{"@odata.id": "/redfish/v1/S/2"}]}),
    );
    let seen = look(&talks, &state()).await;
    assert_eq!(
        seen.systems
            .keys()
            .map(ServerName::as_str)
            .collect::<Vec<_>>(),
        ["b/2"]
    );
    assert_eq!(kinds(&seen), Vec::<&str>::new());
}
