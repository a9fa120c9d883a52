//! POST, where a service has a word of its own for it.

use serde_json::Value;

use crate::redfish::wire::{member, text};

/// `post_state_in_oem`: `BootProgress` is left out and an Oem object of the system has `PostState`. Seen on iLO 5 and
/// iLO 6; the standard's property came later.
pub(in crate::redfish) fn post_state_in_oem(system: &Value) -> Option<bool> {
    let oem = member(system, "Oem")?.as_object()?;
    let state = oem.values().find_map(|object| text(object, "PostState"))?;
    match state.as_str() {
        "InPost" | "InPostDiscoveryComplete" | "Reset" => Some(true),
        "FinishedPost" | "PowerOff" => Some(false),
        _ => None,
    }
}
