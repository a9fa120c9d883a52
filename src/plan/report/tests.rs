//! Claims about reports.

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
fn every_hop_is_listed_and_starts_where_the_one_before_it_ends() {
    let stages = || {
        vec![
            bmc_hop("a", "1.60"),
            bmc_hop("b", "1.70"),
            bmc_hop("c", "1.80"),
        ]
    };
    let rows = [
        (
            "1.50",
            [
                "a bmc update 1.50>1.60",
                "b bmc update 1.60>1.70",
                "c bmc update 1.70>1.80",
            ],
        ),
        (
            "1.75",
            [
                "a bmc none 1.75>1.60",
                "b bmc none 1.75>1.70",
                "c bmc update 1.75>1.80",
            ],
        ),
        (
            "1.90",
            [
                "a bmc none 1.90>1.60",
                "b bmc none 1.90>1.70",
                "c bmc none 1.90>1.80",
            ],
        ),
        (
            "XCC 9",
            [
                "a bmc blocked XCC 9>1.60",
                "b bmc blocked XCC 9>1.70",
                "c bmc blocked XCC 9>1.80",
            ],
        ),
    ];
    for (live, expected) in rows {
        let report = planned(&run(S, stages()), &look(Some(live), &[("s", Some("2"))]));
        assert_eq!(lines(&report), expected);
        assert_eq!(
            report.has_changes(),
            expected.iter().any(|line| line.contains("update"))
        );
        assert_eq!(report.is_blocked(), live == "XCC 9");
    }
}

#[test]
fn the_json_has_the_documented_members_and_no_others() {
    let spec = run(
        S,
        vec![
            bmc_hop("hop", "1.60"),
            bios_settings("set", &json!({"K": 2}), S),
        ],
    );
    let look = with_settings(
        look(Some("1.50"), &[("s", Some("2.10"))]),
        server("s"),
        &json!({"K": 1}),
    );
    let plan = PlanReport {
        runs: vec![planned(&spec, &look)],
        problems: vec![PlanProblem {
            bmc: "b".into(),
            kind: "k".into(),
            message: "m".into(),
        }],
    };
    let expected = json!({
        "runs": [{
            "pipeline": "p", "bmc": "b", "servers": ["s"],
            "stages": [
                {"name": "hop", "kind": "bmc-version", "targets": [{
                    "target": "bmc", "action": "update", "from": "1.50", "to": "1.60", "changes": [],
                    "method": "multipart-push", "outage": "bmc away for 5 to 15 min", "disturbs": ["s"],
                    "reason": "runs `1.50`, below `1.60`",
                }]},
                {"name": "set", "kind": "bios-settings", "targets": [{
                    "target": "server:s", "action": "apply", "from": null, "to": null,
                    "changes": [{"name": "K", "from": 1, "to": 2}],
                    "method": null, "outage": "host restart of 5 to 15 min", "disturbs": ["s"],
                    "reason": "1 setting differs",
                }]},
            ],
        }],
        "problems": [{"bmc": "b", "kind": "k", "message": "m"}],
    });
    assert_eq!(serde_json::to_value(&plan).ok(), Some(expected));
}

#[test]
fn a_requirement_is_met_by_the_hop_before_it() {
    let mut second = bmc_hop("b", "1.80");
    if let StageKindSpec::BmcVersion(by) = &mut second.kind {
        for version in by.values_mut() {
            version.requires = Some(Requirement {
                op: RequirementOp::AtLeast,
                version: "1.60".into(),
            });
        }
    }
    let live = look(Some("1.50"), &[]);
    let both = planned(&run(&[], vec![bmc_hop("a", "1.60"), second.clone()]), &live);
    assert_eq!(
        lines(&both),
        ["a bmc update 1.50>1.60", "b bmc update 1.60>1.80"]
    );
    let alone = planned(&run(&[], vec![second]), &live);
    assert_eq!(lines(&alone), ["b bmc blocked 1.50>1.80"]);
    assert!(reason(&alone, 0, 0).contains(">= 1.60"));
}

