//! `snapshot`: what it prints is a pipeline that asks nothing of the server it was made of.

use serde_json::json;

use crate::lab::{Lab, PASSWORD, Setup};

/// A server on which somebody chose some settings.
fn golden() -> Lab {
    let lab = Lab::start(Setup::default());
    lab.bmc("mock-1", |bmc| {
        bmc.set_attribute(0, "AdminPhone", json!("call ${nobody} for $5, \"soon\""));
        bmc.set_attribute(0, "AdminPassword", json!("quartz-55-Meadow"));
        bmc.set_attribute(0, "PowerRegulator", json!("OsControl"));
        bmc.set_attribute(0, "ProcCoreDisable", json!(4));
        bmc.set_attribute(0, "QuietBoot", json!(false));
        bmc.set_attribute(0, "WorkloadProfile", json!("Custom"));
        bmc.set_bmc_attribute("NtpEnable", &json!("Enabled"));
    });
    lab
}

fn server(lab: &Lab) -> String {
    let checked = lab
        .redpipe(&["--output", "json", "inventory", "check"])
        .exits(0);
    let name = &checked.document()["bmcs"][0]["servers"][0]["server"];
    name.as_str().unwrap().to_owned()
}

fn writes(lab: &Lab) -> Vec<String> {
    let lines = lab.ledger("mock-1").into_iter();
    let told = lines.filter_map(|line| Some((line.method?, line.path?)));
    let writes = told.filter(|(method, path)| method != "GET" && !path.contains("/Sessions"));
    writes
        .map(|(method, path)| format!("{method} {path}"))
        .collect()
}

#[test]
fn the_pipeline_of_a_golden_server_loads_and_finds_nothing_to_do_on_it() {
    let lab = golden();
    let printed = lab.redpipe(&["snapshot", &server(&lab)]).exits(0);
    std::fs::create_dir(lab.path("golden")).unwrap();
    std::fs::write(lab.path("golden/golden.toml"), &printed.stdout).unwrap();

    lab.redpipe(&["validate", "golden"]).exits(0);
    let planned = lab
        .redpipe(&["--output", "json", "plan", "golden"])
        .exits(0);
    let stages = planned.document()["runs"][0]["stages"].clone();
    let actions: Vec<_> = stages
        .as_array()
        .unwrap()
        .iter()
        .map(|stage| (stage["name"].clone(), stage["targets"][0]["action"].clone()))
        .collect();
    let none = |name: &str| (json!(name), json!("none"));
    assert_eq!(
        actions,
        [
            "bmc-version",
            "bios-version",
            "bmc-settings",
            "bios-settings"
        ]
        .map(none)
    );
    assert_eq!(writes(&lab), [""; 0]);

    // The same pipeline brings a server back from which somebody took it.
    lab.bmc("mock-1", |bmc| {
        bmc.set_attribute(0, "PowerRegulator", json!("Dynamic"));
        bmc.set_attribute(0, "WorkloadProfile", json!("Balanced"));
    });
    lab.redpipe(&["apply", "--yes", "golden"]).exits(0);
    let now = lab.bmc("mock-1", |bmc| bmc.state().systems[0].attributes.clone());
    assert_eq!(now["WorkloadProfile"], "Custom");
    assert_eq!(now["PowerRegulator"], "OsControl");
}

#[test]
fn only_what_somebody_chose_is_asked_and_what_unlocks_a_setting_stands_before_it() {
    let lab = golden();
    let printed = lab.redpipe(&["snapshot", &server(&lab)]).exits(0);
    let pipeline: toml::Value = toml::from_str(&printed.stdout).unwrap();

    let stages = pipeline["stage"].as_array().unwrap();
    let bios = stages.last().unwrap();
    let groups: Vec<_> = bios["flow"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["settings"].clone())
        .collect();
    let first: toml::Value = toml::from_str(
        "AdminPhone = \"call $${nobody} for $$5, \\\"soon\\\"\"\nProcCoreDisable = 4\nQuietBoot = false\nWorkloadProfile = \"Custom\"",
    )
    .unwrap();
    let then: toml::Value = toml::from_str("PowerRegulator = \"OsControl\"").unwrap();
    assert_eq!(groups, [first, then]);
    assert_eq!(
        pipeline["selector"]["match_labels"]["redfish.platform"].as_str(),
        Some("generic")
    );
    for secret in ["quartz-55-Meadow", PASSWORD, "DnsName ="] {
        assert!(!printed.stdout.contains(secret), "{}", printed.stdout);
    }
}

#[test]
fn images_that_a_person_names_are_in_it_and_without_them_none_is_ever_found() {
    let lab = golden();
    let server = server(&lab);
    let without = lab.redpipe(&["snapshot", &server]).exits(0);
    assert!(
        without.stdout.contains("http://image.invalid/bmc/1.50"),
        "{}",
        without.stdout
    );
    let bmc = ["--bmc-image", "http://files.example/bmc?v=$1"];
    let bios = ["--bios-image", "images/bios.bin"];
    let with = lab
        .redpipe(&[&["snapshot", server.as_str()], &bmc[..], &bios[..]].concat())
        .exits(0);
    let pipeline: toml::Value = toml::from_str(&with.stdout).unwrap();
    assert_eq!(
        pipeline["stage"][0]["image"]["uri"].as_str(),
        Some("http://files.example/bmc?v=$$1")
    );
    assert_eq!(
        pipeline["stage"][1]["image"]["file"].as_str(),
        Some("images/bios.bin")
    );
}

#[test]
fn a_server_that_nobody_lists_is_refused_with_the_names_there_are() {
    let lab = golden();
    let refused = lab
        .redpipe(&["--output", "json", "snapshot", "nobody"])
        .exits(4);
    let document = refused.document();
    assert_eq!(document["pipeline"], json!(null));
    let hint = document["errors"][0]["hint"].as_str().unwrap().to_owned();
    assert!(hint.contains(&server(&lab)), "{hint}");
}
