//! What attributes are as they come from the factory: read beside a look, and only on demand, because a diff does not need
//! it and a fleet's registries are large.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Client;
use crate::model::setting::{FactoryAttribute, FactoryAttributes};
use crate::model::{Fault, FaultKind, Retry, SettingsView, Target};
use crate::redfish::read::{Describes, Reader, expand_of, registry_document};
use crate::redfish::wire::{member, text};

impl Client {
    /// Default values and display names of the attributes that a view shows, as far as its registries state them. Needs a
    /// look before it; writes nothing, and remembers nothing.
    pub async fn factory_attributes(
        &self,
        target: &Target,
        view: &SettingsView,
    ) -> Result<FactoryAttributes, Fault> {
        let found = self.links().ok_or_else(|| {
            let message = "defaults are read after a look";
            Fault::new(FaultKind::Bug, Retry::Never, message)
        })?;
        let describes = match target {
            Target::Bmc => Describes::Manager,
            Target::Server(_) => Describes::Bios,
        };
        let mut reader = Reader::new(&self.conversation, expand_of(&found));
        let names: BTreeSet<Option<&str>> = view
            .resources
            .iter()
            .map(|resource| resource.registry_name.as_deref())
            .collect();
        let mut attributes = FactoryAttributes::new();
        for name in names {
            let doc = registry_document(&mut reader, &found, name, describes).await?;
            for (name, attribute) in doc.iter().flat_map(|doc| of_registry(doc)) {
                attributes.entry(name).or_insert(attribute);
            }
        }
        Ok(attributes)
    }
}

fn of_registry(doc: &Value) -> Vec<(String, FactoryAttribute)> {
    let entries = member(doc, "RegistryEntries");
    let attributes = entries.and_then(|entries| member(entries, "Attributes")?.as_array());
    let known = attributes.into_iter().flatten().filter_map(|entry| {
        let attribute = FactoryAttribute {
            default: member(entry, "DefaultValue")
                .filter(|value| !value.is_null())
                .cloned(),
            display_name: text(entry, "DisplayName"),
        };
        Some((text(entry, "AttributeName")?, attribute))
    });
    known.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_default_that_is_null_or_missing_is_none() {
        let doc = json!({"RegistryEntries": {"Attributes": [
            {"AttributeName": "A", "DefaultValue": 4, "DisplayName": "Cores"},
            {"AttributeName": "B", "DefaultValue": null},
            {"AttributeName": "C", "defaultvalue": ""},
            {"DefaultValue": "of nothing"}]}});
        let known: FactoryAttributes = of_registry(&doc).into_iter().collect();
        assert_eq!(known.len(), 3);
        assert_eq!(known["A"].default, Some(json!(4)));
        assert_eq!(known["A"].display_name.as_deref(), Some("Cores"));
        assert_eq!(known["B"].default, None);
        assert_eq!(known["C"].default, Some(json!("")));
    }
}
