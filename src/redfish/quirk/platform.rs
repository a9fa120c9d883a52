//! The class of a machine, as a pure function of evidence.

/// Whether a named target is known to be taken where none is needed.
///
/// The specification allows it (DSP0266, "Multipart HTTP push updates"); iDRAC 9, GB200 and several OpenBMC builds refuse
/// a name for the BMC's own image, so only services without known deviations get one.
pub(in crate::redfish) fn takes_named_target(platform: &str) -> bool {
    platform == "generic"
}

/// What is known of a BMC when it is classified: the service root and the managers, never the label on the chassis, which
/// may carry another vendor's name than the BMC inside.
#[derive(Debug, Clone, Copy)]
pub(in crate::redfish) struct Evidence<'a> {
    /// `Vendor` of the service root.
    pub(in crate::redfish) vendor: Option<&'a str>,
    /// `Product` of the service root.
    pub(in crate::redfish) product: Option<&'a str>,
    /// Keys of the root's `Oem`.
    pub(in crate::redfish) oem: &'a [String],
    /// `Model` of the acting manager.
    pub(in crate::redfish) manager_model: Option<&'a str>,
    /// `FirmwareVersion` of the acting manager.
    pub(in crate::redfish) manager_version: Option<&'a str>,
}

/// The platform's name; `generic` where nothing is recognized, never the nearest vendor.
pub(in crate::redfish) fn classify(evidence: &Evidence<'_>) -> &'static str {
    let vendor = lower(evidence.vendor);
    let product = lower(evidence.product);
    let has_oem = |name: &str| {
        evidence
            .oem
            .iter()
            .any(|key| key.eq_ignore_ascii_case(name))
    };
    if vendor.starts_with("dell") || has_oem("Dell") || product.contains("dell remote access") {
        return dell(evidence);
    }
    if matches!(vendor.as_str(), "hpe" | "hp")
        || vendor.starts_with("hewlett")
        || has_oem("Hpe")
        || has_oem("Hp")
    {
        return hpe(evidence);
    }
    if vendor.starts_with("lenovo") || has_oem("Lenovo") {
        return if has_oem("Ami") {
            "lenovo-ami"
        } else {
            "lenovo-xcc"
        };
    }
    if vendor.contains("supermicro") || has_oem("Supermicro") {
        return "supermicro";
    }
    if vendor.starts_with("nvidia") || vendor.starts_with("wiwynn") || has_oem("Nvidia") {
        return "nvidia";
    }
    if vendor == "ami" || has_oem("Ami") {
        return "ami";
    }
    if vendor.starts_with("fujitsu") || has_oem("ts_fujitsu") || has_oem("Fsas") {
        return "fujitsu";
    }
    if vendor.contains("openbmc") || lower(evidence.manager_model) == "openbmc" {
        return "openbmc";
    }
    "generic"
}

/// `update_parameters_want_oem`: `UpdateParameters` without an `Oem` object is refused. Seen on iDRAC 9 from 5.00 and on
/// iDRAC 10; the standard makes `Oem` optional, and OpenBMC refuses any key it does not know, `Oem` among them.
pub(in crate::redfish) fn wants_oem_parameter(platform: &str) -> bool {
    platform.starts_with("dell")
}

/// iDRAC generations by the server generation that the manager's model names.
fn dell(evidence: &Evidence<'_>) -> &'static str {
    let model = lower(evidence.manager_model);
    let generation: String = model.chars().take_while(char::is_ascii_digit).collect();
    match generation.parse::<u32>() {
        Ok(12 | 13) => "dell-idrac8",
        Ok(14..=16) => "dell-idrac9",
        Ok(17..) => "dell-idrac10",
        Ok(_) | Err(_) => "dell",
    }
}

fn hpe(evidence: &Evidence<'_>) -> &'static str {
    let words = format!(
        "{} {}",
        lower(evidence.manager_model),
        lower(evidence.manager_version)
    );
    let generations = [
        ("ilo 4", "hpe-ilo4"),
        ("ilo 5", "hpe-ilo5"),
        ("ilo 6", "hpe-ilo6"),
        ("ilo 7", "hpe-ilo7"),
    ];
    generations
        .iter()
        .find(|(words_of, _)| words.contains(words_of))
        .map_or("hpe", |(_, platform)| platform)
}

fn lower(text: Option<&str>) -> String {
    text.unwrap_or_default().trim().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn platform(vendor: &str, oem: &[&str], model: &str) -> &'static str {
        let oem: Vec<String> = oem.iter().map(|&key| key.to_owned()).collect();
        classify(&Evidence {
            vendor: (!vendor.is_empty()).then_some(vendor),
            product: None,
            oem: &oem,
            manager_model: Some(model),
            manager_version: None,
        })
    }

    #[test]
    fn the_unknown_is_generic() {
        assert_eq!(platform("", &[], ""), "generic");
        assert_eq!(
            platform("Contoso", &["Contoso"], "Joo Janta 200"),
            "generic"
        );
    }

    #[test]
    fn vendors_are_known_by_any_of_their_names() {
        assert_eq!(platform("Dell Inc.", &[], "15G Monolithic"), "dell-idrac9");
        assert_eq!(platform("", &["Dell"], "13G Monolithic"), "dell-idrac8");
        assert_eq!(platform("Dell", &[], "17G Monolithic"), "dell-idrac10");
        assert_eq!(platform("HPE", &["Hpe"], "iLO 6"), "hpe-ilo6");
        assert_eq!(platform("Lenovo", &["Ami"], ""), "lenovo-ami");
        assert_eq!(platform("Lenovo", &[], ""), "lenovo-xcc");
        assert_eq!(platform("Nvidia", &[], "OpenBmc"), "nvidia");
        assert_eq!(platform("", &[], "OpenBmc"), "openbmc");
        assert_eq!(platform("", &["Supermicro"], "ASPEED"), "supermicro");
    }
}
