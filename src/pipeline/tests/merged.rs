//! Several files together, and what stays of good ones.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;

use super::{findings, loaded, shown, try_load};
use crate::model::inventory::{AuthMode, SecretSource, TlsChange, TlsMode};
use crate::pipeline::{
    Given, Image, Method, RequirementOp, ResetPolicy, Route, Scope, Severity, StageKind, Template,
};

const CREDENTIALS: &str =
    "[credentials.lab]\nusername = \"admin\"\npassword = { file = \"secret/bmc\" }\n";
const BMC_A: &str = "[[bmc]]\nname = \"a\"\naddress = \"ha\"\n";
const BMC_B: &str = "[[bmc]]\nname = \"b\"\naddress = \"hb\"\n";
const HEAD: &str = "[selector]\nmatch_labels = {}\n";

#[test]
fn names_are_unique_over_all_files() {
    let two = format!("{CREDENTIALS}{BMC_A}credentials = \"lab\"\n");
    let pipeline = format!(
        "name = \"p\"\n{HEAD}[[stage]]\nname = \"s\"\nkind = \"bios-settings\"\nsettings = {{ A = 1 }}\n"
    );
    let expected = [
        "two.toml:1:14 error: credentials `lab` is there twice | again here | give one of them another name | one.toml:1:14 first here",
        "two.toml:5:8 error: bmc `a` is there twice | again here | give one of them another name | one.toml:5:8 first here",
        "two.toml:6:11 error: bmc `a` has the address of bmc `a` | again here | list each BMC once, with all its servers | one.toml:6:11 first here",
        "q.toml:1:8 error: pipeline `p` is there twice | again here | give one of them another name | p.toml:1:8 first here",
    ];
    let found = findings(
        &[("one.toml", &two), ("two.toml", &two)],
        &[("p.toml", &pipeline), ("q.toml", &pipeline)],
    );
    assert_eq!(found, expected);
}

#[test]
fn a_file_that_is_not_toml_hides_no_finding_of_another() {
    let found = findings(
        &[("one.toml", "x = \n"), ("two.toml", "y = 1\n")],
        &[("p.toml", "z = 1\n")],
    );
    let files: Vec<_> = found
        .iter()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(
        files,
        [
            "one.toml:1:5",
            "two.toml:1:1",
            "p.toml:1:1",
            "p.toml:1:1",
            "p.toml:1:1",
            "p.toml:1:1"
        ]
    );
}

#[test]
fn a_files_own_defaults_win_over_the_only_other_ones() {
    let common = format!(
        "{CREDENTIALS}[defaults]\ncredentials = \"lab\"\ntls = {{ ca = \"ca.pem\" }}\npoll_interval = \"1m\"\ntls_change = \"accept-in-outage\"\n"
    );
    let rack = format!(
        "[defaults]\npoll_interval = \"2m\"\n{BMC_B}tls_change = \"hold\"\n{BMC_A}auth = \"basic\"\n"
    );
    let inventory = loaded(
        &[("conf/common.toml", &common), ("racks/r1.toml", &rack)],
        &[],
    )
    .inventory;
    let [a, b] = inventory.bmcs.as_slice() else {
        panic!("two BMCs, by name")
    };
    assert_eq!(
        (a.name.as_str(), a.auth, b.auth),
        ("a", AuthMode::Basic, AuthMode::Auto)
    );
    assert_eq!(
        a.tls,
        TlsMode::Ca(PathBuf::from("conf/ca.pem")),
        "paths are relative to the file that writes them"
    );
    assert_eq!(
        (a.tls_change, b.tls_change),
        (TlsChange::AcceptInOutage, TlsChange::Hold)
    );
    assert_eq!(a.poll_interval, Duration::from_mins(2));
    let password = &a.credentials.as_ref().expect("the other file's").password;
    assert!(matches!(password, SecretSource::File(path) if path.as_os_str() == "conf/secret/bmc"));
}