#[test]
fn servers_stand_on_their_own_and_a_bmc_hop_disturbs_all_of_them() {
    let two: &[&str] = &["s", "t"];
    let spec = run(
        two,
        vec![bmc_hop("bmc", "1.60"), bios_hop("bios", "2.50", two)],
    );
    let mut look = look(Some("1.50"), &[("s", Some("2.50")), ("t", Some("2.10"))]);
    look.other_systems.push(system("9", None));
    let report = planned(&spec, &look);
    assert_eq!(
        lines(&report),
        [
            "bmc bmc update 1.50>1.60",
            "bios server:s none 2.50>2.50",
            "bios server:t update 2.10>2.50"
        ]
    );
    let disturbs: Vec<Vec<String>> = report
        .stages
        .iter()
        .flat_map(|stage| &stage.targets)
        .map(|target| target.disturbs.iter().map(ToString::to_string).collect())
        .collect();
    assert_eq!(
        disturbs,
        [
            vec!["s".to_owned(), "t".into(), "b/9".into()],
            vec![],
            vec!["t".into()]
        ]
    );
}

#[test]
fn settings_are_compared_with_what_earlier_stages_will_have_set() {
    let set = |name: &str, json: Value| bios_settings(name, &json, S);
    let spec = run(
        S,
        vec![
            set("pre", json!({"K": 2, "L": 1})),
            bios_hop("hop", "2.50", S),
            set("post", json!({"K": 3, "L": 1})),
        ],
    );
    let look = with_settings(
        look(None, &[("s", Some("2.10"))]),
        server("s"),
        &json!({"K": 1, "L": 1}),
    );
    let report = planned(&spec, &look);
    assert_eq!(
        lines(&report),
        [
            "pre server:s apply ->-",
            "hop server:s update 2.10>2.50",
            "post server:s apply ->-"
        ]
    );
    let changes: Vec<(Value, Value)> = report
        .stages
        .iter()
        .flat_map(|stage| &stage.targets)
        .flat_map(|target| &target.changes)
        .map(|change| (change.from.clone(), change.to.clone()))
        .collect();
    assert_eq!(changes, [(json!(1), json!(2)), (json!(2), json!(3))]);
}

#[test]
fn what_is_superseded_is_none_with_the_stage_that_replaces_it() {
    let set = |name: &str, json: Value| bios_settings(name, &json, S);
    let spec = run(
        S,
        vec![
            set("pre", json!({"K": 2})),
            bios_hop("hop", "2.50", S),
            set("post", json!({"K": 1})),
        ],
    );
    let look = with_settings(
        look(None, &[("s", Some("2.50"))]),
        server("s"),
        &json!({"K": 1}),
    );
    let report = planned(&spec, &look);
    assert!(!report.has_changes(), "{:?}", lines(&report));
    assert_eq!(reason(&report, 0, 0), "superseded by `post`");
}

#[test]
fn an_unknown_attribute_blocks_unless_a_hop_before_it_may_bring_it() {
    let set = |name: &str| bios_settings(name, &json!({"New": 1}), S);
    let look = with_settings(
        look(None, &[("s", Some("2.10"))]),
        server("s"),
        &json!({"K": 1}),
    );
    let alone = planned(&run(S, vec![set("set")]), &look);
    assert_eq!(lines(&alone), ["set server:s blocked ->-"]);
    assert!(reason(&alone, 0, 0).contains("`New`"));
    let behind = planned(&run(S, vec![bios_hop("hop", "2.50", S), set("set")]), &look);
    assert_eq!(
        lines(&behind),
        ["hop server:s update 2.10>2.50", "set server:s apply ->-"]
    );
    assert!(reason(&behind, 1, 0).contains("judged again after `hop`"));
}

