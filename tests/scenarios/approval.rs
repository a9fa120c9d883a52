//! Who agrees: nothing disturbs a server before its owner said so, and what was said serves once.

use std::time::Duration;

use redpipe::daemon::RunEnd;
use redpipe::daemon::history::events_after;
use redpipe::model::{About, Order, RunKey, Verb};
use redpipe::run::record::HoldStep;
use redpipe::run::{Record, RunPhase};

use crate::common::{
    PIPELINE, bios_hop, bmc_hop, completed, first, hop, named, settings, stage, words,
};
use crate::support::world::{World, end};

const BMC: &str = "mock-1";

/// A pipeline that needs an approval; `more` are further lines of `[maintenance]`.
fn owned(more: &str, stages: &[String]) -> String {
    let table = format!("[maintenance]\npolicy = \"owner-approval\"\n{more}\n");
    named(PIPELINE, &table, stages)
}

/// Every step of every hold of a BMC's runs, oldest first.
fn steps(world: &World) -> Vec<HoldStep> {
    let events = events_after(world.engine().store().as_ref(), 0, usize::MAX >> 1).unwrap();
    let steps = events.into_iter().filter_map(|event| match event.record {
        Some(Record::Hold { step }) => Some(step),
        _ => None,
    });
    steps.collect()
}

/// The words of those steps.
fn story(world: &World) -> Vec<&'static str> {
    let word = |step: &HoldStep| match step {
        HoldStep::Asked { .. } => "asked",
        HoldStep::Approved { .. } => "approved",
        HoldStep::Lapsed { .. } => "lapsed",
        HoldStep::HookStarted { .. } => "hook",
        HoldStep::HookEnded { .. } => "hook ended",
        HoldStep::Granted => "granted",
        HoldStep::Releasing { .. } => "releasing",
        HoldStep::Released => "released",
    };
    steps(world).iter().map(word).collect()
}

/// What the last hold asks for: the digest that approves it, and the servers.
fn asked(world: &World) -> (String, Vec<String>) {
    let last = steps(world).into_iter().rev().find_map(|step| {
        if let HoldStep::Asked {
            digest, servers, ..
        } = step
        {
            return Some((digest, servers.iter().map(ToString::to_string).collect()));
        }
        None
    });
    last.unwrap()
}

/// Approves what the first run asks for.
fn approve(world: &World) -> Order {
    let (digest, _) = asked(world);
    world.order(&World::run_of(PIPELINE, BMC), &Verb::Approve { digest })
}

#[track_caller]
fn waits(world: &World, report: &redpipe::daemon::ApplyReport) {
    let run = first(report);
    assert_eq!(run.phase, RunPhase::Held, "{run:#?}");
    let reason = &run.reason;
    assert!(reason.contains("waits for approval"), "{reason}");
    assert!(reason.contains("`redpipe approve p/mock-1`"), "{reason}");
    assert_eq!(world.writes(BMC), [""; 0]);
}

/// Scenario 39.
#[tokio::test(start_paused = true)]
async fn no_setting_of_a_bmc_is_written_before_an_approval_for_all_of_its_servers() {
    let world = World::one(3, "");
    let text = owned("", &[settings("ssh", "bmc", "\"SshMaxSessions\" = 4")]);
    waits(&world, &world.apply(&[&text]).await);
    assert_eq!(asked(&world).1, ["mock-1-s1", "mock-1-s2", "mock-1-s3"]);
    waits(&world, &world.apply(&[&text]).await);
    assert_eq!(
        story(&world),
        ["asked"],
        "asked once, however often it is looked at"
    );

    approve(&world);
    completed(&world, &world.apply(&[&text]).await);
    assert_eq!(
        story(&world),
        ["asked", "approved", "granted", "releasing", "released"]
    );
    assert_eq!(world.caused(BMC, "reset ").len(), 1);
}

