//! Updates, whatever a service answers to them.

use super::*;

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
