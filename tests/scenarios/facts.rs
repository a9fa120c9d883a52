//! Facts of the hardware as labels: what selects by them, and what a change of them does to a run.

use std::time::Duration;

use redpipe::daemon::{Handle, Known, Progress, orders};
use redpipe::model::{About, Verb};
use redpipe::run::RunPhase;

use crate::common::{PIPELINE, bios_hop, bmc_hop, completed, row};
use crate::support::daemon::{Files, Running};
use crate::support::world::World;

const MINUTE: Duration = Duration::from_mins(1);
const HOUR: Duration = Duration::from_hours(1);

/// A pipeline for what says this of itself.
fn selecting(selector: &str, stages: &[String]) -> String {
    let stages = stages.concat();
    format!(
        "name = \"{PIPELINE}\"\n[selector]\n{selector}\n[rollout]\nmax_concurrent = 9\n{stages}"
    )
}

const OLD_BMC: &str = "match_labels = { \"redfish.bmc_version\" = \"1.50\" }";
const OLD_BIOS: &str = "match_expressions = [{ key = \"redfish.bios_version\", operator = \"In\", values = [\"2.10\"] }]";

/// A selector on a fact takes the BMCs that say so, and no other hears more than a question.
#[tokio::test(start_paused = true)]
async fn what_says_something_else_of_itself_is_not_selected() {
    let world = World::of(&[1, 1], "");
    world.bmc("mock-2", |bmc| bmc.set_bmc_version("1.55"));
    let text = selecting(OLD_BMC, &[bmc_hop(&world, "1.60")]);
    let planned = world.plan(&[&text]).await;
    let bmcs: Vec<&str> = planned.iter().map(|one| one.bmc.as_str()).collect();
    assert_eq!(bmcs, ["mock-1"]);
    completed(&world, &world.apply(&[&text]).await);
    assert_eq!(world.writes("mock-2"), [""; 0]);
    assert!(
        world.plan(&[&text]).await.is_empty(),
        "what was brought to another version is selected no more"
    );
}

/// Servers behind one BMC are selected each by its own BIOS; a BMC that lists none has its systems selected so too.
#[tokio::test(start_paused = true)]
async fn servers_behind_one_bmc_are_selected_each_by_its_own_facts() {
    for listed in [true, false] {
        let mut world = World::one(2, "");
        if !listed {
            world.unlisted = ["mock-1-s1".to_owned(), "mock-1-s2".to_owned()].into();
        }
        world.bmc("mock-1", |bmc| bmc.set_bios_version(0, "2.50"));
        let text = selecting(OLD_BIOS, &[bios_hop(&world, "2.50")]);
        let report = world.apply(&[&text]).await;
        let servers = &completed(&world, &report).servers;
        let second = if listed { "mock-1-s2" } else { "mock-1/2" };
        assert_eq!(servers, &[second]);
        assert_eq!(world.caused("mock-1", "update accepted").len(), 1);
    }
}

/// What a person types behind `--limit` may be a fact too, though the pipeline speaks of none.
#[tokio::test(start_paused = true)]
async fn a_limit_may_be_a_fact() {
    let mut world = World::of(&[1, 1], "");
    world.bmc("mock-1", |bmc| bmc.set_bmc_version("1.55"));
    world.limit = Some("redfish.bmc_version = \"1.50\", redfish.platform".to_owned());
    let text = selecting("match_labels = {}", &[bmc_hop(&world, "1.60")]);
    let report = world.apply(&[&text]).await;
    assert_eq!(report.ends.len(), 1, "{report:?}");
    assert_eq!(world.writes("mock-1"), [""; 0]);
    assert_eq!(world.caused("mock-2", "update accepted").len(), 1);
}

/// A fact may stand in a value.
#[tokio::test(start_paused = true)]
async fn a_value_may_be_a_fact() {
    let world = World::one(1, "");
    let stage = format!(
        "\n[[stage]]\nname = \"bmc\"\nkind = \"bmc-version\"\nversion = \"1.60\"\nimage = {}\n",
        world
            .uri_image("bmc", "1.60")
            .replace("/1.60.img", "/${label.redfish.platform}.img")
    );
    let text = selecting("match_labels = {}", &[stage]);
    let planned = world.plan(&[&text]).await;
    let spec = format!("{:?}", planned[0].spec.as_ref().unwrap());
    assert!(
        spec.contains("http://firmware.lab/bmc/generic.img"),
        "{spec}"
    );
}

