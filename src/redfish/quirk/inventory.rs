//! Firmware inventories that say in names what the standard has no property for.

/// `pending_slot`: an image that waits has a member of its own, which is there without one too. Seen on XCC
/// (`BMC-Primary-Pending`, version `-*` while empty) and on Supermicro (`Staging_BMC`).
pub(in crate::redfish) fn is_pending_slot(id: &str) -> bool {
    let id = id.to_ascii_lowercase();
    ["-pending", "_pending", "staging_", "_staged", "-staged"]
        .iter()
        .any(|mark| id.contains(mark))
}

/// `staging_slot_keeps_what_ran`: the slot for what waits goes on showing the image that was flashed from it. Seen on
/// Supermicro X13 (11.01.01: `Staging_BMC` and `Staging_BIOS` with the versions of `BMC` and `BIOS`).
pub(in crate::redfish) fn keeps_what_ran(staged: &str, running: &str) -> bool {
    staged.trim() == running.trim()
}

/// `spare_copy`: backups, golden images, the previous and the available version are members like the running one. Seen on
/// XCC, Supermicro, iDRAC (`Previous-..`, `Available-..`) and iLO (`Redundant System ROM`).
pub(in crate::redfish) fn is_named_spare(id: &str, name: Option<&str>) -> bool {
    let words = format!("{id} {}", name.unwrap_or_default()).to_ascii_lowercase();
    [
        "backup",
        "golden",
        "previous-",
        "available-",
        "redundant",
        "capsule_",
    ]
    .iter()
    .any(|mark| words.contains(mark))
}

/// Texts in place of a version where there is none.
pub(in crate::redfish) fn means_none(version: &str) -> bool {
    let version = version.trim().to_ascii_lowercase();
    matches!(
        version.as_str(),
        "" | "-*" | "-" | "n/a" | "na" | "none" | "not present" | "unknown"
    )
}

/// `inventory_named_after_manager`: no member says what it is for; the BMC's own is named like its manager, which shows no
/// version itself. Seen on HPE Cray EX node controllers (nC 1.6, member `BMC` beside manager `BMC`).
pub(in crate::redfish) fn is_namesake(id: &str, manager_id: &str) -> bool {
    id.eq_ignore_ascii_case(manager_id)
}
