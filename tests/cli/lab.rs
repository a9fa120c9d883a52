//! A served fleet, the files of an operator, and the real binary.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use mock_bmc::bmc::Bmc;
use mock_bmc::fleet::Fleet;
use mock_bmc::image::{Component, build};
use mock_bmc::ledger::{Kind, LedgerLine};
use mock_bmc::script::Script;
use mock_bmc::server::{Running, ServeOptions, serve};
use tokio::runtime::Runtime;

use crate::life::{Ended, Life};

/// The account's password: nothing else that is ever written looks like it.
pub(crate) const PASSWORD: &str = "kestrel-71-Anvil";

/// One setting that needs no reset.
pub(crate) const SETTING: &str = r#"
[[stage]]
name = "time"
kind = "bmc-settings"
  [[stage.flow]]
  name = "ntp"
  priority = 1
  resources = [{ uri = "{manager}/NetworkProtocol", set = { NTP = { ProtocolEnabled = true, NTPServers = ["10.0.0.1"] } } }]
"#;

/// A BIOS setting that needs a restart of the host.
pub(crate) const RESTART: &str = r#"
[[stage]]
name = "quiet"
kind = "bios-settings"
settings = { QuietBoot = false }
"#;

/// Two BMC hops.
pub(crate) const HOPS: &str = r#"
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
"#;

/// How a lab is made.
pub(crate) struct Setup {
    /// Systems of each BMC: `mock-1`, `mock-2`, …
    pub(crate) systems: &'static [usize],
    /// What the mocks are, as `mock-bmc platforms` lists it.
    pub(crate) platform: &'static str,
    /// Stages of the pipeline `p`.
    pub(crate) stages: &'static str,
    /// How the mocks deviate.
    pub(crate) script: &'static str,
    /// Mock seconds per second.
    pub(crate) time_scale: u32,
    /// HTTPS with first-use pins, else HTTP.
    pub(crate) tls: bool,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            systems: &[1],
            platform: "generic",
            stages: SETTING,
            script: "",
            time_scale: 600,
            tls: true,
        }
    }
}

/// What a test works with; everything ends with it.
pub(crate) struct Lab {
    folder: tempfile::TempDir,
    running: Running,
    setup: Setup,
    // Last: what it runs is dropped before it.
    _runtime: Runtime,
}

impl Lab {
    pub(crate) fn start(setup: Setup) -> Self {
        let runtime = Runtime::new().unwrap();
        let mut fleet = Fleet::builder()
            .account("root", PASSWORD)
            .script(toml::from_str(setup.script).unwrap());
        for systems in setup.systems {
            fleet = fleet.platform(setup.platform, 1, *systems);
        }
        let options = ServeOptions {
            tls: setup.tls,
            time_scale: f64::from(setup.time_scale),
            ..ServeOptions::default()
        };
        let running = runtime.block_on(serve(fleet.build(), options)).unwrap();
        let lab = Self {
            folder: tempfile::tempdir().unwrap(),
            running,
            setup,
            _runtime: runtime,
        };
        lab.write_files();
        lab
    }

    fn write_files(&self) {
        let path = |name: &str| self.folder.path().join(name);
        for folder in ["inventory", "pipelines", "home"] {
            std::fs::create_dir(path(folder)).unwrap();
        }
        self.set_password(PASSWORD);
        let addresses: Vec<String> = self
            .running
            .endpoints()
            .iter()
            .map(|e| e.url.clone())
            .collect();
        self.write_inventory(&addresses, "");
        let head = "name = \"p\"\n[selector]\nmatch_labels = {}\n[rollout]\nmax_failures = 0\n";
        let pipeline = format!("{head}{}", self.setup.stages);
        std::fs::write(path("pipelines/p.toml"), pipeline).unwrap();
        for version in ["1.60", "1.80"] {
            let image = build(Component::Bmc, version, None, 64 * 1024);
            std::fs::write(path(&format!("pipelines/bmc-{version}.img")), image).unwrap();
        }
    }

