//! Names whose values are secret.

/// Parts of member and attribute names whose values Redfish and vendors make write-only.
const SECRET_PARTS: &[&str] = &[
    "password",
    "pwd",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "privatekey",
    "authenticationkey",
    "encryptionkey",
    "authkey",
    "privkey",
    "privacykey",
    "communitystring",
    "licensestring",
    "licensekey",
];

/// Whether a member or attribute of this name holds a secret.
pub fn is_secret(name: &str) -> bool {
    let plain: String = name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect::<String>()
        .to_ascii_lowercase();
    // `PasswordLength`, `TokenExpirationEnabled` and the like are about secrets without being ones.
    let about = [
        "length",
        "enabled",
        "enable",
        "policy",
        "expiration",
        "threshold",
        "timeout",
        "count",
        "days",
        "lifetime",
        "history",
        "complexity",
        "required",
        "type",
        "mode",
    ];
    !about.iter().any(|end| plain.ends_with(end))
        && SECRET_PARTS.iter().any(|part| plain.contains(part))
}
