//! This room is what a BMC really is at a moment, whatever it shows to clients.
//!
//! It deliberately is a copy: holding it changes nothing.

use std::collections::BTreeMap;

use serde_json::Value;

use super::core::Bmc;
use super::host::{Phase, Power};
use crate::docs::walk::last_segment;

/// What a BMC really is, for tests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StateView {
    /// The manager's running firmware.
    pub bmc_version: Option<String>,
    /// Whether anybody listens at its address.
    pub listening: bool,
    /// The sessions that are open, by id, other people's among them.
    pub sessions: Vec<String>,
    /// How many requests of sessions have sent their head, and not yet all of their body.
    pub arriving: usize,
    /// Tasks of updates that are not done, and other people's that run.
    pub open_tasks: Vec<TaskView>,
    /// Attributes of the manager by name; enumerations by name, not by display name.
    pub bmc_attributes: BTreeMap<String, Value>,
    /// Its systems, in the order of their collection.
    pub systems: Vec<SystemView>,
}

/// One task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskView {
    /// Its id.
    pub id: String,
    /// Its real `TaskState`.
    pub state: String,
    /// Whether somebody else started it.
    pub foreign: bool,
}

/// What one system really is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SystemView {
    /// The member's id, the last segment of its URI.
    pub id: String,
    /// Its URI.
    pub uri: String,
    /// The BIOS that runs; none where there is none or it is bricked.
    pub bios_version: Option<String>,
    /// `PowerState` as it really is.
    pub power: String,
    /// It is in POST.
    pub in_post: bool,
    /// That POST flashes.
    pub flashing: bool,
    /// Its BIOS is dead.
    pub bricked: bool,
    /// The version of the image that waits for it.
    pub staged: Option<String>,
    /// BIOS attributes that count.
    pub attributes: BTreeMap<String, Value>,
    /// BIOS attributes that wait.
    pub pending: BTreeMap<String, Value>,
}

impl Bmc {
    /// What it really is now.
    pub fn state(&self) -> StateView {
        let tasks = self.tasks.list.iter().filter(|task| task.ended.is_none());
        let attributes = self.sets.iter().flat_map(|set| set.current.clone());
        StateView {
            bmc_version: self.manager.version.clone(),
            listening: self.manager.is_present(),
            sessions: self
                .sessions
                .iter()
                .map(|session| session.id.clone())
                .collect(),
            arriving: self.sessions.iter().map(|session| session.arriving).sum(),
            open_tasks: tasks
                .map(|task| TaskView {
                    id: task.id.clone(),
                    state: task.state.clone(),
                    foreign: task.foreign,
                })
                .collect(),
            bmc_attributes: attributes.collect(),
            systems: (0..self.hosts.len())
                .filter_map(|index| self.system_view(index))
                .collect(),
        }
    }

    fn system_view(&self, index: usize) -> Option<SystemView> {
        let host = self.hosts.get(index)?;
        let binding = self.bindings.systems.get(index)?;
        Some(SystemView {
            id: last_segment(&binding.uri).to_owned(),
            uri: binding.uri.clone(),
            bios_version: host.bios_version.clone(),
            power: host.power.word().to_owned(),
            in_post: matches!(host.phase, Phase::Post { .. }) && host.power == Power::On,
            flashing: host.phase == Phase::Post { flashing: true },
            bricked: host.bricked,
            staged: host.staged.as_ref().map(|staged| staged.version.clone()),
            attributes: host.current.clone().into_iter().collect(),
            pending: host.pending.clone().into_iter().collect(),
        })
    }
}
