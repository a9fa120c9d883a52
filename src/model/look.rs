//! What one look at a BMC asks for and finds.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::action::{IntentId, TaskHandle};
use super::capability::Capability;
use super::fault::{BmcMessage, Fault};
use super::id::{ServerName, Target};
use super::setting::SettingsView;

/// Which parts of a BMC to read. Parts add up; the fewest requests that answer are sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct LookRequest {
    /// Managers and systems: versions, power, POST.
    pub state: bool,
    /// The firmware inventory.
    pub software: bool,
    /// Tasks, jobs and pending settings of every system: is somebody at work?
    pub work: bool,
    /// Full settings views of these targets.
    pub settings: BTreeSet<Target>,
    /// Resources by template, such as `{manager}/NetworkProtocol`; `{system}` needs a server target.
    pub resources: BTreeSet<(Target, String)>,
    /// Our own tasks to poll.
    pub tasks: Vec<TaskHandle>,
    /// Settings without asking who is at work: an observation that finds nothing amiss needs no more.
    pub brief: bool,
    /// Only the unauthenticated service root: is anybody there? Nobody logs in.
    pub root_only: bool,
    /// The first contact after an outage: a new session, nothing remembered is trusted.
    pub fresh_session: bool,
}

impl LookRequest {
    /// Adds all of another request.
    pub fn merge(&mut self, other: LookRequest) {
        self.state |= other.state;
        self.software |= other.software;
        self.work |= other.work;
        self.settings.extend(other.settings);
        self.resources.extend(other.resources);
        for task in other.tasks {
            if !self.tasks.contains(&task) {
                self.tasks.push(task);
            }
        }
        self.brief &= other.brief;
        self.root_only |= other.root_only;
        self.fresh_session |= other.fresh_session;
    }

    /// Whether an answer to this one answers another, our own tasks aside.
    pub fn covers(&self, other: &LookRequest) -> bool {
        (self.state || !other.state)
            && (self.software || !other.software)
            && (self.work || !other.work)
            && (!self.brief || other.brief)
            && other.settings.is_subset(&self.settings)
            && other.resources.is_subset(&self.resources)
    }

    /// Whether nothing is asked.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The result of trying to look.
#[derive(Debug, Clone, PartialEq)]
pub enum Seen {
    /// The BMC answered all that was asked (parts that are absent are absent on the BMC).
    Looked(Box<Look>),
    /// It did not; the fault's kind says whether it is gone, refuses the login, or is another box.
    Failed(Fault),
}

impl From<Result<Look, Fault>> for Seen {
    fn from(looked: Result<Look, Fault>) -> Self {
        match looked {
            Ok(look) => Self::Looked(Box::new(look)),
            Err(fault) => Self::Failed(fault),
        }
    }
}

/// What one look found. Parts that were not asked for are empty.
#[derive(Debug, Clone, PartialEq)]
pub struct Look {
    /// When the last answer came.
    pub at: Timestamp,
    /// Who it is.
    pub identity: Identity,
    /// What it can do.
    pub capability: Capability,
    /// Managers of type BMC first, by URI.
    pub managers: Vec<ManagerView>,
    /// Systems that the inventory names, or all under `BMC/ID` where it names none.
    pub systems: BTreeMap<ServerName, SystemView>,
    /// Systems behind this BMC that the inventory leaves out.
    pub other_systems: Vec<SystemView>,
    /// Servers of the inventory whose system the BMC does not show now.
    pub missing_systems: Vec<ServerName>,
    /// The firmware inventory.
    pub software: Vec<SoftwareView>,
    /// All tasks of the task service, finished ones too, newest last.
    pub tasks: Vec<TaskView>,
    /// Answers to the handles asked for, in the same order.
    pub followed: Vec<Followed>,
    /// Unfinished jobs of a job service.
    pub jobs: Vec<JobView>,
    /// Settings views asked for.
    pub settings: BTreeMap<Target, SettingsView>,
    /// Resources asked for; `None` = 404 or a missing link: not observable.
    pub resources: BTreeMap<(Target, String), Option<Value>>,
    /// Update intents whose image the BMC has fetched from us: told by whoever serves it, not by the BMC.
    pub fetched: Vec<IntentId>,
    /// When the manager last started, where it says (`LastResetTime`).
    pub manager_started: Option<String>,
    /// Oddities worth telling: `no-sessions`, a collection member that cannot be read…
    pub problems: Vec<Problem>,
}

impl Look {
    /// The live BMC version, byte for byte: `FirmwareVersion` of the manager of type BMC that the first selected system
    /// is managed by, else of the first manager by URI, else of the software related to it.
    pub fn bmc_version(&self) -> Option<&str> {
        let manager = self.manager()?;
        manager
            .firmware_version
            .as_deref()
            .or_else(|| self.related_version(&manager.uri, &["bmc"]))
    }

