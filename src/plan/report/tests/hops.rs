//! Hops in a report.

use super::*;

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
