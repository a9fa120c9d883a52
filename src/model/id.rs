//! Names that people gave, and ids derived from them.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        ///
        /// A clone shares the text: most that is kept of a BMC names it.
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text.into())
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer).map(Self::from)
            }
        }
    };
}

name! {
    /// The inventory's name of one management endpoint.
    BmcName
}
name! {
    /// The inventory's name of one ComputerSystem behind a BMC, or `BMC/ID` where the inventory lists none.
    ServerName
}
name! {
    /// The name a pipeline file gives itself.
    PipelineName
}
name! {
    /// The name of one stage, unique in its pipeline.
    StageName
}

impl StageName {
    /// The name of a computed hop to a version. No file can give a stage such a name.
    pub fn hop(&self, version: &str) -> Self {
        Self::from(format!("{self}/{version}"))
    }
}

/// What a stage acts on: the BMC itself or one server behind it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// `bmc-*` stages, once per BMC.
    Bmc,
    /// `bios-*` stages, once per server.
    Server(ServerName),
}

impl Target {
    /// The server, where the target is one.
    pub fn server(&self) -> Option<&ServerName> {
        match self {
            Self::Bmc => None,
            Self::Server(name) => Some(name),
        }
    }

    /// `bmc`, or the server's name.
    pub fn name(&self) -> &str {
        self.server().map_or("bmc", ServerName::as_str)
    }

    /// The target in a sentence; [`fmt::Display`] is its form in files and records.
    pub fn words(&self) -> String {
        match self {
            Self::Bmc => "bmc".to_owned(),
            Self::Server(name) => format!("server `{name}`"),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bmc => f.write_str("bmc"),
            Self::Server(name) => write!(f, "server:{name}"),
        }
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.strip_prefix("server:") {
            Some(name) => Ok(Self::Server(name.into())),
            None if text == "bmc" => Ok(Self::Bmc),
            None => Err(format!("`{text}` is neither `bmc` nor `server:NAME`")),
        }
    }
}

impl Serialize for Target {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Target {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Which run: one pipeline on one BMC, and how many runs of that pair came before it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RunKey {
    /// The pipeline's name.
    pub pipeline: PipelineName,
    /// The BMC's name.
    pub bmc: BmcName,
    /// 1 for the pair's first run, then counting up.
    pub number: u32,
}

impl RunKey {
    /// The id under which the run is stored: readable, bounded, and different for different names.
    pub fn id(&self) -> String {
        derived_id(&[
            self.pipeline.as_str(),
            self.bmc.as_str(),
            &self.number.to_string(),
        ])
    }
}

impl fmt::Display for RunKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}#{}", self.pipeline, self.bmc, self.number)
    }
}

/// Longest id that [`derived_id`] returns, in bytes: fits a file name, a log column and an HTTP header.
pub const DERIVED_ID_BYTES_MAX: usize = 96;

/// An id from a list of names: the same for the same list, different for any other list, never longer than
/// [`DERIVED_ID_BYTES_MAX`].
///
/// The readable part may be cut and may look alike for two lists; the hash over the length-prefixed names tells them
/// apart.
pub fn derived_id(names: &[&str]) -> String {
    const HASH_HEX: usize = 16;
    let mut hash = Sha256::new();
    for name in names {
        hash.update(u64::try_from(name.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(name.as_bytes());
    }
    let digest = hex::encode(hash.finalize());
    let mut readable: String = names
        .join("-")
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '-' || c == '.' {
                c
            } else {
                '_'
            }
        })
        .collect();
    readable.truncate(DERIVED_ID_BYTES_MAX - HASH_HEX - 1);
    format!("{readable}-{}", &digest[..HASH_HEX])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_names_give_the_same_id() {
        assert_eq!(
            derived_id(&["p", "bmc", "s"]),
            derived_id(&["p", "bmc", "s"])
        );
    }

    #[test]
    fn names_that_join_alike_give_different_ids() {
        assert_ne!(derived_id(&["a-b", "c"]), derived_id(&["a", "b-c"]));
    }

    #[test]
    fn long_names_stay_bounded_and_unique() {
        let long = "x".repeat(5000);
        let (one, two) = (derived_id(&[&long, "1"]), derived_id(&[&long, "2"]));
        assert!(one.len() <= DERIVED_ID_BYTES_MAX && two.len() <= DERIVED_ID_BYTES_MAX);
        assert_ne!(one, two);
    }
}
