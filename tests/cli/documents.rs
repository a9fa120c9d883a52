//! `--output json`: one document on stdout whatever happens, in the shape of its command, and nothing else there.

use serde_json::{Value, json};

use crate::lab::{HOPS, Lab, Setup};
use crate::life::Ended;

fn json_of(lab: &Lab, arguments: &[&str]) -> Ended {
    lab.redpipe(&[&["--output", "json"], arguments].concat())
}

#[track_caller]
fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

#[track_caller]
fn has_keys(value: &Value, wanted: &[&str]) {
    let mut wanted = wanted.to_vec();
    wanted.sort_unstable();
    let mut found = keys(value);
    found.sort_unstable();
    assert_eq!(found, wanted);
}

const RUN: &[&str] = &[
    "id",
    "pipeline",
    "bmc",
    "servers",
    "phase",
    "reason",
    "total_stages",
    "pending_stages",
    "active_stages",
    "completed_stages",
    "failed_stages",
    "stages",
    "since",
    "deadline",
    "next_wake",
    "conditions",
];

const STAGE: &[&str] = &[
    "name", "kind", "phase", "how", "reason", "task", "percent", "servers",
];

/// Commands with a shape of their own, and what is empty in it.
const EMPTY: &[(&[&str], &str)] = &[
    (&["validate"], r#"{"valid":false}"#),
    (&["plan"], r#"{"runs":[],"problems":[]}"#),
    (
        &["apply", "--yes"],
        r#"{"runs":[],"pipelines":[],"problems":[]}"#,
    ),
    (&["inventory", "check"], r#"{"bmcs":[]}"#),
    (&["trust", "mock-1"], r#"{"bmcs":[]}"#),
];

/// The document is the command's empty shape and these errors.
#[track_caller]
fn is_refused(ended: &Ended, empty: &str) -> Vec<Value> {
    let mut document = ended.document();
    let errors = document.as_object_mut().unwrap().remove("errors").unwrap();
    assert_eq!(document, serde_json::from_str::<Value>(empty).unwrap());
    let errors = errors.as_array().unwrap().clone();
    assert!(!errors.is_empty());
    for error in &errors {
        assert!(
            error["kind"].is_string() && error["message"].is_string(),
            "{error}"
        );
        assert!(
            error["hint"].is_string() || error["hint"].is_null(),
            "{error}"
        );
    }
    errors
}

#[test]
fn an_invalid_file_is_every_commands_empty_shape_with_each_finding_and_its_place() {
    let lab = Lab::start(Setup::default());
    let path = lab.path("inventory/lab.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{text}nme = 1\nodd = 2\n")).unwrap();
    for (command, empty) in EMPTY {
        let ended = json_of(&lab, command).exits(2);
        let errors = is_refused(&ended, empty);
        assert_eq!(errors.len(), 2, "{command:?}");
        for error in &errors {
            assert_eq!(error["kind"], "invalid-file");
            assert_eq!(error["file"], "inventory/lab.toml");
            assert!(
                error["line"].is_u64() && error["column"] == json!(1),
                "{error}"
            );
        }
        assert!(
            ended.stderr.contains("inventory/lab.toml:"),
            "{}",
            ended.stderr
        );
    }
}

#[test]
fn a_file_that_is_not_there_and_a_state_that_cannot_be_opened_are_errors_in_the_document() {
    let lab = Lab::start(Setup::default());
    for (command, empty) in EMPTY {
        let arguments = [&["-i", "nowhere.toml"], *command].concat();
        let errors = is_refused(&json_of(&lab, &arguments).exits(2), empty);
        assert_eq!(errors[0]["kind"], "unreadable-file");
    }
    std::fs::write(lab.path("state"), "a file where a folder should be").unwrap();
    let without_state = EMPTY.iter().skip(1);
    for (command, empty) in without_state.chain(&[
        (
            &["status"][..],
            r#"{"runs":[],"pipelines":[],"problems":[]}"#,
        ),
        (&["events"], r#"{"events":[]}"#),
    ]) {
        is_refused(&json_of(&lab, command).exits(2), empty);
    }
    let followed = json_of(&lab, &["events", "--follow"]).exits(2);
    assert_eq!(followed.stdout.lines().count(), 1, "{}", followed.stdout);
    is_refused(&followed, "{}");
}

#[test]
fn what_matches_nothing_and_what_may_not_be_asked_are_errors_in_the_document() {
    let lab = Lab::start(Setup::default());
    let (runs, all) = (EMPTY[1].1, EMPTY[2].1);
    for (arguments, code, kind, empty) in [
        (
            &["plan", "--limit", "rack=r9"][..],
            4,
            "nothing-matched",
            runs,
        ),
        (&["plan", "--limit", "rack in"], 2, "usage", runs),
        (&["apply"], 2, "usage", all),
        (&["status", "p/nowhere"], 4, "nothing-matched", all),
        (&["trust", "nowhere"], 4, "nothing-matched", EMPTY[4].1),
    ] {
        let errors = is_refused(&json_of(&lab, arguments).exits(code), empty);
        assert_eq!(errors[0]["kind"], kind, "{arguments:?}");
    }
}

#[test]
fn a_bmc_that_cannot_be_worked_with_is_a_problem_beside_the_results_of_the_others() {
    let lab = Lab::start(Setup {
        systems: &[1, 1],
        ..Setup::default()
    });
    lab.bmc("mock-2", |bmc| bmc.set_password("another"));
    for command in [&["plan"][..], &["apply", "--yes"]] {
        let document = json_of(&lab, command).exits(5).document();
        assert_eq!(document["runs"].as_array().unwrap().len(), 1, "{command:?}");
        assert_eq!(document["runs"][0]["bmc"], "mock-1");
        let problems = document["problems"].as_array().unwrap();
        let of_it: Vec<_> = problems
            .iter()
            .filter(|problem| problem["bmc"] == "mock-2")
            .collect();
        assert_eq!(of_it.len(), 1, "{problems:?}");
        has_keys(of_it[0], &["bmc", "kind", "message"]);
    }
    let document = json_of(&lab, &["inventory", "check"]).exits(5).document();
    assert_eq!(document["bmcs"].as_array().unwrap().len(), 2);
    assert_eq!(
        document["bmcs"][1]["problems"][0]["kind"],
        "credentials-bad"
    );
}

#[test]
fn documents_of_files_and_looks_have_the_documented_keys() {
    let lab = Lab::start(Setup {
        stages: HOPS,
        ..Setup::default()
    });
    let valid = json_of(&lab, &["validate"]).exits(0).document();
    has_keys(
        &valid,
        &["valid", "bmcs", "servers", "pipelines", "warnings"],
    );
    let plan = json_of(&lab, &["plan"]).exits(3).document();
    has_keys(&plan, &["runs", "problems"]);
    has_keys(&plan["runs"][0], &["pipeline", "bmc", "servers", "stages"]);
    has_keys(&plan["runs"][0]["stages"][0], &["name", "kind", "targets"]);
    has_keys(
        &plan["runs"][0]["stages"][0]["targets"][0],
        &[
            "target", "action", "from", "to", "changes", "method", "outage", "disturbs", "reason",
        ],
    );
    let check = json_of(&lab, &["inventory", "check"]).exits(0).document();
    has_keys(
        &check["bmcs"][0],
        &[
            "bmc",
            "address",
            "uuid",
            "platform",
            "vendor",
            "product",
            "bmc_version",
            "capabilities",
            "recognized_by",
            "licences",
            "lockdown",
            "clock",
            "sessions",
            "tls",
            "work",
            "servers",
            "problems",
        ],
    );
    has_keys(&check["bmcs"][0]["tls"], &["mode", "pin"]);
    has_keys(&check["bmcs"][0]["sessions"], &["open", "limit"]);
    has_keys(&check["bmcs"][0]["clock"], &["says", "ahead_seconds"]);
    has_keys(&check["bmcs"][0]["work"], &["tasks", "jobs", "staged"]);
    has_keys(
        &check["bmcs"][0]["servers"][0],
        &[
            "server",
            "system",
            "model",
            "serial",
            "bios_version",
            "bios_attributes",
            "pending",
            "power_state",
        ],
    );
}

#[test]
fn documents_of_runs_have_the_documented_keys() {
    let lab = Lab::start(Setup {
        stages: HOPS,
        ..Setup::default()
    });
    let applied = json_of(&lab, &["apply", "--yes"]).exits(0).document();
    let status = json_of(&lab, &["status", "p/mock-1"]).exits(0).document();
    for document in [&applied, &status] {
        has_keys(document, &["runs", "pipelines", "problems"]);
        has_keys(&document["runs"][0], RUN);
        has_keys(&document["runs"][0]["stages"][0], STAGE);
        has_keys(
            &document["runs"][0]["conditions"][0],
            &["type", "status", "reason", "message"],
        );
        has_keys(
            &document["pipelines"][0],
            &["pipeline", "phase", "runs", "waiting"],
        );
    }
    assert_eq!(applied["runs"][0]["stages"], status["runs"][0]["stages"]);
    let events = json_of(&lab, &["events"]).exits(0).document();
    has_keys(
        &events["events"][0],
        &[
            "cursor", "run", "pipeline", "bmc", "at", "message", "record",
        ],
    );
    let trusted = json_of(&lab, &["trust", "mock-1"]).exits(0).document();
    has_keys(&trusted["bmcs"][0], &["bmc", "done"]);
}

#[test]
fn what_needs_no_bmc_is_a_document_too() {
    let lab = Lab::start(Setup::default());
    let versions = json_of(&lab, &["versions", "1.0", "2.0"])
        .exits(0)
        .document();
    has_keys(&versions, &["a", "b", "sign", "rule"]);
    let schema = json_of(&lab, &["schema", "pipeline"]).exits(0).document();
    assert!(schema["properties"].is_object());
}
