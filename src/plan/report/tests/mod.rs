//! Claims about reports.

mod hops;
mod properties;
mod settings;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::*;
use crate::model::inventory::Expect;
use crate::model::look::{Problem, TaskView};
use crate::model::{Look, StageName, Target};
use crate::pipeline::{Guard, Requirement, RequirementOp, ResetPolicy};
use crate::plan::secrecy::Remembered;
use crate::plan::spec::{ResourceSpec, RunSpec, StageKindSpec, StageSpec};
use crate::plan::testing::{
    bios_hop, bios_settings, bmc_hop, bmc_settings, look, run, server, shown, software, system,
};

const S: &[&str] = &["s"];

fn planned(spec: &RunSpec, look: &Look) -> RunReport {
    report(spec, look, &Remembered::default())
}

/// `STAGE TARGET ACTION FROM>TO`.
fn lines(report: &RunReport) -> Vec<String> {
    let mut lines = Vec::new();
    for stage in &report.stages {
        for target in &stage.targets {
            let (from, to) = (
                target.from.as_deref().unwrap_or("-"),
                target.to.as_deref().unwrap_or("-"),
            );
            lines.push(format!(
                "{} {} {} {from}>{to}",
                stage.name,
                target.target,
                target.action.as_str()
            ));
        }
    }
    lines
}

fn reason(report: &RunReport, stage: usize, target: usize) -> String {
    let target = report
        .stages
        .get(stage)
        .and_then(|stage| stage.targets.get(target));
    target
        .and_then(|target| target.reason.clone())
        .unwrap_or_default()
}

fn with_settings(mut look: Look, target: Target, json: &Value) -> Look {
    look.settings.insert(target, shown(json));
    look
}

fn guarded(mut stage: StageSpec, version: &str) -> StageSpec {
    if let StageKindSpec::BiosSettings(by) = &mut stage.kind {
        for settings in by.values_mut() {
            settings.guard = Some(Guard {
                version: version.into(),
                exact: false,
            });
        }
    }
    stage
}

#[test]
fn a_server_without_bios_is_none_and_a_missing_one_is_blocked() {
    let names: &[&str] = &["s", "gone"];
    let spec = run(
        names,
        vec![
            bios_hop("hop", "2.50", names),
            bios_settings("set", &json!({"K": 1}), names),
        ],
    );
    let mut look = look(None, &[("s", None)]);
    if let Some(system) = look.systems.get_mut(&"s".into()) {
        system.bios_uri = None;
    }
    look.missing_systems.push("gone".into());
    assert_eq!(
        lines(&planned(&spec, &look)),
        [
            "hop server:gone blocked ->2.50",
            "hop server:s none ->-",
            "set server:gone blocked ->-",
            "set server:s none ->-"
        ]
    );
}

#[test]
fn the_wrong_box_is_blocked_and_told() {
    let mut spec = run(S, vec![bmc_hop("hop", "1.60"), bios_hop("bios", "2.10", S)]);
    for server in &mut spec.servers {
        server.expect = Expect {
            serial: Some("A1".into()),
            model: None,
        };
    }
    let mut look = look(Some("1.50"), &[("s", Some("2.10"))]);
    if let Some(system) = look.systems.get_mut(&"s".into()) {
        system.serial = Some("B2".into());
    }
    assert_eq!(
        lines(&planned(&spec, &look)),
        ["hop bmc blocked 1.50>1.60", "bios server:s none 2.10>2.10"]
    );
    assert!(
        problems(&spec, &look)
            .iter()
            .any(|p| p.kind == "wrong-box" && p.message.contains("`A1`"))
    );
}

#[test]
fn without_a_reset_of_ours_nobody_is_disturbed() {
    let mut stage = bios_settings("set", &json!({"K": 2}), S);
    stage.options.reset = ResetPolicy::None;
    let look = with_settings(
        look(None, &[("s", Some("2"))]),
        server("s"),
        &json!({"K": 1}),
    );
    let report = planned(&run(S, vec![stage]), &look);
    assert!(reason(&report, 0, 0).contains("somebody must reset it"));
    assert!(
        report
            .stages
            .iter()
            .flat_map(|s| &s.targets)
            .all(|t| t.outage.is_none() && t.disturbs.is_empty())
    );
}

