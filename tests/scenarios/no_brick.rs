//! Sequences that must not brick, or flash twice, or take a stranger's work for ours.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::Method;
use redpipe::daemon::RunEnd;
use redpipe::model::BmcName;
use redpipe::redfish::WireRequest;
use redpipe::run::RunPhase;

use crate::common::{
    PIPELINE, bios_hop, bmc_hop, completed, first, hop, pipeline, settings, stage, words,
};
use crate::support::lives::Lives;
use crate::support::process::{Death, Process, Watcher};
use crate::support::world::{World, end};

const BMC: &str = "mock-1";

/// Scenario 135.
#[tokio::test(start_paused = true)]
async fn no_power_request_is_sent_while_a_flashing_post_outlasts_every_grace() {
    let world = World::one(1, "[durations]\nbios_flash_post = \"25m\"");
    let report = world.apply(&[&pipeline(&[bios_hop(&world, "2.20")])]).await;
    completed(&world, &report);
    let resets = world.caused(BMC, "reset ");
    let wanted = [
        "reset /redfish/v1/Systems/1 GracefulShutdown",
        "reset /redfish/v1/Systems/1 On",
    ];
    assert_eq!(resets, wanted);
    assert_eq!(words(&world, BMC, &["bricked"]), [""; 0]);
}

/// Scenario 136.
#[tokio::test(start_paused = true)]
async fn a_lost_answer_with_no_task_shown_is_waited_out_and_the_version_shows_that_it_happened() {
    let script = "[[fault]]\nmethod = \"POST\"\npath = \"/redfish/v1/UpdateService*\"\nnth = 1\ncount = 1\nanswer = \"drop-after\"\n[[task_fault]]\ncomponent = \"bmc\"\nvanish = \"running\"\nvanish_after = \"0s\"";
    let world = World::one(1, script);
    let report = world.apply(&[&pipeline(&[bmc_hop(&world, "1.60")])]).await;
    let run = completed(&world, &report);
    assert_eq!(
        words(&world, BMC, &["update accepted"]),
        ["update accepted bmc 1.60"],
        "{run:#?}"
    );
}

/// Scenario 137.
#[tokio::test(start_paused = true)]
async fn a_bare_503_to_an_upload_that_was_processed_is_lost_and_not_later() {
    let script = "[[fault]]\nmethod = \"POST\"\npath = \"/redfish/v1/UpdateService*\"\nnth = 1\ncount = 1\nstatus = 503\nbody = \"\"\nprocessed = true";
    let world = World::one(1, script);
    let report = world.apply(&[&pipeline(&[bmc_hop(&world, "1.60")])]).await;
    completed(&world, &report);
    let posts = world
        .writes(BMC)
        .into_iter()
        .filter(|write| write.starts_with("POST /redfish/v1/UpdateService"));
    assert_eq!(posts.count(), 1);
}

/// A request that never arrived is sent once more, and only after a flash would have shown.
#[tokio::test(start_paused = true)]
async fn a_lost_request_is_sent_again_only_after_the_longest_flash() {
    let script = "[[fault]]\nmethod = \"POST\"\npath = \"/redfish/v1/UpdateService*\"\nnth = 1\ncount = 1\nanswer = \"drop-before\"";
    let world = World::one(1, script);
    let report = world.apply(&[&pipeline(&[bmc_hop(&world, "1.60")])]).await;
    completed(&world, &report);
    let posts: Vec<u64> = world
        .ledger(BMC)
        .into_iter()
        .filter(|line| line.method.as_deref() == Some("POST"))
        .filter(|line| {
            line.path
                .as_deref()
                .is_some_and(|path| path.starts_with("/redfish/v1/UpdateService"))
        })
        .map(|line| line.at_ms)
        .collect();
    assert_eq!(posts.len(), 2, "{posts:?}");
    let apart = Duration::from_millis(posts[1] - posts[0]);
    assert!(
        apart >= Duration::from_mins(20),
        "sent again after {apart:?}"
    );
}

