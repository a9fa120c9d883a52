//! This room judges an image: whether it fits its targets, and whether it may follow what runs.
//!
//! It deliberately looks at the image's first line only, for there is nothing else in it.

use super::super::core::Bmc;
use super::Goal;
use super::order::is_older;
use crate::docs::messages::Message;
use crate::image::{Component, ImageHeader};
use crate::script::{Outcome, Refusal, Requirement, Targets};

impl Bmc {
    /// What an image goes to, or why it can go nowhere.
    pub(super) fn goal_of(
        &self,
        header: &ImageHeader,
        targets: &[String],
    ) -> Result<Goal, Message> {
        let ignored = self.habits.update.targets() == Targets::Ignored;
        let targets = if ignored { &[] } else { targets };
        let image = format!("{} {}", header.component, header.version);
        let misfit = |target: &str| Message::update("VerificationFailed", &[&image, target]);
        match header.component {
            Component::Bmc => match targets.iter().find(|target| !self.bindings.is_bmc(target)) {
                Some(target) => Err(misfit(target)),
                None => Ok(Goal::Bmc),
            },
            Component::Bios => self.bios_goal(targets, &misfit),
        }
    }

    fn bios_goal(
        &self,
        targets: &[String],
        misfit: &dyn Fn(&str) -> Message,
    ) -> Result<Goal, Message> {
        let all: Vec<usize> = (0..self.hosts.len()).collect();
        if targets.is_empty() {
            let named = self.habits.update.targets() == Targets::Required && all.len() > 1;
            return match (named, all.is_empty()) {
                (_, true) => Err(misfit("-")),
                (true, false) => Err(Message::base(
                    "ActionParameterMissing",
                    &["UpdateService", "Targets"],
                )),
                (false, false) => Ok(Goal::Bios(all)),
            };
        }
        let mut systems = Vec::new();
        for target in targets {
            let system = self
                .bindings
                .system_of(target)
                .ok_or_else(|| misfit(target))?;
            if !systems.contains(&system) {
                systems.push(system);
            }
        }
        Ok(Goal::Bios(systems))
    }

    /// Why an image may not follow what runs.
    pub(super) fn refused_hop(&self, header: &ImageHeader, goal: &Goal) -> Option<Message> {
        let running: Vec<String> = match goal {
            Goal::Bmc => self.manager.version.iter().cloned().collect(),
            Goal::Bios(systems) => {
                let hosts = systems.iter().filter_map(|index| self.hosts.get(*index));
                hosts.filter_map(|host| host.bios_version.clone()).collect()
            }
        };
        running
            .iter()
            .find_map(|running| self.refused_from(header, running))
    }

    fn refused_from(&self, header: &ImageHeader, running: &str) -> Option<Message> {
        if let Some(requires) = header
            .requires
            .as_deref()
            .filter(|requires| is_older(running, requires))
        {
            let args = [header.version.as_str(), requires, running];
            return Some(Message::own(
                "MinimumFirmwareVersionRequirementNotMet",
                &args,
            ));
        }
        let fits = |entry: &&Requirement| {
            entry
                .component
                .is_none_or(|component| component == header.component)
                && entry
                    .version
                    .as_ref()
                    .is_none_or(|version| *version == header.version)
        };
        let mut entries = self.habits.requirement.iter().filter(fits);
        if let Some(entry) = entries.find(|entry| is_older(running, &entry.at_least)) {
            return Some(worded(entry, header, running));
        }
        let refused = self.habits.update.downgrade() == Refusal::Refused
            && is_older(&header.version, running);
        refused.then(|| Message::own("DowngradeNotAllowed", &[&header.version, running]))
    }

    /// Whether the script lets an image fail on its way.
    pub(super) fn is_doomed(&self, goal: &Goal) -> bool {
        match goal {
            Goal::Bmc => self.habits.update.bmc_outcome() == Outcome::Failed,
            Goal::Bios(systems) => systems
                .iter()
                .any(|index| self.bios_outcome(*index) == Outcome::Failed),
        }
    }
}

fn worded(entry: &Requirement, header: &ImageHeader, running: &str) -> Message {
    let args = [
        header.version.clone(),
        entry.at_least.clone(),
        running.to_owned(),
    ];
    let id = entry
        .message_id
        .as_deref()
        .unwrap_or("MockBmc.1.0.MinimumFirmwareVersionRequirementNotMet");
    Message::worded(id, entry.message.as_deref().unwrap_or_default(), &args)
}
