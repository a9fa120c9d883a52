//! One BMC as it was last seen, in the form in which ten thousand of them are kept: what many say alike is there once.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::fleet::{BmcWatched, ServerWatched};
use super::metrics::BmcFigures;
use super::observation::DriftLine;
use crate::drift::DriftState;
use crate::model::inventory::{Bmc, Labels};
use crate::model::look::{Power, Problem};
use crate::model::one_copy::OneCopy;
use crate::model::{Fault, Look, ServerName, Target};

/// What the BMCs of a fleet say alike.
#[derive(Default)]
pub(super) struct Alike {
    facts: OneCopy<BTreeMap<String, String>>,
    texts: OneCopy<str>,
}

/// One BMC; [`BmcWatched`] says what is what.
pub(super) struct LastSeen {
    pub(super) bmc: Arc<Bmc>,
    facts: Labels,
    pub(super) state: Option<DriftState>,
    pub(super) items: Vec<DriftLine>,
    pub(super) problems: Vec<Problem>,
    bmc_version: Option<Arc<str>>,
    desired_versions: Box<[(Target, Arc<str>)]>,
    servers: Box<[LastSeenServer]>,
    pub(super) driven: bool,
    pub(super) polls: u64,
    pub(super) failures: u32,
    pub(super) polled_at: Option<Timestamp>,
    pub(super) next_poll_at: Option<Timestamp>,
}

struct LastSeenServer {
    server: ServerName,
    system: Arc<str>,
    bios_version: Option<Arc<str>>,
    power_state: Power,
}

impl LastSeen {
    /// A BMC that is listed and was not asked yet.
    pub(super) fn listed(bmc: &Arc<Bmc>, alike: &mut Alike) -> Self {
        Self {
            bmc: Arc::clone(bmc),
            facts: alike.facts.of(BTreeMap::new()),
            state: None,
            items: Vec::new(),
            problems: Vec::new(),
            bmc_version: None,
            desired_versions: Box::default(),
            servers: Box::default(),
            driven: false,
            polls: 0,
            failures: 0,
            polled_at: None,
            next_poll_at: None,
        }
    }

    /// Takes over what a look shows.
    pub(super) fn saw(&mut self, look: &Look, alike: &mut Alike) {
        self.bmc_version = look.bmc_version().map(|version| alike.texts.of(version));
        let servers = look.systems.iter().map(|(server, system)| LastSeenServer {
            server: server.clone(),
            system: alike.texts.of(system.uri.as_str()),
            bios_version: look.bios_version(server).map(|bios| alike.texts.of(bios)),
            power_state: system.power,
        });
        self.servers = servers.collect();
        let mut facts = Labels::clone(&self.facts);
        Arc::make_mut(&mut facts).extend(facts_of(look));
        self.facts = alike.facts.of(facts);
    }

    /// Takes over why nothing was seen.
    pub(super) fn missed(&mut self, fault: &Fault) {
        self.problems = vec![fault.into()];
    }

    /// Takes over what is to run in the end.
    pub(super) fn wants(&mut self, versions: &BTreeMap<Target, String>, alike: &mut Alike) {
        let versions = versions.iter();
        let versions = versions.map(|(target, version)| {
            let version = alike.texts.of(version.as_str());
            (target.clone(), version)
        });
        self.desired_versions = versions.collect();
    }

    /// As whoever asks is told.
    pub(super) fn told(&self) -> BmcWatched {
        let mut labels = BTreeMap::clone(&self.bmc.labels);
        labels.extend(BTreeMap::clone(&self.facts));
        let text = |text: &Option<Arc<str>>| text.as_deref().map(str::to_owned);
        let servers = self.servers.iter().map(|one| ServerWatched {
            server: one.server.clone(),
            system: one.system.as_ref().to_owned(),
            bios_version: text(&one.bios_version),
            power_state: one.power_state,
        });
        let versions = self.desired_versions.iter();
        BmcWatched {
            bmc: self.bmc.name.clone(),
            address: self.bmc.address.base.as_ref().to_owned(),
            labels,
            state: self.state,
            items: self.items.clone(),
            problems: self.problems.clone(),
            bmc_version: text(&self.bmc_version),
            desired_versions: versions
                .map(|(target, version)| (target.clone(), version.as_ref().to_owned()))
                .collect(),
            servers: servers.collect(),
            driven: self.driven,
            polls: self.polls,
            failures: self.failures,
            polled_at: self.polled_at,
            next_poll_at: self.next_poll_at,
        }
    }
}

impl LastSeen {
    /// As metrics tell it.
    pub(super) fn figures(&self) -> BmcFigures {
        let (versions, settings): (Vec<_>, Vec<_>) =
            self.items.iter().partition(|item| item.name == "version");
        let count = |items: Vec<_>| u32::try_from(items.len()).unwrap_or(u32::MAX);
        let of_bmc = self.bmc_version.iter();
        let of_bmc = of_bmc.map(|version| (Target::Bmc, Arc::clone(version)));
        let of_servers = self.servers.iter().filter_map(|one| {
            let version = one.bios_version.as_ref()?;
            Some((Target::Server(one.server.clone()), Arc::clone(version)))
        });
        BmcFigures {
            bmc: self.bmc.name.clone(),
            state: self.state,
            drift_items: [("version", count(versions)), ("setting", count(settings))],
            failures: self.failures,
            observed: of_bmc.chain(of_servers).collect(),
            desired: self.desired_versions.clone(),
        }
    }
}

/// Facts of the hardware as labels.
fn facts_of(look: &Look) -> BTreeMap<String, String> {
    let mut systems = look.systems.values();
    let system = systems.next();
    let one_bios = look.systems.keys().next();
    let found = [
        ("redfish.vendor", look.identity.vendor.clone()),
        ("redfish.model", system.and_then(|s| s.model.clone())),
        ("redfish.platform", Some(look.capability.platform.clone())),
        (
            "redfish.bmc_version",
            look.bmc_version().map(ToOwned::to_owned),
        ),
        (
            "redfish.bios_version",
            one_bios
                .and_then(|server| look.bios_version(server))
                .map(ToOwned::to_owned),
        ),
    ];
    let found = found.into_iter();
    found
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect()
}
