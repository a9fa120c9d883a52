//! Systems: version, power and POST of each, and where its BIOS is.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::links::SystemLinks;
use crate::model::look::{Power, SystemView};
use crate::redfish::quirk::post_state_in_oem;
use crate::redfish::wire::{at, last_segment, link, links, member, text};

/// One system as seen. Pending names and allowed reset types are filled in by the caller.
/// `now` is the manager's own time, which the times of a system are compared with.
pub(in crate::redfish) fn system_view(
    uri: &str,
    doc: &Value,
    now: Option<Timestamp>,
) -> SystemView {
    let power = power_of(text(doc, "PowerState").as_deref());
    SystemView {
        uri: uri.to_owned(),
        id: id_of(uri, doc),
        manufacturer: text(doc, "Manufacturer"),
        model: text(doc, "Model"),
        serial: text(doc, "SerialNumber"),
        uuid: text(doc, "UUID"),
        bios_version: text(doc, "BiosVersion"),
        bios_uri: link(doc, "Bios"),
        power,
        in_post: in_post(power, doc, now),
        boot_progress: boot_progress(doc, "LastState"),
        managed_by: related(doc, "ManagedBy"),
        chassis: related(doc, "Chassis"),
        ..SystemView::default()
    }
}

/// What is remembered of it.
pub(super) fn system_links(view: &SystemView) -> SystemLinks {
    SystemLinks {
        uri: view.uri.clone(),
        id: view.id.clone(),
        bios: view.bios_uri.clone(),
        chassis: view.chassis.first().cloned(),
        managed_by: view.managed_by.clone(),
    }
}

fn id_of(uri: &str, doc: &Value) -> String {
    text(doc, "Id").unwrap_or_else(|| last_segment(uri).to_owned())
}

fn related(doc: &Value, name: &str) -> Vec<String> {
    member(doc, "Links")
        .map(|related| links(related, name))
        .unwrap_or_default()
}

/// `PowerState` (DSP0268, ComputerSystem); words that are neither on nor off mean that it changes.
fn power_of(state: Option<&str>) -> Power {
    match state.map(str::to_ascii_lowercase).as_deref() {
        Some("on") => Power::On,
        Some("off") => Power::Off,
        Some(_) => Power::Changing,
        None => Power::Unknown,
    }
}

/// Whether POST runs, by `BootProgress.LastState` (DSP0268, ComputerSystem), else by a vendor's word for it. A host that
/// is off runs none, whatever the last state was.
fn in_post(power: Power, doc: &Value, now: Option<Timestamp>) -> Option<bool> {
    if power == Power::Off {
        return Some(false);
    }
    match boot_progress(doc, "LastState").as_deref() {
        Some(
            "PrimaryProcessorInitializationStarted"
            | "BusInitializationStarted"
            | "MemoryInitializationStarted"
            | "SecondaryProcessorInitializationStarted"
            | "PCIResourceConfigStarted"
            | "SetupEntered",
        ) => Some(true),
        Some("SystemHardwareInitializationComplete") => is_still_young(doc, now),
        Some("OSBootStarted" | "OSRunning") => Some(false),
        Some(_) | None => post_state_in_oem(doc),
    }
}

/// Longest time from initialized hardware to the start of an operating system; large boards take 10 minutes for all of
/// POST.
const HARDWARE_READY_MAX: SignedDuration = SignedDuration::from_mins(10);

/// Initialized hardware is not the end of POST, but on hosts that never report their operating system it is the last
/// word. Its age tells these apart, by the BMC's own clock, which may be wrong but is one.
fn is_still_young(doc: &Value, now: Option<Timestamp>) -> Option<bool> {
    let since: Timestamp = boot_progress(doc, "LastStateTime")?.parse().ok()?;
    Some(now?.duration_since(since) < HARDWARE_READY_MAX)
}

fn boot_progress(doc: &Value, name: &str) -> Option<String> {
    at(doc, &["BootProgress"]).and_then(|progress| text(progress, name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_empty_document_is_a_system_of_which_nothing_is_known() {
        let view = system_view(
            "/redfish/v1/Systems/x/",
            &json!({"Links": null, "Bios": [], "PowerState": 3}),
            None,
        );
        assert_eq!(view.id, "x");
        assert_eq!((view.power, view.in_post), (Power::Changing, None));
        assert_eq!(view.bios_uri, None);
    }

    #[test]
    fn post_is_told_by_boot_progress_then_by_the_vendor() {
        let post = |doc: &Value| system_view("/s", doc, None).in_post;
        let on = |state: &str| json!({"PowerState": "On", "BootProgress": {"LastState": state}});
        assert_eq!(post(&on("MemoryInitializationStarted")), Some(true));
        assert_eq!(post(&on("OSRunning")), Some(false));
        assert_eq!(post(&on("OEM")), None);
        assert_eq!(
            post(
                &json!({"PowerState": "On", "BootProgress": null, "Oem": {"Hpe": {"PostState": "InPost"}}})
            ),
            Some(true)
        );
        assert_eq!(
            post(
                &json!({"PowerState": "Off", "BootProgress": {"LastState": "MemoryInitializationStarted"}})
            ),
            Some(false)
        );
    }

    #[test]
    fn upper_case_bios_is_a_bios() {
        let view = system_view("/s", &json!({"BIOS": {"@odata.id": "/s/BIOS"}}), None);
        assert_eq!(view.bios_uri.as_deref(), Some("/s/BIOS"));
    }

    #[test]
    fn initialized_hardware_ends_post_only_when_it_stays_the_last_word() {
        let doc = json!({"PowerState": "On", "BootProgress": {"LastState": "SystemHardwareInitializationComplete", "LastStateTime": "2026-03-01T10:00:00+00:00"}});
        let post = |now: &str| system_view("/s", &doc, now.parse().ok()).in_post;
        assert_eq!(post("2026-03-01T10:05:00Z"), Some(true));
        assert_eq!(post("2026-03-01T10:11:00Z"), Some(false));
        assert_eq!(post("no time"), None);
        let timeless = json!({"PowerState": "On", "BootProgress": {"LastState": "SystemHardwareInitializationComplete"}});
        assert_eq!(
            system_view("/s", &timeless, "2026-03-01T10:05:00Z".parse().ok()).in_post,
            None
        );
    }
}
