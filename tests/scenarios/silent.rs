//! One BMC that is silent costs whoever reads the fleet one time limit, and is named meanwhile.

use std::time::Duration;

use redpipe::daemon::{Awaited, check};
use redpipe::model::FaultKind;

use crate::common::{bmc_hop, pipeline};
use crate::support::world::World;

const SILENT: &str = "[[fault]]\nbmc = \"mock-2\"\ncount = 0\nanswer = \"hang\"";

#[tokio::test(start_paused = true)]
async fn a_silent_bmc_costs_a_check_one_time_limit_and_is_named_meanwhile() {
    let world = World::of(&[1, 1, 1], SILENT);
    let text = pipeline(&[bmc_hop(&world, "1.60")]);
    let assignments = world.assignments(&[&text]).await;
    let bmcs: Vec<_> = assignments.into_iter().map(|each| each.bmc).collect();
    let (engine, awaited) = (world.engine(), Awaited::default());
    let watch = async {
        tokio::time::sleep(Duration::from_secs(25)).await;
        awaited.left()
    };
    let read = Box::pin(check(&engine, &bmcs, &world.stop, &awaited));
    let (checked, left) = tokio::join!(read, watch);
    assert_eq!(left, (3, vec!["mock-2".into()]));
    assert_eq!(awaited.left(), (3, vec![]));
    let checked = checked.unwrap();
    let good: Vec<bool> = checked.iter().map(|one| one.look.is_ok()).collect();
    assert_eq!(good, [true, false, true]);
    let fault = checked[1].look.as_ref().unwrap_err();
    assert_eq!(fault.kind, FaultKind::Unreachable);
    let took = world.elapsed();
    assert!(took < Duration::from_secs(35), "{took:?}");
    assert_eq!(world.ledger("mock-2").len(), 2, "one request and its fault");
}
