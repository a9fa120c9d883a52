//! Claims about `resolve`.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::model::inventory::{
    Address, AuthMode, Expect, POLL_INTERVAL_DEFAULT, Pace, Scheme, TlsChange, TlsMode,
};
use crate::pipeline::{
    DriftPolicy, ImageFile, Maintenance, Rollout, Selector, StageOptions, VersionStage,
};

fn template(text: &str) -> Template {
    Template::parse(text, Path::new("")).unwrap_or_else(|errors| panic!("{errors:?}"))
}

fn server(name: &str, labels: &[(&str, &str)]) -> Server {
    let labels = labels
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    Server {
        name: name.into(),
        system: None,
        labels: Arc::new(labels.collect()),
        expect: Expect::default(),
    }
}

fn bmc() -> Bmc {
    Bmc {
        name: "b1".into(),
        address: Address::new(Scheme::Https, "10.0.0.1", None),
        labels: BTreeMap::from([("rack".to_owned(), "r1".to_owned())]).into(),
        credentials: None,
        tls: TlsMode::Verify,
        tls_change: TlsChange::Hold,
        auth: AuthMode::None,
        pace: Pace::default(),
        poll_interval: POLL_INTERVAL_DEFAULT,
        platform: None,
        servers: Vec::new(),
        file: "i.toml".into(),
        line: 1,
    }
}

fn pipeline(stages: Vec<(&str, StageKind)>) -> Pipeline {
    let stages = stages
        .into_iter()
        .enumerate()
        .map(|(index, (name, kind))| Stage {
            name: name.into(),
            kind,
            options: StageOptions {
                exact: true,
                allow_downgrade: true,
                ..StageOptions::default()
            },
            transient: false,
            line: 10 * (index + 1),
        });
    Pipeline {
        name: "p".into(),
        drift_policy: DriftPolicy::default(),
        generation: String::new(),
        selector: Selector::default(),
        rollout: Rollout::default(),
        maintenance: Maintenance::default(),
        stages: stages.collect(),
        source: "p.toml".into(),
    }
}

fn set(name: &str, value: &str) -> SettingsStage {
    let item = FlowItem {
        severs: false,
        actions: Vec::new(),
        name: "settings".to_owned(),
        priority: 0,
        settings: BTreeMap::from([(name.to_owned(), template(value))]),
        resources: Vec::new(),
    };
    SettingsStage {
        guard: None,
        flow: vec![item],
    }
}

fn hop(version: &str, uri: &str, sha256: Option<&str>) -> VersionStage {
    let image = Image::Uri {
        uri: template(uri),
        sha256: sha256.map(ToOwned::to_owned),
    };
    VersionStage {
        version: template(version),
        route: Route::Hop {
            requires: None,
            image,
        },
    }
}

fn catalog(uri: &str, sha256: &str) -> ImageCatalog {
    let image = CatalogImage {
        sha256: sha256.to_owned(),
        bytes: 5,
        path: PathBuf::from("/cache/x"),
    };
    ImageCatalog {
        is_unread: false,
        files: BTreeMap::new(),
        uris: BTreeMap::from([(uri.to_owned(), image)]),
    }
}

#[test]
fn everything_that_cannot_be_resolved_is_told_at_once() {
    let file = Image::File(ImageFile {
        path: PathBuf::from("gone.bin"),
        sha256: None,
    });
    let missing = VersionStage {
        version: template("1"),
        route: Route::Hop {
            requires: None,
            image: file,
        },
    };
    let pipeline = pipeline(vec![
        ("a", StageKind::BmcSettings(set("K", "${label.none}"))),
        ("b", StageKind::BmcVersion(missing)),
        (
            "c",
            StageKind::BiosVersion(hop("2", "http://h/x", Some("aa"))),
        ),
        ("d", StageKind::BiosSettings(set("K", "${env.GONE}"))),
    ]);
    let servers = [server("s1", &[]), server("s2", &[])];
    let errors = resolve(
        &pipeline,
        &bmc(),
        &servers,
        &Given::default(),
        &catalog("http://h/x", "bb"),
        Footing::End,
    );
    let messages: Vec<String> = errors
        .err()
        .into_iter()
        .flatten()
        .map(|error| error.to_string())
        .collect();
    let expected = [
        "p.toml:10: stage `a` on bmc: variable `${label.none}` has no value: there is no such label",
        "p.toml:20: stage `b` on bmc: image `gone.bin` was not found",
        "p.toml:30: stage `c` on server `s1`: image `http://h/x` has sha256 `bb`, and `aa` is promised",
        "p.toml:30: stage `c` on server `s2`: image `http://h/x` has sha256 `bb`, and `aa` is promised",
        "p.toml:40: stage `d` on server `s1`: variable `${env.GONE}` has no value: the environment variable is not set",
        "p.toml:40: stage `d` on server `s2`: variable `${env.GONE}` has no value: the environment variable is not set",
    ];
    assert_eq!(messages, expected);
}

#[test]
fn variables_resolve_per_target_and_only_a_last_hop_may_be_exact() {
    let pipeline = pipeline(vec![
        (
            "a",
            StageKind::BmcSettings(set("K", "${bmc.name}-${label.rack}")),
        ),
        (
            "b",
            StageKind::BiosVersion(hop("1", "http://me:pw@h/${server.name}", None)),
        ),
        (
            "c",
            StageKind::BiosVersion(hop("2", "http://h/x", Some("bb"))),
        ),
        ("d", StageKind::BiosSettings(set("K", "${server.name}"))),
    ]);
    let servers = [server("s1", &[("rack", "r9")]), server("s2", &[])];
    let images = catalog("http://h/x", "bb");
    let spec = resolve(
        &pipeline,
        &bmc(),
        &servers,
        &Given::default(),
        &images,
        Footing::End,
    );
    let spec = spec.unwrap_or_else(|errors| panic!("{errors:?}"));
    let target = Target::Server("s2".into());
    let value = |index: usize, target: &Target| {
        spec.stages
            .get(index)
            .and_then(|stage| stage.kind.settings(target))
            .map(|settings| settings.flow.clone())
    };
    let text = |flow: Option<Vec<FlowItemSpec>>| {
        flow.and_then(|flow| flow.first()?.settings.get("K").cloned())
    };
    assert_eq!(text(value(0, &Target::Bmc)), Some(json!("b1-r1")));
    assert_eq!(text(value(3, &target)), Some(json!("s2")));
    let hop = |index: usize| {
        spec.stages
            .get(index)
            .and_then(|stage| stage.kind.version(&target))
            .cloned()
    };
    let (first, last) = (hop(1), hop(2));
    assert_eq!(
        first
            .as_ref()
            .map(|hop| (hop.is_last, hop.exact, hop.allow_downgrade)),
        Some((false, false, false))
    );
    assert_eq!(
        last.as_ref()
            .map(|hop| (hop.is_last, hop.exact, hop.allow_downgrade)),
        Some((true, true, true))
    );
    assert_eq!(
        first.as_ref().map(|hop| hop.image.origin.clone()),
        Some(ImageOrigin::Uri("http://me:pw@h/s2".into()))
    );
    assert_eq!(
        last.and_then(|hop| hop.image.held),
        Some(PathBuf::from("/cache/x"))
    );
    assert!(!format!("{spec:?}").contains("pw@"));
    let wanted = wanted_images(&pipeline, &bmc(), &servers, &Given::default(), None);
    assert_eq!(wanted.map(|images| images.len()).ok(), Some(3));
}
