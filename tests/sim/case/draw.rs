//! What a seed wants of what fleet.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Body, Component, Stage};
use crate::dice::Dice;

pub(super) const BMC_HOPS: [&str; 3] = ["1.60", "1.70", "1.80"];
pub(super) const BIOS_HOPS: [&str; 3] = ["2.20", "2.30", "2.50"];
pub(super) const BMC_STARTS: [&str; 5] = ["1.50", "1.50", "1.60", "1.75", "1.90"];
pub(super) const BIOS_STARTS: [&str; 5] = ["2.10", "2.10", "2.20", "2.40", "2.60"];

/// BIOS attributes and two values for each.
const BIOS_SETTINGS: [(&str, &str, &str); 7] = [
    ("QuietBoot", "false", "true"),
    ("SriovEnabled", "true", "false"),
    ("NumaNodesPerSocket", "2", "4"),
    ("AssetNote", "\"one\"", "\"two\""),
    ("PostLedEnabled", "false", "true"),
    ("BootRetryCount", "5", "7"),
    ("AdminPassword", "\"swordfish\"", "\"marlinspike\""),
];

const BMC_SETTINGS: [(&str, &str, &str); 5] = [
    ("NtpServer1", "\"10.0.0.1\"", "\"10.0.0.2\""),
    ("SyslogPort", "515", "516"),
    ("SshMaxSessions", "4", "3"),
    ("WebTimeout", "600", "1200"),
    ("OperatorPassword", "\"swordfish\"", "\"marlinspike\""),
];

/// What cannot be read back.
pub(crate) const WRITE_ONLY: [&str; 2] = ["AdminPassword", "OperatorPassword"];

/// Mostly small: four BMCs or eight systems are drawn, but seldom, and never both.
pub(super) fn fleet(dice: &mut Dice) -> Vec<usize> {
    let bmcs = dice.pick(&[1, 1, 1, 1, 2, 2, 3, 4]);
    let systems: &[usize] = if bmcs > 2 {
        &[1, 1, 1, 2, 3]
    } else {
        &[1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 4, 4, 6, 8]
    };
    (0..bmcs).map(|_| dice.pick(systems)).collect()
}

/// How politely BMCs are asked.
pub(super) fn pace(dice: &mut Dice) -> String {
    let poll = dice.pick(&[10, 20, 45]);
    let reads = dice.pick(&[2, 3]);
    format!("pace = {{ task_poll = \"{poll}s\", settle_reads = {reads} }}")
}

pub(super) fn pipeline(dice: &mut Dice, systems: &[usize]) -> Vec<Stage> {
    let mut next = [0, 0];
    let most = if systems.iter().any(|count| *count > 3) {
        4
    } else {
        6
    };
    let count = dice.between(1, most);
    let mut stages: Vec<Stage> = Vec::new();
    for index in 0..count {
        let component = dice.pick(&[Component::Bmc, Component::Bios]);
        let body = match dice.between(1, 10) {
            1..=5 => hop(dice, component, &mut next),
            6..=9 => settings(dice, component),
            _ => Body::Resource(dice.pick(&["10.1.0.1", "10.1.0.2"])),
        };
        let mut more = String::new();
        if dice.percent(25) {
            writeln!(more, "attempts = 2").unwrap();
        }
        if dice.percent(20) {
            let policy = dice.pick(&["graceful", "force"]);
            writeln!(more, "reset = \"{policy}\"").unwrap();
        }
        stages.push(Stage {
            name: format!("s{index}"),
            body,
            more,
        });
    }
    stages
}

fn hop(dice: &mut Dice, component: Component, next: &mut [usize; 2]) -> Body {
    let (at, hops) = match component {
        Component::Bmc => (&mut next[0], BMC_HOPS),
        Component::Bios => (&mut next[1], BIOS_HOPS),
    };
    let Some(version) = hops.get(*at) else {
        return settings(dice, component);
    };
    *at += usize::try_from(dice.between(1, 2)).unwrap();
    Body::Hop(component, version, dice.percent(50))
}

fn settings(dice: &mut Dice, component: Component) -> Body {
    let from: &[(&str, &str, &str)] = match component {
        Component::Bmc => &BMC_SETTINGS,
        Component::Bios => &BIOS_SETTINGS,
    };
    let mut values = BTreeMap::new();
    for _ in 0..dice.between(1, 3) {
        let (name, one, other) = dice.pick(from);
        values.insert(name, if dice.percent(50) { one } else { other });
    }
    Body::Settings(component, values, dice.percent(15))
}

/// One stage more, one less, or another value.
pub(super) fn edit(dice: &mut Dice, stages: &[Stage]) -> Vec<Stage> {
    let mut stages = stages.to_vec();
    let component = dice.pick(&[Component::Bmc, Component::Bios]);
    let more = Stage {
        name: "added".to_owned(),
        body: settings(dice, component),
        more: String::new(),
    };
    match dice.between(0, 2) {
        0 => stages.push(more),
        1 if stages.len() > 1 => drop(stages.pop()),
        _ => stages.insert(0, more),
    }
    stages
}
