//! This room is settings with attributes: BIOS settings that wait for a boot, and attributes of the manager.
//!
//! It deliberately takes nothing that the registry does not allow, unless the script says so.

mod bios;
mod manager;
mod outcome;

pub(super) use manager::AttributeSet;
