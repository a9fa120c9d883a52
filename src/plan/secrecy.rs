//! Which values are secret, how they are shown, and how it is remembered that one was written.

use std::collections::BTreeMap;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::model::Target;
pub use crate::model::is_secret;

/// What is shown in place of a secret value.
pub const MASK: &str = "********";

/// What is known to have been written to write-only places.
///
/// A write-only value cannot be read back; that it was written, and that the author has not changed it since, is all
/// that can be said.
#[derive(Debug, Clone, Copy)]
pub struct Written<'a> {
    /// Salt of this state store.
    pub salt: &'a str,
    /// [`fingerprint`]s by attribute name, or by `URI#/pointer` for members of resources.
    pub fingerprints: &'a BTreeMap<String, String>,
}

impl Written<'_> {
    /// Whether this very value was written there.
    pub fn holds(&self, key: &str, value: &Value) -> bool {
        self.fingerprints
            .get(key)
            .is_some_and(|known| *known == fingerprint(self.salt, key, value))
    }
}

/// What a state store remembers of write-only values on the targets of one BMC.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Remembered {
    /// Salt of this state store.
    pub salt: String,
    /// [`fingerprint`]s by target and place.
    pub fingerprints: BTreeMap<Target, BTreeMap<String, String>>,
}

impl Remembered {
    /// What is remembered of one target.
    pub fn on(&self, target: &Target) -> Written<'_> {
        Written {
            salt: &self.salt,
            fingerprints: self.fingerprints.get(target).unwrap_or(&NOTHING),
        }
    }
}

static NOTHING: BTreeMap<String, String> = BTreeMap::new();

/// Nothing was ever written to write-only places.
pub(super) const NOTHING_WRITTEN: Written<'static> = Written {
    salt: "",
    fingerprints: &NOTHING,
};

/// The generation of a pipeline's file as it is kept: it may be of a secret that stands there.
pub fn kept_generation(salt: &str, generation: &str) -> String {
    fingerprint(salt, "generation", &generation.into())
}

/// A salted SHA-256, as lower-case hex, of one value in one place.
pub fn fingerprint(salt: &str, key: &str, value: &Value) -> String {
    let mut hash = Sha256::new();
    for part in [salt, key, &value.to_string()] {
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(part.as_bytes());
    }
    hex::encode(hash.finalize())
}

/// Whether a value read back says nothing about what is stored.
pub(super) fn is_hidden(read: &Value) -> bool {
    read.is_null()
        || read
            .as_str()
            .is_some_and(|text| text.chars().all(|c| matches!(c, '*' | '•')))
}

/// A value as it may be shown: secrets at any depth are replaced by [`MASK`].
pub fn masked(name: &str, value: &Value) -> Value {
    match value {
        Value::Null => Value::Null,
        _ if is_secret(name) => Value::from(MASK),
        Value::Object(members) => members
            .iter()
            .map(|(member, inner)| (member.clone(), masked(member, inner)))
            .collect(),
        Value::Array(items) => items.iter().map(|inner| masked(name, inner)).collect(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// A URI without `user:password@`.
pub fn without_user_info(uri: &str) -> String {
    let Some((scheme, rest)) = uri.split_once("://") else {
        return uri.to_owned();
    };
    let authority_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(authority_end);
    match authority.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}://{host}{path}"),
        None => uri.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_are_masked_at_any_depth_and_words_about_them_are_not() {
        let value = json!({"SNMP": {"AuthenticationKey": "k", "Port": 161}, "Accounts": [{"Password": "p"}]});
        let shown = masked("", &value);
        assert_eq!(
            shown,
            json!({"SNMP": {"AuthenticationKey": MASK, "Port": 161}, "Accounts": [{"Password": MASK}]})
        );
        assert!(
            is_secret("AdminPassword") && is_secret("Users.2.Password") && is_secret("Auth_Key")
        );
        assert!(
            !is_secret("MinPasswordLength")
                && !is_secret("BootMode")
                && !is_secret("PasswordPolicy")
        );
    }

    #[test]
    fn user_info_leaves_a_uri() {
        assert_eq!(
            without_user_info("https://me:p@ss@host/a@b"),
            "https://host/a@b"
        );
        assert_eq!(without_user_info("http://host:80/x"), "http://host:80/x");
        assert_eq!(without_user_info("not a uri"), "not a uri");
    }

    #[test]
    fn a_fingerprint_depends_on_salt_place_and_value() {
        let one = fingerprint("s", "k", &json!("v"));
        assert_eq!(one, fingerprint("s", "k", &json!("v")));
        for other in [
            fingerprint("t", "k", &json!("v")),
            fingerprint("s", "l", &json!("v")),
            fingerprint("s", "k", &json!("w")),
        ] {
            assert_ne!(one, other);
        }
    }
}
