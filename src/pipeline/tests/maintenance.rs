//! `[maintenance]`: who agrees, when, and what runs around disruptive steps.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use super::{Case, check_pipelines, loaded, shown};
use crate::pipeline::{Given, Hook, Maintenance, Policy};

const STAGE: &str = "[[stage]]\nname = \"s\"\nkind = \"bios-settings\"\nsettings = { A = 1 }\n";

/// The maintenance of a pipeline in `dir/p.toml` with this table.
fn maintenance(table: &str) -> Maintenance {
    let text = format!("name = \"p\"\n[selector]\nmatch_labels = {{}}\n{table}\n{STAGE}");
    loaded(&[], &[("dir/p.toml", &text)]).pipelines[0]
        .maintenance
        .clone()
}

#[test]
fn left_out_nobody_is_asked_and_the_times_are_the_usual_ones() {
    for table in ["", "[maintenance]", "[maintenance]\npolicy = \"enforced\""] {
        let found = maintenance(table);
        assert_eq!(found, Maintenance::default(), "{table}");
        assert!(found.is_plain());
    }
    let usual = Maintenance::default();
    assert_eq!(usual.approval_ttl, Duration::from_hours(7 * 24));
    assert_eq!(usual.held_for, Duration::from_hours(72));
    assert_eq!(usual.hook_timeout, Duration::from_mins(10));
}

#[test]
fn everything_that_can_be_said_is_taken_up() {
    let found = maintenance(
        r#"[maintenance]
policy = "owner-approval"
window = { days = ["Sat", "Sun"], start = "22:00", end = "06:00", zone = "Europe/Berlin" }
before = ["hooks/drain", "/usr/local/bin/silence"]
after = ["hooks/undrain"]
hook_timeout = "90s"
approval_ttl = "2d"
held_for = "12h"
"#,
    );
    assert_eq!(found.policy, Policy::OwnerApproval);
    let window = found.window.as_ref().expect("it was written");
    assert_eq!(window.to_string(), "Sat, Sun 22:00-06:00 Europe/Berlin");
    let hook = |name: &str, path: &str| Hook {
        name: name.to_owned(),
        path: PathBuf::from(path),
    };
    let before = [
        hook("hooks/drain", "dir/hooks/drain"),
        hook("/usr/local/bin/silence", "/usr/local/bin/silence"),
    ];
    assert_eq!(found.before, before);
    assert_eq!(found.after, [hook("hooks/undrain", "dir/hooks/undrain")]);
    assert_eq!(found.hook_timeout, Duration::from_secs(90));
    assert_eq!(found.approval_ttl, Duration::from_hours(48));
    assert_eq!(found.held_for, Duration::from_hours(12));
    assert!(!found.is_plain());
}

#[test]
fn a_hook_beside_the_file_is_never_looked_for_elsewhere() {
    let text = format!(
        "name = \"p\"\n[selector]\nmatch_labels = {{}}\n[maintenance]\nafter = [\"undrain\"]\n{STAGE}"
    );
    let loaded = loaded(&[], &[("p.toml", &text)]);
    let after = &loaded.pipelines[0].maintenance.after;
    assert_eq!(after[0].path.to_str(), Some("./undrain"));
}

#[test]
fn a_hook_that_cannot_be_run_is_told_with_its_place_before_anything_is_contacted() {
    let text = format!(
        "name = \"p\"\n[selector]\nmatch_labels = {{}}\n[maintenance]\nbefore = [\"drain\"]\nafter = [\"undrain\"]\n{STAGE}"
    );
    let loaded = loaded(&[], &[("dir/p.toml", &text)]);
    let mut given = Given {
        hooks: BTreeSet::from(["dir/drain".into()]),
        ..Given::default()
    };
    let needed = loaded.needs().hooks;
    assert_eq!(
        needed,
        BTreeSet::from(["dir/drain".into(), "dir/undrain".into()])
    );
    let all = loaded.check_given(&given).expect_err("one is not there");
    let found: Vec<_> = all.findings.iter().map(|one| shown(&all, one)).collect();
    assert_eq!(
        found,
        [
            "dir/p.toml:6:10 error: hook `undrain` cannot be run | no program is there, or nobody may execute it | put the program there and make it executable with `chmod +x`"
        ]
    );
    given.hooks = needed;
    assert_eq!(loaded.check_given(&given), Ok(()));
}

