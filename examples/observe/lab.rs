//! The mock fleet in a process of its own, and the files that speak of it.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use redpipe::daemon::{Assignment, Engine, Env, OpenOptions, assign, open, read_given};
use redpipe::model::inventory::Bmc;
use redpipe::pipeline::{self, Loaded};

use crate::minimal::{Minimal, Session};

/// The pace of the inventory, and the one that is measured with: what a request costs us, and not how long it waits.
const PACE: [(&str, &str); 2] = [
    (
        "requests_per_second = 2\nburst = 4\n",
        "requests_per_second = 5000\nburst = 5000\n",
    ),
    ("in_flight = 1\n", "in_flight = 4\n"),
];

const PIPELINE: &str = r#"
name = "p"
[selector]
match_labels = {}
[[stage]]
name = "bmc"
kind = "bmc-version"
version = "1.50"
image = { uri = "http://firmware.lab/bmc.img" }
[[stage]]
name = "bios"
kind = "bios-version"
version = "2.10"
image = { uri = "http://firmware.lab/bios.img" }
[[stage]]
name = "post"
kind = "bios-settings"
settings = { BootMode = "Uefi" }
"#;

pub(crate) struct Lab {
    folder: tempfile::TempDir,
    mock: Child,
    loaded: Loaded,
}

impl Lab {
    pub(crate) fn start(bmcs: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        // Cargo puts examples one folder below the binaries.
        let exe = std::env::current_exe().unwrap();
        let binary = exe.parent().unwrap().parent().unwrap().join("mock-bmc");
        let mut mock = Command::new(binary)
            .args(["serve", "--platform", "generic", "--tls"])
            .args(["--bmcs", &bmcs.to_string(), "--listen", "127.1.0.0/16:8443"])
            .arg("--ledger")
            .arg(path("ledger.jsonl"))
            .arg("--inventory-out")
            .arg(path("inventory.toml"))
            .stdout(Stdio::piped())
            .spawn()
            .expect("`cargo build --release -p mock-bmc` comes first");
        let mut lines = BufReader::new(mock.stdout.take().unwrap()).lines();
        assert!(
            lines.any(|line| line.unwrap() == "ready"),
            "the mock does not start"
        );
        let mut text = std::fs::read_to_string(path("inventory.toml")).unwrap();
        for (slow, quick) in PACE {
            assert!(text.contains(slow), "{text}");
            text = text.replace(slow, quick);
        }
        let inventory = [pipeline::Source::new(
            path("inventory.toml").display().to_string(),
            text,
        )];
        let pipelines = [pipeline::Source::new("p.toml", PIPELINE)];
        let loaded =
            pipeline::load(&inventory, &pipelines).unwrap_or_else(|findings| panic!("{findings}"));
        Self {
            folder,
            mock,
            loaded,
        }
    }

    pub(crate) fn engine(&self) -> Engine {
        let options = OpenOptions {
            image_server: None,
            state: Some(self.folder.path().join("state.db").display().to_string()),
            env: env(),
            fleet: self.loaded.inventory.bmcs.len(),
        };
        open(&options).unwrap()
    }

    pub(crate) fn bmcs(&self) -> &[Arc<Bmc>] {
        &self.loaded.inventory.bmcs
    }

    pub(crate) fn assignments(&self) -> Vec<Assignment> {
        let given = Arc::new(read_given(&self.loaded.needs(), &env()));
        let pipelines: Vec<_> = self
            .loaded
            .pipelines
            .iter()
            .cloned()
            .map(Arc::new)
            .collect();
        assign(&self.loaded.inventory, &pipelines, None, &given)
    }

    /// Sessions of the minimal client with every BMC, and what a login costs.
    pub(crate) async fn log_in(&self, minimal: &Minimal) -> (Vec<Session>, f64) {
        let before = crate::cpu();
        let mut sessions = Vec::new();
        for bmc in self.bmcs() {
            sessions.push(minimal.log_in(&bmc.address.base).await.unwrap());
        }
        (
            sessions,
            crate::a_bmc(crate::cpu().checked_sub(before).unwrap(), self.bmcs().len()),
        )
    }

    /// Requests that the mocks have seen.
    pub(crate) fn requests(&self) -> usize {
        let text = std::fs::read_to_string(self.folder.path().join("ledger.jsonl")).unwrap();
        text.lines()
            .filter(|line| line.contains("\"kind\":\"request\""))
            .count()
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        // It may have ended by itself.
        self.mock.kill().ok();
        self.mock.wait().ok();
    }
}

fn env() -> Env {
    Arc::new(|_| None)
}
