//! This room is the hosts behind a manager: their power, their boots, and what a boot does to BIOS and settings.
//!
//! It deliberately knows hosts by their index in the collection of systems.

mod boot;
mod power;
mod start;

use serde_json::{Map, Value};
pub(super) use start::values;

/// One host.
#[derive(Clone, Debug)]
pub(super) struct Host {
    pub(super) power: Power,
    pub(super) phase: Phase,
    /// Counts power acts; only the last one counts.
    pub(super) act: u64,
    /// Counts boots.
    pub(super) boot: u64,
    /// When power went off last.
    pub(super) off_at: Option<crate::time::Moment>,
    /// What runs; none where there is no BIOS, where nobody says, or where it is dead.
    pub(super) bios_version: Option<String>,
    pub(super) bricked: bool,
    pub(super) staged: Option<Staged>,
    /// BIOS attributes that count.
    pub(super) current: Map<String, Value>,
    /// BIOS attributes that wait.
    pub(super) pending: Map<String, Value>,
    /// The current view has no attributes right now.
    pub(super) blank: bool,
    pub(super) ignored_graceful: bool,
}

/// A BIOS image that waits.
#[derive(Clone, Debug)]
pub(super) struct Staged {
    pub(super) version: String,
    /// The task that waits with it.
    pub(super) task: Option<String>,
    /// The host was off since.
    pub(super) saw_off: bool,
    /// How often the manager had returned when it was staged.
    pub(super) returns: u64,
    /// Its request does not keep the BIOS attributes.
    pub(super) wipes_settings: bool,
    /// The inventory member that shows it.
    pub(super) member: Option<String>,
}

/// A host's power.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Power {
    On,
    Off,
    PoweringOn,
    PoweringOff,
}

impl Power {
    /// The word as `PowerState` has it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::On => "On",
            Self::Off => "Off",
            Self::PoweringOn => "PoweringOn",
            Self::PoweringOff => "PoweringOff",
        }
    }
}

/// What a host does.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Off,
    Post { flashing: bool },
    Os,
}
