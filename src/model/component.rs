//! What a version belongs to and an update replaces.
//!
//! Components of adapters, drives and power supplies are deliberately missing: no stage names them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The part of a machine whose firmware a stage moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Component {
    /// The manager: `FirmwareVersion` of a Redfish Manager of type BMC.
    Bmc,
    /// Boot firmware: `BiosVersion` of a Redfish ComputerSystem.
    Bios,
}

impl Component {
    /// The word of files, of the command line and of JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bmc => "bmc",
            Self::Bios => "bios",
        }
    }
}

impl fmt::Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Component {
    type Err = String;

    /// Reads the word back; the error is a fragment fit for a message.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "bmc" => Ok(Self::Bmc),
            "bios" => Ok(Self::Bios),
            _ => Err(format!("`{text}` is neither `bmc` nor `bios`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_word_is_refused_by_name() {
        assert_eq!(
            "cpld".parse::<Component>(),
            Err("`cpld` is neither `bmc` nor `bios`".to_owned())
        );
    }

    #[test]
    fn the_word_reads_back_as_text_and_as_json() {
        for component in [Component::Bmc, Component::Bios] {
            assert_eq!(component.as_str().parse(), Ok(component));
            assert_eq!(
                serde_json::json!(component),
                serde_json::json!(component.as_str())
            );
        }
    }
}