#[test]
fn a_guard_is_met_by_a_hop_that_is_still_to_be_made() {
    let set = || guarded(bios_settings("set", &json!({"K": 2}), S), "2.50");
    let look = with_settings(
        look(None, &[("s", Some("2.10"))]),
        server("s"),
        &json!({"K": 1}),
    );
    let alone = planned(&run(S, vec![set()]), &look);
    assert_eq!(lines(&alone), ["set server:s blocked ->-"]);
    assert_eq!(
        reason(&alone, 0, 0),
        "runs `2.10`, and the stage waits for `2.50`"
    );
    let behind = planned(&run(S, vec![bios_hop("hop", "2.50", S), set()]), &look);
    assert_eq!(
        lines(&behind).last().map(String::as_str),
        Some("set server:s apply ->-")
    );
}

#[test]
fn what_others_left_waiting_blocks_a_write_and_nothing_else() {
    let mut look = with_settings(
        look(None, &[("s", Some("2"))]),
        server("s"),
        &json!({"K": 1, "X": 1}),
    );
    for resource in look
        .settings
        .values_mut()
        .flat_map(|view| &mut view.resources)
    {
        resource.pending.insert("X".into(), json!(2));
    }
    let set = |json: Value| planned(&run(S, vec![bios_settings("set", &json, S)]), &look);
    let write = set(json!({"K": 2}));
    assert!(write.is_blocked() && reason(&write, 0, 0).contains("`X` waits on the BMC"));
    assert_eq!(lines(&set(json!({"K": 1}))), ["set server:s none ->-"]);
    let mut two = look.clone();
    for resource in two
        .settings
        .values_mut()
        .flat_map(|view| &mut view.resources)
    {
        resource.pending.insert("Y".into(), json!(2));
    }
    let flushed = planned(
        &run(S, vec![bios_settings("set", &json!({"X": 2}), S)]),
        &two,
    );
    assert!(
        flushed.is_blocked(),
        "a reset for `X` would put `Y` into effect"
    );
    let adopted = set(json!({"X": 2}));
    assert_eq!(lines(&adopted), ["set server:s apply ->-"]);
    assert!(reason(&adopted, 0, 0).contains("`X` waits for a reset"));
}

#[test]
fn a_resource_that_is_not_shown_blocks_and_one_that_differs_is_applied() {
    let mut stage = bmc_settings("net", &json!({}));
    let uri = "{manager}/NetworkProtocol";
    if let StageKindSpec::BmcSettings(by) = &mut stage.kind {
        for item in by.values_mut().flat_map(|settings| &mut settings.flow) {
            item.resources = vec![ResourceSpec {
                uri: uri.into(),
                set: json!({"NTP": {"ProtocolEnabled": true}}),
            }];
        }
    }
    let spec = run(S, vec![stage]);
    let mut look = look(Some("1"), &[("s", None)]);
    assert_eq!(look_request(&spec).resources.len(), 1);
    let missing = planned(&spec, &look);
    assert!(missing.is_blocked() && reason(&missing, 0, 0).contains(uri));
    let place = (Target::Bmc, uri.to_owned());
    look.resources.insert(
        place.clone(),
        Some(json!({"NTP": {"ProtocolEnabled": false}})),
    );
    let differs = planned(&spec, &look);
    let target = differs
        .stages
        .first()
        .and_then(|stage| stage.targets.first());
    assert_eq!(
        target.map(|t| (t.action, t.changes.len(), t.outage.is_some())),
        Some((PlanAction::Apply, 1, false))
    );
    look.resources
        .insert(place, Some(json!({"NTP": {"ProtocolEnabled": true}})));
    assert!(!planned(&spec, &look).has_changes());
}

