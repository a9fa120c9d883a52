//! A BMC that comes back from an update with another certificate.

use redpipe::daemon::RunEnd;
use redpipe::daemon::trust::{What, trust};
use redpipe::model::FaultKind;
use redpipe::run::{Record, RunPhase};

use crate::claims::journal;
use crate::common::{PIPELINE, bmc_hop, completed, first, pipeline};
use crate::support::world::{World, end};

const BMC: &str = "mock-1";

/// A BMC that makes itself another certificate with each update; `more` are further lines of `[defaults]`.
fn world(more: &str) -> World {
    let mut world = World::one(1, "[update]\nnew_certificate = true\n");
    world.defaults = format!("credentials = \"mock\"\ntls = \"first-use\"\n{more}\n");
    world
}

fn pin(world: &World) -> Option<String> {
    world.engine().store().pin("mock-1.lab:443").unwrap()
}

fn accepted(world: &World) -> Vec<String> {
    let records = journal(world).into_iter();
    let certificates = records.filter_map(|record| {
        let Record::CertificateAccepted { certificate, .. } = record else {
            return None;
        };
        Some(certificate)
    });
    certificates.collect()
}

/// Scenario 134: by default a person decides, and the run waits for that where it stands.
#[tokio::test(start_paused = true)]
async fn a_certificate_that_changes_with_an_update_holds_the_run_until_it_is_trusted() {
    let world = world("");
    let text = pipeline(&[bmc_hop(&world, "1.60")]);

    let report = world.apply(&[&text]).await;

    let before = pin(&world);
    let run = first(&report);
    assert_eq!(run.phase, RunPhase::Held, "{run:?}");
    for word in ["blocked:", "another certificate", "redpipe trust mock-1"] {
        assert!(run.reason.contains(word), "{}", run.reason);
    }
    assert_eq!(accepted(&world), Vec::<String>::new());

    let listed = world.assignments(&[&text]).await[0].bmc.clone();
    let what = What {
        certificate: true,
        credentials: false,
        identity: false,
    };
    trust(&world.engine(), &listed, what).unwrap();
    completed(&world, &world.apply(&[&text]).await);
    assert_ne!(pin(&world), before);
    assert_eq!(world.caused(BMC, "update accepted").len(), 1);
}

/// Scenario 134: where the inventory says so, it is taken inside the outage that the hop declared, written down, and is
/// from then on the only one that counts.
#[tokio::test(start_paused = true)]
async fn a_certificate_that_changes_inside_a_declared_outage_is_taken_where_the_inventory_says_so()
{
    let world = world("tls_change = \"accept-in-outage\"");
    let text = pipeline(&[bmc_hop(&world, "1.60"), bmc_hop(&world, "1.80")]);

    completed(&world, &world.apply(&[&text]).await);

    let taken = accepted(&world);
    assert_eq!(taken.len(), 2, "{taken:?}");
    assert_ne!(taken[0], taken[1]);
    assert_eq!(pin(&world), taken.last().cloned());
    assert_eq!(world.caused(BMC, "update accepted").len(), 2);
    let kept = world.engine().store().old_pin("mock-1.lab:443").unwrap();
    assert_eq!(kept, None, "a login that was taken settles it");
}

/// Scenario 134: outside an outage nothing is taken, whatever the inventory says.
#[tokio::test(start_paused = true)]
async fn a_certificate_that_changes_outside_an_outage_is_refused_whatever_the_inventory_says() {
    let world = world("tls_change = \"accept-in-outage\"");
    let text = pipeline(&[bmc_hop(&world, "1.60")]);
    completed(&world, &world.apply(&[&text]).await);
    let before = pin(&world);
    world.bmc(BMC, |bmc| {
        bmc.replace_tls_certificate();
        bmc.set_bmc_version("1.50");
    });
    let writes = world.writes(BMC);

    let report = world.apply(&[&text]).await;

    let refused = end(&report, PIPELINE, BMC);
    let is_refusal = |kind: FaultKind| kind == FaultKind::CertificateChanged;
    assert!(
        matches!(refused, RunEnd::NotStarted(fault) if is_refusal(fault.kind)),
        "{refused:?}"
    );
    assert_eq!(pin(&world), before);
    assert_eq!(world.writes(BMC), writes);
}

/// A pin that is written in the inventory is no memory: no outage changes it.
#[tokio::test(start_paused = true)]
async fn a_certificate_that_is_not_the_written_one_holds_the_run_whatever_the_inventory_says() {
    let mut world = world("tls_change = \"accept-in-outage\"");
    let written = format!("tls = {{ pin = \"sha256:{}\" }}", "0".repeat(64));
    world.extra.insert(BMC.to_owned(), written);
    let text = pipeline(&[bmc_hop(&world, "1.60")]);

    let report = world.apply(&[&text]).await;

    let run = first(&report);
    assert_eq!(run.phase, RunPhase::Held, "{run:?}");
    assert!(run.reason.contains("another certificate"), "{}", run.reason);
    assert_eq!(accepted(&world), Vec::<String>::new());
}