    /// The inventory, with a pace that keeps up with the mocks, each BMC at its address.
    pub(crate) fn write_inventory(&self, addresses: &[String], defaults: &str) {
        let scale = self.setup.time_scale;
        let millis = |seconds: u32| seconds * 1000 / scale;
        let tls = if self.setup.tls {
            "first-use"
        } else {
            "verify"
        };
        let mut text = format!(
            "[defaults]\ncredentials = \"lab\"\ntls = \"{tls}\"\n{defaults}\n[defaults.pace]\n\
             requests_per_second = 1000\nburst = 64\ntask_poll = \"{}ms\"\nsettle_for = \"{}ms\"\n\
             probe_for = \"{}ms\"\nlost_update = \"{}ms\"\n\
             [credentials.lab]\nusername = \"root\"\npassword = {{ file = \"../password\" }}\n",
            millis(10),
            millis(60),
            millis(30),
            millis(1200),
        );
        for (endpoint, address) in self.running.endpoints().iter().zip(addresses) {
            let name = &endpoint.name;
            write!(
                text,
                "[[bmc]]\nname = \"{name}\"\naddress = \"{address}\"\n"
            )
            .unwrap();
            for system in &endpoint.systems {
                let (server, id) = (&system.server, &system.id);
                write!(
                    text,
                    "[[bmc.server]]\nname = \"{server}\"\nsystem = \"{id}\"\n"
                )
                .unwrap();
            }
        }
        std::fs::write(self.path("inventory/lab.toml"), text).unwrap();
    }

    /// What the operator's password file says.
    pub(crate) fn set_password(&self, password: &str) {
        std::fs::write(self.path("password"), password).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The address of a BMC.
    pub(crate) fn address(&self, name: &str) -> String {
        let mut endpoints = self.running.endpoints().iter();
        endpoints
            .find(|endpoint| endpoint.name == name)
            .unwrap()
            .url
            .clone()
    }

    /// Runs the command to its end.
    pub(crate) fn redpipe(&self, arguments: &[&str]) -> Ended {
        Ended::of(&self.command(arguments).output().unwrap())
    }

    /// Starts the command.
    pub(crate) fn start_redpipe(&self, arguments: &[&str]) -> Life<'_> {
        self.start_command(self.command(arguments))
    }

    pub(crate) fn start_command(&self, command: Command) -> Life<'_> {
        Life::start(command, self)
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_redpipe"));
        command
            .args(["--state", "state/redpipe.db"])
            .args(arguments)
            .env("HOME", self.path("home"))
            .env_remove("XDG_CACHE_HOME")
            .stdin(Stdio::null())
            .current_dir(self.folder.path());
        command
    }

    /// Lays hands on a BMC, or reads its state.
    pub(crate) fn bmc<T>(&self, name: &str, action: impl FnOnce(&mut Bmc) -> T) -> T {
        self.running.bmc(name).unwrap().with(|bmc, _| action(bmc))
    }

    /// Other habits of a BMC from now on.
    pub(crate) fn script(&self, name: &str, script: &str) {
        let script: Script = toml::from_str(script).unwrap();
        self.bmc(name, |bmc| bmc.set_script(&script));
    }

    pub(crate) fn ledger(&self, name: &str) -> Vec<LedgerLine> {
        self.running.bmc(name).unwrap().ledger()
    }

    /// What requests caused and what happened, of those that begin so.
    pub(crate) fn said(&self, name: &str, begin: &str) -> Vec<String> {
        let lines = self.ledger(name).into_iter();
        lines
            .flat_map(|line| line.caused.into_iter().chain(line.detail))
            .filter(|text| text.starts_with(begin))
            .collect()
    }

    /// Whether the BMC's last word to a request was a fault of its script.
    pub(crate) fn fault_fired(&self, name: &str) -> bool {
        self.ledger(name)
            .iter()
            .any(|line| line.kind == Kind::Fault)
    }

    /// Sessions that are open on a BMC.
    pub(crate) fn sessions(&self, name: &str) -> usize {
        self.bmc(name, |bmc| bmc.state().sessions.len())
    }

    /// One accepted update for each hop of [`HOPS`], and the version that they lead to.
    pub(crate) fn check_hops(&self, name: &str) {
        let accepted = self.said(name, "update accepted ");
        assert_eq!(accepted.len(), 2, "{accepted:?}");
        let versions = self.said(name, "bmc version ");
        assert_eq!(
            versions,
            ["bmc version 1.50 -> 1.60", "bmc version 1.60 -> 1.80"]
        );
    }
}
