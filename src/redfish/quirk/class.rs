//! The class of a machine, as a pure function of evidence.

use serde::Deserialize;

/// What is known of a BMC when it is classified: its service root, its acting manager, and the first system only where
/// vendors put one BMC on many boards. A label on a chassis alone decides nothing: it may carry another vendor's name
/// than the BMC inside.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(in crate::redfish) struct Evidence {
    /// `Vendor` of the service root.
    pub(in crate::redfish) vendor: Option<String>,
    /// `Product` of the service root.
    pub(in crate::redfish) product: Option<String>,
    /// Keys of the root's `Oem`.
    pub(in crate::redfish) oem: Vec<String>,
    /// `Model` of the acting manager.
    pub(in crate::redfish) manager_model: Option<String>,
    /// `FirmwareVersion` of the acting manager.
    pub(in crate::redfish) manager_version: Option<String>,
    /// Keys of the acting manager's `Oem`, the types of what stands there, and the names of its Oem actions.
    pub(in crate::redfish) manager_oem: Vec<String>,
    /// Ids of all managers.
    pub(in crate::redfish) managers: Vec<String>,
    /// Ids of all systems.
    pub(in crate::redfish) systems: Vec<String>,
    /// `Manufacturer` of the first system.
    pub(in crate::redfish) maker: Option<String>,
    /// `Model` of the first system's chassis, where [`asks_for_board`] wants it read.
    pub(in crate::redfish) board: Option<String>,
}

/// A platform, and the facts that make it one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::redfish) struct Class {
    /// Its name; `generic` where nothing is recognized, never the nearest vendor.
    pub(in crate::redfish) platform: String,
    /// What it was told by, for people.
    pub(in crate::redfish) because: Vec<String>,
}

/// What one vendor's BMCs are known by; any one sign is enough. All in lower case.
struct Signs {
    /// How `Vendor` begins.
    vendor: &'static [&'static str],
    /// Keys of the root's `Oem`.
    oem: &'static [&'static str],
    /// Words in `Product`.
    product: &'static [&'static str],
    /// How the acting manager's Oem keys, types or actions begin.
    manager_oem: &'static [&'static str],
    /// Words in the acting manager's `Model`.
    model: &'static [&'static str],
    /// Which of the vendor's platforms it is; what it says is told as a reason.
    of: fn(&Evidence) -> (String, Option<String>),
}

/// Vendors in the order in which they are tried. AMI stands first, because boards of many vendors carry it under their
/// own name; OpenBMC last, because many vendors build on it.
const VENDORS: [Signs; 9] = [
    Signs {
        vendor: &["ami", "american megatrends"],
        oem: &["ami"],
        product: &["ami redfish server"],
        manager_oem: &["#ami"],
        model: &[],
        of: ami,
    },
    Signs {
        vendor: &["dell"],
        oem: &["dell"],
        product: &["dell remote access"],
        manager_oem: &["#dell", "dell"],
        model: &[],
        of: dell,
    },
    Signs {
        vendor: &["hpe", "hp", "hewlett"],
        oem: &["hpe", "hp"],
        product: &[],
        manager_oem: &["#hpeilo", "#hpilo"],
        model: &["ilo "],
        of: hpe,
    },
    Signs {
        vendor: &["lenovo"],
        oem: &["lenovo"],
        product: &[],
        manager_oem: &["#lenovo", "lenovo"],
        model: &["xclarity"],
        of: lenovo,
    },
    Signs {
        vendor: &["supermicro", "super micro"],
        oem: &["supermicro"],
        product: &[],
        manager_oem: &["#smc", "supermicro"],
        model: &[],
        of: supermicro,
    },
    Signs {
        vendor: &["nvidia", "wiwynn"],
        oem: &["nvidia"],
        product: &["nvidia"],
        manager_oem: &["#nvidia", "nvidia"],
        model: &[],
        of: nvidia,
    },
    Signs {
        vendor: &["cray"],
        oem: &["cray"],
        product: &[],
        manager_oem: &["#cray"],
        model: &[],
        of: |_| ("cray".to_owned(), None),
    },
    Signs {
        vendor: &["fujitsu", "fsas"],
        oem: &["ts_fujitsu", "fsas"],
        product: &["irmc"],
        manager_oem: &["ts_fujitsu", "#fts", "fsas"],
        model: &["irmc"],
        of: |_| ("fujitsu".to_owned(), None),
    },
    Signs {
        vendor: &["openbmc"],
        oem: &["openbmc"],
        product: &["openbmc"],
        manager_oem: &["openbmc", "#openbmc", "#oemmanager.openbmc"],
        model: &["openbmc"],
        of: |_| ("openbmc".to_owned(), None),
    },
];