    /// The manager that a BMC stage acts on.
    pub fn manager(&self) -> Option<&ManagerView> {
        let managing = |m: &&ManagerView| {
            m.is_bmc
                && self
                    .systems
                    .values()
                    .any(|system| system.managed_by.contains(&m.uri))
        };
        self.managers
            .iter()
            .find(managing)
            .or_else(|| self.managers.iter().min_by(|a, b| a.uri.cmp(&b.uri)))
    }

    /// The live BIOS version of a server, byte for byte: `BiosVersion`, else of the software related to its Bios, else
    /// of the one related to the system that is named so.
    pub fn bios_version(&self, server: &ServerName) -> Option<&str> {
        let system = self.systems.get(server)?;
        system.bios_version.as_deref().or_else(|| {
            const NAMES: [&str; 2] = ["bios", "uefi"];
            let bios = system.bios_uri.as_deref()?;
            self.related_version(bios, &NAMES)
                .or_else(|| agreed_version(named(self.related(&system.uri), &NAMES)))
        })
    }

    /// The live version of a target's component.
    pub fn version(&self, target: &Target) -> Option<&str> {
        match target {
            Target::Bmc => self.bmc_version(),
            Target::Server(server) => self.bios_version(server),
        }
    }

    /// The version of the software related to a resource. Several parts may be related to one Bios (loader, boards,
    /// network); where they disagree, the one that is named as what is looked for counts, and none where none or two are.
    fn related_version<'a>(&'a self, uri: &'a str, names: &[&str]) -> Option<&'a str> {
        agreed_version(self.related(uri))
            .or_else(|| agreed_version(named(self.related(uri), names)))
    }

    fn related<'a>(&'a self, uri: &'a str) -> impl Iterator<Item = &'a SoftwareView> {
        self.software
            .iter()
            .filter(move |s| !s.staged && s.related.iter().any(|related| related == uri))
    }
}

/// Those whose id or name holds one of these words.
fn named<'a>(
    software: impl Iterator<Item = &'a SoftwareView>,
    names: &[&str],
) -> impl Iterator<Item = &'a SoftwareView> {
    software.filter(move |s| {
        let texts = [Some(s.id.as_str()), s.name.as_deref()];
        texts.into_iter().flatten().any(|text| {
            let text = text.to_ascii_lowercase();
            names.iter().any(|name| text.contains(name))
        })
    })
}

/// The version of all of them, where they agree.
fn agreed_version<'a>(software: impl Iterator<Item = &'a SoftwareView>) -> Option<&'a str> {
    let versions: BTreeSet<&str> = software.filter_map(|s| s.version.as_deref()).collect();
    let mut versions = versions.into_iter();
    versions.next().filter(|_| versions.next().is_none())
}

/// Something odd that did not stop the look.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// Stable kebab-case word.
    pub kind: String,
    /// For people.
    pub message: String,
}

impl From<&Fault> for Problem {
    fn from(fault: &Fault) -> Self {
        Self {
            kind: fault.kind.as_str().to_owned(),
            message: fault.to_string(),
        }
    }
}

/// Who answers: claims that tell one box from another.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// `UUID` of the service root.
    pub root_uuid: Option<String>,
    /// `Vendor` of the service root, else of its first Oem key.
    pub vendor: Option<String>,
    /// `Product` of the service root.
    pub product: Option<String>,
    /// UUIDs of managers.
    pub manager_uuids: BTreeSet<String>,
    /// Permanent MACs of managers' interfaces, where cheap to read.
    pub manager_macs: BTreeSet<String>,
    /// UUIDs of systems.
    pub system_uuids: BTreeSet<String>,
    /// Serial numbers of managers and systems.
    pub serials: BTreeSet<String>,
}

impl Identity {
    /// The first claim in which two identities cannot be one box, after "the BMC"; `None` where none contradicts.
    pub fn contradiction(&self, now: &Self) -> Option<String> {
        if let (Some(before), Some(now)) = (&self.root_uuid, &now.root_uuid)
            && before != now
        {
            return Some(format!(
                "had service root UUID `{before}`, and has `{now}` now"
            ));
        }
        let sets = [
            ("manager UUID", &self.manager_uuids, &now.manager_uuids),
            ("manager MAC", &self.manager_macs, &now.manager_macs),
            ("system UUID", &self.system_uuids, &now.system_uuids),
            ("serial number", &self.serials, &now.serials),
        ];
        sets.into_iter().find_map(|(what, before, now)| {
            let disjoint = !before.is_empty() && !now.is_empty() && before.is_disjoint(now);
            disjoint.then(|| {
                let list =
                    |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(", ");
                format!("had {what} {}, and has {} now", list(before), list(now))
            })
        })
    }
}

