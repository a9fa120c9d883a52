//! Settings in a report.

use super::*;

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