/// The platform's name, with what it was told by.
pub(in crate::redfish) fn classify(evidence: &Evidence) -> Class {
    for signs in &VENDORS {
        let mut because = signs.seen(evidence);
        if !because.is_empty() {
            let (platform, more) = (signs.of)(evidence);
            because.extend(more.filter(|reason| !because.contains(reason)));
            return Class { platform, because };
        }
    }
    Class {
        platform: "generic".to_owned(),
        because: Vec::new(),
    }
}

/// `generation_on_board`: neither the service root nor the manager says which generation it is; the chassis names the
/// board. Seen on Supermicro (`X13DEG-OAD` on an 821GE, 11.01.01).
pub(in crate::redfish) fn asks_for_board(class: &Class) -> bool {
    class.platform == "supermicro"
}

impl Signs {
    fn seen(&self, evidence: &Evidence) -> Vec<String> {
        let mut seen = Vec::new();
        let vendor = lower(evidence.vendor.as_deref());
        if self.vendor.iter().any(|begin| begins_with(&vendor, begin)) {
            seen.push(told(
                "the service root's Vendor",
                evidence.vendor.as_deref(),
            ));
        }
        let oem = |key: &&String| self.oem.contains(&key.to_ascii_lowercase().as_str());
        seen.extend(
            evidence
                .oem
                .iter()
                .find(oem)
                .map(|key| told("the service root's Oem", Some(key))),
        );
        let product = lower(evidence.product.as_deref());
        if self.product.iter().any(|word| product.contains(word)) {
            seen.push(told(
                "the service root's Product",
                evidence.product.as_deref(),
            ));
        }
        let mark = |mark: &&String| {
            let mark = mark.to_ascii_lowercase();
            self.manager_oem.iter().any(|begin| mark.starts_with(begin))
        };
        seen.extend(
            evidence
                .manager_oem
                .iter()
                .find(mark)
                .map(|mark| told("the manager's Oem", Some(mark))),
        );
        let model = lower(evidence.manager_model.as_deref());
        if self.model.iter().any(|word| model.contains(word)) {
            seen.push(told(
                "the manager's Model",
                evidence.manager_model.as_deref(),
            ));
        }
        seen
    }
}

/// AMI's BMC by the board around it. Lenovo puts it on its SR635 and SR655 under its own name.
fn ami(evidence: &Evidence) -> (String, Option<String>) {
    let is_lenovo = begins_with(&lower(evidence.vendor.as_deref()), "lenovo");
    let has = |ids: &[String], id: &str| ids.iter().any(|known| known == id);
    let maker = lower(evidence.maker.as_deref());
    let by_maker = |platform: &str| {
        let reason = told("the system's Manufacturer", evidence.maker.as_deref());
        (platform.to_owned(), Some(reason))
    };
    if is_lenovo {
        ("lenovo-ami".to_owned(), None)
    } else if has(&evidence.systems, "DGX") && has(&evidence.managers, "BMC") {
        let reason = "system `DGX` beside manager `BMC`".to_owned();
        ("ami-dgx".to_owned(), Some(reason))
    } else if maker.starts_with("giga") {
        by_maker("ami-gigabyte")
    } else if maker.starts_with("asrock") {
        by_maker("ami-asrock")
    } else {
        ("ami".to_owned(), None)
    }
}

/// iDRAC generations by the server generation that the manager's model names, such as `15G Monolithic`.
fn dell(evidence: &Evidence) -> (String, Option<String>) {
    let model = lower(evidence.manager_model.as_deref());
    let digits: String = model.chars().take_while(char::is_ascii_digit).collect();
    let platform = match digits.parse::<u32>() {
        Ok(12 | 13) => "dell-idrac8",
        Ok(14..=16) => "dell-idrac9",
        Ok(17..) => "dell-idrac10",
        Ok(_) | Err(_) => return ("dell".to_owned(), None),
    };
    of_manager(platform, evidence.manager_model.as_deref())
}

/// iLO generations by the manager's model, else by its version, which begins with the product up to iLO 6.
fn hpe(evidence: &Evidence) -> (String, Option<String>) {
    let texts = [
        ("the manager's Model", &evidence.manager_model),
        ("the manager's FirmwareVersion", &evidence.manager_version),
    ];
    for (what, text) in texts {
        let words = lower(text.as_deref());
        let named = |generation: &i32| words.contains(&format!("ilo {generation}"));
        if let Some(generation) = (4..=7).find(named) {
            let reason = told(what, text.as_deref());
            return (format!("hpe-ilo{generation}"), Some(reason));
        }
    }
    ("hpe".to_owned(), None)
}

