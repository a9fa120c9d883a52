//! The operator's list: which BMCs there are, how to reach them, and which servers stand behind each.
//!
//! It reads no file and no secret: a [`SecretSource`] says only where a secret is.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;

use super::id::{BmcName, ServerName};

/// All BMCs of all inventory files.
#[derive(Debug, Clone, Default)]
pub struct Inventory {
    /// In name order; names and addresses are unique. One copy of each for all who speak of it.
    pub bmcs: Vec<Arc<Bmc>>,
}

impl Inventory {
    /// The BMC of that name.
    pub fn bmc(&self, name: &BmcName) -> Option<&Arc<Bmc>> {
        self.bmcs.iter().find(|bmc| bmc.name == *name)
    }

    /// The server of that name, with its BMC.
    pub fn server(&self, name: &ServerName) -> Option<(&Arc<Bmc>, &Server)> {
        self.bmcs
            .iter()
            .find_map(|bmc| bmc.server(name).map(|server| (bmc, server)))
    }
}

/// Labels as selectors and templates see them; one copy for all of the inventory that have the same.
pub type Labels = Arc<BTreeMap<String, String>>;

/// One management endpoint with everything needed to talk to it.
#[derive(Debug, Clone)]
pub struct Bmc {
    /// Unique name.
    pub name: BmcName,
    /// Where it answers.
    pub address: Address,
    /// Labels as written; `redfish.*` facts are not among them.
    pub labels: Labels,
    /// Who logs in; `None` only with [`AuthMode::None`].
    pub credentials: Option<Arc<CredentialsRef>>,
    /// How its certificate is judged.
    pub tls: TlsMode,
    /// What a certificate that changes inside a declared outage leads to.
    pub tls_change: TlsChange,
    /// How to log in.
    pub auth: AuthMode,
    /// How fast it may be asked.
    pub pace: Pace,
    /// Time between two observations of an idle BMC.
    pub poll_interval: Duration,
    /// The operator's word on the class of machine; overrules detection.
    pub platform: Option<String>,
    /// Servers behind it as listed; empty = every ComputerSystem found, named `BMC/ID`.
    pub servers: Vec<Server>,
    /// The file that lists it.
    pub file: Arc<str>,
    /// Line of its `[[bmc]]`, from 1.
    pub line: usize,
}

impl Bmc {
    /// The listed server of that name.
    pub fn server(&self, name: &ServerName) -> Option<&Server> {
        self.servers.iter().find(|server| server.name == *name)
    }
}

/// One ComputerSystem as listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// Unique over all BMCs.
    pub name: ServerName,
    /// Member id or URI of its ComputerSystem; `None` only where the BMC has exactly one.
    pub system: Option<String>,
    /// The BMC's labels overlaid by its own.
    pub labels: Labels,
    /// What the box must say of itself before the first write.
    pub expect: Expect,
}

/// Facts that refuse the wrong box.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expect {
    /// `SerialNumber` of the ComputerSystem.
    pub serial: Option<String>,
    /// `Model` of the ComputerSystem.
    pub model: Option<String>,
}

/// Scheme of an [`Address`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scheme {
    /// TLS; the default.
    Https,
    /// Clear text, only where written.
    Http,
}

/// Where a BMC answers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// HTTPS unless written otherwise.
    pub scheme: Scheme,
    /// Name or IP address; IPv6 without brackets.
    pub host: Arc<str>,
    /// 443 or 80 where not written.
    pub port: u16,
    /// Base URL without a trailing slash; names the port only where it is not the scheme's own.
    pub base: Arc<str>,
}

impl Address {
    /// An address from its parts.
    pub fn new(scheme: Scheme, host: &str, port: Option<u16>) -> Self {
        let (word, own_port) = match scheme {
            Scheme::Https => ("https", 443),
            Scheme::Http => ("http", 80),
        };
        let port = port.unwrap_or(own_port);
        let shown = if host.contains(':') {
            format!("[{host}]")
        } else {
            host.to_owned()
        };
        let base = if port == own_port {
            format!("{word}://{shown}")
        } else {
            format!("{word}://{shown}:{port}")
        };
        Self {
            scheme,
            host: host.into(),
            port,
            base: base.into(),
        }
    }