/// A run's servers are fixed at its start: its own work makes its BMC say something else, and it walks on; what another
/// server says meanwhile adds nothing.
#[tokio::test(start_paused = true)]
async fn a_change_of_facts_neither_adds_to_a_run_nor_takes_from_it() {
    let world = World::one(2, "");
    world.bmc("mock-1", |bmc| bmc.set_bios_version(1, "2.50"));
    let selector = "match_labels = { \"redfish.bmc_version\" = \"1.50\", \"redfish.bios_version\" = \"2.10\" }";
    let stages = [bmc_hop(&world, "1.60"), bios_hop(&world, "2.50")];
    let text = selecting(selector, &stages);
    let has_flashed = |world: &World| {
        world.bmc("mock-1", |bmc| {
            bmc.state().bmc_version.as_deref() == Some("1.60")
        })
    };
    let killed = world
        .apply_watched(&[&text], |world, _| !has_flashed(world))
        .await;
    assert!(killed.is_none());
    world.bmc("mock-1", |bmc| bmc.set_bios_version(1, "2.10"));

    let mut daemon = Running::start(&world, &Files::new(&world, &[&text]));
    daemon
        .until(3 * HOUR, |d| {
            let run = row(&d.engine.board().rows(), "mock-1");
            run.is_some_and(|run| run.phase == RunPhase::Completed)
        })
        .await;
    let run = row(&daemon.engine.board().rows(), "mock-1").unwrap();
    assert_eq!(run.servers, ["mock-1-s1"]);
    assert_eq!(world.caused("mock-1", "update accepted").len(), 2);
    daemon
        .until(HOUR, |d| d.bmc("mock-1").state.is_none())
        .await;
    assert_eq!(daemon.happened("deselected").len(), 1, "after the run");
    daemon.end().await;
}

/// What is ordered while nobody knows whether it is about a BMC is done, or not, once the BMC has answered; whoever
/// ordered it hears so, and a restart changes nothing of it.
#[tokio::test(start_paused = true)]
async fn an_order_waits_for_what_a_bmc_says_of_itself() {
    let world = World::of(
        &[1, 1, 1],
        "[[fault]]\nuntil = \"2h\"\ncount = 0\nanswer = \"refuse\"\n",
    );
    world.bmc("mock-3", |bmc| bmc.set_bmc_version("1.55"));
    let text = selecting(OLD_BMC, &[bmc_hop(&world, "1.60")]);
    let files = Files::new(&world, &[&text]);
    let mut killed = Running::start(&world, &files);
    killed.pass(MINUTE).await;
    let order = world.order(&About::Pipeline(PIPELINE.into()), &files.to_apply(&world));
    killed.pass(HOUR).await;
    let handle = Handle::new(killed.engine.clone(), killed.fleet.clone());
    let Some((_, Known::Taken(errand))) = handle.order(order.id).unwrap() else {
        panic!("it was not taken up");
    };
    assert_eq!(errand.bmcs.len(), 3);
    for progress in errand.bmcs.values() {
        let Progress::NotStarted { fault, again: true } = progress else {
            panic!("{progress:?}");
        };
        assert!(
            fault.message.starts_with("whether `p` selects it hangs on"),
            "{fault}"
        );
    }
    drop(killed);

    let mut daemon = Running::start(&world, &files);
    daemon
        .until(6 * HOUR, |_| {
            let flashed = |name| world.caused(name, "update accepted").len() == 1;
            flashed("mock-1") && flashed("mock-2")
        })
        .await;
    daemon.pass(2 * HOUR).await;
    assert_eq!(world.writes("mock-3"), [""; 0]);
    assert_eq!(daemon.bmc("mock-3").labels["redfish.bmc_version"], "1.55");
    daemon.end().await;
}

/// The same where only the order's limit speaks of facts.
#[tokio::test(start_paused = true)]
async fn an_orders_limit_may_be_a_fact() {
    let world = World::of(&[1, 1], "");
    world.bmc("mock-2", |bmc| bmc.set_bmc_version("1.55"));
    let text = selecting("match_labels = {}", &[bmc_hop(&world, "1.60")]);
    let files = Files::new(&world, &[&text]);
    let Verb::Apply { generation, .. } = files.to_apply(&world) else {
        panic!("it is no apply");
    };
    let limit = Some("redfish.bmc_version=1.50".to_owned());
    let engine = world.engine();
    let mut daemon = Running::start(&world, &files);
    let about = About::Pipeline(PIPELINE.into());
    orders::place(&engine, "ann", &about, &Verb::Apply { generation, limit }).unwrap();
    daemon
        .until(3 * HOUR, |_| {
            world.caused("mock-1", "update accepted").len() == 1
        })
        .await;
    daemon.pass(HOUR).await;
    assert_eq!(world.writes("mock-2"), [""; 0]);
    daemon.end().await;
}

/// What was selected when it was chosen, and is not when its run begins, is left alone.
#[tokio::test(start_paused = true)]
async fn a_run_does_not_begin_on_what_is_selected_no_more() {
    let world = World::one(1, "");
    let text = selecting(OLD_BMC, &[bmc_hop(&world, "1.60")]);
    let assignments = world.assignments(&[&text]).await;
    world.bmc("mock-1", |bmc| bmc.set_bmc_version("1.55"));
    let engine = world.engine();
    let report = redpipe::daemon::apply(&engine, assignments, world.options, &world.stop).await;
    let end = format!("{:?}", report.ends);
    assert!(
        end.contains("does not select bmc `mock-1` as its hardware"),
        "{end}"
    );
    assert_eq!(world.writes("mock-1"), [""; 0]);
}
