//! What a look shows of settings and resources.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::look::Observer;
use crate::model::look::{JobView, TaskView};
use crate::model::setting::{AttributeRegistry, AttributeResource, SettingsView};
use crate::model::{Fault, LookRequest, Target};
use crate::redfish::quirk::current_shows_what_waits;
use crate::redfish::read::{
    Describes, SystemLinks, base_of, bios_attributes, config_jobs, ends_look, find_registry,
    manager_attributes, resolve, same_value, system_named, systems_meant,
};
use crate::redfish::wire::key;

impl Observer<'_> {
    /// Settings views of the targets asked for.
    pub(super) async fn settings(
        &mut self,
        request: &LookRequest,
        jobs: &[JobView],
        tasks: &[TaskView],
    ) -> Result<BTreeMap<Target, SettingsView>, Fault> {
        let mut views = BTreeMap::new();
        for target in &request.settings {
            let view = match target {
                Target::Bmc => Some(self.manager_settings().await?),
                Target::Server(name) => {
                    let system =
                        system_named(&self.found, &self.client.servers, &self.client.bmc, name)
                            .cloned();
                    match system.filter(|system| system.bios.is_some()) {
                        Some(system) => Some(self.bios_settings(&system).await?),
                        None => None,
                    }
                }
            };
            if let Some(mut view) = view {
                let uris: Vec<String> = view
                    .resources
                    .iter()
                    .flat_map(|resource| [resource.uri.clone(), resource.write_uri.clone()])
                    .collect();
                let is_system = *target != Target::Bmc;
                view.config_jobs = config_jobs(jobs, tasks, &uris, is_system);
                views.insert(target.clone(), view);
            }
        }
        Ok(views)
    }

    async fn bios_settings(&mut self, system: &SystemLinks) -> Result<SettingsView, Fault> {
        let platform = self.client.platform(&self.found).to_owned();
        let resource = bios_attributes(&mut self.reader, system, &platform).await?;
        self.view(resource.into_iter().collect(), Describes::Bios, &system.uri)
            .await
    }

    async fn manager_settings(&mut self) -> Result<SettingsView, Fault> {
        let Some(manager) = self.acting_manager() else {
            return Ok(SettingsView::default());
        };
        let resources = manager_attributes(&mut self.reader, &mut self.found, &manager).await?;
        self.view(resources, Describes::Manager, &manager).await
    }

    async fn view(
        &mut self,
        mut resources: Vec<AttributeResource>,
        describes: Describes,
        owner: &str,
    ) -> Result<SettingsView, Fault> {
        let mut registry: Option<Arc<AttributeRegistry>> = None;
        let names: Vec<Option<String>> = resources
            .iter()
            .map(|resource| resource.registry_name.clone())
            .collect();
        for name in unique(names) {
            let Some(found) = self.registry(describes, name.as_deref(), owner).await? else {
                continue;
            };
            match &mut registry {
                Some(registry) => merge(Arc::make_mut(registry), &found),
                None => registry = Some(found),
            }
        }
        let is_bios = matches!(describes, Describes::Bios);
        let is_early = is_bios && current_shows_what_waits(self.client.platform(&self.found));
        if let Some(registry) = registry.as_ref().filter(|_| !is_early) {
            for resource in &mut resources {
                drop_other_spellings(resource, registry);
            }
        }
        let pairs = resources
            .iter()
            .map(|resource| (resource.write_uri.clone(), resource.uri.clone()));
        self.client.remember().known.add_read_uris(pairs);
        Ok(SettingsView {
            resources,
            registry,
            config_jobs: Vec::new(),
        })
    }

    /// A registry, kept for as long as the version of what it describes stays the same.
    async fn registry(
        &mut self,
        describes: Describes,
        name: Option<&str>,
        owner: &str,
    ) -> Result<Option<Arc<AttributeRegistry>>, Fault> {
        let version = self
            .client
            .remember()
            .known
            .version(&key(owner))
            .cloned()
            .unwrap_or_default();
        let place = (describes, name.unwrap_or_default().to_owned(), version);
        if let Some(known) = self.client.remember().known.registry(&place) {
            return Ok(Some(Arc::clone(known)));
        }
        let registry = find_registry(&mut self.reader, &self.found, name, describes).await?;
        Ok(registry.map(|registry| {
            let registry = self.client.shelf.one_copy(registry);
            self.client
                .remember()
                .known
                .add_registry(place, Arc::clone(&registry));
            registry
        }))
    }

    /// Resources asked for; `None` where one is not there.
    pub(super) async fn resources(
        &mut self,
        request: &LookRequest,
    ) -> Result<BTreeMap<(Target, String), Option<Value>>, Fault> {
        let mut read = BTreeMap::new();
        for (target, template) in &request.resources {
            let doc = self.resource(target, template).await?;
            read.insert((target.clone(), template.clone()), doc);
        }
        Ok(read)
    }

    async fn resource(&mut self, target: &Target, template: &str) -> Result<Option<Value>, Fault> {
        let system = target.server().and_then(|name| {
            system_named(&self.found, &self.client.servers, &self.client.bmc, name)
        });
        let meant = systems_meant(&self.found, &self.client.servers);
        let Some((base, rest)) = base_of(&self.found, system, &meant, template) else {
            self.reader.problem(
                "link-missing",
                format!("this BMC has nothing that `{template}` starts at"),
            );
            return Ok(None);
        };
        let uri = resolve(&mut self.reader, &mut self.found, &base, rest).await?;
        match self.reader.read(&uri).await {
            Ok(doc) => Ok(Some(Value::clone(&doc))),
            Err(fault) if ends_look(&fault) => Err(fault),
            Err(fault) => {
                self.found.templates.retain(|_, known| known != &uri);
                self.reader
                    .problem("resource-unreadable", fault.to_string());
                Ok(None)
            }
        }
    }
}

fn unique(names: Vec<Option<String>>) -> Vec<Option<String>> {
    let mut seen = Vec::new();
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen
}

fn merge(registry: &mut AttributeRegistry, other: &AttributeRegistry) {
    for (name, definition) in &other.attributes {
        registry
            .attributes
            .entry(name.clone())
            .or_insert_with(|| definition.clone());
    }
    registry
        .dependencies
        .extend(other.dependencies.iter().cloned());
}

/// An enumeration that waits under its value name and is in effect under its display name does not wait.
fn drop_other_spellings(resource: &mut AttributeResource, registry: &AttributeRegistry) {
    let current = &resource.current;
    resource.pending.retain(|name, waiting| {
        let Some(definition) = registry.attributes.get(name) else {
            return true;
        };
        let spelled = |value: &Value| {
            let text = value.as_str()?;
            let known = definition
                .values
                .iter()
                .find(|known| known.name == text || known.display_name.as_deref() == Some(text))?;
            Some(Value::String(known.name.clone()))
        };
        let now = current
            .get(name)
            .and_then(|now| spelled(now).or_else(|| Some(now.clone())));
        let then = spelled(waiting).unwrap_or_else(|| waiting.clone());
        now.is_none_or(|now| !same_value(&now, &then))
    });
}
