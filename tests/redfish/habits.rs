//! The same client over BMCs of many habits: what it sees and does must not depend on them.

use std::collections::BTreeMap;

use mock_bmc::fleet::Fleet;
use mock_bmc::image::Component;
use redpipe::model::action::AttributePatch;
use redpipe::model::{
    Action, FaultKind, Look, LookRequest, Outcome, Seen, ServerName, Target, TaskHandle,
};
use serde_json::{Value, json};

use crate::fake::{look, state};
use crate::mock::{World, pull, world};

fn scripted(script: &str, systems: usize) -> World {
    let script = toml::from_str(script).unwrap_or_else(|error| panic!("{error}"));
    world(
        Fleet::builder()
            .script(script)
            .platform("generic", 1, systems)
            .build(),
    )
}

fn everything() -> LookRequest {
    LookRequest {
        software: true,
        work: true,
        settings: [Target::Bmc, Target::Server("b/1".into())].into(),
        ..state()
    }
}

fn settings() -> LookRequest {
    LookRequest {
        settings: [Target::Server("b/1".into())].into(),
        ..state()
    }
}

fn kinds(look: &Look) -> Vec<&str> {
    look.problems
        .iter()
        .map(|problem| problem.kind.as_str())
        .collect()
}

async fn patch_of(world: &World, attributes: Value) -> Action {
    let seen = look(&world.client, &settings()).await;
    let view = &seen.settings[&Target::Server("b/1".into())];
    let attributes: BTreeMap<String, Value> = serde_json::from_value(attributes).unwrap();
    Action::PatchAttributes {
        target: Target::Server("b/1".into()),
        parts: vec![AttributePatch {
            uri: view.resources[0].write_uri.clone(),
            attributes,
        }],
        apply_time: None,
    }
}

