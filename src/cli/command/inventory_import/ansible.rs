//! Ansible inventories: the form with sections, and what `ansible-inventory --list` prints of any.

mod ini;

use std::collections::{BTreeMap, BTreeSet};

pub(super) use ini::from_ini;
use serde_json::Value;

use super::host::{Host, Imported, Misread};

/// Groups that every inventory has.
const OWN_GROUPS: [&str; 3] = ["all", "ungrouped", "_meta"];

/// Hosts with their variables and groups: variables that speak to Ansible itself are left behind, groups become labels.
fn imported(
    hosts: BTreeMap<String, (Option<usize>, BTreeMap<String, String>)>,
    groups: &BTreeMap<String, BTreeSet<String>>,
) -> Result<Imported, Misread> {
    let hosts = hosts.into_iter().map(|(name, (line, mut fields))| {
        let address = fields.get("ansible_host").cloned();
        fields.retain(|name, _| !name.starts_with("ansible_"));
        let of_host = groups.iter().filter(|(_, hosts)| hosts.contains(&name));
        for (group, _) in of_host.filter(|(group, _)| !OWN_GROUPS.contains(&group.as_str())) {
            fields.insert(format!("group.{group}"), "yes".to_owned());
        }
        Host {
            line,
            address: address.or_else(|| Some(name.clone())),
            name: Some(name),
            fields,
        }
    });
    Imported::of(hosts.collect())
}

/// Every host with the variables that Ansible worked out for it.
pub(super) fn from_json(content: &str) -> Result<Imported, Misread> {
    let document: Value = serde_json::from_str(content).map_err(|error| {
        let hint = "import what `ansible-inventory -i FILE --list` prints";
        Misread::new(
            Some(error.line()),
            format!("this is no JSON: {error}"),
            hint,
        )
    })?;
    let mut hosts: BTreeMap<String, (Option<usize>, BTreeMap<String, String>)> = BTreeMap::new();
    let mut groups: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let tables = document.as_object().into_iter().flatten();
    for (group, body) in tables.filter(|(group, _)| *group != "_meta") {
        let members: BTreeSet<String> = words(&body["hosts"]).collect();
        for host in &members {
            hosts.entry(host.clone()).or_default();
        }
        groups.insert(group.clone(), members);
    }
    let known = document["_meta"]["hostvars"].as_object();
    for (host, variables) in known.into_iter().flatten() {
        let (_, fields) = hosts.entry(host.clone()).or_default();
        for (name, value) in variables.as_object().into_iter().flatten() {
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Bool(_) | Value::Number(_) => value.to_string(),
                Value::Null | Value::Array(_) | Value::Object(_) => continue,
            };
            fields.insert(name.clone(), text);
        }
    }
    let inside = |group: &str| words(&document[group]["children"]).collect::<Vec<_>>();
    spread(&mut groups, &inside);
    imported(hosts, &groups)
}

fn words(list: &Value) -> impl Iterator<Item = String> {
    let items = list.as_array().into_iter().flatten();
    items.filter_map(|item| Some(item.as_str()?.to_owned()))
}

/// Hosts of a group are hosts of every group around it.
fn spread(groups: &mut BTreeMap<String, BTreeSet<String>>, children: &dyn Fn(&str) -> Vec<String>) {
    // Each pass carries hosts at least one level up, and there are no more levels than groups.
    for _ in 0..groups.len() {
        for group in groups.keys().cloned().collect::<Vec<_>>() {
            let inside = children(&group).into_iter();
            let more: Vec<String> = inside
                .filter_map(|child| groups.get(&child))
                .flatten()
                .cloned()
                .collect();
            groups.entry(group).or_default().extend(more);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ansible_lists_is_taken_over_with_groups_as_labels() {
        let listed = r#"{"_meta": {"hostvars": {"n1": {"ansible_host": "10.1.0.1", "bmc_ip": "10.0.0.1", "rack": 4, "bmc_password": "p"},
            "n2": {"ansible_host": "10.1.0.2"}}},
            "all": {"children": ["ungrouped", "lab"]}, "lab": {"children": ["db"]}, "db": {"hosts": ["n1", "n2"]}}"#;
        let imported = from_json(listed).expect("an inventory");
        assert_eq!(imported.bmcs(), ["n1", "n2"]);
        let addresses: Vec<&str> = imported
            .all
            .iter()
            .map(|bmc| bmc.address.as_str())
            .collect();
        assert_eq!(addresses, ["10.0.0.1", "10.1.0.2"]);
        let labels: Vec<(&str, &str)> = imported.all[0]
            .labels
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        assert_eq!(
            labels,
            [("group.db", "yes"), ("group.lab", "yes"), ("rack", "4")]
        );
    }
}
