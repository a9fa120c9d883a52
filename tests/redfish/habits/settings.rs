//! Settings, in whatever style a service keeps them.

use super::*;

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
