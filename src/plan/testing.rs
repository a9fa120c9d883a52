//! Specs and looks for the tests of this room.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use super::digest::digest;
use super::spec::{
    FlowItemSpec, ImageOrigin, ImageSpec, RunSpec, ServerSpec, SettingsSpec, StageKindSpec,
    StageSpec, VersionSpec,
};
use crate::model::action::UpdateMethod;
use crate::model::inventory::{Expect, Labels, Pace};
use crate::model::look::{Identity, ManagerView, SoftwareView, SystemView};
use crate::model::setting::AttributeResource;
use crate::model::{Capability, Look, SettingsView, Target};
use crate::pipeline::{DriftPolicy, Maintenance, Rollout, StageOptions};

/// `server:NAME`.
pub(super) fn server(name: &str) -> Target {
    Target::Server(name.into())
}

/// Values by name.
pub(super) fn values(json: &Value) -> BTreeMap<String, Value> {
    json.as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// A run over servers, with stages whose names are given.
pub(super) fn run(servers: &[&str], stages: Vec<StageSpec>) -> RunSpec {
    let servers = servers.iter().map(|name| ServerSpec {
        name: (*name).into(),
        system: None,
        labels: Labels::default(),
        expect: Expect::default(),
    });
    let mut spec = RunSpec {
        pipeline: "p".into(),
        source: "p.toml".into(),
        bmc: "b".into(),
        servers: servers.collect(),
        gone: std::collections::BTreeSet::new(),
        tls_change: crate::model::inventory::TlsChange::Hold,
        pace: Pace {
            settle_for: Duration::from_secs(1),
            ..Pace::default()
        },
        rollout: Rollout::default(),
        maintenance: Maintenance::default(),
        drift_policy: DriftPolicy::default(),
        generation: String::new(),
        stages,
        paths: super::expand::HopPaths::new(),
        digest: String::new(),
    };
    let kinds: Vec<&'static str> = spec
        .stages
        .iter()
        .map(|stage| stage.kind.as_str())
        .collect();
    for (index, stage) in spec.stages.iter_mut().enumerate() {
        stage.line = index + 1;
        let last = !kinds
            .iter()
            .skip(index + 1)
            .any(|kind| *kind == stage.kind.as_str());
        match &mut stage.kind {
            StageKindSpec::BmcVersion(by) | StageKindSpec::BiosVersion(by) => {
                for version in by.values_mut() {
                    version.is_last = last;
                }
            }
            StageKindSpec::BmcSettings(_) | StageKindSpec::BiosSettings(_) => {}
        }
    }
    spec.digest = digest(&spec);
    spec
}

/// A hop to a version, by an image that we hold.
pub(super) fn hop(version: &str) -> VersionSpec {
    VersionSpec {
        version: version.into(),
        requires: None,
        image: ImageSpec {
            origin: ImageOrigin::File(PathBuf::from("image.bin")),
            sha256: Some("00".repeat(32)),
            bytes: Some(1000),
            held: Some(PathBuf::from("image.bin")),
        },
        is_last: true,
        exact: false,
        allow_downgrade: false,
        missing: None,
    }
}

/// A stage of a kind.
pub(super) fn stage(name: &str, kind: StageKindSpec) -> StageSpec {
    StageSpec {
        name: name.into(),
        kind,
        options: StageOptions::default(),
        transient: false,
        line: 1,
    }
}

/// A hop of the BMC.
pub(super) fn bmc_hop(name: &str, version: &str) -> StageSpec {
    stage(
        name,
        StageKindSpec::BmcVersion(BTreeMap::from([(Target::Bmc, hop(version))])),
    )
}

/// A hop of servers' BIOSes.
pub(super) fn bios_hop(name: &str, version: &str, servers: &[&str]) -> StageSpec {
    stage(
        name,
        StageKindSpec::BiosVersion(
            servers
                .iter()
                .map(|name| (server(name), hop(version)))
                .collect(),
        ),
    )
}

/// Settings of one flow item.
pub(super) fn settings(json: &Value) -> SettingsSpec {
    let item = FlowItemSpec {
        severs: false,
        actions: Vec::new(),
        name: "settings".into(),
        settings: values(json),
        resources: Vec::new(),
    };
    SettingsSpec {
        guard: None,
        flow: vec![item],
    }
}

/// Settings of servers' BIOSes.
pub(super) fn bios_settings(name: &str, json: &Value, servers: &[&str]) -> StageSpec {
    stage(
        name,
        StageKindSpec::BiosSettings(
            servers
                .iter()
                .map(|name| (server(name), settings(json)))
                .collect(),
        ),
    )
}

/// Settings of the BMC.
pub(super) fn bmc_settings(name: &str, json: &Value) -> StageSpec {
    stage(
        name,
        StageKindSpec::BmcSettings(BTreeMap::from([(Target::Bmc, settings(json))])),
    )
}

/// A view with these current values and no registry.
pub(super) fn shown(json: &Value) -> SettingsView {
    let resource = AttributeResource {
        uri: "/attributes".into(),
        write_uri: "/attributes/settings".into(),
        current: values(json),
        ..AttributeResource::default()
    };
    SettingsView {
        resources: vec![resource],
        ..SettingsView::default()
    }
}

/// A BMC at a version with servers, each at a BIOS version, that offers both update methods.
pub(super) fn look(bmc_version: Option<&str>, servers: &[(&str, Option<&str>)]) -> Look {
    let systems = servers
        .iter()
        .map(|(name, version)| ((*name).into(), system(name, *version)))
        .collect();
    Look {
        at: Timestamp::UNIX_EPOCH,
        identity: Identity::default(),
        capability: Capability {
            platform: "generic".into(),
            update_methods: vec![UpdateMethod::MultipartPush, UpdateMethod::SimpleUpdate],
            transfer_protocols: vec!["HTTP".into(), "HTTPS".into()],
            ..Capability::default()
        },
        managers: vec![ManagerView {
            uri: "/managers/bmc".into(),
            is_bmc: true,
            model: None,
            firmware_version: bmc_version.map(ToOwned::to_owned),
        }],
        systems,
        other_systems: Vec::new(),
        missing_systems: Vec::new(),
        software: Vec::new(),
        tasks: Vec::new(),
        followed: Vec::new(),
        jobs: Vec::new(),
        settings: BTreeMap::new(),
        resources: BTreeMap::new(),
        fetched: Vec::new(),
        manager_started: None,
        problems: Vec::new(),
    }
}

/// A system with a BIOS.
pub(super) fn system(name: &str, bios_version: Option<&str>) -> SystemView {
    SystemView {
        uri: format!("/systems/{name}"),
        id: name.to_owned(),
        bios_version: bios_version.map(ToOwned::to_owned),
        bios_uri: Some(format!("/systems/{name}/bios")),
        managed_by: vec!["/managers/bmc".into()],
        ..SystemView::default()
    }
}

/// A member of the firmware inventory.
pub(super) fn software(id: &str, version: &str, related: &[&str]) -> SoftwareView {
    SoftwareView {
        uri: format!("/software/{id}"),
        id: id.to_owned(),
        version: Some(version.to_owned()),
        related: related.iter().map(|uri| (*uri).to_owned()).collect(),
        ..SoftwareView::default()
    }
}