    /// `host:port`, IPv6 in brackets: what a certificate pin belongs to.
    pub fn host_port(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.base)
    }
}

/// Named credentials, and where their secret is.
#[derive(Debug, Clone)]
pub struct CredentialsRef {
    /// Name in `[credentials.NAME]`.
    pub name: String,
    /// Account name.
    pub username: String,
    /// Where the password is.
    pub password: SecretSource,
}

/// Where a secret is. `Debug` never shows one.
#[derive(Debug, Clone)]
pub enum SecretSource {
    /// Written in the file.
    Plain(SecretString),
    /// An environment variable.
    Env(String),
    /// First line of a file.
    File(PathBuf),
    /// First line that a program prints; the program and its arguments, never empty.
    Command(Vec<String>),
}

/// How a BMC's certificate is judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TlsMode {
    /// Against the operating system's roots.
    Verify,
    /// Remembered on first contact, refused when changed.
    FirstUse,
    /// Not judged.
    Insecure,
    /// Against the roots in this PEM file.
    Ca(PathBuf),
    /// SHA-256 of the certificate, 64 lower-case hexadecimal digits.
    Pin(String),
}

/// What a remembered certificate that changes inside a declared outage leads to; anywhere else it is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TlsChange {
    /// A person trusts it, or does not.
    #[default]
    Hold,
    /// It is remembered instead of the old one, and told.
    AcceptInOutage,
}

/// How to log in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthMode {
    /// Session, else basic.
    Auto,
    /// Session only.
    Session,
    /// Basic only.
    Basic,
    /// No login.
    None,
}

/// How fast a BMC may be asked, and how long to wait before believing it.
#[derive(Debug, Clone, PartialEq)]
pub struct Pace {
    /// Steady requests per second; above zero.
    pub requests_per_second: f64,
    /// Requests that may come at once after a pause; at least 1.
    pub burst: u32,
    /// Requests in flight; at least 1.
    pub in_flight: u32,
    /// Time between two polls of a task, after the first fast ones.
    pub task_poll: Duration,
    /// Consecutive good reads that agree before a state counts; at least 1.
    pub settle_reads: u32,
    /// Time over which these reads are spread.
    pub settle_for: Duration,
    /// How long a lost reset or settings request is looked for.
    pub probe_for: Duration,
    /// How long a lost update request is waited for before it counts as never happened.
    pub lost_update: Duration,
}

impl Default for Pace {
    /// Safe for a slow BMC.
    fn default() -> Self {
        Self {
            requests_per_second: 2.0,
            burst: 4,
            in_flight: 1,
            task_poll: Duration::from_secs(10),
            settle_reads: 3,
            settle_for: Duration::from_mins(1),
            probe_for: Duration::from_secs(30),
            lost_update: Duration::from_mins(20),
        }
    }
}

/// Time between two observations of an idle BMC where the inventory says nothing.
pub const POLL_INTERVAL_DEFAULT: Duration = Duration::from_mins(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_urls_name_only_foreign_ports() {
        assert_eq!(
            &*Address::new(Scheme::Https, "10.0.0.1", None).base,
            "https://10.0.0.1"
        );
        assert_eq!(
            &*Address::new(Scheme::Https, "10.0.0.1", Some(8443)).base,
            "https://10.0.0.1:8443"
        );
        assert_eq!(
            &*Address::new(Scheme::Http, "::1", Some(80)).base,
            "http://[::1]"
        );
        assert_eq!(
            Address::new(Scheme::Https, "::1", None).host_port(),
            "[::1]:443"
        );
    }

    #[test]
    fn debug_shows_no_secret() {
        let source = SecretSource::Plain(SecretString::from("hunter2"));
        assert!(!format!("{source:?}").contains("hunter2"));
    }
}
