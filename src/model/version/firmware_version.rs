//! A version as somebody stated it.
//!
//! There is deliberately no `Ord`: order needs a rule, and may not exist.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Compared, compare, is_absent};
use crate::model::component::Component;

/// A version as a BMC or a file states it, byte for byte.
///
/// Equality is equality of bytes; whether two texts mean the same version is what [`FirmwareVersion::compare`] tells.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FirmwareVersion(String);

impl FirmwareVersion {
    /// Keeps the text untouched.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, byte for byte.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the text only says that there is no version, see [`is_absent`].
    pub fn is_absent(&self) -> bool {
        is_absent(&self.0)
    }

    /// How this version stands to another, see [`compare`].
    pub fn compare(
        &self,
        other: &Self,
        platform: Option<&str>,
        component: Option<Component>,
    ) -> Compared {
        compare(&self.0, &other.0, platform, component)
    }
}

impl fmt::Display for FirmwareVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for FirmwareVersion {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<String> for FirmwareVersion {
    fn from(text: String) -> Self {
        Self(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_survives_byte_for_byte() -> Result<(), serde_json::Error> {
        let version = FirmwareVersion::new(" 96.00.A6.00.01 \u{0}");
        let json = serde_json::to_string(&version)?;
        assert_eq!(json, "\" 96.00.A6.00.01 \\u0000\"");
        assert_eq!(serde_json::from_str::<FirmwareVersion>(&json)?, version);
        assert_eq!(version.to_string(), " 96.00.A6.00.01 \u{0}");
        Ok(())
    }
}
