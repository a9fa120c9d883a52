//! Resources that can cut the branch redpipe sits on.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::pipeline::document::{Any, At};

/// Resources that are severing as a whole, by a piece of their path: accounts (ours may be among them), sessions, and
/// VLAN interfaces of a manager.
const SEVERING_PATHS: [(&str, &str); 4] = [
    ("accounts", "an account"),
    ("sessionservice", "the session service"),
    ("sessions", "a session"),
    ("vlans", "a VLAN"),
];

/// Properties that are severing wherever they are set.
const SEVERING_PROPERTIES: [(&str, &str); 20] = [
    ("AccountLockoutCounterResetAfter", "an account lockout"),
    ("AccountLockoutCounterResetEnabled", "an account lockout"),
    ("AccountLockoutDuration", "an account lockout"),
    ("AccountLockoutThreshold", "an account lockout"),
    ("DHCPv4", "an address"),
    ("DHCPv6", "an address"),
    ("FQDN", "a host name"),
    ("HostName", "a host name"),
    ("IPv4Addresses", "an address"),
    ("IPv4StaticAddresses", "an address"),
    ("IPv6Addresses", "an address"),
    ("IPv6StaticAddresses", "an address"),
    ("IPv6StaticDefaultGateways", "an address"),
    ("InterfaceEnabled", "a network interface"),
    ("LocalAccountAuth", "an account"),
    ("MACAddress", "an address"),
    ("StatelessAddressAutoConfig", "an address"),
    ("VLAN", "a VLAN"),
    ("VLANEnable", "a VLAN"),
    ("VLANId", "a VLAN"),
];

/// Properties of a network protocol resource that are severing: redpipe comes in through them.
const SEVERING_PROTOCOLS: [(&str, &str); 2] = [("HTTP", "HTTP"), ("HTTPS", "HTTPS")];

/// What helps where something is severing and nobody said so.
pub(super) const SAY_SO: &str = "set `severs = true` on this entry, its item or its stage: redpipe then goes one BMC at a time, expects this one to be away for a while, and logs in anew; what another address needs, the inventory must say by then";

/// Whether the author agrees that something may cut redpipe's own connection.
pub(super) fn agreed(severs: Option<&At<bool>>) -> bool {
    severs.is_some_and(|severs| *severs.get())
}

/// What about an entry is severing, and where it stands; the first such thing.
pub(super) fn severing(
    uri: &At<String>,
    set: &BTreeMap<At<String>, At<Any>>,
) -> Option<(&'static str, Range<usize>)> {
    let path = uri.get().to_lowercase();
    let mut pieces = path.split('/').skip(1);
    let by_path = pieces.find_map(|piece| SEVERING_PATHS.iter().find(|(name, _)| piece == *name));
    if let Some((_, what)) = by_path {
        return Some((what, uri.span()));
    }
    set.iter().find_map(|(key, value)| by_property(key, value))
}

fn by_property(key: &At<String>, value: &At<Any>) -> Option<(&'static str, Range<usize>)> {
    let mut severing = SEVERING_PROPERTIES.iter().chain(&SEVERING_PROTOCOLS);
    if let Some((_, what)) = severing.find(|(name, _)| name.eq_ignore_ascii_case(key.get())) {
        return Some((what, key.span()));
    }
    match value.get() {
        Any::Table(fields) => fields
            .iter()
            .find_map(|(key, value)| by_property(key, value)),
        Any::Boolean(_) | Any::Integer(_) | Any::Float(_) | Any::Text(_) | Any::Array(_) => None,
    }
}
