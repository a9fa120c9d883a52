//! A fleet whose BMCs take their seeded time over six stages, and the real engine that applies a pipeline to it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

use mock_bmc::script::Script;
use redpipe::daemon::history::events_after;
use redpipe::daemon::{Engine, apply};
use redpipe::store::{MemoryStore, Owner};

use super::support::world::World;
use super::timeline::{Life, life};
use crate::support::dice::Dice;

/// Median minutes of the six stages.
const MEDIANS: [f64; 6] = [2.0, 6.0, 3.0, 2.0, 5.0, 9.0];

/// Stages that are hops: a task of one of them may be stuck.
const HOPS: [usize; 3] = [1, 4, 5];

/// The part of all BMCs that has a stuck task.
const STUCK: f64 = 0.02;

const STUCK_MINUTES: f64 = 30.0;

/// An operating system's shutdown, in each stage that restarts its host.
const SHUTDOWN: f64 = 20.0 / 60.0;

/// Between two looks at what the BMCs are at.
const TICK: Duration = Duration::from_secs(5);

/// The fleet and how it is applied to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case {
    pub(crate) bmcs: usize,
    pub(crate) max_concurrent: usize,
    pub(crate) seed: u64,
    pub(crate) first: First,
}

/// What becomes of the first BMC by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum First {
    /// It works like the others.
    Works,
    /// It hangs for ever in its first hop.
    Hangs,
    /// The pipeline does not select it.
    LeftOut,
}

/// The first BMC by name.
pub(crate) const FIRST: &str = "mock-1";

/// What one BMC takes for each stage, in minutes.
#[derive(Debug, Clone)]
struct Drawn {
    minutes: [f64; 6],
    stuck: Option<usize>,
}

fn draw(dice: &mut Dice, sigmas: [f64; 6]) -> Drawn {
    let mut minutes = [0.0; 6];
    for ((each, median), sigma) in minutes.iter_mut().zip(MEDIANS).zip(sigmas) {
        *each = dice.lognormal(median, sigma);
    }
    let is_stuck = dice.even() < STUCK;
    let which = dice.even();
    let stuck = is_stuck.then(|| match which {
        low if low < 1.0 / 3.0 => HOPS[0],
        middle if middle < 2.0 / 3.0 => HOPS[1],
        _ => HOPS[2],
    });
    Drawn { minutes, stuck }
}

impl Drawn {
    /// How the BMC behaves while these are its next manager reset and its next BIOS hop.
    fn script(&self, reset: usize, bios: usize, more: &str) -> Script {
        let minutes = |stage: usize| self.minutes[stage];
        let stuck = |stage: usize| {
            if self.stuck == Some(stage) {
                STUCK_MINUTES
            } else {
                0.0
            }
        };
        let mut text =
            "[bmc_settings]\nneeds_reset = [\"*/NetworkProtocol\"]\n[durations]\n".to_owned();
        let boot = |stage: usize, share: f64| ((minutes(stage) - SHUTDOWN) * share).max(0.1);
        for (key, span) in [
            ("bmc_reset", minutes(reset)),
            ("bmc_flash", minutes(1) * 0.75 + stuck(1)),
            ("bmc_gone", minutes(1) * 0.25),
            ("graceful_shutdown", SHUTDOWN),
            ("post", boot(2, 1.0)),
            ("bios_stage", boot(bios, 0.3) + stuck(bios)),
            ("bios_flash_post", boot(bios, 0.7)),
        ] {
            writeln!(text, "{key} = \"{:.0}ms\"", span * 60_000.0).unwrap();
        }
        if let Some(stage) = self.stuck {
            let component = if stage == 1 { "bmc" } else { "bios" };
            let nth = HOPS.iter().position(|hop| *hop == stage).unwrap() + 1;
            write!(
                text,
                "[[task_fault]]\ncomponent = \"{component}\"\nnth = {nth}\nstuck_at = 20\n"
            )
            .unwrap();
        }
        text.push_str(more);
        text.parse()
            .unwrap_or_else(|error| panic!("{error}\n{text}"))
    }
}

/// One BMC as its durations are dealt out: a stage's are set while the stage before it that uses the same key lasts.
struct Dealt {
    drawn: Drawn,
    more: &'static str,
    lines_seen: usize,
    resets: usize,
    flashes: usize,
}

impl Dealt {
    fn deal(&mut self, world: &World, name: &str) {
        let (before, mut changed) = (self.lines_seen, self.lines_seen == 0);
        world.bmc(name, |bmc| {
            let lines = bmc.ledger();
            for line in lines.iter().skip(before) {
                let detail = line.detail.as_deref().unwrap_or_default();
                self.resets += usize::from(detail == "manager gone");
                self.flashes += usize::from(detail.contains("bios 1 flash begins"));
                changed |= detail == "manager gone" || detail.contains("flash begins");
            }
            self.lines_seen = lines.len();
            if changed {
                let reset = if self.resets == 0 { 0 } else { 3 };
                let bios = if self.flashes == 0 { 4 } else { 5 };
                bmc.set_script(&self.drawn.script(reset, bios, self.more));
            }
        });
    }
}

