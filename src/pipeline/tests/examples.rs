//! The example files of this repository.

use std::path::Path;
use std::time::Duration;

use super::{findings, loaded};
use crate::model::inventory::{AuthMode, SecretSource, TlsMode};
use crate::pipeline::{DriftPolicy, Image, ImageFile, StageKind};

const LAB: (&str, &str) = (
    "inventory/lab.toml",
    include_str!("../../../inventory/lab.toml"),
);
const GENERIC: (&str, &str) = (
    "pipelines/generic.toml",
    include_str!("../../../pipelines/generic.toml"),
);
const ILO6: (&str, &str) = (
    "pipelines/ilo6-upgrade.toml",
    include_str!("../../../pipelines/ilo6-upgrade.toml"),
);

const AUTO: (&str, &str) = (
    "pipelines/generic-auto.toml",
    include_str!("../../../pipelines/generic-auto.toml"),
);

#[test]
fn all_examples_load_together_without_a_finding() {
    assert_eq!(
        findings(&[LAB], &[GENERIC, ILO6, AUTO]),
        Vec::<String>::new()
    );
}

#[test]
fn the_lab_inventory_says_what_it_means() {
    let inventory = loaded(&[LAB], &[]).inventory;
    let names: Vec<_> = inventory.bmcs.iter().map(|bmc| bmc.name.as_str()).collect();
    assert_eq!(names, ["r04-c1", "r05-c1"]);
    let (first, second) = (&inventory.bmcs[0], &inventory.bmcs[1]);
    assert_eq!(
        (&*first.address.base, second.address.port),
        ("https://10.0.4.17", 8443)
    );
    assert_eq!(
        (&first.tls, first.auth, first.line),
        (&TlsMode::FirstUse, AuthMode::Auto, 25)
    );
    let credentials = first.credentials.as_ref().expect("defaults name some");
    assert_eq!(
        (credentials.name.as_str(), credentials.username.as_str()),
        ("lab", "admin")
    );
    assert!(matches!(&credentials.password, SecretSource::Env(name) if name == "LAB_BMC_PASSWORD"));
    assert_eq!(
        (first.pace.in_flight, second.pace.in_flight),
        (1, 2),
        "a BMC's own key wins"
    );
    assert_eq!(
        (second.pace.burst, second.pace.lost_update),
        (4, Duration::from_mins(20)),
        "the rest is inherited"
    );
    let server = &second.servers[1];
    assert_eq!(
        (
            server.labels["rack"].as_str(),
            server.labels["role"].as_str()
        ),
        ("r05", "web")
    );
    assert_eq!(second.servers[0].expect.serial.as_deref(), Some("CZ3507"));
}

#[test]
fn the_generic_pipeline_has_its_stages_in_order_and_its_images_beside_it() {
    let loaded = loaded(&[LAB], &[GENERIC]);
    let pipeline = &loaded.pipelines[0];
    let stages: Vec<_> = pipeline
        .stages
        .iter()
        .map(|stage| (stage.name.as_str(), stage.kind.as_str()))
        .collect();
    let expected = [
        ("bmc-baseline", "bmc-settings"),
        ("bmc-v160", "bmc-version"),
        ("bmc-v180", "bmc-version"),
        ("bmc-services", "bmc-settings"),
        ("bios-pre", "bios-settings"),
        ("bios-v220", "bios-version"),
        ("bios-v250", "bios-version"),
        ("bios-post", "bios-settings"),
    ];
    assert_eq!(stages, expected);
    let images: Vec<_> = pipeline
        .stages
        .iter()
        .filter_map(|stage| stage.kind.version())
        .collect();
    assert_eq!(images.len(), 4);
    for body in images {
        let [Image::File(ImageFile { path, .. })] = body.images()[..] else {
            panic!("images lie beside the pipeline")
        };
        assert!(
            Path::new(env!("CARGO_MANIFEST_DIR")).join(path).is_file(),
            "{}",
            path.display()
        );
    }
}

#[test]
fn the_ilo6_pipeline_keeps_what_it_says() {
    let loaded = loaded(&[LAB], &[ILO6]);
    let pipeline = &loaded.pipelines[0];
    assert_eq!(
        (pipeline.drift_policy, pipeline.rollout.max_concurrent),
        (DriftPolicy::Reconcile, 3)
    );
    assert!(pipeline.stages[3].transient && !pipeline.stages[5].transient);
    let StageKind::BiosSettings(body) = &pipeline.stages[5].kind else {
        panic!("bios-post holds settings")
    };
    assert_eq!(
        body.guard
            .as_ref()
            .map(|guard| (guard.version.as_str(), guard.exact)),
        Some(("U54 v2.50", false))
    );
    assert_eq!(body.flow[0].settings.len(), 2);
}

/// Where one of the committed images starts with the line that the mock looks for.
#[test]
fn every_image_names_itself_in_its_first_line() {
    let images = [
        (
            "bmc",
            "1.60",
            "1.50",
            include_str!("../../../pipelines/images/generic-bmc-1.60.img"),
        ),
        (
            "bmc",
            "1.80",
            "1.60",
            include_str!("../../../pipelines/images/generic-bmc-1.80.img"),
        ),
        (
            "bios",
            "2.20",
            "2.10",
            include_str!("../../../pipelines/images/generic-bios-2.20.img"),
        ),
        (
            "bios",
            "2.50",
            "2.20",
            include_str!("../../../pipelines/images/generic-bios-2.50.img"),
        ),
    ];
    for (component, version, requires, text) in images {
        let first = text.lines().next().unwrap_or_default();
        let line: serde_json::Value = serde_json::from_str(first).unwrap_or_default();
        let expected = serde_json::json!({
            "mock_firmware": 1, "component": component, "version": version, "requires": requires,
        });
        assert_eq!(line, expected);
    }
}
