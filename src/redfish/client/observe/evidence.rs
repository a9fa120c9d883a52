//! What a look shows of software, tasks and jobs, and of what waits on each system.

use super::look::Observer;
use crate::model::look::{JobView, SoftwareView, TaskView};
use crate::model::{Fault, LookRequest};
use crate::redfish::read::{
    Assigned, Boxes, SystemLinks, bios_attributes, read_jobs, read_software, read_some, read_tasks,
    relate_active, relate_namesake, version_sources,
};

impl Observer<'_> {
    /// The inventory where it is asked for; where a version is shown nowhere else, what tells that version.
    pub(super) async fn software(
        &mut self,
        request: &LookRequest,
        boxes: &Boxes,
    ) -> Result<Vec<SoftwareView>, Fault> {
        let silent = self.silent(boxes);
        if !request.software && (!request.state || silent.is_empty()) {
            return Ok(Vec::new());
        }
        if !request.software
            && let Some(software) = self.remembered_sources(&silent).await?
        {
            return Ok(self.related(software));
        }
        let software = read_software(&mut self.reader, &self.found).await?;
        let software = self.related(software);
        for uri in silent {
            let owner = boxes
                .systems
                .iter()
                .find(|system| system.bios_uri.as_ref() == Some(&uri))
                .map(|system| system.uri.as_str());
            let sources = version_sources(&software, &uri, owner);
            self.found.version_sources.insert(uri, sources);
        }
        Ok(software)
    }

    /// What told these versions before; `None` where that is not known of all of them, or no longer there.
    async fn remembered_sources(
        &mut self,
        silent: &[String],
    ) -> Result<Option<Vec<SoftwareView>>, Fault> {
        let known = &self.found.version_sources;
        let sources: Option<Vec<&Vec<String>>> = silent.iter().map(|uri| known.get(uri)).collect();
        let Some(sources) = sources else {
            return Ok(None);
        };
        let uris: Vec<String> = sources.into_iter().flatten().cloned().collect();
        let noted = self.reader.problems.len();
        let software = read_some(&mut self.reader, &self.found, &uris).await?;
        if software.is_none() {
            self.reader.problems.truncate(noted);
        }
        Ok(software)
    }

    /// All tasks, and the unfinished jobs.
    pub(super) async fn work(&mut self) -> Result<(Vec<TaskView>, Vec<JobView>), Fault> {
        let tasks = read_tasks(&mut self.reader, &self.found).await?;
        let jobs = read_jobs(&mut self.reader, &self.found).await?;
        Ok((tasks, jobs))
    }

    /// What waits on every system, selected or not.
    pub(super) async fn pending(&mut self, assigned: &mut Assigned) -> Result<(), Fault> {
        let named = assigned.named.values_mut();
        for view in named.chain(assigned.others.iter_mut()) {
            let system = SystemLinks {
                uri: view.uri.clone(),
                bios: view.bios_uri.clone(),
                ..SystemLinks::default()
            };
            let platform = self.client.platform(&self.found).to_owned();
            if let Some(resource) = bios_attributes(&mut self.reader, &system, &platform).await? {
                view.pending = resource.pending.into_keys().collect();
            }
        }
        Ok(())
    }

    /// The acting manager and the Bioses that show no version themselves.
    fn silent(&self, boxes: &Boxes) -> Vec<String> {
        let acting = self.acting_manager();
        let managers = boxes
            .managers
            .iter()
            .filter(|manager| Some(&manager.uri) == acting.as_ref())
            .filter(|manager| manager.firmware_version.is_none())
            .map(|manager| manager.uri.clone());
        let systems = boxes
            .systems
            .iter()
            .filter(|system| system.bios_version.is_none())
            .filter_map(|system| system.bios_uri.clone());
        managers.chain(systems).collect()
    }

    fn related(&self, mut software: Vec<SoftwareView>) -> Vec<SoftwareView> {
        for manager in &self.found.managers {
            if let Some(doc) = self.reader.seen(&manager.uri) {
                relate_active(&mut software, &manager.uri, &doc);
                relate_namesake(&mut software, &manager.uri, &doc);
            }
        }
        software
    }
}
