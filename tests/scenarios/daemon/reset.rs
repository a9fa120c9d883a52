//! A BMC that comes back from a reset to its factory state, under the eyes of a daemon.

use std::time::Duration;

use redpipe::daemon::{RunEnd, trust};
use redpipe::drift::DriftState;
use redpipe::model::FaultKind;
use serde_json::json;

use crate::common::{PIPELINE, bmc_hop, completed, named};
use crate::support::daemon::{Files, Running};
use crate::support::world::{World, end};

const MINUTE: Duration = Duration::from_mins(1);
const BMC: &str = "mock-1";

/// Nothing is as it was: another account, another UUID, no session, an old version.
fn reset(world: &World) {
    let once = json!({ "count": 1, "status": 401, "authorized": true });
    world.bmc(BMC, |bmc| {
        bmc.set_password("factory");
        bmc.set_member(
            "/redfish/v1",
            "/UUID",
            json!("00000000-1111-2222-3333-444444444444"),
        );
        bmc.set_bmc_version("1.50");
        bmc.add_fault(serde_json::from_value(once).unwrap());
    });
}

fn refused(world: &World) -> usize {
    world.caused(BMC, "login refused").len()
}

/// Scenario 154: one refused login is enough, for the daemon and for whoever applies; a person lets redpipe in again.
#[tokio::test(start_paused = true)]
async fn a_bmc_that_looks_factory_reset_is_asked_for_one_login_only() {
    let world = World::one(1, "[sessions]\nlockout_threshold = 5\n");
    let text = named(PIPELINE, "", &[bmc_hop(&world, "1.60")]);
    completed(&world, &world.apply(&[&text]).await);
    let files = Files::new(&world, &[&text]);
    let mut daemon = Running::start(&world, &files);
    daemon
        .until(MINUTE, |d| d.bmc(BMC).state == Some(DriftState::InSync))
        .await;

    reset(&world);
    let looks_reset = |d: &Running| {
        let problems = d.bmc(BMC).problems;
        problems.iter().any(|p| p.kind == "looks-factory-reset")
    };
    daemon.until(15 * MINUTE, looks_reset).await;
    daemon.pass(12 * 60 * MINUTE).await;
    assert!(looks_reset(&daemon), "{:?}", daemon.bmc(BMC).problems);
    assert_eq!(refused(&world), 1, "one refusal was enough");
    let told = daemon.happened("looks-factory-reset");
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("has another UUID than before"), "{told:?}");
    assert_eq!(
        world.caused(BMC, "update accepted").len(),
        1,
        "only the first one"
    );
    daemon.end().await;

    let report = world.apply(&[&text]).await;
    let kept = end(&report, PIPELINE, BMC);
    assert!(
        matches!(kept, RunEnd::NotStarted(fault) if fault.kind == FaultKind::LooksReset),
        "{kept:?}"
    );
    assert_eq!(refused(&world), 1, "no process logs in any more");

    // Somebody sets the account up again, and says so.
    world.bmc(BMC, |bmc| bmc.set_password("secret"));
    let what = trust::What {
        certificate: false,
        credentials: true,
        identity: true,
    };
    let engine = world.engine();
    let listed = world.assignments(&[&text]).await[0].bmc.clone();
    trust::trust(&engine, &listed, what).unwrap();
    let mut daemon = Running::start(&world, &files);
    daemon
        .until(60 * MINUTE, |d| {
            d.bmc(BMC).state == Some(DriftState::Drifted)
        })
        .await;
    assert_eq!(refused(&world), 1);
    daemon.end().await;
}

/// A certificate that a person has just trusted anew is the other sign.
#[tokio::test(start_paused = true)]
async fn a_login_refused_right_after_a_trusted_certificate_is_the_last_one() {
    let world = World::one(1, "[sessions]\nlockout_threshold = 5\n");
    let text = named(PIPELINE, "", &[bmc_hop(&world, "1.60")]);
    completed(&world, &world.apply(&[&text]).await);
    let listed = world.assignments(&[&text]).await[0].bmc.clone();
    let (engine, place) = (world.engine(), listed.address.host_port());
    let store = engine.store();
    store.replace_pin(&place, Some("sha256:old")).unwrap();
    let what = trust::What {
        certificate: true,
        credentials: false,
        identity: false,
    };
    trust::trust(&engine, &listed, what).unwrap();
    store.replace_pin(&place, Some("sha256:new")).unwrap();
    let once = json!({ "count": 1, "status": 401, "authorized": true });
    world.bmc(BMC, |bmc| {
        bmc.set_password("factory");
        bmc.add_fault(serde_json::from_value(once).unwrap());
    });
    for _ in 0..3 {
        let report = world.apply(&[&text]).await;
        let kept = end(&report, PIPELINE, BMC);
        let is_kept = |fault: &redpipe::model::Fault| fault.kind == FaultKind::LooksReset;
        assert!(
            matches!(kept, RunEnd::NotStarted(fault) if is_kept(fault)),
            "{kept:?}"
        );
    }
    assert_eq!(refused(&world), 1);

    world.bmc(BMC, |bmc| bmc.set_password("secret"));
    let credentials = trust::What {
        certificate: false,
        credentials: true,
        identity: false,
    };
    trust::trust(&engine, &listed, credentials).unwrap();
    completed(&world, &world.apply(&[&text]).await);
    assert_eq!(
        store.old_pin(&place).unwrap(),
        None,
        "a taken login settles it"
    );
}
