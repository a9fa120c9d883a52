//! A box as simple as can be, for the machine alone: it answers looks in virtual time, with every habit and hazard that
//! a test gives it. A request that would brick a real one ends the test.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::habit::{Ending, Habits};
use crate::model::look::{JobView, Power, SoftwareView, TaskView};
use crate::model::setting::AttributeDefinition;
use crate::model::{ServerName, Target};
use crate::run::deadline::after;

pub(super) const FLASH: Duration = Duration::from_mins(8);
pub(super) const GONE: Duration = Duration::from_mins(3);
pub(super) const POST: Duration = Duration::from_mins(4);
pub(super) const STAGE: Duration = Duration::from_mins(2);

/// The box.
#[derive(Clone)]
pub(super) struct Model {
    pub(super) now: Timestamp,
    pub(super) bmc: String,
    /// The version that the BMC runs and does not show yet.
    pub(super) bmc_soon: Option<(Timestamp, String)>,
    pub(super) hosts: BTreeMap<ServerName, Host>,
    pub(super) tasks: Vec<Task>,
    pub(super) gone_until: Option<Timestamp>,
    /// `LastResetTime`, where the BMC says one.
    pub(super) started: Option<Timestamp>,
    /// `{manager}/NetworkProtocol`.
    pub(super) network: Value,
    /// What of it waits for a reset of the BMC.
    pub(super) network_soon: Option<Value>,
    /// Every action, in words.
    pub(super) ledger: Vec<String>,
    /// Versions of the images by file name.
    pub(super) images: BTreeMap<String, String>,
    pub(super) habits: Habits,
    pub(super) strangers: Strangers,
    /// What the attribute registry says, where there is one.
    pub(super) definitions: BTreeMap<String, AttributeDefinition>,
}

/// What others do on the box.
#[derive(Clone, Default)]
pub(super) struct Strangers {
    pub(super) tasks: Vec<TaskView>,
    pub(super) jobs: Vec<JobView>,
    pub(super) staged: Vec<SoftwareView>,
    /// Attributes that somebody else left pending, by server.
    pub(super) pending: BTreeMap<ServerName, BTreeMap<String, Value>>,
}

/// One server.
#[derive(Clone)]
pub(super) struct Host {
    pub(super) serial: String,
    pub(super) bios: String,
    pub(super) power: Power,
    pub(super) post_until: Option<Timestamp>,
    pub(super) staged: Option<String>,
    pub(super) attributes: BTreeMap<String, Value>,
    pub(super) pending: BTreeMap<String, Value>,
    /// The image that POST is writing.
    pub(super) flashes: Option<String>,
    /// Whether the BMC shows the system at all.
    pub(super) shown: bool,
}

/// One task.
#[derive(Clone)]
pub(super) struct Task {
    pub(super) target: Target,
    pub(super) version: String,
    pub(super) ends: Timestamp,
    pub(super) ended: bool,
    pub(super) purged: bool,
    pub(super) started: Timestamp,
    pub(super) body: String,
}

impl Model {
    pub(super) fn new(servers: &[&str]) -> Self {
        let host = |name: &&str| Host {
            serial: format!("serial of {name}"),
            bios: "2.10".to_owned(),
            power: Power::On,
            post_until: None,
            staged: None,
            attributes: BTreeMap::from([
                ("QuietBoot".to_owned(), json!(true)),
                ("Boost".to_owned(), json!("Off")),
            ]),
            pending: BTreeMap::new(),
            flashes: None,
            shown: true,
        };
        Self {
            now: Timestamp::UNIX_EPOCH,
            bmc: "1.50".to_owned(),
            bmc_soon: None,
            hosts: servers
                .iter()
                .map(|name| (ServerName::from(*name), host(name)))
                .collect(),
            tasks: Vec::new(),
            gone_until: None,
            started: None,
            network: json!({ "NTP": { "ProtocolEnabled": false }, "SSDP": { "ProtocolEnabled": true } }),
            network_soon: None,
            ledger: Vec::new(),
            images: BTreeMap::new(),
            habits: Habits::default(),
            strangers: Strangers::default(),
            definitions: BTreeMap::new(),
        }
    }

    pub(super) fn host(&mut self, name: &str) -> &mut Host {
        self.hosts.get_mut(&ServerName::from(name)).unwrap()
    }

    /// Lets time pass.
    pub(super) fn pass(&mut self, by: Duration) {
        self.now = after(self.now, by);
        let now = self.now;
        if self.gone_until.is_some_and(|until| until <= now) {
            self.gone_until = None;
            self.started = self.started.map(|_| now);
            if let Some(network) = self.network_soon.take() {
                self.network = network;
            }
        }
        if let Some((_, version)) = self.bmc_soon.take_if(|(at, _)| *at <= now) {
            self.bmc = version;
        }
        for index in 0..self.tasks.len() {
            let task = &mut self.tasks[index];
            if !task.ended && task.ends <= now {
                task.ended = true;
                self.task_ends(index);
            }
        }
        for host in self.hosts.values_mut() {
            if host.post_until.is_some_and(|until| until <= now) {
                host.post_until = None;
                if let Some(version) = host.flashes.take() {
                    host.bios = version;
                }
                let pending = std::mem::take(&mut host.pending);
                for (name, value) in pending {
                    if self.habits.stays_pending.contains(&name) {
                        host.pending.insert(name, value);
                    } else if !self.habits.silently_kept.contains(&name) {
                        host.attributes.insert(name, value);
                    }
                }
            }
        }
    }

    fn task_ends(&mut self, index: usize) {
        let (target, version) = {
            let task = &mut self.tasks[index];
            task.purged |= self.habits.ending == Ending::Vanishes;
            (task.target.clone(), task.version.clone())
        };
        if matches!(self.habits.ending, Ending::Fails(..) | Ending::Stuck) {
            return;
        }
        match &target {
            Target::Bmc if self.habits.bmc_waits_for_reset => {}
            Target::Bmc => self.bmc_restarts(version),
            Target::Server(server) => {
                if let Some(sibling) = &self.habits.takes_along
                    && let Some(host) = self.hosts.get_mut(sibling)
                {
                    host.bios.clone_from(&version);
                }
                let (self_reboots, now) = (self.habits.reboots_by_itself, self.now);
                if let Some(host) = self.hosts.get_mut(server) {
                    if host.power == Power::Off && self.habits.flashes_while_off {
                        host.bios = version;
                    } else if self_reboots {
                        host.post_until = Some(after(now, POST));
                        host.flashes = Some(version);
                    } else {
                        host.staged = Some(version);
                    }
                }
            }
        }
    }

    pub(super) fn bmc_restarts(&mut self, version: String) {
        let back = if self.habits.never_returns {
            Timestamp::MAX
        } else {
            after(self.now, GONE)
        };
        self.gone_until = Some(back);
        for task in &mut self.tasks {
            task.purged |= self.habits.forgets_tasks;
        }
        self.bmc_soon = Some((after(back, self.habits.shown_late), version));
        if self.habits.shown_late.is_zero() {
            self.bmc_soon = self.bmc_soon.take().map(|(_, version)| (back, version));
        }
    }
}

/// A staged image of some system.
pub(super) fn staged(system: &str, version: &str) -> SoftwareView {
    SoftwareView {
        uri: format!("/inventory{system}-staged"),
        version: Some(version.to_owned()),
        staged: true,
        related: vec![system.to_owned()],
        ..SoftwareView::default()
    }
}