/// Scenario 138.
#[tokio::test(start_paused = true)]
async fn after_a_task_that_was_cancelled_a_second_attempt_waits_and_looks_first() {
    let script = "[[task_fault]]\ncomponent = \"bmc\"\nnth = 1\nends_after = \"5m\"\nend_state = \"Cancelled\"";
    let world = World::one(1, script);
    let text = pipeline(&[hop(
        "bmc",
        "1.60",
        &world.image("bmc", "1.60"),
        "attempts = 2",
    )]);
    let report = world.apply(&[&text]).await;
    completed(&world, &report);
    assert_eq!(
        words(&world, BMC, &["update accepted"]).len(),
        1,
        "flashing went on, and the look saw it"
    );
}

/// Scenario 141.
#[tokio::test(start_paused = true)]
async fn somebody_elses_bios_job_that_waits_for_a_reboot_holds_the_run_and_is_named() {
    let script = "[[foreign_job]]\nname = \"Configure: BIOS of the other tool\"\nstate = \"Pending\"\njob_type = \"BIOSConfiguration\"\ntarget = \"/redfish/v1/Systems/1/Bios/Settings\"";
    let world = World::one(1, script);
    let report = world
        .apply(&[&pipeline(&[settings("quiet", "bios", "QuietBoot = false")])])
        .await;
    let run = first(&report);
    assert_eq!(run.phase, RunPhase::Held, "{run:#?}");
    assert!(
        run.reason.contains("Configure: BIOS of the other tool"),
        "{}",
        run.reason
    );
    assert_eq!(world.caused(BMC, "reset "), [""; 0]);
}

/// Scenario 143.
#[tokio::test(start_paused = true)]
async fn a_hop_names_exactly_its_system_and_a_sibling_that_changes_with_it_fails_the_stage() {
    let world = World::one(2, "");
    let text = pipeline(&[bios_hop(&world, "2.20")]);
    let report = world.apply(&[&text]).await;
    completed(&world, &report);

    for (habit, phase, reason) in [
        ("", RunPhase::Held, "BIOS_2_Staged holds 2.20"),
        (
            "activation = \"self-reboot\"",
            RunPhase::Failed,
            "changed `mock-1-s2` from `2.10` to `2.20`",
        ),
    ] {
        let script = format!("[update]\ntargets = \"ignored\"\n{habit}");
        let careless = World::one(2, &script);
        let report = careless
            .apply(&[&pipeline(&[bios_hop(&careless, "2.20")])])
            .await;
        let run = first(&report);
        assert_eq!(run.phase, phase, "{run:#?}");
        assert!(run.reason.contains(reason), "{}", run.reason);
    }
}

/// Scenario 144.
#[tokio::test(start_paused = true)]
async fn a_strangers_task_after_a_lost_request_is_named_and_not_adopted() {
    let script = "[[fault]]\nmethod = \"POST\"\npath = \"/redfish/v1/UpdateService*\"\nnth = 1\ncount = 1\nanswer = \"drop-before\"\n[[foreign_task]]\nname = \"Update of somebody else\"\nimage_uri = \"http://files.example/other.bin\"\nappears = \"40s\"";
    let world = World::one(1, script);
    let report = world.apply(&[&pipeline(&[bmc_hop(&world, "1.60")])]).await;
    let run = first(&report);
    assert_eq!(run.phase, RunPhase::Held, "{run:#?}");
    assert!(
        run.reason.contains("Update of somebody else"),
        "{}",
        run.reason
    );
    assert_eq!(words(&world, BMC, &["update accepted"]), [""; 0]);
}