#[test]
fn everything_wrong_is_told_at_once_with_its_place() {
    check_pipelines(CASES);
}

const CASES: &[Case] = &[
    Case {
        claim: "a window with wrong times, a wrong day and an unknown zone",
        text: r#"name = "p"
[selector]
match_labels = {}
[maintenance]
window = { days = ["Sat", "Caturday"], start = "25:00", end = "6:00", zone = "Mars/Base" }
[[stage]]
name = "s"
kind = "bios-settings"
settings = { A = 1 }
"#,
        findings: &[
            "p.toml:5:27 error: `maintenance.window.days` cannot be `Caturday` | not one of its values | it can be `Mon`, `Tue`, `Wed`, `Thu`, `Fri`, `Sat`, `Sun`",
            "p.toml:5:48 error: `start` is not a time of day | not `HH:MM` | write hours and minutes, such as \"22:00\"",
            "p.toml:5:63 error: `end` is not a time of day | not `HH:MM` | write hours and minutes, such as \"22:00\"",
            "p.toml:5:78 error: time zone `Mars/Base` is not known | not a name of the time zone database | write a name such as \"Europe/Berlin\", \"America/New_York\" or \"UTC\"",
        ],
    },
    Case {
        claim: "a window without a zone and an end",
        text: r#"name = "p"
[selector]
match_labels = {}
[maintenance]
window = { start = "22:00" }
[[stage]]
name = "s"
kind = "bios-settings"
settings = { A = 1 }
"#,
        findings: &[
            "p.toml:5:10 error: missing key `end` in `maintenance.window` | in this table | `end`: Time of day at which it closes, such as `\"06:00\"`: on the next day where it is not after `start`. `\"24:00\"` is midnight",
            "p.toml:5:10 error: missing key `zone` in `maintenance.window` | in this table | `zone`: Time zone, such as `\"Europe/Berlin\"` or `\"UTC\"`",
        ],
    },
    Case {
        claim: "a window on no day and of no length",
        text: r#"name = "p"
[selector]
match_labels = {}
[maintenance]
window = { days = [], start = "22:00", end = "22:00", zone = "UTC" }
[[stage]]
name = "s"
kind = "bios-settings"
settings = { A = 1 }
"#,
        findings: &[
            "p.toml:5:19 error: `maintenance.window.days` is empty | nothing in it | give at least one",
            "p.toml:5:46 error: `window` opens and closes at the same time | the same as `start` | write `start = \"00:00\", end = \"24:00\"` for whole days",
        ],
    },
    Case {
        claim: "hooks that name nothing or one thing twice",
        text: r#"name = "p"
[selector]
match_labels = {}
[maintenance]
policy = "owner"
before = ["", "drain", "drain"]
after = "undrain"
[[stage]]
name = "s"
kind = "bios-settings"
settings = { A = 1 }
"#,
        findings: &[
            "p.toml:5:10 error: `maintenance.policy` cannot be `owner` | not one of its values | it can be `enforced`, `owner-approval`",
            "p.toml:6:11 error: a hook in `before` is empty | no path | write the path of a program, relative to this file",
            "p.toml:6:24 error: hook `drain` is in `before` twice | again here | keep one of them",
            "p.toml:7:9 error: `maintenance.after` must be a list | found text | put it in `[` and `]`",
        ],
    },
    Case {
        claim: "times that are none",
        text: r#"name = "p"
held_for = "1h"
[selector]
match_labels = {}
[maintenance]
hook_timeout = "soon"
approval_ttl = "0s"
held_for = "3 days"
[[stage]]
name = "s"
kind = "bios-settings"
settings = { A = 1 }
"#,
        findings: &[
            "p.toml:2:1 error: unknown key `held_for` | not known here | known keys here: `defaults`, `drift_policy`, `firmware`, `maintenance`, `name`, `rollout`, `selector`, `stage`",
            "p.toml:6:16 error: `hook_timeout` is not a duration | not a duration | write a number and `ms`, `s`, `m`, `h` or `d`, such as \"90s\" or \"45m\"",
            "p.toml:7:16 error: `approval_ttl` is zero | no time at all | leave it out for the usual time",
            "p.toml:8:12 error: `held_for` is not a duration | not a duration | write a number and `ms`, `s`, `m`, `h` or `d`, such as \"90s\" or \"45m\"",
        ],
    },
];
