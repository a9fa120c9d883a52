//! Where services say that their configuration is locked: the standard has no property for it.

use serde_json::Value;

use crate::redfish::wire::{at, flag, text};

/// One place: links to follow from the acting manager, and the property behind them.
#[derive(Debug, Clone, Copy)]
pub(in crate::redfish) struct Place {
    /// Each the path of a link, or of a list of links, in the document before.
    pub(in crate::redfish) links: &'static [&'static [&'static str]],
    /// Path of the objects around the property.
    inside: &'static [&'static str],
    /// The property.
    property: &'static str,
}

/// `lockdown_is_vendors_own`: each vendor shows its lock elsewhere.
///
/// iDRAC 9 and 10 as an attribute of the BMC; iLO 5 to 7 on the security dashboard; Supermicro X12 and later in a
/// resource of its own.
pub(in crate::redfish) const PLACES: [Place; 3] = [
    Place {
        links: &[&["Links", "Oem", "Dell", "DellAttributes"]],
        inside: &["Attributes"],
        property: "Lockdown.1.SystemLockdown",
    },
    Place {
        links: &[
            &["Oem", "Hpe", "Links", "SecurityService"],
            &["Links", "SecurityDashboard"],
        ],
        inside: &[],
        property: "ServerConfigurationLockStatus",
    },
    Place {
        links: &[&["Oem", "Supermicro", "SysLockdown"]],
        inside: &[],
        property: "SysLockdownEnabled",
    },
];

impl Place {
    /// What the document at the end of the links says.
    pub(in crate::redfish) fn read(&self, doc: &Value) -> Option<bool> {
        let holder = at(doc, self.inside)?;
        flag(holder, self.property).or_else(|| match text(holder, self.property)?.as_str() {
            "Enabled" => Some(true),
            "Disabled" => Some(false),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_vendors_words_are_read_and_others_say_nothing() {
        let [attribute, dashboard, resource] = PLACES;
        let doc = json!({"Attributes": {"Lockdown.1.SystemLockdown": "Enabled"}});
        assert_eq!(attribute.read(&doc), Some(true));
        let doc = json!({"ServerConfigurationLockStatus": "Disabled"});
        assert_eq!(dashboard.read(&doc), Some(false));
        let doc = json!({"SysLockdownEnabled": true});
        assert_eq!(resource.read(&doc), Some(true));
        let doc = json!({"ServerConfigurationLockStatus": "Perhaps"});
        assert_eq!(dashboard.read(&doc), None);
        assert_eq!(attribute.read(&json!({})), None);
    }
}
