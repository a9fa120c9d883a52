//! What is shipped beside the binary fits it.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests, and what they skip"
)]

#[path = "../api/lab.rs"]
#[expect(dead_code, reason = "the API's tests use the rest of it")]
mod lab;
#[path = "../support/mod.rs"]
mod support;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use lab::{Lab, head, setting};

fn deploy(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("deploy")
        .join(name)
}

fn redpipe() -> Command {
    Command::new(env!("CARGO_BIN_EXE_redpipe"))
}

/// Metric names in a text, without what histograms and counters add.
fn names(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let base = |word: &str| {
        ["_total", "_bucket", "_count", "_sum"]
            .iter()
            .find_map(|end| word.strip_suffix(end))
            .unwrap_or(word)
            .to_owned()
    };
    words
        .filter(|word| word.starts_with("redpipe_"))
        .map(base)
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn alerts_and_dashboard_name_only_metrics_that_are_there() {
    let lab = Lab::start().await;
    // Durations are counted from the first scrape on.
    lab.get("/metrics").await;
    let sets = head("sets", "") + &setting("10.0.0.9");
    lab.apply(&[&sets]).await;
    let text = lab.get("/metrics").await.text().await.unwrap();
    for line in [
        "redpipe_runs{pipeline=\"fails\",phase=\"Failed\"} 1",
        "redpipe_stages{pipeline=\"asks\",stage=\"bios\",phase=\"Held\"} 1",
        "redpipe_stage_duration_seconds_count{kind=\"bmc-settings\",end=\"applied\"} 1",
        "redpipe_ready 1",
    ] {
        assert!(text.contains(line), "no {line} in\n{text}");
    }
    assert!(
        text.contains("redpipe_requests_total{bmc=\"mock-3\"}"),
        "{text}"
    );
    let told: BTreeSet<String> = text
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE "))
        .map(|line| line.split(' ').next().unwrap().to_owned())
        .collect();
    for file in ["alerts.yml", "grafana.json"] {
        let named = names(&std::fs::read_to_string(deploy(file)).unwrap());
        assert!(named.len() > 4, "{named:?}");
        let unknown: Vec<_> = named.difference(&told).collect();
        assert!(
            unknown.is_empty(),
            "{file} names {unknown:?}, and there are {told:?}"
        );
    }
    lab.end().await;
}

#[test]
fn alert_rules_are_rules() {
    let rules = Command::new("promtool")
        .args(["check", "rules"])
        .arg(deploy("alerts.yml"))
        .output();
    let Ok(told) = rules else {
        eprintln!("skipped: there is no `promtool` here");
        return;
    };
    assert!(
        told.status.success(),
        "{}",
        String::from_utf8_lossy(&told.stderr)
    );
}

#[test]
fn the_files_for_a_lab_are_valid() {
    let told = redpipe()
        .arg("-i")
        .arg(deploy("lab/inventory"))
        .arg("validate")
        .arg(deploy("lab/pipelines"))
        .output()
        .unwrap();
    assert!(
        told.status.success(),
        "{}",
        String::from_utf8_lossy(&told.stderr)
    );
}

#[test]
fn the_package_ships_files_that_are_there_and_that_the_unit_may_read() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = std::fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    let assets = manifest["package"]["metadata"]["deb"]["assets"].as_array();
    let mut settings = 0;
    for asset in assets.unwrap() {
        let [from, to, mode] = [0, 1, 2].map(|index| asset[index].as_str().unwrap());
        assert!(
            from.starts_with("target/") || root.join(from).is_file(),
            "{from}"
        );
        if to.starts_with("etc/") {
            // The unit's user is made when it starts: no file can be its own.
            let mode = u32::from_str_radix(mode, 8).unwrap();
            assert_eq!(mode & 0o004, 0o004, "{from} is for root alone");
            settings += 1;
        }
    }
    assert_eq!(settings, 2, "an inventory and a pipeline");
}

#[test]
fn the_unit_starts_a_command_that_there_is() {
    let unit = std::fs::read_to_string(deploy("redpipe.service")).unwrap();
    let line = unit
        .lines()
        .find_map(|line| line.strip_prefix("ExecStart="))
        .unwrap();
    let is_open = line.contains("--listen") && !line.contains("--token-file");
    assert!(!is_open, "every user of the host could order: {line}");
    let words = line.split_whitespace().skip(1);
    let told = redpipe().args(words).arg("--help").output().unwrap();
    assert!(
        told.status.success(),
        "{}",
        String::from_utf8_lossy(&told.stderr)
    );
}

#[test]
fn the_unit_is_one_and_is_shut_in() {
    let folder = tempfile::tempdir().unwrap();
    let unit = std::fs::read_to_string(deploy("redpipe.service")).unwrap();
    let path = folder.path().join("redpipe.service");
    std::fs::write(
        &path,
        unit.replace("/usr/bin/redpipe", env!("CARGO_BIN_EXE_redpipe")),
    )
    .unwrap();
    for how in [
        &["verify"][..],
        &["security", "--offline=true", "--threshold=20"],
    ] {
        let Ok(told) = Command::new("systemd-analyze")
            .args(how)
            .arg(&path)
            .output()
        else {
            eprintln!("skipped: there is no `systemd-analyze` here");
            return;
        };
        let said = String::from_utf8_lossy(&told.stderr);
        assert!(
            told.status.success(),
            "{how:?}: {said}{}",
            String::from_utf8_lossy(&told.stdout)
        );
    }
}
