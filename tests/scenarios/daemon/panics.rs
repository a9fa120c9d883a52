//! A bug in a task ends the process, and the next one carries on.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use http::Method;
use redpipe::daemon::orders;
use redpipe::daemon::service::Source as _;
use redpipe::model::{About, BmcName};
use redpipe::redfish::WireRequest;
use redpipe::run::RunPhase;

use crate::common::{PIPELINE, bmc_hop, named, row};
use crate::support::daemon::{Files, Running};
use crate::support::lives::Lives;
use crate::support::process::{Death, Nobody, Process, Watcher};
use crate::support::world::World;

const HOUR: Duration = Duration::from_hours(1);

/// A bug that shows itself once an update has arrived.
struct Bug;

impl Watcher for Bug {
    fn arrived(&self, _: &Process, _: &BmcName, request: &WireRequest) {
        let is_update = request.method == Method::POST && request.path.contains("UpdateService");
        assert!(!is_update, "a bug in redpipe");
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_panics_ends_the_process_and_the_next_one_carries_on() {
    let world = World::one(1, "");
    let text = named(PIPELINE, "", &[bmc_hop(&world, "1.60")]);
    let (lives, files) = (Lives::new(), Files::new(&world, &[&text]));
    let one = lives.start(&world, 1, Death::Never, Arc::new(Bug));
    let mut broken = Running::with(one.engine.clone(), &files);
    broken.pass(Duration::from_mins(1)).await;
    let about = About::Pipeline(PIPELINE.into());
    let pipeline = &files.load().unwrap().pipelines[0];
    let verb = orders::to_apply(&one.engine, pipeline, None).unwrap();
    let store = lives.store.as_ref();
    store
        .place_order(world.wall(), "ann", &about, &verb)
        .unwrap();
    let ended = AssertUnwindSafe(broken.pass(HOUR)).catch_unwind().await;
    let words = ended.unwrap_err().downcast::<&str>();
    assert_eq!(*words.unwrap(), "a bug in redpipe");
    one.process.die();
    drop((broken, one));

    let other = lives.start(&world, 2, Death::Never, Arc::new(Nobody));
    let mut daemon = Running::with(other.engine.clone(), &files);
    let is_completed = |daemon: &Running| {
        let run = row(&daemon.engine.board().rows(), "mock-1");
        run.is_some_and(|run| run.phase == RunPhase::Completed)
    };
    daemon.until(3 * HOUR, is_completed).await;
    assert_eq!(world.caused("mock-1", "update accepted").len(), 1);
    daemon.end().await;
}
