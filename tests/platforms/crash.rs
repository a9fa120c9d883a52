//! A process that dies after any request of a hop, on every platform.

use std::sync::Arc;

use redpipe::run::RunPhase;
use serde_json::json;

use crate::support::lives::Lives;
use crate::support::process::{Death, Nobody};
use crate::support::world::{World, status};
use crate::walk::{BMC, Walk, hop, pipeline, story};
use crate::{ami, dell, hpe, lenovo, nvidia, openbmc, supermicro};

const ALL: [&Walk; 12] = [
    &ami::WALK,
    &dell::IDRAC9,
    &dell::IDRAC10,
    &hpe::ILO5,
    &hpe::ILO6,
    &hpe::ILO7,
    &lenovo::XCC,
    &lenovo::XCC3,
    &nvidia::WALK,
    &openbmc::WALK,
    &supermicro::X12,
    &supermicro::X13,
];

/// How a hop is written for this platform.
fn text(walk: &Walk, world: &World, component: &str) -> String {
    let version = if component == "bmc" {
        walk.bmc[0]
    } else {
        walk.bios[0]
    };
    let more = if walk.mock == "nvidia-gb200" && component == "bmc" {
        nvidia::TARGET
    } else {
        ""
    };
    pipeline(&format!("{}{more}\n", hop(world, component, version)))
}

/// The hop with a death after each of its requests, but the one that gives back what was reserved: one flash at most, and an
/// end that says what is.
async fn killed(walk: &Walk, component: &str) {
    let calm = walk.world("");
    let report = calm.apply(&[&text(walk, &calm, component)]).await;
    assert_eq!(
        status(&report, "p", BMC).phase,
        RunPhase::Completed,
        "{}",
        walk.mock
    );
    let requests = u32::try_from(story(&calm).len()).unwrap();
    for death in 1..=requests {
        let world = walk.world("");
        let text = text(walk, &world, component);
        let lives = Lives::new();
        let one = lives.start(&world, 1, Death::AfterSend(death), Arc::new(Nobody));
        let end = one.apply(&world, &[&text]).await;
        drop(one);
        let other = lives.start(&world, 2, Death::Never, Arc::new(Nobody));
        let report = match end {
            Some(report) => report,
            None => other.apply(&world, &[&text]).await.unwrap(),
        };
        let run = status(&report, "p", BMC);
        let told = story(&world);
        let mock = walk.mock;
        let accepted = world.caused(BMC, "update accepted").len();
        assert_eq!(accepted, 1, "{mock} {death} {run:#?} {told:#?}");
        assert!(
            matches!(run.phase, RunPhase::Completed | RunPhase::Held),
            "{mock} {death} {run:#?} {told:#?}"
        );
        let service = "/redfish/v1/UpdateService";
        let held = world.bmc(BMC, |bmc| bmc.member(service, "/HttpPushUriTargetsBusy"));
        assert_ne!(held, Some(json!(true)), "{mock} {death} {told:#?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_process_that_dies_within_a_hop_of_the_bmc_flashes_nothing_twice() {
    for walk in ALL {
        killed(walk, "bmc").await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_process_that_dies_within_a_hop_of_the_bios_flashes_nothing_twice() {
    for walk in ALL {
        killed(walk, "bios").await;
    }
}