#[test]
fn defaults_that_two_other_files_set_are_refused() {
    let one = format!("{CREDENTIALS}[defaults]\ncredentials = \"lab\"\ntls = \"verify\"\n");
    let two = "[defaults]\ntls = \"insecure\"\n";
    let expected = [
        "three.toml:1:1 error: default `tls` of this file's BMCs is set in several other files | which one? \
                     | set `tls` in this file's `[defaults]` | one.toml:6:7 one is here | two.toml:2:7 another here",
    ];
    assert_eq!(
        findings(
            &[("one.toml", &one), ("two.toml", two), ("three.toml", BMC_A)],
            &[]
        ),
        expected
    );
}

#[test]
fn no_secret_is_in_the_texts_that_findings_point_into() {
    let inventory = format!(
        "{CREDENTIALS}[credentials.x]\nusername = \"u\"\npassword = {{ plain = \"hunter2\" }}\n[credentials.y]\nusername = \"u\"\npassword = \"hunter2\"\n"
    );
    let broken = "[credentials.x]\npassword = { plain = \"hunter2 }\n";
    let pipeline = format!(
        "name = \"p\"\n{HEAD}[[stage]]\nname = \"s\"\nkind = \"bmc-settings\"\nsettings = {{ AdminPassword = \"hunter2\", Password = \"${{env.PW}}\" }}\n\
         [[stage]]\nname = \"t\"\nkind = \"bmc-version\"\nversion = \"1\"\nimage = {{ uri = \"http://u:hunter2@h/i\", sha256 = \"hunter2\" }}\n"
    );
    let files = [("i.toml", inventory.as_str()), ("b.toml", broken)];
    let Err(all) = try_load(&files, &[("p.toml", &pipeline)]) else {
        panic!("these are faulty")
    };
    for (source, before) in all.sources.iter().zip([&inventory, broken, &pipeline]) {
        assert_eq!(source.text().len(), before.len(), "offsets stay valid");
        assert!(
            !source
                .text()
                .replace("sha256 = \"hunter2\"", "")
                .contains("hunter2"),
            "{}",
            source.text()
        );
    }
    assert!(
        all.sources[2].text().contains("${env.PW}"),
        "a variable is no secret"
    );
    assert!(
        !all.findings
            .iter()
            .any(|finding| shown(&all, finding).contains("hunter2"))
    );
    let good = format!(
        "{CREDENTIALS}[credentials.x]\nusername = \"u\"\npassword = {{ plain = \"hunter2\" }}\n{BMC_A}credentials = \"x\"\n"
    );
    let loaded = loaded(&[("i.toml", &good)], &[]);
    assert_eq!(loaded.warnings.count(Severity::Warning), 1);
    assert!(!format!("{loaded:?}").contains("hunter2"));
}

const FULL: &str = r#"name = "p"
selector = { match_expressions = [{ key = "rack", operator = "In", values = ["r04"] }, { key = "x", operator = "DoesNotExist" }] }
[defaults]
timeout = "45m"
reset = "force"
attempts = 2
method = "simple-update"
targets = ["/redfish/v1/UpdateService/FirmwareInventory/BMC"]
[[stage]]
name = "fw"
kind = "bmc-version"
version = "1.60"
requires = ">= 1.50"
attempts = 3
match = "exact"
allow_downgrade = true
image = { uri = "http://${env.HOST}/${label.rack}.bin", sha256 = "ABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABAB" }
[[stage]]
name = "set"
kind = "bios-settings"
version = "2.10"
match = "exact"
transient = true
[[stage.flow]]
name = "late"
priority = 2
settings = { Note = "${server.name}$$", Count = 3, Rate = 0.5, On = true }
[[stage.flow]]
name = "first"
priority = -1
resources = [{ uri = "{system}/Boot", set = { Boot = { Order = ["${bmc.name}", 1], Key = "${file.key.pem}" } } }]
[[stage.flow]]
name = "early"
settings = { A = "x" }
"#;

