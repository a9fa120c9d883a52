//! Managers: who runs, which version, and where a vendor hangs jobs and attributes on it.

use serde_json::Value;

use super::discover::manager_chassis;
use super::links::ManagerLinks;
use crate::model::look::ManagerView;
use crate::redfish::wire::{at, last_segment, links, member, text};

/// Depth to which a manager's Oem members are searched for links: vendors nest at most `Oem.Vendor.Group.Link`.
const OEM_DEPTH_MAX: usize = 4;

/// One manager as seen.
pub(super) fn manager_view(uri: &str, doc: &Value) -> ManagerView {
    ManagerView {
        uri: uri.to_owned(),
        is_bmc: is_bmc(doc),
        model: text(doc, "Model"),
        firmware_version: text(doc, "FirmwareVersion"),
    }
}

/// What is remembered of it.
pub(super) fn manager_links(uri: &str, doc: &Value) -> ManagerLinks {
    ManagerLinks {
        uri: uri.to_owned(),
        is_bmc: is_bmc(doc),
        chassis: manager_chassis(doc),
    }
}

/// BMCs first, each kind in the order of URIs: the same on every read, in whatever order the BMC lists them.
pub(super) fn sort_managers(managers: &mut [ManagerView]) {
    managers.sort_by(|a, b| (!a.is_bmc, &a.uri).cmp(&(!b.is_bmc, &b.uri)));
}

/// Collections of jobs that a vendor links from its manager.
pub(super) fn job_collections(manager: &Value) -> Vec<String> {
    oem_links(manager)
        .into_iter()
        .filter(|(name, _)| name.eq_ignore_ascii_case("Jobs"))
        .map(|(_, uri)| uri)
        .collect()
}

/// Resources that may hold BMC attributes: first those whose name or URI says so, then every other one that hangs on
/// the manager's Oem members.
pub(super) fn attribute_candidates(manager: &Value) -> (Vec<String>, Vec<String>) {
    let says_so = |name: &str, uri: &str| {
        [name, uri]
            .iter()
            .any(|text| text.to_ascii_lowercase().contains("attribute"))
    };
    let (named, others): (Vec<_>, Vec<_>) = oem_links(manager)
        .into_iter()
        .partition(|(name, uri)| says_so(name, uri));
    let uris = |list: Vec<(String, String)>| list.into_iter().map(|(_, uri)| uri).collect();
    (uris(named), uris(others))
}

/// Every link below `Links.Oem` and `Oem`, with the property it stands in. Links into the manager itself are left out.
pub(super) fn oem_links(manager: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for oem in [at(manager, &["Links", "Oem"]), member(manager, "Oem")]
        .into_iter()
        .flatten()
    {
        walk(oem, OEM_DEPTH_MAX, &mut found);
    }
    found
}

fn walk(value: &Value, depth: usize, found: &mut Vec<(String, String)>) {
    let Some(object) = value.as_object().filter(|_| depth > 0) else {
        return;
    };
    for (name, member) in object {
        if name.starts_with('@') || name.eq_ignore_ascii_case("Actions") {
            continue;
        }
        let uris: Vec<String> = if member.is_string() {
            Vec::new()
        } else {
            links(value, name)
        };
        for uri in uris {
            let inside = uri.contains('#') || last_segment(&uri).is_empty();
            if !inside && !found.iter().any(|(_, known)| known == &uri) {
                found.push((name.clone(), uri));
            }
        }
        walk(member, depth - 1, found);
    }
}

fn is_bmc(doc: &Value) -> bool {
    text(doc, "ManagerType").is_none_or(|kind| kind.eq_ignore_ascii_case("BMC"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn managers_come_in_one_order_whatever_the_bmc_lists_first() {
        let view = |uri: &str, kind: &str| manager_view(uri, &json!({"ManagerType": kind}));
        let mut one = vec![
            view("/b", "BMC"),
            view("/0", "EnclosureManager"),
            view("/a", "BMC"),
        ];
        let mut two = vec![one[2].clone(), one[0].clone(), one[1].clone()];
        sort_managers(&mut one);
        sort_managers(&mut two);
        assert_eq!(one, two);
        let uris: Vec<&str> = one.iter().map(|m| m.uri.as_str()).collect();
        assert_eq!(uris, ["/a", "/b", "/0"]);
    }

    #[test]
    fn a_manager_without_type_counts_as_bmc() {
        assert!(manager_view("/a", &json!({"ManagerType": null})).is_bmc);
    }

    #[test]
    fn vendors_links_are_found_wherever_they_hang() {
        let manager = json!({
            "Links": {"Oem": {"Dell": {"DellAttributes": [{"@odata.id": "/m/DellAttributes/A"}, {"@odata.id": "/m/DellAttributes/B"}],
                "Jobs": {"@odata.id": "/m/Jobs"}, "@odata.type": "#x"}}},
            "Oem": {"@odata.id": "/m#/Oem", "Hpe": {"Links": {"SecurityService": {"@odata.id": "/m/SecurityService"}}}},
        });
        assert_eq!(job_collections(&manager), ["/m/Jobs"]);
        let (named, others) = attribute_candidates(&manager);
        assert_eq!(named, ["/m/DellAttributes/A", "/m/DellAttributes/B"]);
        assert_eq!(others, ["/m/Jobs", "/m/SecurityService"]);
    }
}
