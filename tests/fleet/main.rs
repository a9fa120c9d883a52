//! Recorded machines and a platform with three systems, served over HTTPS in one process; plan and apply by the real
//! binary in others.

#![expect(clippy::unwrap_used, reason = "tests")]

mod images;
#[path = "../support/script.rs"]
mod script;
mod verbs;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use mock_bmc::fleet::Fleet;
use mock_bmc::image::{Component, build};
use mock_bmc::ledger::{Kind, LedgerLine};
use mock_bmc::server::{Running, ServeOptions, serve, write_inventory};
use mock_bmc::tree::Tree;

/// Mock minutes in five real seconds.
const TIME_SCALE: f64 = 600.0;

/// Trees that are recorded outside of this repository; without them the platform alone is served.
const TREES: [&str; 2] = ["dmtf-public-rackmount1", "nvidia-bluefield3"];

/// Each source with its pipeline. `URL` becomes the image server's, file images lie beside the pipeline.
const PIPELINES: [(&str, &str); 3] = [
    (
        "dmtf-public-rackmount1",
        r#"
[[stage]]
name = "bmc"
kind = "bmc-version"
version = "1.46.455b70-rev1"
image = { uri = "URL/dmtf-bmc.img" }
[[stage]]
name = "bios"
kind = "bios-version"
version = "P79 v1.50"
image = { uri = "URL/dmtf-bios.img" }
[[stage]]
name = "turbo"
kind = "bios-settings"
settings = { ProcTurboMode = "Disabled" }
"#,
    ),
    (
        "nvidia-bluefield3",
        r#"
[[stage]]
name = "bmc"
kind = "bmc-version"
version = "BF-24.10-12"
targets = ["{manager}"]
image = { file = "bluefield-bmc.img" }
[[stage]]
name = "protect"
kind = "bios-settings"
settings = { BootPartitionProtection = true }
"#,
    ),
    (
        "generic",
        r#"
[[stage]]
name = "time"
kind = "bmc-settings"
  [[stage.flow]]
  name = "ntp"
  priority = 1
  resources = [{ uri = "{manager}/NetworkProtocol", set = { NTP = { ProtocolEnabled = true } } }]
[[stage]]
name = "bmc-160"
kind = "bmc-version"
version = "1.60"
image = { uri = "URL/bmc-160.img" }
[[stage]]
name = "bmc-180"
kind = "bmc-version"
version = "1.80"
image = { file = "bmc-180.img" }
[[stage]]
name = "bios-220"
kind = "bios-version"
version = "2.20"
image = { uri = "URL/bios-220.img" }
[[stage]]
name = "bios-250"
kind = "bios-version"
version = "2.50"
image = { file = "bios-250.img" }
[[stage]]
name = "note"
kind = "bios-settings"
settings = { AssetNote = "${server.name}" }
"#,
    ),
];

const IMAGES: [(&str, Component, &str); 7] = [
    ("dmtf-bmc.img", Component::Bmc, "1.46.455b70-rev1"),
    ("dmtf-bios.img", Component::Bios, "P79 v1.50"),
    ("bluefield-bmc.img", Component::Bmc, "BF-24.10-12"),
    ("bmc-160.img", Component::Bmc, "1.60"),
    ("bmc-180.img", Component::Bmc, "1.80"),
    ("bios-220.img", Component::Bios, "2.20"),
    ("bios-250.img", Component::Bios, "2.50"),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fleet_reaches_its_end_state_once_and_then_nothing_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let (running, served) = start(folder.path()).await;
    let server = images::serve(folder.path().to_owned()).await;
    write_pipelines(folder.path(), &server, &served);

    let plan = redpipe(folder.path(), &["plan"]).await;
    assert_eq!(
        plan.status.code(),
        Some(3),
        "{}",
        String::from_utf8_lossy(&plan.stderr)
    );
    let applied = redpipe(folder.path(), &["apply", "--yes"]).await;
    assert_eq!(
        applied.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&applied.stderr)
    );
    let first = ledgers(&running);
    check_updates(&first, &served);
    check_sessions(&first);
    let plan = redpipe(folder.path(), &["plan"]).await;
    assert_eq!(
        plan.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&plan.stdout)
    );
    assert_eq!(
        redpipe(folder.path(), &["apply", "--yes"])
            .await
            .status
            .code(),
        Some(0)
    );
    let second = ledgers(&running);
    for (bmc, lines) in &second {
        let news = lines
            .iter()
            .skip(first[bmc].len())
            .filter(|line| is_write(line));
        assert_eq!(news.count(), 0, "the second apply wrote to {bmc}");
    }
    running.shutdown().await;
}

