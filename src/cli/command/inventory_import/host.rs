//! One host of a foreign file, and what of it an inventory takes.

use std::collections::{BTreeMap, BTreeSet};

use crate::cli::written::word;
use crate::plan::secrecy;

/// Names under which people keep each thing, best first. Compared without case and separators.
const ADDRESS: &[&str] = &[
    "bmcaddress",
    "bmcip",
    "bmchost",
    "bmcurl",
    "redfishaddress",
    "redfishhost",
    "redfishbaseuri",
    "baseuri",
    "oobaddress",
    "oobip",
    "iloaddress",
    "iloip",
    "idracaddress",
    "idracip",
    "xccaddress",
    "xccip",
    "ipmiaddress",
    "ipmihost",
    "ipmiip",
    "address",
    "url",
    "ipaddress",
    "ip",
];
const NAME: &[&str] = &["bmcname", "bmc", "name", "hostname", "host"];
const USERNAME: &[&str] = &[
    "bmcusername",
    "bmcuser",
    "redfishusername",
    "redfishuser",
    "ipmiuser",
    "username",
    "user",
];
const CREDENTIALS: &[&str] = &["credentials"];
const SERVER: &[&str] = &["server", "servername"];
const SYSTEM: &[&str] = &["system", "systemid"];
const SERIAL: &[&str] = &["serial", "serialnumber", "servicetag"];
const MODEL: &[&str] = &["expectmodel"];
const PLATFORM: &[&str] = &["platform"];
const TLS: &[&str] = &["tls"];

/// A foreign file that cannot be taken over.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Misread {
    /// From 1.
    pub(super) line: Option<usize>,
    /// What is wrong.
    pub(super) message: String,
    /// What a person can do.
    pub(super) hint: String,
}

impl Misread {
    pub(super) fn new(
        line: Option<usize>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            line,
            message: message.into(),
            hint: hint.into(),
        }
    }
}

/// One host with everything that its file says of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Host {
    /// Where it stands, from 1.
    pub(super) line: Option<usize>,
    /// What it is called where no field says so.
    pub(super) name: Option<String>,
    /// Where it answers where no field says so.
    pub(super) address: Option<String>,
    /// All fields, by their names as written.
    pub(super) fields: BTreeMap<String, String>,
}

/// One BMC for the inventory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ImportedBmc {
    pub(super) name: String,
    pub(super) address: String,
    pub(super) credentials: Option<String>,
    pub(super) platform: Option<String>,
    pub(super) tls: Option<String>,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) servers: Vec<ImportedServer>,
}

/// One server behind it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ImportedServer {
    pub(super) name: String,
    pub(super) system: Option<String>,
    pub(super) serial: Option<String>,
    pub(super) model: Option<String>,
}

/// All that is taken over.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Imported {
    /// In the order of the file.
    pub(super) all: Vec<ImportedBmc>,
    /// Account names, by the credentials made of them.
    pub(super) accounts: BTreeMap<String, String>,
    /// What was left behind, for people.
    pub(super) notes: BTreeSet<String>,
}

impl Imported {
    /// Hosts that answer at one address are one BMC with several servers.
    pub(super) fn of(hosts: Vec<Host>) -> Result<Self, Misread> {
        let mut imported = Self::default();
        for host in hosts {
            imported.add(host)?;
        }
        if imported.all.is_empty() {
            let hint = "the file is a CSV table with a header line, an Ansible inventory, or what `ansible-inventory --list` prints";
            return Err(Misread::new(None, "no host stands in the file", hint));
        }
        Ok(imported)
    }

    /// Names of all BMCs.
    pub(super) fn bmcs(&self) -> Vec<&str> {
        self.all.iter().map(|bmc| bmc.name.as_str()).collect()
    }

    fn add(&mut self, host: Host) -> Result<(), Misread> {
        let mut fields = host.fields;
        self.drop_secrets(&mut fields);
        let name = take(&mut fields, NAME).or(host.name);
        let address = take(&mut fields, ADDRESS).or(host.address);
        let (Some(name), Some(address)) = (name.clone().or(address.clone()), address.or(name))
        else {
            let hint = "give each host a column `name` or `address`";
            return Err(Misread::new(
                host.line,
                "this host has neither name nor address",
                hint,
            ));
        };
        let server = server_of(&mut fields, &name);
        let known = self.all.iter_mut().find(|bmc| bmc.address == address);
        if let (Some(bmc), Some(server)) = (known, &server) {
            bmc.servers.push(server.clone());
            return Ok(());
        }
        let account = take(&mut fields, USERNAME);
        let bmc = ImportedBmc {
            credentials: take(&mut fields, CREDENTIALS)
                .or_else(|| account.map(|name| self.account(name))),
            platform: take(&mut fields, PLATFORM),
            tls: take(&mut fields, TLS),
            servers: server.into_iter().collect(),
            labels: fields,
            name,
            address,
        };
        self.all.push(bmc);
        Ok(())
    }

    fn account(&mut self, username: String) -> String {
        let name = name_of(&username);
        self.accounts.insert(name.clone(), username);
        name
    }

    fn drop_secrets(&mut self, fields: &mut BTreeMap<String, String>) {
        let is_secret = |name: &str| secrecy::is_secret(name) || plain(name).ends_with("pass");
        let secrets: Vec<String> = fields
            .keys()
            .filter(|name| is_secret(name))
            .cloned()
            .collect();
        for name in secrets {
            fields.remove(&name);
            self.notes.insert(format!(
                "`{name}` is not taken over: an inventory says where a password is, and does not hold it"
            ));
        }
    }
}

/// A server of its own where the file says anything of one.
fn server_of(fields: &mut BTreeMap<String, String>, bmc: &str) -> Option<ImportedServer> {
    let name = take(fields, SERVER);
    let server = ImportedServer {
        system: take(fields, SYSTEM),
        serial: take(fields, SERIAL),
        model: take(fields, MODEL),
        name: name.clone().unwrap_or_else(|| bmc.to_owned()),
    };
    let says = name.is_some()
        || server.system.is_some()
        || server.serial.is_some()
        || server.model.is_some();
    says.then_some(server)
}

/// The best field that is there and says something. The others of its kind stay: they may be labels.
fn take(fields: &mut BTreeMap<String, String>, names: &[&str]) -> Option<String> {
    let key = names.iter().find_map(|name| {
        let known = fields
            .iter()
            .find(|(key, value)| plain(key) == *name && !value.is_empty());
        known.map(|(key, _)| key.clone())
    })?;
    fields.remove(&key)
}

/// Whether a table with this header lists BMCs.
pub(super) fn is_known_column(name: &str) -> bool {
    let plain = plain(name);
    ADDRESS.contains(&plain.as_str()) || NAME.contains(&plain.as_str())
}

fn plain(name: &str) -> String {
    let kept = name.chars().filter(char::is_ascii_alphanumeric);
    kept.collect::<String>().to_ascii_lowercase()
}

/// A name that an inventory takes.
pub(super) fn name_of(text: &str) -> String {
    word(text.trim(), '-')
}
