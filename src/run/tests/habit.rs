//! What a box does that a test is about.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::model::{Fault, ServerName};

/// How update tasks end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ending {
    /// `Completed`, with a status.
    Good(&'static str),
    /// A state and a status, and nothing was flashed.
    Fails(&'static str, &'static str),
    /// They stay `Running` at one percentage.
    Stuck,
    /// They are purged when they end well.
    Vanishes,
    /// Not finished, with a message that asks for a reset, until the new version runs.
    Waits(&'static str),
}

/// Habits and hazards of one box.
#[derive(Clone)]
pub(super) struct Habits {
    pub(super) ending: Ending,
    /// Accepted updates have no handle, and tasks no payload.
    pub(super) hides_tasks: bool,
    /// Tasks show the body of the request that started them.
    pub(super) tells_payload: bool,
    /// Staged images are in the inventory.
    pub(super) shows_staged: bool,
    /// A restart of the BMC forgets all tasks.
    pub(super) forgets_tasks: bool,
    /// The image that is written instead, whatever was sent.
    pub(super) writes_instead: Option<String>,
    /// The BMC shows its new version so long after its return.
    pub(super) shown_late: Duration,
    /// The BMC stays away after its flash.
    pub(super) never_returns: bool,
    /// A BMC image waits for a reset of the BMC.
    pub(super) bmc_waits_for_reset: bool,
    /// A BIOS flash restarts its host by itself, with power on all the time.
    pub(super) reboots_by_itself: bool,
    /// A BIOS flash runs while its host is off, task and all.
    pub(super) flashes_while_off: bool,
    /// A BIOS update changes this server too.
    pub(super) takes_along: Option<ServerName>,
    /// Each target may stage while another flashes.
    pub(super) stages_per_target: bool,
    /// It is known that a staged image is kept by a listed job.
    pub(super) stages_in_job: bool,
    /// Whether POST is shown.
    pub(super) tells_post: bool,
    /// Allowed reset types of hosts.
    pub(super) reset_types: Vec<&'static str>,
    /// Reset types that are accepted and do nothing.
    pub(super) ignores: BTreeSet<&'static str>,
    /// Reset types that are refused for good.
    pub(super) refuses: BTreeSet<&'static str>,
    /// Updates are refused for good, with these words.
    pub(super) refuses_updates: Option<&'static str>,
    /// The next so many requests are refused, to come later.
    pub(super) later: u32,
    /// A restart turns into POST at once while an image is staged, though only a shutdown was asked for.
    pub(super) shutdown_restarts: bool,
    /// Attributes that are never taken out of pending.
    pub(super) stays_pending: BTreeSet<String>,
    /// Attributes that are accepted and keep their value.
    pub(super) silently_kept: BTreeSet<String>,
    /// New values are shown as current at once, though only a boot takes them up.
    pub(super) shows_early: bool,
    /// No attributes are shown at all.
    pub(super) shows_no_attributes: bool,
    /// `NetworkProtocol` takes values up by a reset of the BMC, and says so.
    pub(super) network_needs_reset: bool,
    /// Attributes that a BIOS flash of this version sets back, by name and value.
    pub(super) flash_resets: BTreeMap<String, serde_json::Value>,
    /// What every look gets instead of an answer.
    pub(super) answers: Option<Fault>,
    /// The next answers that are lost after the action was taken.
    pub(super) lose_answers: u32,
    /// The next requests that never arrive and look like lost answers.
    pub(super) lose_requests: u32,
}

impl Default for Habits {
    fn default() -> Self {
        Self {
            ending: Ending::Good("OK"),
            hides_tasks: false,
            tells_payload: true,
            shows_staged: true,
            forgets_tasks: false,
            writes_instead: None,
            shown_late: Duration::ZERO,
            never_returns: false,
            bmc_waits_for_reset: false,
            reboots_by_itself: false,
            flashes_while_off: false,
            takes_along: None,
            stages_per_target: false,
            stages_in_job: false,
            tells_post: true,
            reset_types: vec![
                "On",
                "ForceOff",
                "GracefulShutdown",
                "GracefulRestart",
                "ForceRestart",
            ],
            ignores: BTreeSet::new(),
            refuses: BTreeSet::new(),
            refuses_updates: None,
            later: 0,
            shutdown_restarts: false,
            stays_pending: BTreeSet::new(),
            silently_kept: BTreeSet::new(),
            shows_early: false,
            shows_no_attributes: false,
            network_needs_reset: false,
            flash_resets: BTreeMap::new(),
            answers: None,
            lose_answers: 0,
            lose_requests: 0,
        }
    }
}
