//! This file names credential values without telling them.

use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

/// A name for one user name and password: the same for the same values under the same salt, and useless without them.
pub fn credential_mark(salt: &str, username: &str, password: &SecretString) -> String {
    let mut hash = Sha256::new();
    for part in [salt, username, password.expose_secret()] {
        // Length first, so that no two pairs of parts meet.
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(part.as_bytes());
    }
    hex::encode(hash.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(salt: &str, username: &str, password: &str) -> String {
        credential_mark(salt, username, &SecretString::from(password))
    }

    #[test]
    fn a_mark_changes_with_each_part_and_is_stable() {
        let marks = [
            mark("s", "u", "p"),
            mark("t", "u", "p"),
            mark("s", "v", "p"),
            mark("s", "u", "q"),
            mark("s", "up", ""),
        ];
        for (index, one) in marks.iter().enumerate() {
            assert_eq!(one.len(), 64);
            assert!(marks.iter().skip(index + 1).all(|other| other != one));
        }
        assert_eq!(marks[0], mark("s", "u", "p"));
    }
}
