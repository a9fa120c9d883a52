//! A box as simple as can be, for the machine alone: it answers looks and takes actions in virtual time.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::model::action::UpdateMethod;
use crate::model::look::{
    Followed, Identity, ManagerView, Power, SoftwareView, SystemView, TaskView,
};
use crate::model::setting::AttributeResource;
use crate::model::{
    Action, BmcMessage, Capability, Fault, FaultKind, Look, LookRequest, Outcome, Retry, Seen,
    ServerName, SettingsView, Target, TaskHandle,
};
use crate::run::deadline::after;

const FLASH: Duration = Duration::from_mins(8);
const GONE: Duration = Duration::from_mins(3);
const POST: Duration = Duration::from_mins(4);
const STAGE: Duration = Duration::from_mins(2);

/// The box.
pub(super) struct Model {
    pub(super) now: Timestamp,
    pub(super) bmc: String,
    pub(super) hosts: BTreeMap<ServerName, Host>,
    pub(super) tasks: Vec<Task>,
    gone_until: Option<Timestamp>,
    /// Every action, in words.
    pub(super) ledger: Vec<String>,
    /// Versions of the images by file name.
    pub(super) images: BTreeMap<String, String>,
    /// The next answers that are lost after the action was taken.
    pub(super) lose_answers: u32,
    /// The next requests that never arrive and look like lost answers.
    pub(super) lose_requests: u32,
}

/// One server.
#[derive(Clone)]
pub(super) struct Host {
    pub(super) bios: String,
    pub(super) power: Power,
    pub(super) post_until: Option<Timestamp>,
    pub(super) staged: Option<String>,
    pub(super) attributes: BTreeMap<String, Value>,
    pub(super) pending: BTreeMap<String, Value>,
    flashes_until: Option<(Timestamp, String)>,
}

/// One task.
pub(super) struct Task {
    target: Target,
    version: String,
    ends: Timestamp,
    pub(super) ended: bool,
    started: Timestamp,
    body: String,
}

impl Model {
    pub(super) fn new(servers: &[&str]) -> Self {
        let host = Host {
            bios: "2.10".to_owned(),
            power: Power::On,
            post_until: None,
            staged: None,
            attributes: BTreeMap::from([("QuietBoot".to_owned(), json!(true))]),
            pending: BTreeMap::new(),
            flashes_until: None,
        };
        Self {
            now: Timestamp::UNIX_EPOCH,
            bmc: "1.50".to_owned(),
            hosts: servers
                .iter()
                .map(|name| (ServerName::from(*name), host.clone()))
                .collect(),
            tasks: Vec::new(),
            gone_until: None,
            ledger: Vec::new(),
            images: BTreeMap::new(),
            lose_answers: 0,
            lose_requests: 0,
        }
    }

    /// Lets time pass.
    pub(super) fn pass(&mut self, by: Duration) {
        self.now = after(self.now, by);
        let now = self.now;
        if self.gone_until.is_some_and(|until| until <= now) {
            self.gone_until = None;
        }
        for task in self
            .tasks
            .iter_mut()
            .filter(|task| !task.ended && task.ends <= now)
        {
            task.ended = true;
            match &task.target {
                Target::Bmc => {
                    self.bmc.clone_from(&task.version);
                    self.gone_until = Some(after(now, GONE));
                }
                Target::Server(server) => {
                    if let Some(host) = self.hosts.get_mut(server) {
                        host.staged = Some(task.version.clone());
                    }
                }
            }
        }
        for host in self.hosts.values_mut() {
            if host.post_until.is_some_and(|until| until <= now) {
                host.post_until = None;
                if let Some((_, version)) = host.flashes_until.take() {
                    host.bios = version;
                }
                let pending = std::mem::take(&mut host.pending);
                host.attributes.extend(pending);
            }
        }
    }

    pub(super) fn look(&self, request: &LookRequest) -> Seen {
        if self.gone_until.is_some() {
            let fault = Fault::new(
                FaultKind::Unreachable,
                Retry::Transient,
                "connection refused",
            );
            return Seen::Failed(fault);
        }
        let systems = self
            .hosts
            .iter()
            .map(|(name, host)| (name.clone(), self.system(name, host)));
        let software = self.hosts.iter().filter_map(|(name, host)| {
            let version = host.staged.clone()?;
            Some(SoftwareView {
                uri: format!("/inventory/{name}-staged"),
                version: Some(version),
                staged: true,
                related: vec![format!("/Systems/{name}")],
                ..SoftwareView::default()
            })
        });
        let views: Vec<TaskView> = (0..self.tasks.len())
            .map(|index| self.task(index))
            .collect();
        let followed = request.tasks.iter().map(|handle| {
            let found = views
                .iter()
                .find(|view| Some(&view.uri) == handle.task.as_ref());
            found.map_or(Followed::Gone, |view| {
                Followed::Task(Box::new(view.clone()))
            })
        });
        Seen::Looked(Box::new(Look {
            at: self.now,
            identity: Identity::default(),
            capability: Capability {
                platform: "generic".to_owned(),
                update_methods: vec![UpdateMethod::MultipartPush, UpdateMethod::SimpleUpdate],
                ..Capability::default()
            },
            managers: vec![ManagerView {
                uri: "/Managers/BMC".to_owned(),
                is_bmc: true,
                model: None,
                firmware_version: Some(self.bmc.clone()),
            }],
            systems: systems.collect(),
            other_systems: Vec::new(),
            missing_systems: Vec::new(),
            software: software.collect(),
            followed: followed.collect(),
            tasks: views,
            jobs: Vec::new(),
            settings: self.settings(request),
            resources: BTreeMap::new(),
            manager_started: None,
            problems: Vec::new(),
        }))
    }