#[test]
fn an_unusual_order_is_noted_once_at_the_hop_that_is_due_and_is_no_problem() {
    let servers = &["s", "t"];
    let spec = run(
        servers,
        vec![
            bios_settings("early", &json!({"K": 1}), servers),
            bios_hop("bios", "2.50", servers),
            bmc_hop("bmc", "1.60"),
        ],
    );
    let unusual = |bmc: &str, bios: &str| -> Vec<String> {
        let look = look(Some(bmc), &[("s", Some(bios)), ("t", Some(bios))]);
        assert!(problems(&spec, &look).is_empty());
        let report = planned(&spec, &look);
        let stages = report.stages.iter().flat_map(|stage| &stage.targets);
        let reasons = stages.filter_map(|target| target.reason.clone());
        reasons
            .filter_map(|text| Some(text.split_once("unusual order: ")?.1.to_owned()))
            .collect()
    };
    let settings = "it may reset settings `early`, and no later stage sets them again";
    assert_eq!(
        unusual("1.50", "2.10"),
        [settings, "BIOS hop `bios` stands before it"]
    );
    assert_eq!(unusual("1.60", "2.10"), [settings]);
    assert_eq!(unusual("1.60", "2.50"), Vec::<String>::new());
}

#[test]
fn problems_name_who_is_at_work() {
    let spec = run(
        &["s", "gone"],
        vec![
            bios_settings("early", &json!({"K": 1}), S),
            bios_hop("bios", "2.50", S),
            bmc_hop("bmc", "1.60"),
            bios_settings("late", &json!({"J": 1}), S),
        ],
    );
    let mut look = look(Some("1.50"), &[("s", Some("2.10"))]);
    if let Some(system) = look.systems.get_mut(&"s".into()) {
        system.pending.extend(["K".to_owned(), "Z".to_owned()]);
    }
    look.tasks.push(TaskView {
        uri: "/t/1".into(),
        state: Some("Running".into()),
        percent: Some(40),
        ..TaskView::default()
    });
    look.tasks.push(TaskView {
        uri: "/t/2".into(),
        state: Some("Completed".into()),
        ..TaskView::default()
    });
    look.software.push(software("x", "1.7", &[]));
    look.software
        .iter_mut()
        .for_each(|software| software.staged = true);
    look.problems.push(Problem {
        kind: "no-sessions".into(),
        message: "m".into(),
    });
    let found: Vec<String> = problems(&spec, &look)
        .into_iter()
        .map(|p| format!("{}: {}", p.kind, p.message))
        .collect();
    assert_eq!(
        found,
        [
            "no-sessions: m",
            "system-missing: the BMC does not show the system of `gone` now",
            "settings-pending: settings wait on `s` that are not this run's: `Z`",
            "task-active: task `/t/1` (without a name) is not finished: Running, 40 %",
            "image-staged: an image with version `1.7` is staged at `/software/x`",
        ]
    );
}

#[test]
fn a_look_asks_for_what_the_stages_speak_about() {
    let hops = look_request(&run(S, vec![bmc_hop("a", "1")]));
    assert!(hops.state && hops.work && hops.software && hops.settings.is_empty());
    let settings = look_request(&run(S, vec![bios_settings("a", &json!({"K": 1}), S)]));
    assert!(!settings.software && settings.settings.contains(&server("s")));
    assert!(
        look_request(&run(
            S,
            vec![guarded(bios_settings("a", &json!({"K": 1}), S), "1")]
        ))
        .software
    );
}

#[test]
fn stage_names_keep_their_order() {
    let spec = run(S, vec![bmc_hop("z", "1.60"), bmc_hop("a", "1.70")]);
    let names: Vec<StageName> = planned(&spec, &look(Some("1.50"), &[]))
        .stages
        .into_iter()
        .map(|s| s.name)
        .collect();
    assert_eq!(names, ["z".into(), "a".into()]);
}
