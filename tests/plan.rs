//! The example pipelines, planned against machines that stand where they start, in the middle, and at the end.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;

use jiff::Timestamp;
use redpipe::model::action::UpdateMethod;
use redpipe::model::look::{Identity, ManagerView, SystemView};
use redpipe::model::setting::AttributeResource;
use redpipe::model::{Capability, Look, ServerName, SettingsView, Target};
use redpipe::pipeline::{Given, Source, load};
use redpipe::plan::secrecy::Remembered;
use redpipe::plan::{
    CatalogImage, Footing, ImageCatalog, ImageOrigin, PlanAction, RunReport, RunSpec, look_request,
    report, resolve, wanted_images,
};
use serde_json::{Value, json};

const LAB: &str = include_str!("../inventory/lab.toml");
const GENERIC: &str = include_str!("../pipelines/generic.toml");
const ILO6: &str = include_str!("../pipelines/ilo6-upgrade.toml");

/// The run of one example on the first BMC of the lab, which has one server, with made-up image hashes.
fn example(text: &str) -> RunSpec {
    let loaded = load(
        &[Source::new("inventory/lab.toml", LAB)],
        &[Source::new("pipelines/example.toml", text)],
    )
    .unwrap();
    let (pipeline, bmc) = (
        loaded.pipelines.first().unwrap(),
        loaded.inventory.bmcs.first().unwrap(),
    );
    let given = Given::default();
    let mut catalog = ImageCatalog::default();
    for image in wanted_images(pipeline, bmc, &bmc.servers, &given, None).unwrap() {
        if let ImageOrigin::File(path) = image.origin {
            let known = CatalogImage {
                sha256: "ab".repeat(32),
                bytes: 300,
                path: path.clone(),
            };
            catalog.files.insert(path, known);
        }
    }
    resolve(pipeline, bmc, &bmc.servers, &given, &catalog, Footing::End).unwrap()
}

/// A machine with one system whose settings are as given.
fn machine(
    server: &str,
    platform: &str,
    bmc: &str,
    bios: &str,
    network: Value,
    attributes: &Value,
) -> Look {
    let system = SystemView {
        uri: "/redfish/v1/Systems/1".into(),
        id: "1".into(),
        bios_version: Some(bios.into()),
        bios_uri: Some("/redfish/v1/Systems/1/Bios".into()),
        managed_by: vec!["/redfish/v1/Managers/1".into()],
        ..SystemView::default()
    };
    let current = attributes
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, value)| (name.clone(), value.clone()));
    let resource = AttributeResource {
        uri: "/redfish/v1/Systems/1/Bios".into(),
        write_uri: "/redfish/v1/Systems/1/Bios/Settings".into(),
        current: current.collect(),
        ..AttributeResource::default()
    };
    let view = SettingsView {
        resources: vec![resource],
        ..SettingsView::default()
    };
    Look {
        at: Timestamp::UNIX_EPOCH,
        identity: Identity::default(),
        capability: Capability {
            platform: platform.into(),
            update_methods: vec![UpdateMethod::MultipartPush, UpdateMethod::SimpleUpdate],
            ..Capability::default()
        },
        managers: vec![ManagerView {
            uri: "/redfish/v1/Managers/1".into(),
            is_bmc: true,
            model: None,
            firmware_version: Some(bmc.into()),
        }],
        systems: BTreeMap::from([(server.into(), system)]),
        other_systems: Vec::new(),
        missing_systems: Vec::new(),
        software: Vec::new(),
        tasks: Vec::new(),
        followed: Vec::new(),
        jobs: Vec::new(),
        settings: BTreeMap::from([(Target::Server(ServerName::from(server)), view)]),
        fetched: Vec::new(),
        resources: BTreeMap::from([(
            (Target::Bmc, "{manager}/NetworkProtocol".to_owned()),
            Some(network),
        )]),
        manager_started: None,
        problems: Vec::new(),
    }
}

fn lines(report: &RunReport) -> Vec<String> {
    let targets = report
        .stages
        .iter()
        .flat_map(|stage| stage.targets.iter().map(move |target| (stage, target)));
    targets
        .map(|(stage, target)| {
            let (from, to) = (
                target.from.as_deref().unwrap_or("-"),
                target.to.as_deref().unwrap_or("-"),
            );
            let changes: Vec<&str> = target
                .changes
                .iter()
                .map(|change| change.name.as_str())
                .collect();
            format!(
                "{} {} {from} > {to} {changes:?}",
                stage.name,
                target.action.as_str()
            )
        })
        .collect()
}