#[test]
fn a_good_pipeline_keeps_all_it_says() {
    let loaded = loaded(&[], &[("dir/p.toml", FULL)]);
    let pipeline = &loaded.pipelines[0];
    let (fw, set) = (&pipeline.stages[0], &pipeline.stages[1]);
    assert_eq!((fw.line, set.line, set.transient), (9, 18, true));
    let options = &fw.options;
    assert_eq!(
        (options.timeout, options.attempts),
        (Some(Duration::from_mins(45)), 3),
        "a stage's own word wins"
    );
    assert_eq!(
        (options.reset, options.method),
        (ResetPolicy::Force, Method::SimpleUpdate)
    );
    assert!(
        options.exact && options.allow_downgrade && !set.options.exact && set.options.attempts == 2
    );
    let StageKind::BmcVersion(body) = &fw.kind else {
        panic!("fw is a version stage")
    };
    let Route::Hop { requires, .. } = &body.route else {
        panic!("fw is one hop")
    };
    let requires = requires
        .as_ref()
        .map(|requires| (requires.op, requires.version.as_str()));
    assert_eq!(requires, Some((RequirementOp::AtLeast, "1.50")));
    assert_eq!(body.version.literal().as_deref(), Some("1.60"));
    assert_eq!(body.images()[0].sha256(), Some("ab".repeat(32).as_str()));
    let StageKind::BiosSettings(body) = &set.kind else {
        panic!("set is a settings stage")
    };
    assert_eq!(body.guard.as_ref().map(|guard| guard.exact), Some(true));
    let order: Vec<_> = body.flow.iter().map(|item| item.name.as_str()).collect();
    assert_eq!(order, ["first", "early", "late"]);
    let labels = |rack: &str| BTreeMap::from([("rack".to_owned(), rack.to_owned())]);
    assert!(
        pipeline.selector.matches(&labels("r04")) && !pipeline.selector.matches(&labels("r05"))
    );
}

#[test]
fn values_from_outside_are_asked_for_and_their_absence_is_located() {
    let loaded = loaded(&[], &[("dir/p.toml", FULL)]);
    let needs = loaded.needs();
    assert_eq!(needs.env.into_iter().collect::<Vec<_>>(), ["HOST"]);
    assert_eq!(
        needs.files.into_iter().collect::<Vec<_>>(),
        [PathBuf::from("dir/key.pem")]
    );
    let Err(all) = loaded.check_given(&Given::default()) else {
        panic!("nothing is given")
    };
    let found: Vec<_> = all
        .findings
        .iter()
        .map(|finding| shown(&all, finding))
        .collect();
    let expected = [
        "dir/p.toml:17:25 error: variable `${env.HOST}` has no value | the environment variable is not set | set it before redpipe starts",
        "dir/p.toml:31:91 error: variable `${file.dir/key.pem}` has no value | the file cannot be read | put the file there, readable for redpipe",
    ];
    assert_eq!(found, expected);
    let given = Given {
        env: BTreeMap::from([("HOST".to_owned(), "images".to_owned())]),
        files: BTreeMap::from([(PathBuf::from("dir/key.pem"), "KEY\n".to_owned())]),
        ..Given::default()
    };
    assert_eq!(loaded.check_given(&given), Ok(()));
    let labels = BTreeMap::from([("rack".to_owned(), "r04".to_owned())]);
    let scope = Scope {
        bmc: "b",
        server: Some("s"),
        labels: &labels,
        given: &given,
    };
    let resolve = |template: &Template| {
        template
            .resolve(&scope)
            .unwrap_or_else(|error| panic!("{error}"))
    };
    let stages = &loaded.pipelines[0].stages;
    let StageKind::BmcVersion(body) = &stages[0].kind else {
        panic!("fw is a version stage")
    };
    let Image::Uri { uri, .. } = body.images()[0] else {
        panic!("the image has a URI")
    };
    assert_eq!(resolve(uri), json!("http://images/r04.bin"));
    let StageKind::BiosSettings(body) = &stages[1].kind else {
        panic!("set is a settings stage")
    };
    assert_eq!(
        resolve(&body.flow[0].resources[0].set),
        json!({ "Boot": { "Order": ["b", 1], "Key": "KEY" } })
    );
    let values: Vec<_> = body.flow[2].settings.values().map(resolve).collect();
    assert_eq!(values, [json!(3), json!("s$"), json!(true), json!(0.5)]);
}