/// Scenario 96: nothing in the registry asks for a restart, but the host is off and its BIOS reads the value only when it
/// boots: its owner is asked before it is switched on, and it is off again afterwards.
#[tokio::test(start_paused = true)]
async fn a_host_that_is_off_is_switched_on_for_a_setting_only_once_its_owner_agreed() {
    let script = "[power]\nstate = \"Off\"\n[bios_settings]\nwaits_while_off = true\n";
    let world = World::one(1, script);
    let live = settings("live", "bios", "BootRetryCount = 5");
    let text = owned("", &[live]);

    let report = world.apply(&[&text]).await;

    let run = first(&report);
    assert_eq!(run.phase, RunPhase::Held, "{run:?}");
    assert!(run.reason.contains("waits for approval"), "{}", run.reason);
    assert_eq!(world.caused(BMC, "reset "), [""; 0]);

    approve(&world);
    completed(&world, &world.apply(&[&text]).await);
    let system = "reset /redfish/v1/Systems/1";
    assert_eq!(
        world.caused(BMC, "reset "),
        [format!("{system} On"), format!("{system} GracefulShutdown")]
    );
}

/// Scenario 97.
#[tokio::test(start_paused = true)]
async fn a_reboot_comes_after_the_approval_and_before_the_release() {
    let world = World::one(1, "");
    let text = owned("", &[settings("quiet", "bios", "QuietBoot = false")]);
    waits(&world, &world.apply(&[&text]).await);
    approve(&world);
    completed(&world, &world.apply(&[&text]).await);
    let words: Vec<&str> = [
        "asked",
        "approved",
        "granted",
        "attributes",
        "reset-system",
        "done",
        "releasing",
        "released",
        "ended",
    ]
    .to_vec();
    let journal = world.journal(BMC);
    let places: Vec<usize> = words
        .iter()
        .map(|word| {
            let is_it = |line: &String| line.contains(&format!("\":\"{word}\""));
            journal
                .iter()
                .position(is_it)
                .unwrap_or_else(|| panic!("no {word} in {journal:#?}"))
        })
        .collect();
    assert!(places.is_sorted(), "{places:?} {journal:#?}");
}

/// Scenario 116.
#[tokio::test(start_paused = true)]
async fn no_image_reaches_a_bmc_before_the_approval() {
    let world = World::one(2, "");
    let text = owned("", &[bios_hop(&world, "2.20"), bmc_hop(&world, "1.60")]);
    waits(&world, &world.apply(&[&text]).await);
    approve(&world);
    completed(&world, &world.apply(&[&text]).await);
    assert_eq!(world.caused(BMC, "update accepted").len(), 3);
    assert_eq!(
        story(&world),
        ["asked", "approved", "granted", "releasing", "released"],
        "one hold for all stages and servers"
    );
}

/// Scenarios 37 and 114.
#[tokio::test(start_paused = true)]
async fn what_disturbs_nobody_asks_nobody() {
    let world = World::one(1, "");
    let text = owned(
        "",
        &[
            bmc_hop(&world, "1.50"),
            settings("ntp", "bmc", "\"NtpServer1\" = \"10.0.0.1\""),
            settings("quiet", "bios", "QuietBoot = true"),
            bios_hop(&world, "2.10"),
        ],
    );
    let report = world.apply(&[&text]).await;
    let run = completed(&world, &report);
    assert_eq!(stage(run, "ntp").how, Some("applied"));
    assert_eq!(story(&world), [""; 0]);
}

/// Scenario 124.
#[tokio::test(start_paused = true)]
async fn where_nobody_is_asked_a_run_begins_at_once() {
    let world = World::one(1, "");
    let table = "[maintenance]\npolicy = \"enforced\"\n";
    let text = named(PIPELINE, table, &[bmc_hop(&world, "1.60")]);
    completed(&world, &world.apply(&[&text]).await);
    assert_eq!(story(&world), [""; 0]);
}