fn generic(bmc: &str, bios: &str, is_set: bool) -> RunReport {
    let spec = example(GENERIC);
    let network = json!({
        "NTP": {"ProtocolEnabled": is_set, "NTPServers": ["10.0.0.1"]}, "SSH": {"ProtocolEnabled": !is_set},
    });
    let nodes = if is_set { 2 } else { 1 };
    let attributes = json!({
        "QuietBoot": !is_set, "ProcHyperthreading": "Enabled", "NumaNodesPerSocket": nodes,
        "AssetNote": if is_set { "r04-07 on r04-c1" } else { "" },
    });
    let look = machine("r04-07", "generic", bmc, bios, network, &attributes);
    report(&spec, &look, &Remembered::default())
}

#[test]
fn the_generic_pipeline_walks_every_hop_from_the_start() {
    let expected = [
        r#"bmc-baseline apply - > - ["{manager}/NetworkProtocol#/NTP/ProtocolEnabled"]"#,
        "bmc-v160 update 1.50 > 1.60 []",
        "bmc-v180 update 1.60 > 1.80 []",
        r#"bmc-services apply - > - ["{manager}/NetworkProtocol#/SSH/ProtocolEnabled"]"#,
        r#"bios-pre apply - > - ["QuietBoot"]"#,
        "bios-v220 update 2.10 > 2.20 []",
        "bios-v250 update 2.20 > 2.50 []",
        r#"bios-post apply - > - ["NumaNodesPerSocket", "AssetNote"]"#,
    ];
    assert_eq!(lines(&generic("1.50", "2.10", false)), expected);
}

#[test]
fn the_generic_pipeline_sends_only_what_is_above() {
    let lines = lines(&generic("1.70", "2.20", true));
    let hops: Vec<&String> = lines.iter().filter(|line| line.contains("-v")).collect();
    let expected = [
        "bmc-v160 none 1.70 > 1.60 []",
        "bmc-v180 update 1.70 > 1.80 []",
        "bios-v220 none 2.20 > 2.20 []",
        "bios-v250 update 2.20 > 2.50 []",
    ];
    assert_eq!(hops, expected.iter().collect::<Vec<_>>());
}

#[test]
fn the_generic_pipeline_has_nothing_to_do_at_the_end() {
    let report = generic("1.80", "2.50", true);
    assert!(
        !report.has_changes() && !report.is_blocked(),
        "{:?}",
        lines(&report)
    );
}

#[test]
fn the_hpe_pipeline_compares_as_the_vendor_writes() {
    let spec = example(ILO6);
    let request = look_request(&spec);
    assert!(request.software && request.settings.len() == 1 && request.resources.len() == 1);
    let network = json!({"NTP": {"ProtocolEnabled": true, "NTPServers": ["10.0.0.1"]}});
    let attributes = json!({"PreBootNetwork": "Disabled", "ProcHyperthreading": "Enabled", "NumaGroupSizeOpt": "Flat"});
    let plan = |bmc: &str, bios: &str| {
        let look = machine("r04-07", "hpe", bmc, bios, network.clone(), &attributes);
        report(&spec, &look, &Remembered::default())
    };
    let expected = [
        "bmc-baseline none - > - []",
        "bmc-fw-v160 none iLO 6 v1.66 > iLO 6 v1.60 []",
        "bmc-fw-v180 update iLO 6 v1.66 > iLO 6 v1.80 []",
        r#"bios-pre apply - > - ["PreBootNetwork"]"#,
        "bios-fw-v250 update U54 v2.10 (06/01/2023) > U54 v2.50 []",
        r#"bios-post apply - > - ["NumaGroupSizeOpt"]"#,
    ];
    assert_eq!(
        lines(&plan("iLO 6 v1.66", "U54 v2.10 (06/01/2023)")),
        expected
    );
    let done = plan("iLO 6 v1.80", "U54 v2.50 (12/04/2023)");
    let transient = done
        .stages
        .get(3)
        .and_then(|stage| stage.targets.first())
        .unwrap();
    assert_eq!(
        transient.action,
        PlanAction::None,
        "a finished pipeline sets nothing transient again"
    );
    for (bmc, bios) in [("iLO 5 v3.09", "U54 v2.50"), ("iLO 6 v1.80", "A56 v1.20")] {
        let report = plan(bmc, bios);
        assert!(report.is_blocked(), "{:?}", lines(&report));
    }
}
