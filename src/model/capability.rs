//! What a BMC can do: positive facts that a plan may rely on.

use serde::{Deserialize, Serialize};

use super::action::UpdateMethod;

/// Facts about one BMC, read from its service root, update service and actions; stable between firmware versions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capability {
    /// Class of machine (`generic` where no deviation is known), the inventory's word before what was detected.
    pub platform: String,
    /// Update methods offered, best first.
    pub update_methods: Vec<UpdateMethod>,
    /// Protocols that `SimpleUpdate` takes; empty = not stated.
    pub transfer_protocols: Vec<String>,
    /// `@Redfish.OperationApplyTimeSupport` values; empty = not stated.
    pub apply_times: Vec<String>,
    /// `MaxImageSizeBytes`.
    pub max_image_bytes: Option<u64>,
    /// Whether the manager offers no `#Manager.Reset` at all.
    #[serde(default)]
    pub no_manager_reset: bool,
    /// `ResetType` values of the manager; empty = not stated.
    pub manager_reset_types: Vec<String>,
    /// Whether `$expand` is offered and worked.
    pub expand: bool,
    /// Whether sessions are offered; `false` is reported as `no-sessions`.
    pub sessions: bool,
    /// Whether an update request may name its one target where it need not: the name then ties the BMC's task to the
    /// request.
    #[serde(default)]
    pub named_targets: bool,
    /// Whether a push without parameters can name its targets too.
    #[serde(default)]
    pub push_targets: bool,
    /// What an update of the BMC can be told to keep or to wipe, in the platform's own words; empty = it cannot be told.
    #[serde(default)]
    pub bmc_update_keeps: Vec<String>,
    /// The same of an update of a BIOS.
    #[serde(default)]
    pub bios_update_keeps: Vec<String>,
    /// Whether each target may stage an image while another is flashing.
    pub stages_per_target: bool,
    /// A staged image is kept by a job, which is listed until the reset that applies it.
    #[serde(default)]
    pub stages_in_job: bool,
}
