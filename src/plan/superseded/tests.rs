//! Claims about `superseded`.

use serde_json::json;

use super::*;
use crate::pipeline::Guard;
use crate::plan::spec::StageKindSpec;
use crate::plan::testing::{
    bios_hop, bios_settings, bmc_hop, bmc_settings, look, run, server, shown,
};

const S: &[&str] = &["s"];

fn transient(mut stage: StageSpec) -> StageSpec {
    stage.transient = true;
    stage
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

/// Stages whose settings are not wanted, wholly (`name`) or in part (`name.key`), on server `s` and the BMC.
fn gone(stages: Vec<StageSpec>, bmc: &str, bios: &str) -> Vec<String> {
    let spec = run(S, stages);
    let mut look = look(Some(bmc), &[("s", Some(bios))]);
    look.settings.insert(server("s"), shown(&json!({})));
    let mut names = Vec::new();
    for ((index, _), superseded) in superseded(&spec, &standings(&spec, &look)) {
        let name = spec
            .stages
            .get(index)
            .map(|stage| stage.name.to_string())
            .unwrap_or_default();
        match superseded.whole {
            Some(_) => names.push(name),
            None => names.extend(superseded.keys.keys().map(|key| format!("{name}.{key}"))),
        }
    }
    names
}

fn set(name: &str, json: &Value) -> StageSpec {
    bios_settings(name, json, S)
}

#[test]
fn a_transient_stage_without_an_end_yields_to_what_an_earlier_stage_sets_for_good() {
    let stages = || {
        vec![
            set("keep", &json!({"K": 1})),
            transient(set("open", &json!({"K": 2, "L": 3}))),
        ]
    };
    assert_eq!(gone(stages(), "1.80", "2.50"), ["open.K"]);
    let mut hop_behind = stages();
    hop_behind.push(bios_hop("hop", "2.50", S));
    assert_eq!(gone(hop_behind, "1.80", "2.10"), [""; 0]);
}

#[test]
fn of_transient_stages_without_an_end_the_last_one_that_sets_a_key_is_wanted() {
    let stages = || {
        vec![
            transient(set("one", &json!({"K": 1, "L": 1}))),
            transient(set("two", &json!({"K": 2}))),
        ]
    };
    assert_eq!(gone(stages(), "1.80", "2.50"), ["one.K"]);
    let mut hop_between = stages();
    hop_between.insert(1, bios_hop("hop", "2.50", S));
    assert_eq!(gone(hop_between, "1.80", "2.10"), [""; 0]);
}

#[test]
fn a_transient_stage_is_wanted_only_while_the_next_hop_is_due() {
    let stages = || {
        vec![
            transient(set("open", &json!({"K": 1}))),
            bios_hop("hop", "2.50", S),
            set("end", &json!({"J": 1})),
        ]
    };
    assert!(gone(stages(), "1", "2.10").is_empty());
    assert_eq!(gone(stages(), "1", "2.50"), ["open"]);
}

#[test]
fn a_transient_stage_ends_at_the_next_hop_even_if_a_later_one_is_due() {
    let stages = vec![
        transient(set("open", &json!({"K": 1}))),
        bios_hop("one", "2.20", S),
        bios_hop("two", "2.50", S),
    ];
    assert_eq!(gone(stages, "1", "2.20"), ["open"]);
}

#[test]
fn a_transient_stage_without_an_end_is_wanted() {
    assert!(
        gone(
            vec![
                bios_hop("one", "2.20", S),
                transient(set("x", &json!({"K": 1})))
            ],
            "1",
            "2.20"
        )
        .is_empty()
    );
}

#[test]
fn a_key_that_is_set_again_is_wanted_only_while_a_hop_between_is_due() {
    let stages = || {
        vec![
            set("pre", &json!({"K": 1, "L": 1})),
            bios_hop("hop", "2.50", S),
            set("post", &json!({"K": 2})),
        ]
    };
    assert!(gone(stages(), "1", "2.10").is_empty());
    assert_eq!(gone(stages(), "1", "2.50"), ["pre.K"]);
    let whole = vec![set("pre", &json!({"K": 1})), set("post", &json!({"K": 2}))];
    assert_eq!(gone(whole, "1", "2.10"), ["pre"]);
}

#[test]
fn a_stage_that_does_not_apply_or_is_transient_supersedes_nothing() {
    let pre = || set("pre", &json!({"K": 1}));
    let post = || set("post", &json!({"K": 2}));
    assert!(gone(vec![pre(), guarded(post(), "2.50")], "1", "2.10").is_empty());
    assert_eq!(
        gone(vec![pre(), guarded(post(), "2.10")], "1", "2.10"),
        ["pre"]
    );
    let yields = gone(vec![pre(), transient(post())], "1", "2.10");
    assert_eq!(yields, ["post"], "`pre` stays");
}

#[test]
fn a_guard_is_met_by_hops_that_are_still_to_be_made() {
    let stages = vec![
        set("pre", &json!({"K": 1})),
        set("mid", &json!({"J": 1})),
        bios_hop("hop", "2.50", S),
        guarded(set("post", &json!({"J": 2})), "2.50"),
        guarded(set("never", &json!({"K": 2})), "9.0"),
    ];
    assert!(
        gone(stages, "1", "2.10").is_empty(),
        "the hop between needs `mid`, and `never` does not apply"
    );
}

#[test]
fn hops_of_the_bmc_count_for_servers_and_the_other_way_round() {
    let stages = |bmc: &str| {
        vec![
            transient(set("open", &json!({"K": 1}))),
            bmc_hop("hop", bmc),
            bios_hop("bios", "2.50", S),
        ]
    };
    assert!(gone(stages("1.60"), "1.50", "2.50").is_empty());
    assert_eq!(gone(stages("1.50"), "1.50", "2.50"), ["open"]);
    let unlock = vec![
        transient(bmc_settings("unlock", &json!({"K": 1}))),
        bios_hop("bios", "2.50", S),
    ];
    assert!(gone(unlock.clone(), "1", "2.10").is_empty());
    assert_eq!(gone(unlock, "1", "2.50"), ["unlock"]);
}

#[test]
fn the_rest_keeps_what_is_still_wanted() {
    let uri = "{manager}/X".to_owned();
    let settings = SettingsSpec {
        guard: None,
        flow: vec![FlowItemSpec {
            severs: false,
            actions: Vec::new(),
            name: "i".into(),
            settings: BTreeMap::from([("K".into(), json!(1)), ("L".into(), json!(2))]),
            resources: vec![ResourceSpec {
                uri,
                set: json!({"A": {"B": 1, "C": 2}, "D": {"E": 3}}),
            }],
        }],
    };
    let gone = ["K", "{manager}/X#/A/B", "{manager}/X#/D/E"];
    let keys = gone
        .iter()
        .map(|key| ((*key).to_owned(), StageName::from("later")))
        .collect();
    let rest = Superseded { whole: None, keys }.rest(&settings);
    let [item] = rest.flow.as_slice() else {
        panic!("{rest:?}")
    };
    assert_eq!(item.settings, BTreeMap::from([("L".to_owned(), json!(2))]));
    assert_eq!(
        item.resources.first().map(|r| r.set.clone()),
        Some(json!({"A": {"C": 2}}))
    );
    let nothing = Superseded {
        whole: Some("gone".into()),
        keys: BTreeMap::new(),
    }
    .rest(&settings);
    assert!(
        nothing
            .flow
            .iter()
            .all(|item| item.settings.is_empty() && item.resources.is_empty())
    );
}