/// Scenario 124.
#[tokio::test(start_paused = true)]
async fn an_approval_serves_the_run_and_the_plan_that_it_was_given_for_and_once() {
    let world = World::one(1, "");
    let before = owned("", &[bmc_hop(&world, "1.60")]);
    waits(&world, &world.apply(&[&before]).await);
    approve(&world);
    // The file is edited before the approval is used: what was agreed to is not what would be done.
    let after = owned("", &[bmc_hop(&world, "1.70")]);
    let report = world.apply(&[&after]).await;
    waits(&world, &report);
    let reason = &first(&report).reason;
    assert!(
        reason.contains("for other stages, images or servers"),
        "{reason}"
    );
    approve(&world);
    completed(&world, &world.apply(&[&after]).await);

    // Another run of the same plan is another matter.
    world.bmc(BMC, |bmc| bmc.set_bmc_version("1.50"));
    let report = world.apply(&[&after]).await;
    let run = first(&report);
    assert_eq!(run.phase, RunPhase::Held, "{run:#?}");
    assert!(run.reason.contains("waits for approval"), "{}", run.reason);
    assert_eq!(world.caused(BMC, "update accepted").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_approval_that_is_not_used_in_time_is_none() {
    let world = World::one(1, "");
    let more = "approval_ttl = \"2h\"";
    let text = owned(more, &[bmc_hop(&world, "1.60")]);
    waits(&world, &world.apply(&[&text]).await);
    approve(&world);
    tokio::time::advance(Duration::from_hours(3)).await;
    let report = world.apply(&[&text]).await;
    waits(&world, &report);
    let reason = &first(&report).reason;
    assert!(reason.contains("was not used in time"), "{reason}");
    approve(&world);
    tokio::time::advance(Duration::from_hours(1)).await;
    completed(&world, &world.apply(&[&text]).await);
}

/// Scenario 124.
#[tokio::test(start_paused = true)]
async fn nobody_takes_over_what_a_person_agreed_to() {
    let world = World::one(1, "");
    // Agreed to, and waiting for Saturday.
    let window =
        "window = { days = [\"Sat\"], start = \"22:00\", end = \"06:00\", zone = \"UTC\" }";
    let text = owned(window, &[bmc_hop(&world, "1.60")]);
    waits(&world, &world.apply(&[&text]).await);
    approve(&world);
    let report = world.apply(&[&text]).await;
    let run = first(&report);
    assert!(run.reason.contains("waits for window"), "{}", run.reason);

    let other = named("other", "", &[bios_hop(&world, "2.20")]);
    let report = world.apply(&[&other]).await;
    let RunEnd::NotStarted(fault) = end(&report, "other", BMC) else {
        panic!("{report:?}");
    };
    assert!(fault.message.contains("p/mock-1"), "{fault}");
    assert_eq!(world.writes(BMC), [""; 0]);
}

/// Scenario 80: a server that is added is asked for before anything disturbs it, and what had begun is ended meanwhile.
#[tokio::test(start_paused = true)]
async fn a_server_that_was_added_gets_its_hold_before_it_walks() {
    let mut world = World::one(2, "");
    world.unlisted.insert("mock-1-s2".to_owned());
    let text = owned("", &[bios_hop(&world, "2.20"), bmc_hop(&world, "1.60")]);
    waits(&world, &world.apply(&[&text]).await);
    assert_eq!(asked(&world).1, ["mock-1-s1", "mock-1/2"]);
    approve(&world);
    let begun = |world: &World| words(world, BMC, &["bios 1 flash begins"]);
    world
        .apply_watched(&[&text], |world, _| begun(world).is_empty())
        .await;
    world.unlisted.clear();
    let report = world.apply(&[&text]).await;
    let run = first(&report);
    assert_eq!(run.phase, RunPhase::Held, "{run:#?}");
    assert!(run.reason.contains("waits for approval"), "{}", run.reason);
    assert_eq!(asked(&world).1, ["mock-1-s1", "mock-1-s2", "mock-1/2"]);
    let servers = &stage(run, "bios-2.20").servers;
    let phases: Vec<RunPhase> = servers.iter().map(|server| server.phase).collect();
    assert_eq!(phases, [RunPhase::Completed, RunPhase::Held]);
    let sent = ["update accepted", "reset 2"];
    assert_eq!(words(&world, BMC, &sent).len(), 1, "nothing new began");

    approve(&world);
    completed(&world, &world.apply(&[&text]).await);
    let story = words(&world, BMC, &["bios 2 version", "bmc version"]);
    assert_eq!(
        story,
        ["bios 2 version 2.10 -> 2.20", "bmc version 1.50 -> 1.60"]
    );
}

/// Scenario 117: tries are counted up to the limit and all under one hold; whoever retries by hand asks anew.
#[tokio::test(start_paused = true)]
async fn all_tries_of_a_hop_share_the_approval_of_their_run_and_a_retry_by_hand_needs_its_own() {
    let world = World::one(1, "[update]\nbios_outcome = \"failed\"");
    let image = world.image("bios", "2.20");
    let text = owned("", &[hop("bios", "2.20", &image, "attempts = 3")]);
    waits(&world, &world.apply(&[&text]).await);
    approve(&world);
    let report = world.apply(&[&text]).await;
    assert_eq!(first(&report).phase, RunPhase::Failed, "{report:#?}");
    assert_eq!(world.caused(BMC, "update accepted").len(), 3);
    let once = ["asked", "approved", "granted", "releasing", "released"];
    assert_eq!(story(&world), once);

    world.order(&World::run_of(PIPELINE, BMC), &Verb::Retry);
    let report = world.apply(&[&text]).await;
    let run = first(&report);
    assert_eq!(run.phase, RunPhase::Held, "{run:#?}");
    assert!(run.reason.contains("waits for approval"), "{}", run.reason);
    assert_eq!(world.caused(BMC, "update accepted").len(), 3);
    let (digest, _) = asked(&world);
    let about = About::Run(RunKey {
        pipeline: PIPELINE.into(),
        bmc: BMC.into(),
        number: 2,
    });
    world.order(&about, &Verb::Approve { digest });
    let report = world.apply(&[&text]).await;
    assert_eq!(first(&report).phase, RunPhase::Failed, "{report:#?}");
    assert_eq!(world.caused(BMC, "update accepted").len(), 6);
    assert_eq!(story(&world), [once, once].concat());
}

/// What nobody could foresee is asked for anew, and only then touched.
#[tokio::test(start_paused = true)]
async fn a_server_that_was_not_asked_for_is_not_touched_before_it_is() {
    let world = World::one(2, "");
    let quiet = settings("quiet", "bios", "QuietBoot = true");
    let text = owned("", &[bios_hop(&world, "2.20"), quiet]);
    world.bmc(BMC, |bmc| bmc.set_bios_version(1, "2.20"));
    waits(&world, &world.apply(&[&text]).await);
    assert_eq!(asked(&world).1, ["mock-1-s1"]);
    approve(&world);
    // What the second server had at first is undone, and only the end of the run sees it.
    world.bmc(BMC, |bmc| bmc.set_attribute(1, "QuietBoot", false.into()));
    let report = world.apply(&[&text]).await;
    let run = first(&report);
    assert_eq!(run.phase, RunPhase::Held, "{run:#?}");
    assert!(run.reason.contains("waits for approval"), "{}", run.reason);
    assert_eq!(asked(&world).1, ["mock-1-s1", "mock-1-s2"]);
    assert_eq!(world.caused(BMC, "settings accepted"), [""; 0]);
    approve(&world);
    completed(&world, &world.apply(&[&text]).await);
    assert_eq!(words(&world, BMC, &["update accepted"]).len(), 1);
    assert_eq!(world.caused(BMC, "settings accepted").len(), 1);
}
