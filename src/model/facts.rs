//! Facts read from hardware, which selectors and templates see as read-only labels.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::id::ServerName;
use super::look::Look;

/// Names of all facts; every label that begins so is one.
pub const FACTS: [&str; 5] = [
    "redfish.vendor",
    "redfish.model",
    "redfish.platform",
    "redfish.bmc_version",
    "redfish.bios_version",
];

/// What the names of facts begin with; no label that a person writes does.
pub const FACT_PREFIX: &str = "redfish.";

/// What one BMC and the servers behind it last said of themselves, byte for byte.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// `redfish.vendor`.
    vendor: Option<Box<str>>,
    /// `redfish.platform`.
    platform: Option<Box<str>>,
    /// `redfish.bmc_version`.
    bmc_version: Option<Box<str>>,
    /// In name order.
    servers: Vec<(ServerName, ServerFacts)>,
}

/// What one server says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct ServerFacts {
    /// `redfish.model`.
    model: Option<Box<str>>,
    /// `redfish.bios_version`.
    bios_version: Option<Box<str>>,
}

/// What is known of a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label<'l> {
    /// It has this value.
    Is(&'l str),
    /// There is none.
    Absent,
    /// It is a fact that was not read yet.
    Unknown,
}

impl<'l> From<Option<&'l str>> for Label<'l> {
    fn from(value: Option<&'l str>) -> Self {
        value.map_or(Self::Absent, Self::Is)
    }
}

impl Facts {
    /// As a look shows them.
    pub fn of(look: &Look) -> Self {
        let boxed = |text: Option<&str>| text.map(Into::into);
        let servers = look.systems.iter().map(|(name, system)| {
            let facts = ServerFacts {
                model: boxed(system.model.as_deref()),
                bios_version: boxed(look.bios_version(name)),
            };
            (name.clone(), facts)
        });
        Self {
            vendor: boxed(look.identity.vendor.as_deref()),
            platform: boxed(Some(&look.capability.platform)),
            bmc_version: boxed(look.bmc_version()),
            servers: servers.collect(),
        }
    }

    /// These, with what they do not tell as it was told before: a BMC that has just started shows less than it knows.
    #[must_use]
    pub fn over(mut self, before: &Self) -> Self {
        fn keep(new: &mut Option<Box<str>>, old: Option<&str>) {
            if new.is_none() {
                *new = old.map(Into::into);
            }
        }
        keep(&mut self.vendor, before.vendor.as_deref());
        keep(&mut self.platform, before.platform.as_deref());
        keep(&mut self.bmc_version, before.bmc_version.as_deref());
        for (name, old) in &before.servers {
            match self.place(name) {
                Ok(at) => {
                    let new = &mut self.servers[at].1;
                    keep(&mut new.model, old.model.as_deref());
                    keep(&mut new.bios_version, old.bios_version.as_deref());
                }
                Err(at) => self.servers.insert(at, (name.clone(), old.clone())),
            }
        }
        self
    }

    /// A label of a server, or of the BMC itself.
    pub fn label(&self, server: Option<&ServerName>, name: &str) -> Label<'_> {
        let of_server =
            || server.and_then(|server| Some(&self.servers[self.place(server).ok()?].1));
        match name {
            "redfish.vendor" => self.vendor.as_deref().into(),
            "redfish.platform" => self.platform.as_deref().into(),
            "redfish.bmc_version" => self.bmc_version.as_deref().into(),
            "redfish.model" => of_server().map_or(Label::Unknown, |of| of.model.as_deref().into()),
            "redfish.bios_version" => {
                of_server().map_or(Label::Unknown, |of| of.bios_version.as_deref().into())
            }
            _ => Label::Absent,
        }
    }

    /// All that is known of a server, or of the BMC itself, by name.
    pub fn labels(&self, server: Option<&ServerName>) -> BTreeMap<String, String> {
        let known = FACTS
            .iter()
            .filter_map(|name| match self.label(server, name) {
                Label::Is(value) => Some(((*name).to_owned(), value.to_owned())),
                Label::Absent | Label::Unknown => None,
            });
        known.collect()
    }

    /// What the BMC was recognised as.
    pub fn platform(&self) -> Option<&str> {
        self.platform.as_deref()
    }

    /// Servers that have told something, in name order.
    pub fn servers(&self) -> impl Iterator<Item = &ServerName> {
        self.servers.iter().map(|(name, _)| name)
    }

    fn place(&self, server: &ServerName) -> Result<usize, usize> {
        self.servers.binary_search_by(|(name, _)| name.cmp(server))
    }
}
