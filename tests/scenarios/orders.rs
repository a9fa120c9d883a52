//! What people order reaches the run, whoever drives it, and is taken up once.

use redpipe::daemon::history::events_after;
use redpipe::model::{Order, Verb};
use redpipe::run::Record;

use super::common::{PIPELINE, bmc_hop, completed, pipeline, row};
use super::support::world::World;

/// Orders that journals say were taken up.
fn taken_up(world: &World) -> Vec<Order> {
    let events = events_after(world.engine().store().as_ref(), 0, usize::MAX >> 1).unwrap();
    let orders = events.into_iter().filter_map(|event| match event.record {
        Some(Record::Ordered { order }) => Some(order),
        _ => None,
    });
    orders.collect()
}

#[tokio::test(start_paused = true)]
async fn an_order_of_another_process_is_taken_up_once_while_the_run_is_driven_and_after_a_kill() {
    let world = World::one(1, "");
    let text = pipeline(&[bmc_hop(&world, "1.60")]);
    let approve = Verb::Approve {
        digest: "d".to_owned(),
    };
    let (mut given, mut looks) = (None, 0);
    world
        .apply_watched(&[&text], |world, rows| {
            if row(rows, "mock-1").is_none() {
                return true;
            }
            let about = World::run_of(PIPELINE, "mock-1");
            given.get_or_insert_with(|| world.order(&about, &approve));
            looks += 1;
            looks < 30
        })
        .await;
    let given = given.unwrap();
    assert_eq!(
        taken_up(&world),
        std::slice::from_ref(&given),
        "half a minute later"
    );
    let report = world.apply(&[&text]).await;
    completed(&world, &report);
    assert_eq!(taken_up(&world), [given]);
}
