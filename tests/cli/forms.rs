//! Pushes that are more than the standard's, as the real binary puts them on the wire.

use mock_bmc::image::{Component, build};
use mock_bmc::ledger::Kind;

use crate::lab::{Lab, Setup};

const ILO: &str = r#"
[[stage]]
name = "ilo"
kind = "bmc-version"
version = "iLO 6 v1.68"
image = { file = "next.bin" }
"#;

const MEGARAC: &str = r#"
[[stage]]
name = "bmc"
kind = "bmc-version"
version = "12.85.01"
image = { file = "next.bin" }
"#;

/// The parts of the one form that a platform's hop is pushed by.
fn parts(platform: &'static str, stages: &'static str, version: &str) -> Vec<String> {
    let lab = Lab::start(Setup {
        platform,
        stages,
        ..Setup::default()
    });
    let image = build(Component::Bmc, version, None, 200_000);
    std::fs::write(lab.path("pipelines/next.bin"), image).unwrap();
    lab.redpipe(&["apply", "--yes"]).exits(0);
    let forms: Vec<_> = lab
        .bmc("mock-1", |bmc| bmc.ledger().to_vec())
        .into_iter()
        .filter(|line| line.kind == Kind::Request && line.method.as_deref() == Some("POST"))
        .filter_map(|line| line.body?["parts"].as_array().cloned())
        .collect();
    assert_eq!(forms.len(), 1, "{forms:?}");
    let names = forms[0]
        .iter()
        .map(|part| part["name"].as_str().unwrap().to_owned());
    names.collect()
}

#[test]
fn an_ilo_gets_its_form_with_the_token_of_the_session() {
    let names = parts("ilo6", ILO, "iLO 6 v1.68");
    assert_eq!(names, ["sessionKey", "parameters", "file"]);
}

#[test]
fn a_megarac_gets_its_own_part_before_the_file() {
    let names = parts("megarac", MEGARAC, "12.85.01");
    assert_eq!(names, ["UpdateParameters", "OemParameters", "UpdateFile"]);
}
