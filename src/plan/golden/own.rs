//! What names one machine: serial numbers, addresses, host names, and attributes that are called so.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::model::Look;

/// Shorter texts of a machine's own are too common to be looked for inside values.
const TEXT_LENGTH_MIN: usize = 5;

/// Words in names of attributes that hold what one machine alone has. Compared without case and separators.
const OWN_NAMES: [&str; 26] = [
    "serialnumber",
    "serialno",
    "assettag",
    "servicetag",
    "macaddr",
    "hostname",
    "fqdn",
    "ipaddr",
    "ipv4addr",
    "ipv6addr",
    "staticaddress",
    "gateway",
    "netmask",
    "subnetmask",
    "wwnn",
    "wwpn",
    "initiatorname",
    "dnsname",
    "dnsracname",
    "servername",
    "systemname",
    "nodename",
    "chassisname",
    "rackname",
    "rackslot",
    "serverotherinfo",
];

/// The same where the word stands alone: inside others it means something else.
const OWN_WORDS: [&str; 4] = ["uuid", "guid", "serial", "wwn"];

/// Texts that one machine alone has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnTexts(BTreeSet<String>);

impl OwnTexts {
    /// Those of a look, and others that a person gave it, such as its host name.
    pub fn of<'t>(look: &'t Look, others: impl IntoIterator<Item = &'t str>) -> Self {
        let identity = &look.identity;
        let sets = [
            &identity.manager_uuids,
            &identity.manager_macs,
            &identity.system_uuids,
            &identity.serials,
        ];
        let systems = look.systems.values().chain(&look.other_systems);
        let of_systems =
            systems.flat_map(|system| [system.serial.as_deref(), system.uuid.as_deref()]);
        let texts = sets.into_iter().flatten().map(String::as_str);
        let texts = texts
            .chain(identity.root_uuid.as_deref())
            .chain(of_systems.flatten())
            .chain(others);
        let plain = texts.map(plain);
        Self(plain.filter(|text| text.len() >= TEXT_LENGTH_MIN).collect())
    }

    /// Whether an attribute is called like one that names a machine, or after one.
    pub fn names_one_machine(&self, name: &str, display_name: Option<&str>) -> bool {
        std::iter::once(name).chain(display_name).any(|name| {
            let joined = plain(name);
            OWN_NAMES.iter().any(|own| joined.contains(own))
                || words(name).any(|word| OWN_WORDS.contains(&word.as_str()) && !is_port(&joined))
                || has_mac(name)
        })
    }

    /// Whether a value names a machine.
    pub fn is_of_one_machine(&self, value: &Value) -> bool {
        let Some(text) = value.as_str() else {
            return false;
        };
        let joined = plain(text);
        self.0.iter().any(|own| joined.contains(own.as_str())) || has_mac(text) || is_uuid(text)
    }
}

/// `serial` is a port more often than a number.
fn is_port(joined: &str) -> bool {
    let ports = ["port", "comm", "console", "redirect", "mux", "speed", "lan"];
    ports.iter().any(|word| joined.contains(word))
}

fn plain(text: &str) -> String {
    let kept = text.chars().filter(char::is_ascii_alphanumeric);
    kept.collect::<String>().to_ascii_lowercase()
}

/// Words of a name, in lower case: `BmcUUID`, `bmc_uuid` and `BMC UUID` have two each.
fn words(name: &str) -> impl Iterator<Item = String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_ascii_alphanumeric() || (c.is_ascii_uppercase() && was_lower) {
            words.push(String::new());
        }
        was_lower = c.is_ascii_lowercase();
        if let (true, Some(word)) = (c.is_ascii_alphanumeric(), words.last_mut()) {
            word.push(c.to_ascii_lowercase());
        }
    }
    words.into_iter().filter(|word| !word.is_empty())
}

/// Twelve hexadecimal digits, alone or in pairs between separators; one of them a decimal digit, because words of six
/// such letters exist.
fn has_mac(text: &str) -> bool {
    let pieces: Vec<&str> = text
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|piece| !piece.is_empty())
        .collect();
    let is_hex = |text: &str| text.chars().all(|c| c.is_ascii_hexdigit());
    let digits = |text: &str| text.chars().any(|c| c.is_ascii_digit());
    pieces
        .iter()
        .any(|piece| piece.len() == 12 && is_hex(piece) && digits(piece))
        || pieces.windows(6).any(|six| {
            six.iter().all(|pair| pair.len() == 2 && is_hex(pair))
                && six.iter().any(|pair| digits(pair))
        })
}

fn is_uuid(text: &str) -> bool {
    let lengths: Vec<usize> = text.split('-').map(str::len).collect();
    lengths == [8, 4, 4, 4, 12] && text.chars().all(|c| c == '-' || c.is_ascii_hexdigit())
}
