//! How a stage does its work.

use std::time::Duration;

/// How a stage does its work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageOptions {
    /// Longest time for the whole stage; `None` = the platform's own.
    pub timeout: Option<Duration>,
    /// Whole tries of the stage; at least 1.
    pub attempts: u32,
    /// How a host may be reset.
    pub reset: ResetPolicy,
    /// How an image gets in.
    pub method: Method,
    /// Whether the version may go down; only on a component's last hop.
    pub allow_downgrade: bool,
    /// Only this version counts, a later one does not; only on a component's last hop.
    pub exact: bool,
    /// `Targets` as written, instead of found ones.
    pub targets: Option<Vec<String>>,
    /// Redfish apply time, unrenamed.
    pub apply_time: Option<String>,
    /// What an update keeps of the configuration of what it flashes.
    pub preserve: Preserve,
}

impl Default for StageOptions {
    fn default() -> Self {
        Self {
            timeout: None,
            attempts: 1,
            reset: ResetPolicy::default(),
            method: Method::default(),
            allow_downgrade: false,
            exact: false,
            targets: None,
            apply_time: None,
            preserve: Preserve::All,
        }
    }
}

/// How a host may be reset.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ResetPolicy {
    /// Ask the operating system first, then force.
    #[default]
    GracefulThenForce,
    /// Only ask.
    Graceful,
    /// Force at once.
    Force,
    /// Never: a person resets.
    None,
}

impl ResetPolicy {
    /// The word of the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::GracefulThenForce => "graceful-then-force",
            Self::Graceful => "graceful",
            Self::Force => "force",
            Self::None => "none",
        }
    }
}

/// What an update keeps of the configuration of what it flashes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Preserve {
    /// Everything that the platform can keep.
    #[default]
    All,
    /// These alone, in the platform's own words; empty = nothing.
    Only(Vec<String>),
}

impl Preserve {
    /// Names of what alone is kept; `None` = everything.
    pub fn only(&self) -> Option<&[String]> {
        match self {
            Self::All => None,
            Self::Only(names) => Some(names),
        }
    }
}

/// How an image gets in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Method {
    /// The best that the BMC offers and the image allows.
    #[default]
    Auto,
    /// The BMC pulls.
    SimpleUpdate,
    /// We push, with parameters.
    MultipartPush,
    /// We push the bytes alone.
    HttpPush,
}

impl Method {
    /// The word of the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::SimpleUpdate => "simple-update",
            Self::MultipartPush => "multipart-push",
            Self::HttpPush => "http-push",
        }
    }
}
