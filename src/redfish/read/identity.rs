//! Who answers: claims that tell one box from another, without those that whole production runs share.

use super::links::Links;
use crate::model::look::{Identity, SystemView};

/// UUIDs that boards are shipped with and nobody changes.
const DEFAULT_UUIDS: [&str; 6] = [
    "00000000000000000000000000000000",
    "ffffffffffffffffffffffffffffffff",
    "03000200040005000006000700080009",
    "00020003000400050006000700080009",
    "12345678123456781234567812345678",
    "10000000000000000000000000000000",
];

/// Texts in place of a serial number.
const DEFAULT_SERIALS: [&str; 16] = [
    "to be filled by o.e.m.",
    "to be filled by oem",
    "default string",
    "system serial number",
    "not specified",
    "not available",
    "not applicable",
    "none",
    "n/a",
    "na",
    "unknown",
    "empty",
    "null",
    "0",
    "0123456789",
    "123456789",
];

/// Claims of what one look saw.
pub(in crate::redfish) fn identity<'a>(
    found: &Links,
    managers: impl Iterator<Item = &'a ManagerClaims>,
    systems: impl Iterator<Item = &'a SystemView>,
) -> Identity {
    let mut identity = Identity {
        root_uuid: found.root.uuid.as_deref().and_then(real_uuid),
        vendor: found.root.vendor.clone(),
        product: found.root.product.clone(),
        manager_macs: found.manager_macs.clone(),
        ..Identity::default()
    };
    for claims in managers {
        identity
            .manager_uuids
            .extend(claims.uuid.as_deref().and_then(real_uuid));
        identity
            .serials
            .extend(claims.serial.as_deref().and_then(real_serial));
    }
    for system in systems {
        identity
            .system_uuids
            .extend(system.uuid.as_deref().and_then(real_uuid));
        identity
            .serials
            .extend(system.serial.as_deref().and_then(real_serial));
    }
    identity
}

/// Whether nothing but MACs can tell this box from another.
pub(in crate::redfish) fn is_thin(identity: &Identity) -> bool {
    identity.root_uuid.is_none()
        && identity.manager_uuids.is_empty()
        && identity.system_uuids.is_empty()
        && identity.serials.is_empty()
}

/// What a manager claims to be.
#[derive(Debug, Clone, Default)]
pub(in crate::redfish) struct ManagerClaims {
    /// `UUID`.
    pub(super) uuid: Option<String>,
    /// `SerialNumber`.
    pub(super) serial: Option<String>,
}

/// A UUID in lower case; `None` for a known default.
fn real_uuid(uuid: &str) -> Option<String> {
    let uuid = uuid.trim().to_ascii_lowercase();
    let digits: String = uuid.chars().filter(char::is_ascii_hexdigit).collect();
    (!digits.is_empty() && !DEFAULT_UUIDS.contains(&digits.as_str())).then_some(uuid)
}

/// A serial number; `None` for a placeholder.
fn real_serial(serial: &str) -> Option<String> {
    let serial = serial.trim();
    let lower = serial.to_ascii_lowercase();
    let repeated = lower.chars().next().is_none_or(|first| {
        matches!(first, '0' | 'x' | '.' | '-' | '*') && lower.chars().all(|c| c == first)
    });
    (!repeated && !DEFAULT_SERIALS.contains(&lower.as_str())).then(|| serial.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_no_claims() {
        assert_eq!(real_uuid("03000200-0400-0500-0006-000700080009"), None);
        assert_eq!(real_uuid("FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"), None);
        assert_eq!(real_uuid("00000000-0000-0000-0000-000000000000"), None);
        assert_eq!(real_uuid(""), None);
        assert_eq!(real_serial("To Be Filled By O.E.M."), None);
        assert_eq!(real_serial("0000000"), None);
        assert_eq!(real_serial("  "), None);
    }

    #[test]
    fn real_claims_stay() {
        assert_eq!(
            real_uuid("C866C65B-BCF0-48BC-8CE4-92C1B7DBA0D9").as_deref(),
            Some("c866c65b-bcf0-48bc-8ce4-92c1b7dba0d9")
        );
        assert_eq!(real_serial(" GLGD398 ").as_deref(), Some("GLGD398"));
    }
}