async fn start(folder: &Path) -> (Running, Vec<&'static str>) {
    let mockups = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/mockups");
    let mut fleet = Fleet::builder().account("root", "secret");
    let mut served = Vec::new();
    for name in TREES.iter().filter(|name| mockups.join(name).is_dir()) {
        fleet = fleet.tree(Tree::load(&mockups.join(name)).unwrap(), 1);
        served.push(*name);
    }
    served.push("generic");
    let options = ServeOptions {
        tls: true,
        time_scale: TIME_SCALE,
        ..ServeOptions::default()
    };
    let running = serve(fleet.platform("generic", 1, 3).build(), options)
        .await
        .unwrap();
    write_inventory(
        &folder.join("inventory.toml"),
        running.endpoints(),
        "root",
        "secret",
        TIME_SCALE,
    )
    .unwrap();
    (running, served)
}

fn write_pipelines(folder: &Path, server: &str, served: &[&str]) {
    let pipelines = folder.join("pipelines");
    std::fs::create_dir(&pipelines).unwrap();
    for (name, component, version) in IMAGES {
        std::fs::write(
            pipelines.join(name),
            build(component, version, None, 20_000),
        )
        .unwrap();
    }
    for (platform, stages) in PIPELINES
        .iter()
        .filter(|(platform, _)| served.contains(platform))
    {
        let head = format!(
            "name = \"{platform}\"\n[selector]\nmatch_labels = {{ platform = \"{platform}\" }}\n"
        );
        let text = format!("{head}{}", stages.replace("URL", server));
        std::fs::write(pipelines.join(format!("{platform}.toml")), text).unwrap();
    }
}

async fn redpipe(folder: &Path, command: &[&str]) -> Output {
    let mut redpipe = Command::new(env!("CARGO_BIN_EXE_redpipe"));
    redpipe
        .arg("-i")
        .arg(folder.join("inventory.toml"))
        .arg("--state")
        .arg(folder.join("state.db"))
        .args(command)
        .arg(folder.join("pipelines"));
    tokio::task::spawn_blocking(move || redpipe.output().unwrap())
        .await
        .unwrap()
}

fn ledgers(running: &Running) -> BTreeMap<String, Vec<LedgerLine>> {
    let names = running
        .endpoints()
        .iter()
        .map(|endpoint| endpoint.name.clone());
    names
        .map(|name| (name.clone(), running.bmc(&name).unwrap().ledger()))
        .collect()
}

/// One accepted request per BMC hop, and one per BIOS hop and server; hops in order.
fn check_updates(ledgers: &BTreeMap<String, Vec<LedgerLine>>, served: &[&str]) {
    let counts: BTreeMap<&str, usize> = BTreeMap::from([
        ("dmtf-public-rackmount1", 2),
        ("nvidia-bluefield3", 1),
        ("generic", 2 + 2 * 3),
    ]);
    for (lines, source) in ledgers.values().zip(served) {
        let accepted = caused(lines, "update accepted ");
        assert_eq!(accepted.len(), counts[source], "{source}: {accepted:?}");
        let mut whats: Vec<&str> = accepted
            .iter()
            .map(|text| text.split(" task ").next().unwrap())
            .collect();
        whats.sort_unstable();
        whats.dedup();
        assert_eq!(
            whats.len(),
            accepted.len(),
            "{source}: one was sent twice: {accepted:?}"
        );
    }
    let generic = ledgers.values().last().unwrap();
    let hops: Vec<String> = generic
        .iter()
        .filter_map(|line| line.detail.clone())
        .filter(|text| text.starts_with("bmc version"))
        .collect();
    assert_eq!(
        hops,
        ["bmc version 1.50 -> 1.60", "bmc version 1.60 -> 1.80"]
    );
    assert_eq!(
        generic
            .iter()
            .filter(
                |line| is_write(line) && line.path.as_deref().unwrap().contains("NetworkProtocol")
            )
            .count(),
        1
    );
}

/// Never two sessions of ours on one BMC, and none at the end.
fn check_sessions(ledgers: &BTreeMap<String, Vec<LedgerLine>>) {
    for (bmc, lines) in ledgers {
        let mut open = 0;
        for line in lines {
            for text in line.caused.iter().chain(&line.detail) {
                open += i32::from(text.starts_with("session created "));
                open -= i32::from(text.starts_with("session deleted "));
                open -= i32::from(text.starts_with("session expired "));
                open = if text.starts_with("manager gone") {
                    0
                } else {
                    open
                };
            }
            assert!(open <= 1, "{bmc}: {open} sessions at line {}", line.n);
        }
        assert_eq!(open, 0, "{bmc}: a session is left");
    }
}

fn caused(lines: &[LedgerLine], what: &str) -> Vec<String> {
    lines
        .iter()
        .flat_map(|line| &line.caused)
        .filter(|text| text.starts_with(what))
        .cloned()
        .collect()
}

fn is_write(line: &LedgerLine) -> bool {
    let path = line.path.as_deref().unwrap_or_default();
    line.kind == Kind::Request
        && !matches!(line.method.as_deref(), Some("GET" | "HEAD") | None)
        && !path.contains("/Sessions")
}