/// From here on nothing is answered: in the middle of the first hop's flash, whatever was drawn.
const HANGS: &str = "[[fault]]\nfrom = \"6m\"\ncount = 0\nanswer = \"hang\"\n";

/// Applies six stages to a fleet and tells how each BMC spent its time. With a BMC that hangs for ever, until all others
/// are over.
pub(crate) async fn run(case: Case) -> BTreeMap<String, Life> {
    let mut world = World::of(&vec![1; case.bmcs], "");
    world.options.wait = true;
    world
        .extra
        .insert(FIRST.to_owned(), "labels = { first = \"yes\" }".to_owned());
    let mut dice = Dice::new(case.seed);
    let sigmas = MEDIANS.map(|_| 0.25 + 0.1 * dice.even());
    let mut fleet: BTreeMap<String, Dealt> = BTreeMap::new();
    for index in 1..=case.bmcs {
        let dealt = Dealt {
            drawn: draw(&mut dice, sigmas),
            more: if case.first == First::Hangs && index == 1 {
                HANGS
            } else {
                ""
            },
            lines_seen: 0,
            resets: 0,
            flashes: 0,
        };
        fleet.insert(format!("mock-{index}"), dealt);
    }
    let engine = engine(&world);
    let text = pipeline(&world, case);
    let assignments = world.assignments(&[&text]).await;
    let mut work = Box::pin(apply(&engine, assignments, world.options, &world.stop));
    loop {
        for (name, dealt) in &mut fleet {
            dealt.deal(&world, name);
        }
        tokio::select! {
            biased;
            _ = &mut work => break,
            () = tokio::time::sleep(TICK) => {}
        }
        if case.first == First::Hangs && all_but_one_are_over(&engine, case.bmcs) {
            break;
        }
    }
    drop(work);
    lives(&world, &engine, &fleet)
}

fn all_but_one_are_over(engine: &Engine, bmcs: usize) -> bool {
    let rows = engine.board().rows();
    let over = rows.values().filter(|row| {
        let status = row.status.as_ref();
        status.is_some_and(|status| status.phase.is_terminal())
    });
    over.count() + 1 >= bmcs
}

fn lives(
    world: &World,
    engine: &Engine,
    fleet: &BTreeMap<String, Dealt>,
) -> BTreeMap<String, Life> {
    let mut records: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for event in events_after(engine.store().as_ref(), 0, usize::MAX >> 1).unwrap() {
        let name = event.key.bmc.to_string();
        records
            .entry(name)
            .or_default()
            .push((event.at, event.record.unwrap()));
    }
    let lives = fleet.keys().map(|name| {
        let told = records.remove(name).unwrap_or_default();
        (name.clone(), life(&world.ledger(name), &told))
    });
    lives.collect()
}

/// An engine that keeps its journals in memory: no disk is measured here.
fn engine(world: &World) -> Engine {
    let lock_file = world.folder.path().join("process.lock");
    File::create(&lock_file).unwrap();
    let owner = Owner {
        host: "lab".to_owned(),
        pid: 1,
        lock_file,
    };
    Engine::new(world.parts(Arc::new(MemoryStore::new()), owner))
}

/// BMC settings, a BMC hop, BIOS settings, BMC settings, two BIOS hops.
fn pipeline(world: &World, case: Case) -> String {
    let selector = if case.first == First::LeftOut {
        "match_expressions = [{ key = \"first\", operator = \"DoesNotExist\" }]"
    } else {
        "match_labels = {}"
    };
    let slots = case.max_concurrent;
    let mut text = format!(
        "name = \"makespan\"\n[selector]\n{selector}\n[rollout]\nmax_concurrent = {slots}\nmax_failures = 0\n"
    );
    let protocol = |name: &str, set: &str| {
        format!(
            "[[stage]]\nname = \"{name}\"\nkind = \"bmc-settings\"\n[[stage.flow]]\nname = \"one\"\npriority = 1\nresources = [{{ uri = \"{{manager}}/NetworkProtocol\", set = {set} }}]\n"
        )
    };
    let hop = |component: &str, version: &str| {
        let image = world.image(component, version);
        format!(
            "[[stage]]\nname = \"{component}-{version}\"\nkind = \"{component}-version\"\nversion = \"{version}\"\nimage = {image}\n"
        )
    };
    text += &protocol(
        "ntp",
        "{ NTP = { ProtocolEnabled = true, NTPServers = [\"10.0.0.1\"] } }",
    );
    text += &hop("bmc", "1.60");
    text +=
        "[[stage]]\nname = \"boot\"\nkind = \"bios-settings\"\nsettings = { QuietBoot = false }\n";
    text += &protocol("snmp", "{ SNMP = { Port = 1161 } }");
    text += &hop("bios", "2.20");
    text += &hop("bios", "2.50");
    text
}
