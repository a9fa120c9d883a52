//! Licences, where a service tells them in a form of its own.

use serde_json::Value;

/// `licence_in_text`: a list of texts stands where a collection of resources should, each text a JSON document of its own
/// or something else. Seen on Supermicro X11 to X13 (`QueryLicense`). Returns the licence's name.
pub(in crate::redfish) fn licence_in_text(text: &str) -> Option<String> {
    name_in(&serde_json::from_str(text).ok()?)
}

fn name_in(value: &Value) -> Option<String> {
    let object = value.as_object()?;
    match object.get("LicenseName").and_then(Value::as_str) {
        Some(name) => Some(name.to_owned()),
        None => object.values().find_map(name_in),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_found_however_deep_it_stands_and_nothing_else_is_told() {
        let text =
            r#"{"ProductKey":{"Node":{"LicenseID":"1","LicenseName":"SFT-OOB-LIC","Key":"x"}}}"#;
        assert_eq!(licence_in_text(text).as_deref(), Some("SFT-OOB-LIC"));
        assert_eq!(licence_in_text("AAYA-BBBB"), None);
        assert_eq!(licence_in_text("[]"), None);
    }
}
