//! What the box shows of itself.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::habit::Ending;
use super::model::{Host, Model, staged};
use crate::model::look::{Followed, Identity, ManagerView, SoftwareView, SystemView, TaskView};
use crate::model::setting::{AttributeRegistry, AttributeResource};
use crate::model::{
    BmcMessage, Capability, Fault, FaultKind, Look, LookRequest, Retry, Seen, ServerName,
    SettingsView, Target, UpdateMethod,
};

impl Model {
    /// What one look finds.
    pub(super) fn look(&self, request: &LookRequest) -> Seen {
        let away = || {
            let kind = FaultKind::Unreachable;
            Fault::new(kind, Retry::Transient, "connection refused")
        };
        let answered = self.habits.answers.clone();
        match answered.or_else(|| self.gone_until.map(|_| away())) {
            Some(fault) => Seen::Failed(fault),
            None => Seen::Looked(Box::new(self.looked(request))),
        }
    }

    fn looked(&self, request: &LookRequest) -> Look {
        let shown = self.hosts.iter().filter(|(_, host)| host.shown);
        let missing = self.hosts.iter().filter(|(_, host)| !host.shown);
        let (tasks, followed) = self.tasks(request);
        Look {
            at: self.now,
            identity: Identity {
                serials: self
                    .hosts
                    .values()
                    .map(|host| host.serial.clone())
                    .collect(),
                ..Identity::default()
            },
            capability: Capability {
                platform: "generic".to_owned(),
                update_methods: vec![UpdateMethod::MultipartPush, UpdateMethod::SimpleUpdate],
                stages_per_target: self.habits.stages_per_target,
                stages_in_job: self.habits.stages_in_job,
                ..Capability::default()
            },
            managers: vec![ManagerView {
                uri: "/Managers/BMC".to_owned(),
                is_bmc: true,
                model: None,
                firmware_version: Some(self.bmc.clone()),
            }],
            systems: shown
                .map(|(name, host)| (name.clone(), self.system(name, host)))
                .collect(),
            other_systems: Vec::new(),
            missing_systems: missing.map(|(name, _)| name.clone()).collect(),
            software: self.software(request),
            followed,
            tasks,
            jobs: if request.work {
                self.strangers.jobs.clone()
            } else {
                Vec::new()
            },
            settings: self.settings(request),
            fetched: Vec::new(),
            resources: self.resources(request),
            manager_started: self.started.map(|at| at.to_string()),
            problems: Vec::new(),
        }
    }

    /// All tasks where they are asked for, and what each followed handle answers.
    fn tasks(&self, request: &LookRequest) -> (Vec<TaskView>, Vec<Followed>) {
        let known = (0..self.tasks.len()).filter(|index| !self.tasks[*index].purged);
        let views: Vec<TaskView> = known.map(|index| self.task(index)).collect();
        let followed = request.tasks.iter().map(|handle| {
            let is_it = |view: &&TaskView| Some(&view.uri) == handle.task.as_ref();
            let found = views.iter().find(is_it).cloned();
            found.map_or(Followed::Gone, |view| Followed::Task(Box::new(view)))
        });
        let followed = followed.collect();
        let mut tasks = Vec::new();
        if request.work {
            tasks.extend(views);
            tasks.extend(self.strangers.tasks.clone());
        }
        (tasks, followed)
    }

    fn software(&self, request: &LookRequest) -> Vec<SoftwareView> {
        if !request.software {
            return Vec::new();
        }
        let staged = self.hosts.iter().filter_map(|(name, host)| {
            let version = host.staged.clone().filter(|_| self.habits.shows_staged)?;
            Some(staged(&format!("/Systems/{name}"), &version))
        });
        staged.chain(self.strangers.staged.clone()).collect()
    }

    fn resources(&self, request: &LookRequest) -> BTreeMap<(Target, String), Option<Value>> {
        let asked = request.resources.iter();
        asked
            .map(|place| (place.clone(), Some(self.network.clone())))
            .collect()
    }

