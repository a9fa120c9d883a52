//! This room is the script of a fleet: how its BMCs deviate from what they are by default.
//!
//! It deliberately only describes; the BMC acts.

use serde::Deserialize;

/// The text of `mock-bmc script --explain`.
pub const EXPLANATION: &str = "# A script has no keys yet.";

/// A script file; the default is no deviation.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// Reserved for faults.
    #[serde(default)]
    pub fault: Vec<toml::Table>,
}
