//! What is ordered of a running daemon: taken up at once, and told to its end.

use std::time::Duration;

use redpipe::daemon::service::Command;
use redpipe::daemon::{Errand, Handle, Known, Progress};

use crate::common::{PIPELINE, bios_hop, bmc_hop, named, settings};
use crate::support::daemon::{Files, Running};
use crate::support::world::World;

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_hours(1);

fn handle(daemon: &Running) -> Handle {
    Handle::new(daemon.engine.clone(), daemon.fleet.clone())
}

fn errand(handle: &Handle, order: u64) -> Errand {
    match handle.order(order).unwrap().unwrap().1 {
        Known::Taken(errand) => errand,
        other @ (Known::Waits | Known::Older) => panic!("{other:?}"),
    }
}

fn progress(errand: &Errand, bmc: &str) -> Progress {
    errand.bmcs[&(PIPELINE.into(), bmc.into())].clone()
}

/// Nobody waits for the next look at the orders: whoever orders wakes the service, and a run that waits.
#[tokio::test(start_paused = true)]
async fn an_order_is_taken_up_at_once() {
    let world = World::one(1, "");
    let text = named(PIPELINE, "", &[bmc_hop(&world, "1.60")]);
    let files = Files::new(&world, &[&text]);
    let mut daemon = Running::start(&world, &files);
    daemon.pass(Duration::from_millis(2_100)).await;
    let handle = handle(&daemon);
    let order = handle.apply("anna", PIPELINE, None, None).unwrap();
    daemon.pass(Duration::from_millis(100)).await;
    let taken = errand(&handle, order.id);
    assert_eq!(progress(&taken, "mock-1"), Progress::Open);
    assert!(!taken.is_at_rest());
    daemon
        .until(HOUR, |_| errand(&handle, order.id).is_at_rest())
        .await;
    assert_eq!(
        progress(&errand(&handle, order.id), "mock-1"),
        Progress::Over
    );
    daemon.end().await;
}

/// One BMC fails, the budget is spent: whoever ordered hears that the others do not begin, and of which BMC it is.
#[tokio::test(start_paused = true)]
async fn what_does_not_begin_is_told_with_the_bmc_that_keeps_it_from_it() {
    let world = World::of(&[1, 1], "[update]\nbios_outcome = \"failed\"\n");
    let text = named(PIPELINE, "", &[bios_hop(&world, "2.20")]);
    let mut daemon = Running::start(&world, &Files::new(&world, &[&text]));
    daemon.pass(SECOND).await;
    let handle = handle(&daemon);
    let order = handle.apply("anna", PIPELINE, None, None).unwrap();
    daemon.pass(SECOND).await;
    daemon
        .until(4 * HOUR, |_| errand(&handle, order.id).is_at_rest())
        .await;
    let end = errand(&handle, order.id);
    assert_eq!(progress(&end, "mock-1"), Progress::Over);
    let spent = ["mock-1".into()].into();
    assert_eq!(progress(&end, "mock-2"), Progress::Halted { spent });
    daemon.end().await;
}

/// Files that change under an order: what they still have is carried on and told, and the rest is told as refused.
#[tokio::test(start_paused = true)]
async fn an_order_outlives_a_reload_and_one_for_another_file_is_refused() {
    let world = World::one(1, "");
    let text = named(PIPELINE, "", &[bmc_hop(&world, "1.60")]);
    let files = Files::new(&world, &[&text]);
    let mut daemon = Running::start(&world, &files);
    daemon.pass(SECOND).await;
    let handle = handle(&daemon);
    let order = handle.apply("anna", PIPELINE, None, None).unwrap();
    daemon.pass(Duration::from_mins(1)).await;
    let other = named("other", "", &[settings("s", "bios", "QuietBoot = true")]);
    files.write(&world.inventory(), &[&text, &other]);
    daemon.commands.send(Command::Reload).unwrap();
    daemon
        .until(HOUR, |_| errand(&handle, order.id).is_at_rest())
        .await;
    assert_eq!(
        progress(&errand(&handle, order.id), "mock-1"),
        Progress::Over
    );

    // A state of the file that the daemon does not have; it comes by the state, from whoever had it.
    let newer = named(PIPELINE, "", &[bmc_hop(&world, "1.80")]);
    let verb = Files::new(&world, &[&newer]).to_apply(&world);
    let about = redpipe::model::About::Pipeline(PIPELINE.into());
    let late = redpipe::daemon::orders::place(&world.engine(), "anna", &about, &verb).unwrap();
    daemon.pass(3 * SECOND).await;
    let refused = errand(&handle, late.id).refused.unwrap();
    assert!(
        refused.message.contains("as another file has it"),
        "{refused:?}"
    );
    daemon.end().await;
}