    fn settings(&self, request: &LookRequest) -> BTreeMap<Target, SettingsView> {
        let settings = request.settings.iter().filter_map(|target| {
            let name = target.server()?;
            let host = self.hosts.get(name)?;
            let mut current = host.attributes.clone();
            if self.habits.shows_early {
                current.extend(host.pending.clone());
            }
            if self.habits.shows_no_attributes {
                current.clear();
            }
            let mut pending = host.pending.clone();
            if self.habits.shows_early {
                pending.clear();
            }
            pending.extend(
                self.strangers
                    .pending
                    .get(name)
                    .cloned()
                    .unwrap_or_default(),
            );
            let resource = AttributeResource {
                uri: "/Bios".to_owned(),
                write_uri: "/Bios/Settings".to_owned(),
                current,
                pending,
                ..AttributeResource::default()
            };
            let registry = (!self.definitions.is_empty()).then(|| AttributeRegistry {
                id: "Registry".to_owned(),
                attributes: self.definitions.clone(),
                dependencies: Vec::new(),
            });
            let view = SettingsView {
                resources: vec![resource],
                registry: registry.map(std::sync::Arc::new),
                config_jobs: Vec::new(),
            };
            Some((target.clone(), view))
        });
        settings.collect()
    }

    fn system(&self, name: &ServerName, host: &Host) -> SystemView {
        let in_post = host.post_until.is_some_and(|until| until > self.now);
        let strange = self.strangers.pending.get(name);
        let pending: BTreeSet<String> = host
            .pending
            .keys()
            .filter(|_| !self.habits.shows_early)
            .chain(strange.into_iter().flat_map(BTreeMap::keys))
            .cloned()
            .collect();
        SystemView {
            uri: format!("/Systems/{name}"),
            id: name.to_string(),
            serial: Some(host.serial.clone()),
            bios_version: Some(host.bios.clone()),
            bios_uri: Some(format!("/Systems/{name}/Bios")),
            power: host.power,
            in_post: self.habits.tells_post.then_some(in_post),
            managed_by: vec!["/Managers/BMC".to_owned()],
            reset_types: self
                .habits
                .reset_types
                .iter()
                .map(|kind| (*kind).to_owned())
                .collect(),
            pending,
            ..SystemView::default()
        }
    }

    fn task(&self, index: usize) -> TaskView {
        let task = &self.tasks[index];
        let (state, status) = match (&self.habits.ending, task.ended) {
            (Ending::Stuck, _) | (_, false) => ("Running", "OK"),
            (Ending::Good(status), true) => ("Completed", *status),
            (Ending::Fails(state, status), true) => (*state, *status),
            (Ending::Vanishes, true) => ("Completed", "OK"),
            (Ending::Waits(state), true) => {
                let activated = match &task.target {
                    Target::Bmc => self.bmc == task.version,
                    Target::Server(server) => self.hosts[server].bios == task.version,
                };
                if activated {
                    ("Completed", "OK")
                } else {
                    (*state, "OK")
                }
            }
        };
        let waits =
            matches!(self.habits.ending, Ending::Waits(_)) || self.habits.bmc_waits_for_reset;
        TaskView {
            uri: format!("/Tasks/{index}"),
            state: Some(state.to_owned()),
            status: Some(status.to_owned()),
            percent: Some(if task.ended && self.habits.ending != Ending::Stuck {
                100
            } else {
                40
            }),
            start_time: Some(task.started.to_string()),
            messages: if task.ended && waits && state != "Completed" {
                vec![BmcMessage {
                    message_id: Some("Update.1.2.AwaitToActivate".to_owned()),
                    ..BmcMessage::default()
                }]
            } else {
                Vec::new()
            },
            payload_body: self.habits.tells_payload.then(|| task.body.clone()),
            ..TaskView::default()
        }
    }
}
