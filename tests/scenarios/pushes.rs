//! BMCs that take a pushed image without parameters: who it is for stands in the service, and one client at a time may say it.

use std::sync::Arc;

use redpipe::run::RunPhase;
use serde_json::json;

use crate::claims::bodies;
use crate::common::{bios_hop, bmc_hop, completed, first, hop, pipeline, targets};
use crate::support::lives::Lives;
use crate::support::process::{Death, Nobody};
use crate::support::world::World;

const BMC: &str = "mock-1";
const SERVICE: &str = "/redfish/v1/UpdateService";

/// A BMC that takes images by a bare push alone.
const PUSH_ONLY: &str = "[update]\nmultipart = false\nsimple_update = false\n";

fn claim_and_release() -> [String; 3] {
    [
        format!("PATCH {SERVICE} 200"),
        format!("POST {SERVICE}/push 202"),
        format!("PATCH {SERVICE} 200"),
    ]
}

fn updates(world: &World) -> Vec<String> {
    let writes = world.writes(BMC).into_iter();
    writes.filter(|write| write.contains(SERVICE)).collect()
}

#[tokio::test(start_paused = true)]
async fn a_bare_push_reserves_its_one_target_and_gives_it_back_before_the_next() {
    let world = World::one(2, PUSH_ONLY);
    let report = world.apply(&[&pipeline(&[bios_hop(&world, "2.20")])]).await;
    completed(&world, &report);

    assert_eq!(targets(&world, BMC), ["1", "2"]);
    let once = claim_and_release();
    assert_eq!(updates(&world), [once.clone(), once].concat());
    let claims = bodies(&world, "/UpdateService");
    assert_eq!(claims[0]["HttpPushUriTargetsBusy"], json!(true));
    assert_eq!(
        claims[1],
        json!({"HttpPushUriTargets": [], "HttpPushUriTargetsBusy": false})
    );
}

#[tokio::test(start_paused = true)]
async fn where_a_push_names_nothing_nothing_is_reserved_but_where_it_would_be_refused_without() {
    let plain = World::one(1, PUSH_ONLY);
    let report = plain.apply(&[&pipeline(&[bmc_hop(&plain, "1.60")])]).await;
    completed(&plain, &report);
    assert_eq!(updates(&plain), [format!("POST {SERVICE}/push 202")]);

    let script = format!("{PUSH_ONLY}push_refused_without_claim = true\n");
    let mut strict = World::one(1, &script);
    strict
        .extra
        .insert(BMC.to_owned(), "platform = \"lenovo-xcc\"".to_owned());
    let report = strict
        .apply(&[&pipeline(&[bmc_hop(&strict, "1.60")])])
        .await;
    completed(&strict, &report);
    assert_eq!(updates(&strict), claim_and_release());
}

#[tokio::test(start_paused = true)]
async fn a_refused_push_gives_its_place_back() {
    let script = format!(
        "{PUSH_ONLY}[[fault]]\nmethod = \"POST\"\npath = \"*/push\"\nstatus = 400\nmessage_id = \"Update.1.0.VerificationFailed\"\nmessage = \"The image is not for this board.\"\n"
    );
    let world = World::one(2, &script);
    let report = world.apply(&[&pipeline(&[bios_hop(&world, "2.20")])]).await;
    let run = first(&report);
    assert_eq!(run.phase, RunPhase::Failed, "{run:#?}");
    let claims = bodies(&world, "/UpdateService");
    let released = json!({"HttpPushUriTargets": [], "HttpPushUriTargetsBusy": false});
    assert_eq!(claims.last(), Some(&released));
}

#[tokio::test(start_paused = true)]
async fn a_place_that_somebody_else_has_reserved_is_waited_for_and_never_taken() {
    let world = World::one(2, PUSH_ONLY);
    world.bmc(BMC, |bmc| {
        bmc.set_member(SERVICE, "/HttpPushUriTargetsBusy", json!(true));
    });
    let report = world.apply(&[&pipeline(&[bios_hop(&world, "2.20")])]).await;
    let run = first(&report);
    assert_ne!(run.phase, RunPhase::Completed, "{run:#?}");
    assert!(
        run.reason.contains("another client has reserved"),
        "{}",
        run.reason
    );
    assert_eq!(updates(&world), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_stage_may_ask_for_the_bare_push_where_better_is_offered() {
    let world = World::one(1, "");
    let image = world.image("bmc", "1.60");
    let text = pipeline(&[hop("bmc", "1.60", &image, "method = \"http-push\"")]);
    let report = world.apply(&[&text]).await;
    completed(&world, &report);
    assert_eq!(updates(&world), [format!("POST {SERVICE}/push 202")]);
}

/// A process that dies with the place taken, before or after its image left.
#[tokio::test(start_paused = true)]
async fn a_place_that_a_killed_process_took_is_given_back_by_the_next() {
    for (death, pushes) in [(Death::AfterSend(1), 1), (Death::AfterSend(2), 1)] {
        let world = World::one(2, PUSH_ONLY);
        let text = pipeline(&[bios_hop(&world, "2.20")]);
        let lives = Lives::new();
        let one = lives.start(&world, 1, death, Arc::new(Nobody));
        assert!(one.apply(&world, &[&text]).await.is_none(), "nobody died");
        drop(one);
        let busy =
            |world: &World| world.bmc(BMC, |bmc| bmc.member(SERVICE, "/HttpPushUriTargetsBusy"));
        assert_eq!(busy(&world), Some(json!(true)), "{death:?}");
        let other = lives.start(&world, 2, Death::Never, Arc::new(Nobody));
        let report = other.apply(&world, &[&text]).await.unwrap();
        completed(&world, &report);
        assert_eq!(busy(&world), Some(json!(false)), "{death:?}");
        let first_system = targets(&world, BMC).iter().filter(|id| *id == "1").count();
        assert_eq!(first_system, pushes, "{:#?}", updates(&world));
    }
}
