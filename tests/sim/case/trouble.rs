//! What BMCs of a seed are like, and what will go wrong with them.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use super::Deed;
use super::draw::{BIOS_HOPS, BIOS_STARTS, BMC_HOPS, BMC_STARTS};
use super::platforms::Machines;
use crate::dice::Dice;
use crate::hazard::{Habits, Hazard};
use crate::support::process::Death;

/// None, few, or many.
pub(super) fn hazards(dice: &mut Dice) -> BTreeSet<Hazard> {
    let count = dice.pick(&[0, 1, 1, 2, 2, 3, 4, 5, 7]);
    (0..count).map(|_| dice.pick(Hazard::ALL)).collect()
}

pub(super) fn scripts(
    dice: &mut Dice,
    systems: &[usize],
    machines: &Machines,
    hazards: &BTreeSet<Hazard>,
) -> (String, String) {
    let (mut script, mut calm) = (String::new(), String::new());
    let mut tables = String::new();
    for (index, count) in systems.iter().enumerate() {
        let bmc = format!("mock-{}", index + 1);
        let mut habits = ways(dice, machines.is_plain(index));
        calm.push_str(&habits.text(&bmc));
        let start = |versions: &[&str], dice: &mut Dice| format!("\"{}\"", dice.pick(versions));
        habits.set("versions", "bmc", start(&BMC_STARTS, dice));
        habits.set("versions", "bios", start(&BIOS_STARTS, dice));
        for hazard in hazards {
            // Trouble rarely meets a whole fleet; values that are shown before they count are told by a job only.
            let fits = *hazard != Hazard::EarlyDisplay || machines.has_jobs(index);
            if (systems.len() == 1 || dice.percent(60)) && fits {
                hazard.on_mock(&bmc, dice, &mut habits);
            }
        }
        for system in machines.systems(index, *count) {
            if dice.percent(15) {
                writeln!(
                    tables,
                    "[[system]]\nbmc = \"{bmc}\"\nid = \"{system}\"\npower = \"Off\""
                )
                .unwrap();
            }
        }
        script.push_str(&habits.text(&bmc));
    }
    (script + &tables, calm)
}

/// How long things take, in seconds: soon, and as usual.
const SPANS: [(&str, [u64; 3]); 5] = [
    ("post", [60, 120, 240]),
    ("bios_flash_post", [90, 180, 360]),
    ("bios_stage", [20, 60, 120]),
    ("bmc_flash", [90, 200, 480]),
    ("bmc_gone", [60, 100, 180]),
];

/// How a BMC is, trouble aside. A vendor's machine has habits of its own.
fn ways(dice: &mut Dice, is_plain: bool) -> Habits {
    let mut habits = Habits::default();
    for (key, spans) in SPANS {
        let secs = dice.pick(&spans);
        habits.set("durations", key, format!("\"{secs}s\""));
    }
    if !is_plain {
        return habits;
    }
    if dice.percent(30) {
        // One way in must remain.
        let closed = dice.pick(&["multipart", "simple_update", "http_push"]);
        habits.set("update", closed, "false");
    }
    if dice.percent(30) {
        let handle = dice.pick(&["location", "body", "message", "none"]);
        habits.set("update", "handle", format!("\"{handle}\""));
    }
    if dice.percent(30) {
        let task = dice.pick(&["pending", "stopping"]);
        habits.set("update", "staged_task", format!("\"{task}\""));
    }
    if dice.percent(20) {
        let way = dice.pick(&["off-on", "self-reboot"]);
        habits.set("update", "activation", format!("\"{way}\""));
    }
    if dice.percent(20) {
        habits.set("update", "tasks_survive", "false");
    }
    if dice.percent(15) {
        habits.set("update", "shows_staged", "false");
    }
    if dice.percent(20) {
        habits.set("bios_settings", "job", "true");
    }
    if dice.percent(20) {
        habits.set("bmc_settings", "settings_object", "true");
    }
    if dice.percent(20) {
        habits.set("bmc_settings", "needs_reset", "[\"*/NetworkProtocol\"]");
    }
    if dice.percent(30) {
        let style = dice.pick(&["strong", "doubly-quoted", "none"]);
        habits.set("etag", "style", format!("\"{style}\""));
    }
    if dice.percent(20) {
        habits.set("collections", "page_size", "2");
    }
    habits
}

pub(super) fn deeds(
    dice: &mut Dice,
    systems: &[usize],
    hazards: &BTreeSet<Hazard>,
    mins: u64,
) -> Vec<(Duration, Deed)> {
    let mut deeds = Vec::new();
    for hazard in hazards {
        let at = Duration::from_secs(dice.between(1, mins * 60));
        let bmc = usize::try_from(dice.between(1, u64::try_from(systems.len()).unwrap())).unwrap();
        let name = format!("mock-{bmc}");
        let last = u64::try_from(systems[bmc - 1]).unwrap() - 1;
        let system = usize::try_from(dice.between(0, last)).unwrap();
        let deed = if *hazard == Hazard::HandFlash {
            Some(if dice.percent(50) {
                Deed::Flash(name, None, dice.pick(&BMC_HOPS))
            } else {
                Deed::Flash(name, Some(system), dice.pick(&BIOS_HOPS))
            })
        } else if *hazard == Hazard::ForeignPending {
            Some(Deed::Pend(name, system))
        } else if *hazard == Hazard::ClockJump {
            Some(Deed::Jump(dice.pick(&[-3600, -90, 40, 600, 7200])))
        } else {
            let simple = [
                (Hazard::Crash, Deed::Kill),
                (Hazard::SecondEngine, Deed::Second),
                (Hazard::PlanMeanwhile, Deed::Plan),
                (Hazard::EditedFile, Deed::Edit),
            ];
            let found = simple.into_iter().find(|(kind, _)| kind == hazard);
            found.map(|(_, deed)| deed)
        };
        deeds.extend(deed.map(|deed| (at, deed)));
    }
    deeds.sort_by_key(|(at, _)| *at);
    deeds
}

pub(super) fn deaths(dice: &mut Dice) -> Vec<Death> {
    (0..dice.between(1, 4))
        .map(|_| {
            let count = u32::try_from(dice.between(1, 40)).unwrap();
            match dice.between(0, 2) {
                0 => Death::AfterAppend(count),
                1 => Death::BeforeAppend(count),
                _ => Death::AfterSend(1 + count / 8),
            }
        })
        .collect()
}
