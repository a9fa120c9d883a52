//! The same client over BMCs of many habits: what it sees and does must not depend on them.

mod settings;
mod updates;

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

/// The twin of `inventory_named_after_manager`.
#[tokio::test(start_paused = true)]
async fn a_silent_manager_has_the_version_of_the_software_that_is_named_like_it() {
    let world = scripted("[versions]\ninventory_named_after_manager = true", 1);
    for _ in ["cold", "warm"] {
        let seen = look(&world.client, &state()).await;
        assert_eq!(seen.bmc_version(), Some("1.50"));
        assert_eq!(seen.bios_version(&ServerName::from("b/1")), Some("2.10"));
    }
}

/// The twin of `staging_slot_keeps_what_ran`.
#[tokio::test(start_paused = true)]
async fn a_staging_slot_that_shows_what_runs_keeps_nobody_waiting() {
    let script = "[update]\nstaging_slot_keeps_what_ran = true";
    let seen = look(&scripted(script, 1).client, &everything()).await;
    let slot = seen.software.iter().find(|view| view.id == "Staging_BMC");
    assert_eq!(slot.map(|slot| slot.staged), Some(false));
    assert_eq!(seen.bmc_version(), Some("1.50"));
}

#[tokio::test(start_paused = true)]
async fn a_clock_and_the_sessions_of_others_are_told() {
    let script = "[sessions]\nforeign = 3\n[identity]\nclock = \"2001-09-09T01:46:40Z\"\nvendor = \"Dell Inc.\"";
    let world = scripted(script, 1);
    look(&world.client, &state()).await;
    let known = world.client.circumstances().await.unwrap();
    assert_eq!(known.sessions.open, Some(4), "three of others and ours");
    assert_eq!(known.sessions.headroom(), Some(4));
    let clock = known.clock.unwrap();
    // Our own clock begins with the epoch here.
    assert!(clock.says.starts_with("2001-09-09T"), "{clock:?}");
    assert!(clock.ahead_seconds >= 1_000_000_000 - 60, "{clock:?}");
    assert_eq!(
        known.recognized_by,
        ["the service root's Vendor `Dell Inc.`"]
    );
}

/// The exchange S14: whatever is asked is 403 until the password is changed.
#[tokio::test(start_paused = true)]
async fn an_account_that_must_change_its_password_is_named() {
    let world = scripted("[sessions]\nmust_change_password = true", 1);
    let Seen::Failed(fault) = world.client.look(&state()).await else {
        panic!("not failed");
    };
    assert_eq!(fault.kind, FaultKind::PasswordChangeRequired);
    let words = "the account `/redfish/v1/AccountService/Accounts/";
    assert!(fault.message.starts_with(words), "{fault}");
}
