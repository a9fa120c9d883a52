//! A mock fleet in a process of its own, and redpipe in another.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use mock_bmc::fleet::Fleet;
use mock_bmc::image::{Component, build};
use mock_bmc::server::{ServeOptions, serve, write_inventory};

use crate::ears::Ears;
use crate::ledger::Ledger;

/// Set in the mock's process only: its folder, its BMCs, and how fast its time is.
const FOLDER: &str = "REDPIPE_TEST_MOCK_FOLDER";
const BMCS: &str = "REDPIPE_TEST_MOCK_BMCS";
const SPEED: &str = "REDPIPE_TEST_MOCK_SPEED";

/// What is driven.
pub(crate) struct Setup {
    /// BMCs with two systems each.
    pub(crate) bmcs: usize,
    /// Mock seconds per second: waits shrink with it, and so does the inventory's pace.
    pub(crate) speed: u32,
    /// The pipeline `kill`.
    pub(crate) pipeline: String,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            bmcs: 1,
            speed: 600,
            pipeline: PIPELINE.to_owned(),
        }
    }
}

const ACCOUNT: (&str, &str) = ("root", "secret");

/// Two BMC hops, a BIOS setting, two BIOS hops on two servers, and another setting.
const PIPELINE: &str = r#"
name = "kill"
[selector]
match_labels = {}
[[stage]]
name = "bmc-160"
kind = "bmc-version"
version = "1.60"
image = { file = "bmc-1.60.img" }
[[stage]]
name = "bmc-180"
kind = "bmc-version"
version = "1.80"
image = { file = "bmc-1.80.img" }
[[stage]]
name = "quiet"
kind = "bios-settings"
settings = { QuietBoot = false }
[[stage]]
name = "bios-220"
kind = "bios-version"
version = "2.20"
image = { file = "bios-2.20.img" }
[[stage]]
name = "bios-250"
kind = "bios-version"
version = "2.50"
image = { file = "bios-2.50.img" }
[[stage]]
name = "note"
kind = "bios-settings"
settings = { AssetNote = "done" }
"#;

/// What the test works with; everything ends with it.
pub(crate) struct Lab {
    folder: tempfile::TempDir,
    mock: Child,
    pub(crate) ears: Arc<Ears>,
}

/// A redpipe under test.
pub(crate) struct Life {
    child: Child,
    /// By which it is heard.
    pub(crate) number: usize,
}

impl Life {
    /// Kills it, wherever it is.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Its exit code, once it ends by itself; none where a signal ended it.
    pub(crate) fn end(mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

impl Lab {
    /// Starts the mock and waits until it answers.
    pub(crate) fn start(setup: &Setup) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("kill.toml"), &setup.pipeline).unwrap();
        for (component, versions) in [
            (Component::Bmc, ["1.60", "1.80"]),
            (Component::Bios, ["2.20", "2.50"]),
        ] {
            for version in versions {
                let path = folder
                    .path()
                    .join(format!("{}-{version}.img", component.as_str()));
                std::fs::write(path, build(component, version, None, 64 * 1024)).unwrap();
            }
        }
        let mut mock = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "lab::the_mock_as_a_process", "--nocapture"])
            .env(FOLDER, folder.path())
            .env(BMCS, setup.bmcs.to_string())
            .env(SPEED, setup.speed.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let ears = Arc::new(Ears::default());
        ears.hear_mock(mock.stdout.take().unwrap());
        Self { folder, mock, ears }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// `redpipe apply`, as an operator starts it.
    pub(crate) fn apply(&self) -> Life {
        self.redpipe(&["apply", "--yes"])
    }

    /// A command on the pipeline.
    pub(crate) fn redpipe(&self, arguments: &[&str]) -> Life {
        let (said, says) = std::io::pipe().unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_redpipe"))
            .arg("-i")
            .arg(self.path("inventory.toml"))
            .arg("--state")
            .arg(self.path("state.db"))
            .args(arguments)
            .arg(self.path("kill.toml"))
            .stdout(says.try_clone().unwrap())
            .stderr(says)
            .spawn()
            .unwrap();
        let number = self.ears.hear(said);
        Life { child, number }
    }

    /// How every run stands.
    pub(crate) fn status(&self) -> serde_json::Value {
        let status = Command::new(env!("CARGO_BIN_EXE_redpipe"))
            .args(["--output", "json", "--state"])
            .arg(self.path("state.db"))
            .arg("status")
            .output()
            .unwrap();
        serde_json::from_slice(&status.stdout).unwrap()
    }

    /// The ledger so far.
    pub(crate) fn ledger(&self) -> Ledger {
        Ledger::read(&self.ears.heard().ledger)
    }

    /// All that redpipe said, for a failing test.
    pub(crate) fn story(&self) -> String {
        let heard = self.ears.heard();
        heard.lives.iter().map(|life| life.text.as_str()).collect()
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        // It may have ended by itself.
        self.mock.kill().ok();
        self.mock.wait().ok();
    }
}

/// The mock's process; nothing where the environment does not ask for it.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the child is told by its environment"
)]
fn the_mock_as_a_process() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else {
        return;
    };
    let number = |name: &str| -> u32 { std::env::var(name).unwrap().parse().unwrap() };
    let speed = f64::from(number(SPEED));
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let fleet = Fleet::builder()
            .account(ACCOUNT.0, ACCOUNT.1)
            .platform("generic", usize::try_from(number(BMCS)).unwrap(), 2)
            .build();
        let options = ServeOptions {
            tls: true,
            time_scale: speed,
            // The parent hears every line as it is written.
            ledger: Some(PathBuf::from("/dev/stdout")),
            ..ServeOptions::default()
        };
        let running = serve(fleet, options).await.unwrap();
        let inventory = folder.join("inventory.toml");
        write_inventory(&inventory, running.endpoints(), ACCOUNT.0, ACCOUNT.1, speed).unwrap();
        announce();
        // Until it is killed.
        std::future::pending::<()>().await;
    });
}

#[expect(clippy::print_stdout, reason = "the parent reads it")]
fn announce() {
    println!("ready");
}