/// Scenario 145.
#[tokio::test(start_paused = true)]
async fn a_stop_in_the_middle_of_an_upload_waits_for_its_end_and_the_next_process_carries_on() {
    let script = "[[fault]]\nmethod = \"POST\"\npath = \"/redfish/v1/UpdateService*\"\ncount = 1\nanswer = \"delay\"\nby = \"20s\"";
    let world = World::one(1, script);
    let text = pipeline(&[bmc_hop(&world, "1.60"), bmc_hop(&world, "1.80")]);
    let stop = async {
        while world.caused(BMC, "update accepted").is_empty() {
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        world.stop.ask();
    };
    let texts = [text.as_str()];
    let (report, ()) = tokio::join!(world.apply(&texts), stop);
    assert!(
        matches!(end(&report, PIPELINE, BMC), RunEnd::Interrupted(Some(_))),
        "{report:?}"
    );
    let lost = world
        .journal(BMC)
        .into_iter()
        .filter(|record| record.contains("\"result\":\"lost\""));
    assert_eq!(lost.count(), 0, "the upload was cut");

    let mut world = world;
    world.stop = redpipe::daemon::Stop::new();
    let report = world.apply(&texts).await;
    completed(&world, &report);
    assert_eq!(
        words(&world, BMC, &["update accepted"]),
        ["update accepted bmc 1.60", "update accepted bmc 1.80"]
    );
}

/// Scenario 145, the second Ctrl-C.
#[tokio::test(start_paused = true)]
async fn a_second_stop_aborts_the_upload_and_the_next_process_looks_before_it_acts() {
    let script = "[[fault]]\nmethod = \"POST\"\npath = \"/redfish/v1/UpdateService*\"\ncount = 1\nanswer = \"delay\"\nby = \"20s\"";
    let world = World::one(1, script);
    let text = pipeline(&[bmc_hop(&world, "1.60")]);
    let stop = async {
        while world.caused(BMC, "update accepted").is_empty() {
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        world.stop.ask();
        world.stop.ask();
    };
    let texts = [text.as_str()];
    let (report, ()) = tokio::join!(world.apply(&texts), stop);
    assert!(
        matches!(end(&report, PIPELINE, BMC), RunEnd::Interrupted(Some(_))),
        "{report:?}"
    );
    let mut world = world;
    world.stop = redpipe::daemon::Stop::new();
    let report = world.apply(&texts).await;
    completed(&world, &report);
    assert_eq!(
        words(&world, BMC, &["update accepted"]),
        ["update accepted bmc 1.60"]
    );
}

/// Scenario 146.
#[tokio::test(start_paused = true)]
async fn an_exact_last_hop_that_is_running_sends_nothing_and_neither_key_comes_from_defaults() {
    let world = World::one(1, "[versions]\nbmc = \"1.80\"");
    let last = hop(
        "bmc",
        "1.80",
        &world.image("bmc", "1.80"),
        "match = \"exact\"\nallow_downgrade = true",
    );
    let report = world
        .apply(&[&pipeline(&[bmc_hop(&world, "1.60"), last])])
        .await;
    completed(&world, &report);
    assert_eq!(world.writes(BMC), [""; 0]);

    for (key, value) in [("allow_downgrade", "true"), ("match", "\"exact\"")] {
        let defaults = format!("[defaults]\n{key} = {value}\n{}", bmc_hop(&world, "1.60"));
        let source = redpipe::pipeline::Source::new("p.toml", pipeline(&[defaults]));
        let findings = redpipe::pipeline::load(&[], &[source]).unwrap_err();
        assert!(findings.to_string().contains(key), "{findings}");
    }
}

/// Scenario 150.
#[tokio::test(start_paused = true)]
async fn a_pending_value_that_is_shown_early_is_not_already_there() {
    let world = World::one(1, "[bios_settings]\nearly_display = true\njob = true");
    let text = pipeline(&[settings("quiet", "bios", "QuietBoot = false")]);
    let texts = [text.as_str()];
    let mut time = Duration::from_secs(1);
    while world.caused(BMC, "settings accepted").is_empty() {
        // A process that dies right after the PATCH.
        world.apply_for(&texts, time).await;
        time += Duration::from_secs(1);
    }
    assert_eq!(
        world.caused(BMC, "reset "),
        [""; 0],
        "the process died before the reset"
    );
    let report = world.apply(&texts).await;
    let run = completed(&world, &report);
    assert_ne!(stage(run, "quiet").how, Some("already-there"));
    assert_eq!(
        world.caused(BMC, "reset ").len(),
        1,
        "the reboot that the job waits for"
    );
    assert_eq!(world.caused(BMC, "settings accepted").len(), 1);
}

/// Scenario 157.
#[tokio::test(start_paused = true)]
async fn a_retry_after_date_of_a_bmc_in_1970_is_clamped() {
    let script = "[identity]\nclock = \"1970-01-01T00:00:00Z\"\n[[fault]]\nmethod = \"GET\"\npath = \"/redfish/v1/Systems\"\ncount = 2\nstatus = 503\nretry_after = \"30s\"\nretry_after_form = \"date\"";
    let world = World::one(1, script);
    let report = world.apply(&[&pipeline(&[bmc_hop(&world, "1.50")])]).await;
    completed(&world, &report);
    assert!(
        world.elapsed() < Duration::from_mins(10),
        "{:?}",
        world.elapsed()
    );
}

/// A look at many systems takes its time, and its first part may be older than a boot that the flash itself began.
#[tokio::test(start_paused = true)]
async fn a_host_that_its_flash_restarts_in_the_middle_of_a_look_is_not_switched_off() {
    let script = "[update]\nactivation = \"self-reboot\"\n[collections]\npage_size = 2";
    let world = World::one(8, script);
    let image = world.image("bios", "2.20");
    let text = pipeline(&[hop("bios", "2.20", &image, "reset = \"force\"")]);
    let report = world.apply(&[&text]).await;
    completed(&world, &report);
    assert_eq!(words(&world, BMC, &["bricked"]), [""; 0]);
    assert_eq!(
        world.caused(BMC, "reset "),
        [""; 0],
        "each restarted by itself"
    );
}

/// A flash restarts its host right after its task has ended, and power and POST are shown late.
#[tokio::test(start_paused = true)]
async fn a_host_that_its_flash_restarts_is_not_switched_off_before_that_would_be_shown() {
    for lag in ["8s", "20s", "60s"] {
        let script =
            format!("[update]\nactivation = \"self-reboot\"\n[power]\nstate_lag = \"{lag}\"");
        let world = World::one(1, &script);
        let image = world.image("bios", "2.20");
        let text = pipeline(&[hop("bios", "2.20", &image, "reset = \"force\"")]);
        let report = world.apply(&[&text]).await;
        completed(&world, &report);
        assert_eq!(words(&world, BMC, &["bricked"]), [""; 0], "{lag}");
        assert_eq!(world.caused(BMC, "reset "), [""; 0], "{lag}");
    }
}

/// Somebody who takes a host past a hop, once something has happened, before the next look shows it.
struct FlashesByHand {
    world: Arc<World>,
    once: &'static str,
    is_done: AtomicBool,
}

impl Watcher for FlashesByHand {
    fn leaves(&self, _: &Process, _: &BmcName, request: &WireRequest) {
        let is_time = || !words(&self.world, BMC, &[self.once]).is_empty();
        if request.method == Method::GET && !self.is_done.load(Ordering::SeqCst) && is_time() {
            self.world.bmc(BMC, |bmc| bmc.set_bios_version(0, "2.30"));
            self.is_done.store(true, Ordering::SeqCst);
        }
    }
}

/// A host that somebody takes past the hop while our image waits for its boot: the boot would take it down again.
#[tokio::test(start_paused = true)]
async fn an_image_that_is_staged_is_not_activated_on_a_host_that_is_past_it_by_now() {
    for moment in ["bios 1 staged", "power 1 Off"] {
        let world = Arc::new(World::one(1, "[update]\nstaged_task = \"stopping\""));
        let text = pipeline(&[bios_hop(&world, "2.20")]);
        let by_hand = Arc::new(FlashesByHand {
            world: Arc::clone(&world),
            once: moment,
            is_done: AtomicBool::new(false),
        });
        let process = Lives::new().start(&world, 1, Death::Never, by_hand);
        let report = process.apply(&world, &[&text]).await.unwrap();
        let run = first(&report);
        assert_eq!(run.phase, RunPhase::Held, "{moment}: {run:#?}");
        let reason = "`2.30` runs by now, past `2.20`, and a boot would take it down again";
        assert!(run.reason.contains(reason), "{moment}: {}", run.reason);
        let state = world.bmc(BMC, |bmc| bmc.state());
        assert_eq!(state.systems[0].bios_version.as_deref(), Some("2.30"));
        let ons = world.caused(BMC, "reset ");
        assert!(!ons.iter().any(|reset| reset.ends_with(" On")), "{ons:?}");
    }
}