    fn settings(&self, request: &LookRequest) -> BTreeMap<Target, SettingsView> {
        let settings = request.settings.iter().filter_map(|target| {
            let host = self.hosts.get(target.server()?)?;
            let resource = AttributeResource {
                uri: "/Bios".to_owned(),
                write_uri: "/Bios/Settings".to_owned(),
                current: host.attributes.clone(),
                pending: host.pending.clone(),
                ..AttributeResource::default()
            };
            let view = SettingsView {
                resources: vec![resource],
                ..SettingsView::default()
            };
            Some((target.clone(), view))
        });
        settings.collect()
    }

    fn system(&self, name: &ServerName, host: &Host) -> SystemView {
        SystemView {
            uri: format!("/Systems/{name}"),
            id: name.to_string(),
            bios_version: Some(host.bios.clone()),
            bios_uri: Some(format!("/Systems/{name}/Bios")),
            power: host.power,
            in_post: Some(host.post_until.is_some_and(|until| until > self.now)),
            managed_by: vec!["/Managers/BMC".to_owned()],
            reset_types: [
                "On",
                "ForceOff",
                "GracefulShutdown",
                "GracefulRestart",
                "ForceRestart",
            ]
            .map(str::to_owned)
            .to_vec(),
            pending: host.pending.keys().cloned().collect(),
            ..SystemView::default()
        }
    }

    fn task(&self, index: usize) -> TaskView {
        let task = &self.tasks[index];
        let staged = matches!(task.target, Target::Server(_)) && task.ended;
        TaskView {
            uri: format!("/Tasks/{index}"),
            state: Some(if task.ended { "Completed" } else { "Running" }.to_owned()),
            status: Some("OK".to_owned()),
            percent: Some(if task.ended { 100 } else { 50 }),
            start_time: Some(task.started.to_string()),
            messages: if staged {
                vec![BmcMessage {
                    message_id: Some("Update.1.2.AwaitToActivate".to_owned()),
                    ..BmcMessage::default()
                }]
            } else {
                Vec::new()
            },
            payload_body: Some(task.body.clone()),
            ..TaskView::default()
        }
    }

    pub(super) fn act(&mut self, action: &Action) -> Outcome {
        let lost = || Outcome::Lost {
            fault: Fault::new(FaultKind::Unreachable, Retry::Transient, "connection reset"),
        };
        if self.lose_requests > 0 {
            self.lose_requests -= 1;
            self.ledger.push("(a request was lost)".to_owned());
            return lost();
        }
        let outcome = self.take(action);
        if self.lose_answers > 0 {
            self.lose_answers -= 1;
            return lost();
        }
        outcome
    }

    fn take(&mut self, action: &Action) -> Outcome {
        let now = self.now;
        let mut task = None;
        match action {
            Action::Update(update) => {
                let image = format!("{:?}", update.image);
                let version = self
                    .images
                    .iter()
                    .find(|(name, _)| image.contains(name.as_str()))
                    .map(|(_, version)| version.clone())
                    .unwrap_or_default();
                self.ledger
                    .push(format!("update {} to {version}", update.target));
                let takes = if update.target == Target::Bmc {
                    FLASH
                } else {
                    STAGE
                };
                self.tasks.push(Task {
                    target: update.target.clone(),
                    version,
                    ends: after(now, takes),
                    ended: false,
                    started: now,
                    body: json!({ "ImageURI": image, "Targets": update.targets }).to_string(),
                });
                let uri = format!("/Tasks/{}", self.tasks.len() - 1);
                task = Some(TaskHandle {
                    task: Some(uri),
                    ..TaskHandle::default()
                });
            }
            Action::ResetSystem { server, reset_type } => {
                self.ledger.push(format!("{reset_type} {server}"));
                let Some(host) = self.hosts.get_mut(server) else {
                    return accepted(None);
                };
                let boots = match reset_type.as_str() {
                    "GracefulShutdown" | "ForceOff" => {
                        host.power = Power::Off;
                        false
                    }
                    _ => true,
                };
                if boots {
                    host.power = Power::On;
                    host.post_until = Some(after(now, POST));
                    host.flashes_until = host
                        .staged
                        .take()
                        .map(|version| (after(now, POST), version));
                }
            }
            Action::ResetManager { reset_type } => {
                self.ledger.push(format!("{reset_type} manager"));
                self.gone_until = Some(after(now, GONE));
            }
            Action::PatchAttributes { target, parts, .. } => {
                self.ledger.push(format!("patch {target}"));
                let host = target
                    .server()
                    .and_then(|server| self.hosts.get_mut(server));
                for (host, part) in host.into_iter().zip(parts) {
                    host.pending.extend(part.attributes.clone());
                }
            }
            Action::PatchResource { uri, .. } => self.ledger.push(format!("patch {uri}")),
        }
        accepted(task)
    }
}

fn accepted(task: Option<TaskHandle>) -> Outcome {
    Outcome::Accepted {
        task,
        messages: Vec::new(),
        reset_required: false,
    }
}