#[tokio::test(start_paused = true)]
async fn pages_and_expansion_change_nothing_of_what_is_seen() {
    let usual = look(&scripted("", 3).client, &everything()).await;
    for script in [
        "[collections]\npage_size = 1",
        "[collections]\nexpand = \"refused\"",
        "[collections]\nexpand = \"ignored\"\npage_size = 2",
    ] {
        let seen = look(&scripted(script, 3).client, &everything()).await;
        assert_eq!(seen.managers, usual.managers, "{script}");
        assert_eq!(seen.systems, usual.systems, "{script}");
        assert_eq!(seen.software, usual.software, "{script}");
        assert_eq!(seen.settings, usual.settings, "{script}");
        assert_eq!(seen.identity, usual.identity, "{script}");
        assert_eq!(seen.problems, [], "{script}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_member_that_does_not_exist_is_a_problem_and_no_more() {
    let usual = look(&scripted("", 2).client, &everything()).await;
    let collections = [
        "/redfish/v1/Systems",
        "/redfish/v1/UpdateService/FirmwareInventory",
        "/redfish/v1/TaskService/Tasks",
    ];
    let script = format!("[collections]\ndangling = {}", json!(collections));
    let seen = look(&scripted(&script, 2).client, &everything()).await;
    assert_eq!(seen.systems, usual.systems);
    assert_eq!(seen.software, usual.software);
    for kind in [
        "system-unreadable",
        "software-unreadable",
        "task-unreadable",
    ] {
        assert!(kinds(&seen).contains(&kind), "{kind}: {:?}", seen.problems);
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_is_found_wherever_the_answer_names_it() {
    for (handle, location, task, monitor) in [
        ("both", "relative", true, true),
        ("both", "absolute", true, true),
        ("location", "absolute", false, true),
        ("body", "relative", true, false),
        ("message", "relative", true, false),
        ("none", "relative", false, false),
    ] {
        let world = scripted(
            &format!("[update]\nhandle = \"{handle}\"\nlocation = \"{location}\""),
            1,
        );
        look(&world.client, &state()).await;
        world.serve(Component::Bmc, "1.60");
        let Outcome::Accepted { task: found, .. } = world.client.act(&pull(Target::Bmc, &[])).await
        else {
            panic!("{handle} is not accepted");
        };
        assert_eq!(found.is_some(), task || monitor, "{handle} {location}");
        let TaskHandle {
            task: found_task,
            monitor: found_monitor,
            ..
        } = found.unwrap_or_default();
        assert_eq!(found_task.is_some(), task, "{handle} {location}");
        assert!(found_monitor.is_some() || !monitor, "{handle} {location}");
        assert!(
            found_monitor
                .iter()
                .chain(&found_task)
                .all(|uri| uri.starts_with("/redfish/v1/"))
        );
    }
}

#[tokio::test(start_paused = true)]
async fn every_accepting_status_accepts() {
    for status in [200, 201, 202, 204] {
        let world = scripted(&format!("[update]\nstatus = {status}"), 1);
        look(&world.client, &state()).await;
        world.serve(Component::Bmc, "1.60");
        let outcome = world.client.act(&pull(Target::Bmc, &[])).await;
        assert!(
            matches!(outcome, Outcome::Accepted { .. }),
            "{status}: {outcome:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn what_the_network_does_to_an_update_is_told_honestly() {
    for (answer, expected, begun) in [
        ("refuse", "not sent", false),
        ("drop-before", "lost", false),
        ("drop-after", "lost", true),
        ("hang", "lost", false),
        ("truncate", "lost", true),
        ("html", "lost", false),
        ("status", "lost", false),
        ("delay", "accepted", true),
    ] {
        let world = scripted(
            &format!(
                "[[fault]]\nmethod = \"POST\"\npath = \"*SimpleUpdate*\"\nanswer = \"{answer}\""
            ),
            1,
        );
        look(&world.client, &state()).await;
        world.serve(Component::Bmc, "1.60");
        let word = match world.client.act(&pull(Target::Bmc, &[])).await {
            Outcome::NotSent { .. } => "not sent",
            Outcome::Lost { .. } => "lost",
            Outcome::Accepted { .. } => "accepted",
            Outcome::Refused { fault, .. } => panic!("{answer}: {fault}"),
        };
        assert_eq!(word, expected, "{answer}");
        let updates = world
            .caused()
            .iter()
            .filter(|cause| cause.starts_with("update accepted"))
            .count();
        assert_eq!(updates, usize::from(begun), "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_for_now_is_not_a_refusal_for_good() {
    let fault = "[[fault]]\nmethod = \"POST\"\npath = \"*SimpleUpdate*\"\nretry_after = \"30s\"\nretry_after_form = \"date\"\n";
    for message_id in [
        "Base.1.18.ServiceTemporarilyUnavailable",
        "iLO.2.1.ResourceNotReadyRetry",
    ] {
        let world = scripted(&format!("{fault}message_id = \"{message_id}\""), 1);
        look(&world.client, &state()).await;
        let outcome = world.client.act(&pull(Target::Bmc, &[])).await;
        let Outcome::Refused {
            fault,
            later: true,
            retry_after_secs,
        } = outcome
        else {
            panic!("{message_id}: {outcome:?}");
        };
        assert_eq!(fault.kind, FaultKind::NotReady);
        assert!(
            retry_after_secs.is_some_and(|seconds| (25..=30).contains(&seconds)),
            "{retry_after_secs:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn settings_are_written_whatever_the_tags_are_like() {
    for script in [
        "[etag]\nstyle = \"weak\"\nrequired = true",
        "[etag]\nstyle = \"strong\"",
        "[etag]\nstyle = \"doubly-quoted\"",
        "[etag]\nstyle = \"gzip\"",
        "[etag]\nstyle = \"none\"",
        "[etag]\nrestless = true",
        "[etag]\nstale = 1",
        "[etag]\nstar_only = true",
    ] {
        let world = scripted(script, 1);
        let action = patch_of(&world, json!({"ProcHyperthreading": "Enabled"})).await;
        let outcome = world.client.act(&action).await;
        // Tags that never stand still can end all four tries; then it is a refusal, not a doubt.
        let restless = script.contains("restless") && matches!(outcome, Outcome::Refused { .. });
        assert!(
            restless || matches!(outcome, Outcome::Accepted { .. }),
            "{script}: {outcome:?}"
        );
        if !restless {
            let seen = look(&world.client, &settings()).await;
            let view = &seen.settings[&Target::Server("b/1".into())];
            assert_eq!(
                view.pending("ProcHyperthreading"),
                Some(&json!("Enabled")),
                "{script}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_waits_is_seen_in_every_style() {
    for script in [
        "[bios_settings]\npending_style = \"changes\"",
        "[bios_settings]\npending_style = \"everything\"",
        "[bios_settings]\nsilent_answer = true",
        "[bios_settings]\njob = true",
    ] {
        let world = scripted(script, 1);
        let action = patch_of(
            &world,
            json!({"ProcHyperthreading": "Enabled", "ProcCoreDisable": 2}),
        )
        .await;
        assert!(
            matches!(world.client.act(&action).await, Outcome::Accepted { .. }),
            "{script}"
        );
        let seen = look(
            &world.client,
            &LookRequest {
                work: true,
                ..settings()
            },
        )
        .await;
        let view = &seen.settings[&Target::Server("b/1".into())];
        let waiting: Vec<&str> = view.resources[0]
            .pending
            .keys()
            .map(String::as_str)
            .collect();
        assert_eq!(
            waiting,
            ["ProcCoreDisable", "ProcHyperthreading"],
            "{script}"
        );
        assert_eq!(
            seen.systems[&ServerName::from("b/1")].pending.len(),
            2,
            "{script}"
        );
        assert_eq!(
            view.config_jobs.len(),
            usize::from(script.contains("job")),
            "{script}: {:?}",
            view.config_jobs
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_value_shown_early_still_has_its_job() {
    let world = scripted("[bios_settings]\nearly_display = true\njob = true", 1);
    let action = patch_of(&world, json!({"ProcHyperthreading": "Enabled"})).await;
    assert!(matches!(
        world.client.act(&action).await,
        Outcome::Accepted { .. }
    ));
    let seen = look(&world.client, &settings()).await;
    let view = &seen.settings[&Target::Server("b/1".into())];
    assert_eq!(view.current("ProcHyperthreading"), Some(&json!("Enabled")));
    assert_eq!(
        view.config_jobs.len(),
        1,
        "what is shown is not yet in effect"
    );
}

#[tokio::test(start_paused = true)]
async fn a_registry_that_is_not_named_is_found_and_one_that_is_named_wrong_is_a_problem() {
    let unnamed = scripted("[bios_settings]\nregistry = \"missing\"", 1);
    let seen = look(&unnamed.client, &settings()).await;
    assert!(
        seen.settings[&Target::Server("b/1".into())]
            .registry
            .is_some()
    );
    assert_eq!(seen.problems, []);
    let misnamed = scripted("[bios_settings]\nregistry = \"wrong-name\"", 1);
    let seen = look(&misnamed.client, &settings()).await;
    assert!(
        seen.settings[&Target::Server("b/1".into())]
            .registry
            .is_some()
    );
    assert_eq!(kinds(&seen), ["registry-name"]);
}

#[tokio::test(start_paused = true)]
async fn without_a_settings_object_the_bios_itself_is_patched() {
    let world = scripted("[bios_settings]\nsettings_object = false", 1);
    let action = patch_of(&world, json!({"ProcHyperthreading": "Enabled"})).await;
    let Action::PatchAttributes { parts, .. } = &action else {
        panic!("not a patch");
    };
    assert_eq!(parts[0].uri, "/redfish/v1/Systems/1/Bios");
    assert!(matches!(
        world.client.act(&action).await,
        Outcome::Accepted { .. }
    ));
}

#[tokio::test(start_paused = true)]
async fn half_accepted_settings_are_refused_with_the_words_on_the_other_half() {
    let world = scripted("[bios_settings]\nhalf_accept = true", 1);
    let action = patch_of(
        &world,
        json!({"ProcHyperthreading": "Enabled", "NoSuchAttribute": 1}),
    )
    .await;
    let Outcome::Refused {
        fault,
        later: false,
        ..
    } = world.client.act(&action).await
    else {
        panic!("not refused");
    };
    assert_eq!(fault.status, Some(200));
    let unknown = fault
        .messages
        .iter()
        .find(|message| message.key() == Some("PropertyUnknown"))
        .unwrap();
    assert!(
        unknown
            .args
            .iter()
            .any(|arg| arg.contains("NoSuchAttribute")),
        "{unknown:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn post_locks_settings_for_now_only() {
    let world = scripted(
        "[bios_settings]\npost_lock = true\n[power]\nstate = \"Off\"",
        1,
    );
    let action = patch_of(&world, json!({"ProcHyperthreading": "Enabled"})).await;
    let on = Action::ResetSystem {
        server: "b/1".into(),
        reset_type: "On".to_owned(),
    };
    assert!(matches!(
        world.client.act(&on).await,
        Outcome::Accepted { .. }
    ));
    tokio::time::sleep(std::time::Duration::from_secs(30)).await;
    let outcome = world.client.act(&action).await;
    assert!(
        matches!(outcome, Outcome::Refused { later: true, .. }),
        "{outcome:?}"
    );
    let seen = look(&world.client, &state()).await;
    assert_eq!(seen.systems[&ServerName::from("b/1")].in_post, Some(true));
}

#[tokio::test(start_paused = true)]
async fn a_reset_into_the_state_that_is_counts_as_done_however_it_is_answered() {
    for answer in ["accepted", "conflict", "bad-request"] {
        let world = scripted(&format!("[power]\nalready_there = \"{answer}\""), 1);
        look(&world.client, &state()).await;
        let on = Action::ResetSystem {
            server: "b/1".into(),
            reset_type: "On".to_owned(),
        };
        let outcome = world.client.act(&on).await;
        assert!(
            matches!(outcome, Outcome::Accepted { .. }),
            "{answer}: {outcome:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_bmc_without_sessions_is_read_all_the_same_and_said_so() {
    let world = scripted("[sessions]\noffered = false", 1);
    let seen = look(&world.client, &state()).await;
    assert_eq!(kinds(&seen), ["no-sessions"]);
    assert!(!seen.capability.sessions);
}

#[tokio::test(start_paused = true)]
async fn a_version_that_the_manager_hides_comes_from_the_inventory_and_one_hidden_everywhere_is_none()
 {
    let silent = "[[fault]]\nmethod = \"GET\"\ncount = 0\nanswer = \"edit\"\n";
    let manager = format!(
        "{silent}path = \"/redfish/v1/Managers/BMC\"\nbody = {{ FirmwareVersion = \"null\" }}\n"
    );
    let system =
        format!("{silent}path = \"/redfish/v1/Systems/2\"\nbody = {{ BiosVersion = \"null\" }}\n");
    let seen = look(&scripted(&format!("{manager}{system}"), 2).client, &state()).await;
    assert_eq!(seen.bmc_version(), Some("1.50"));
    assert_eq!(seen.bios_version(&"b/2".into()), Some("2.10"));
    let hidden = scripted("[versions]\nhide_bmc = true\nhide_bios = true", 1);
    let seen = look(&hidden.client, &state()).await;
    assert_eq!(
        (seen.bmc_version(), seen.bios_version(&"b/1".into())),
        (None, None)
    );
}

#[tokio::test(start_paused = true)]
async fn default_claims_are_none() {
    let world = scripted(
        "[identity]\nuuid = \"03000200-0400-0500-0006-000700080009\"\nsystem_uuid = \"00000000-0000-0000-0000-000000000000\"\n\
         serial = \"To be filled by O.E.M.\"\nsystem_serial = \"Default string\"",
        2,
    );
    let who = look(&world.client, &state()).await.identity;
    assert_eq!(
        (
            who.root_uuid.as_ref(),
            who.system_uuids.len(),
            who.serials.len()
        ),
        (None, 0, 0)
    );
    assert!(
        !who.manager_macs.is_empty(),
        "something has to tell this box from another"
    );
}

#[tokio::test(start_paused = true)]
async fn a_refused_login_ends_the_look_with_its_own_kind() {
    let world = scripted("[sessions]\nmust_change_password = true", 1);
    let Seen::Failed(fault) = world.client.look(&state()).await else {
        panic!("looked");
    };
    assert_eq!(fault.kind, FaultKind::PasswordChangeRequired);
}