/// One manager.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ManagerView {
    /// Its URI.
    pub uri: String,
    /// `ManagerType` is BMC, or absent.
    pub is_bmc: bool,
    /// `Model`.
    pub model: Option<String>,
    /// `FirmwareVersion`, byte for byte; absent values (HARDWARE: `N/A`, empty…) are kept as text.
    pub firmware_version: Option<String>,
}

/// One ComputerSystem.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SystemView {
    /// Its URI.
    pub uri: String,
    /// Its `Id`.
    pub id: String,
    /// `Manufacturer`, `Model`, `SerialNumber`, `UUID`.
    pub manufacturer: Option<String>,
    /// Model.
    pub model: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// UUID.
    pub uuid: Option<String>,
    /// `BiosVersion`, byte for byte.
    pub bios_version: Option<String>,
    /// Its Bios resource; `None` = no BIOS to manage.
    pub bios_uri: Option<String>,
    /// `PowerState`.
    pub power: Power,
    /// `BootProgress.LastState`, byte for byte.
    pub boot_progress: Option<String>,
    /// Whether POST runs, as far as the BMC says; `None` = it does not say.
    pub in_post: Option<bool>,
    /// `Links.ManagedBy`.
    pub managed_by: Vec<String>,
    /// `Links.Chassis`.
    pub chassis: Vec<String>,
    /// Whether it offers no `#ComputerSystem.Reset` at all.
    pub no_reset: bool,
    /// Allowed ResetTypes; empty = not stated.
    pub reset_types: Vec<String>,
    /// Attribute names pending on it, when work was asked for.
    pub pending: BTreeSet<String>,
}

/// `PowerState` of a system.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Power {
    /// On.
    On,
    /// Off.
    Off,
    /// `PoweringOn`, `PoweringOff`, `Paused`, or any other word.
    Changing,
    /// Not stated.
    #[default]
    Unknown,
}

/// One SoftwareInventory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SoftwareView {
    /// Its URI.
    pub uri: String,
    /// Its `Id` and `Name`.
    pub id: String,
    /// Name.
    pub name: Option<String>,
    /// `Version`, byte for byte.
    pub version: Option<String>,
    /// Whether it is staged and waits for activation.
    pub staged: bool,
    /// `RelatedItem` URIs.
    pub related: Vec<String>,
    /// `Updateable`.
    pub updateable: Option<bool>,
}

/// One Task, as evidence.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TaskView {
    /// Its URI.
    pub uri: String,
    /// `TaskMonitor`.
    pub monitor: Option<String>,
    /// `Name`.
    pub name: Option<String>,
    /// `TaskState`, byte for byte.
    pub state: Option<String>,
    /// `TaskStatus`, byte for byte.
    pub status: Option<String>,
    /// `PercentComplete`.
    pub percent: Option<u8>,
    /// `StartTime`.
    pub start_time: Option<String>,
    /// `EndTime`.
    pub end_time: Option<String>,
    /// All messages.
    pub messages: Vec<BmcMessage>,
    /// `Payload.TargetUri`.
    pub payload_uri: Option<String>,
    /// `Payload.JsonBody`, as text.
    pub payload_body: Option<String>,
}

impl TaskView {
    /// Whether the state is one that Redfish calls final. Every unknown word is "not finished": bounded by a deadline.
    pub fn is_finished(&self) -> bool {
        matches!(
            self.state.as_deref(),
            Some("Completed" | "Killed" | "Exception" | "Cancelled")
        )
    }

    /// Finished, and neither its state nor its status names a failure. A hint, never a verdict.
    pub fn looks_good(&self) -> bool {
        self.state.as_deref() == Some("Completed") && self.status.as_deref() != Some("Critical")
    }
}

/// What became of a handle.
#[derive(Debug, Clone, PartialEq)]
pub enum Followed {
    /// It answers.
    Task(Box<TaskView>),
    /// 404 or 410, or an answer with another start time: the handle is no longer ours.
    Gone,
    /// A monitor that answered 2xx without a task: accepted as ended, nothing known.
    Ended(Vec<BmcMessage>),
}

/// One job of a job service.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobView {
    /// Its URI.
    pub uri: String,
    /// `Name`.
    pub name: Option<String>,
    /// `JobState`, byte for byte.
    pub state: Option<String>,
    /// `Payload.TargetUri` or other words on what it does.
    pub about: Option<String>,
}
