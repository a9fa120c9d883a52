//! This room makes a registry's document from a table of messages.
//!
//! It deliberately lists only what the mock sends.

use serde_json::{Map, Value, json};

use super::table::Entry;

/// A registry as a document.
pub(crate) fn registry(prefix: &str, version: &str, name: &str, entries: &[Entry]) -> Value {
    let messages: Map<String, Value> = entries
        .iter()
        .map(|entry| (entry.0.to_owned(), registry_entry(*entry)))
        .collect();
    json!({
        "@odata.type": "#MessageRegistry.v1_6_2.MessageRegistry",
        "Id": format!("{prefix}.{version}"),
        "Name": name,
        "Description": format!("The messages of {prefix} that this service sends"),
        "Language": "en",
        "RegistryPrefix": prefix,
        "RegistryVersion": version,
        "OwningEntity": if prefix == "MockBmc" { "mock-bmc" } else { "DMTF" },
        "Messages": messages,
    })
}

fn registry_entry((key, severity, text, resolution): Entry) -> Value {
    let count = (1..=9)
        .filter(|index| text.contains(&format!("%{index}")))
        .count();
    json!({
        "Description": format!("Indicates {key}."),
        "Message": text,
        // Deprecated, but older clients look for nothing else.
        "Severity": severity,
        "MessageSeverity": severity,
        "NumberOfArgs": count,
        "ParamTypes": vec!["string"; count],
        "Resolution": resolution,
    })
}

#[cfg(test)]
mod tests {
    use super::super::table::{BASE, BASE_VERSION};
    use super::*;

    #[test]
    fn a_registry_counts_the_arguments_of_its_texts() {
        let registry = registry("Base", BASE_VERSION, "Base", BASE);
        assert_eq!(
            registry["Messages"]["PropertyValueNotInList"]["NumberOfArgs"],
            2
        );
        assert_eq!(registry["Messages"]["Success"]["NumberOfArgs"], 0);
    }
}