/// XCC generations by the manager's model, which ends with the generation from the second on.
fn lenovo(evidence: &Evidence) -> (String, Option<String>) {
    let model = lower(evidence.manager_model.as_deref());
    let Some((_, rest)) = model.split_once("xclarity controller") else {
        return ("lenovo".to_owned(), None);
    };
    let platform = match rest.trim() {
        "" => "lenovo-xcc",
        "2" => "lenovo-xcc2",
        "3" => "lenovo-xcc3",
        _ => "lenovo",
    };
    of_manager(platform, evidence.manager_model.as_deref())
}

/// Board lines by the board's name: a letter and two digits, such as `X13DEG-OAD` or `H12SSL-NT`.
fn supermicro(evidence: &Evidence) -> (String, Option<String>) {
    let board = lower(evidence.board.as_deref());
    let line: String = board.chars().take(3).collect();
    let mut chars = line.chars();
    let known = chars
        .next()
        .is_some_and(|c| matches!(c, 'x' | 'h' | 'b' | 'm' | 'a'))
        && line.len() == 3
        && chars.all(|c| c.is_ascii_digit());
    if known {
        let reason = told("the board's Model", evidence.board.as_deref());
        (format!("supermicro-{line}"), Some(reason))
    } else {
        ("supermicro".to_owned(), None)
    }
}

/// NVIDIA's own BMCs by product. Wiwynn builds GB200 trays under its own name.
fn nvidia(evidence: &Evidence) -> (String, Option<String>) {
    let product = lower(evidence.product.as_deref());
    let by_product = |platform: &str| {
        let reason = told("the service root's Product", evidence.product.as_deref());
        (platform.to_owned(), Some(reason))
    };
    let is_bluefield = |id: &String| id.to_ascii_lowercase().starts_with("bluefield");
    if product.contains("gb300") {
        by_product("nvidia-gb300")
    } else if product.contains("gb200") || product.contains("gb bmc") {
        by_product("nvidia-gb200")
    } else if begins_with(&lower(evidence.vendor.as_deref()), "wiwynn") {
        ("nvidia-gb200".to_owned(), None)
    } else if product.contains("p3809") {
        by_product("nvidia-gh200")
    } else if let Some(id) = evidence.systems.iter().find(|id| is_bluefield(id)) {
        let reason = format!("system `{id}`");
        ("nvidia-bluefield".to_owned(), Some(reason))
    } else {
        ("nvidia".to_owned(), None)
    }
}

fn of_manager(platform: &str, model: Option<&str>) -> (String, Option<String>) {
    (
        platform.to_owned(),
        Some(told("the manager's Model", model)),
    )
}

fn told(what: &str, text: Option<&str>) -> String {
    format!("{what} `{}`", text.unwrap_or_default())
}

/// Whether a text begins with a word that is not only the beginning of a longer one.
fn begins_with(text: &str, word: &str) -> bool {
    text.strip_prefix(word)
        .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
}

fn lower(text: Option<&str>) -> String {
    text.unwrap_or_default().trim().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Facts of one BMC and the platform that it is.
    #[derive(Debug, Deserialize)]
    struct Vector {
        name: String,
        platform: String,
        evidence: Evidence,
    }

    fn vectors() -> Vec<Vector> {
        let text = include_str!("../../../tests/fixtures/platforms.json");
        serde_json::from_str(text).unwrap_or_else(|error| panic!("platforms.json: {error}"))
    }

    #[test]
    fn every_known_bmc_is_of_its_platform_and_says_why() {
        for vector in vectors() {
            let class = classify(&vector.evidence);
            assert_eq!(class.platform, vector.platform, "{}", vector.name);
            assert_eq!(
                class.because.is_empty(),
                class.platform == "generic",
                "{}: {:?}",
                vector.name,
                class.because
            );
        }
    }

    #[test]
    fn the_unknown_is_generic() {
        assert_eq!(classify(&Evidence::default()).platform, "generic");
        let unknown = Evidence {
            vendor: Some("Contoso".to_owned()),
            product: Some("Americium".to_owned()),
            oem: vec!["Contoso".to_owned()],
            maker: Some("Dell Inc.".to_owned()),
            ..Evidence::default()
        };
        assert_eq!(classify(&unknown).platform, "generic");
    }

    #[test]
    fn a_vendor_without_a_known_generation_is_only_the_vendor() {
        for (vendor, platform) in [
            ("Dell Inc.", "dell"),
            ("HPE", "hpe"),
            ("Lenovo", "lenovo"),
            ("Supermicro", "supermicro"),
            ("NVIDIA", "nvidia"),
        ] {
            let evidence = Evidence {
                vendor: Some(vendor.to_owned()),
                ..Evidence::default()
            };
            assert_eq!(classify(&evidence).platform, platform);
        }
    }
}