#[test]
fn a_password_is_never_shown_and_not_planned_twice() {
    let spec = run(
        S,
        vec![bmc_settings("set", &json!({"AdminPassword": "hunter2"}))],
    );
    let look = with_settings(
        look(Some("1"), &[("s", None)]),
        Target::Bmc,
        &json!({"AdminPassword": null}),
    );
    let first = planned(&spec, &look);
    assert!(first.has_changes() && !format!("{first:?}").contains("hunter2"));
    let fingerprint = crate::plan::secrecy::fingerprint("salt", "AdminPassword", &json!("hunter2"));
    let remembered = Remembered {
        salt: "salt".into(),
        fingerprints: BTreeMap::from([(
            Target::Bmc,
            BTreeMap::from([("AdminPassword".to_owned(), fingerprint)]),
        )]),
    };
    assert!(!report(&spec, &look, &remembered).has_changes());
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
fn problems_name_who_is_at_work_and_what_is_unusual() {
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
            "unusual-order: settings `early` stand before hop `bios`, which may reset them, and no later stage sets them \
             again",
            "unusual-order: BIOS hop `bios` stands before BMC hop `bmc`",
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

mod properties {
    use proptest::prelude::*;

    use super::*;

    fn kind() -> impl Strategy<Value = (u8, u64, bool)> {
        (0u8..4, 1u64..6, any::<bool>())
    }

    fn build(index: usize, (kind, number, transient): (u8, u64, bool)) -> StageSpec {
        let name = format!("s{index}");
        let json = json!({ format!("K{}", number % 3): number });
        let mut stage = match kind {
            0 => bmc_hop(&name, &format!("1.{number}")),
            1 => bios_hop(&name, &format!("2.{number}"), S),
            2 => bmc_settings(&name, &json),
            _ => bios_settings(&name, &json, S),
        };
        stage.transient = transient && !stage.kind.is_version();
        stage
    }

    /// The machine after everything in a report was done.
    fn done(mut look: Look, report: &RunReport) -> Look {
        for target in report.stages.iter().flat_map(|stage| &stage.targets) {
            if target.action == PlanAction::Update {
                match &target.target {
                    Target::Bmc => {
                        for manager in &mut look.managers {
                            manager.firmware_version.clone_from(&target.to);
                        }
                    }
                    Target::Server(server) => {
                        if let Some(system) = look.systems.get_mut(server) {
                            system.bios_version.clone_from(&target.to);
                        }
                    }
                }
            }
            let view = look.settings.get_mut(&target.target);
            for resource in view.into_iter().flat_map(|view| &mut view.resources) {
                resource.current.extend(
                    target
                        .changes
                        .iter()
                        .map(|c| (c.name.clone(), c.to.clone())),
                );
            }
        }
        look
    }

    proptest! {
        #[test]
        fn a_plan_that_was_carried_out_leaves_nothing_to_do(kinds in prop::collection::vec(kind(), 0..8)) {
            let mut stages: Vec<StageSpec> =
                kinds.into_iter().enumerate().map(|(index, kind)| build(index, kind)).collect();
            // Transient stages behind the last hop have no end, and are wanted again whenever something undoes them.
            let last_hop = stages.iter().rposition(|stage| stage.kind.is_version()).unwrap_or(0);
            stages.iter_mut().skip(last_hop).for_each(|stage| stage.transient = false);
            let spec = run(S, stages);
            let values = json!({"K0": 0, "K1": 0, "K2": 0});
            let before = with_settings(look(Some("1.3"), &[("s", Some("2.3"))]), server("s"), &values);
            let before = with_settings(before, Target::Bmc, &values);
            let first = planned(&spec, &before);
            prop_assert!(!first.is_blocked());
            let after = done(before, &first);
            let again = planned(&spec, &after);
            // What a transient stage undid of an earlier one is set once more before a run is completed.
            if !spec.stages.iter().any(|stage| stage.transient) {
                prop_assert!(!again.has_changes(), "{:?} then {:?}", first, again);
            }
            let last = planned(&spec, &done(after, &again));
            prop_assert!(!last.has_changes() && !last.is_blocked(), "{:?} then {:?}", again, last);
        }

        #[test]
        fn hops_never_lead_down(kinds in prop::collection::vec(kind(), 0..8), live in 0u64..7) {
            let stages = kinds.into_iter().enumerate().map(|(index, kind)| build(index, kind)).collect();
            let report = planned(&run(S, stages), &look(Some(&format!("1.{live}")), &[("s", Some(&format!("2.{live}")))]));
            for target in report.stages.iter().flat_map(|stage| &stage.targets) {
                if target.action == PlanAction::Update {
                    prop_assert!(target.from < target.to, "{:?}", target);
                }
            }
        }
    }
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
