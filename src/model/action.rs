//! What may be asked of a BMC, and what came of it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fault::{BmcMessage, Fault};
use super::id::{ServerName, Target};

/// Names one intent: written down before anything is sent, and never used for a second request.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IntentId(pub String);

impl fmt::Display for IntentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A request that changes something.
///
/// Not serialised: it may hold secret values. What the journal keeps of it is the run room's intent record.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Hand an image to the update service.
    Update(UpdateAction),
    /// `ComputerSystem.Reset`.
    ResetSystem {
        /// Which server.
        server: ServerName,
        /// Redfish ResetType, unrenamed.
        reset_type: String,
    },
    /// `Manager.Reset`.
    ResetManager {
        /// Redfish ResetType, unrenamed.
        reset_type: String,
    },
    /// PATCH attributes of one target.
    PatchAttributes {
        /// Whose.
        target: Target,
        /// Wanted values by write URI, in the order they are sent.
        parts: Vec<AttributePatch>,
        /// `@Redfish.SettingsApplyTime`, where the resource supports it.
        apply_time: Option<String>,
    },
    /// DELETE a task or job of ours that has not begun.
    Withdraw {
        /// Its URI.
        uri: String,
    },
    /// POST one JSON object to an action of a resource, or to a collection.
    Call {
        /// Template such as `{manager}/VirtualMedia/CD/Actions/VirtualMedia.InsertMedia`.
        uri: String,
        /// What is posted.
        body: Value,
    },
    /// PATCH one resource with one JSON object.
    PatchResource {
        /// Whose: `{system}` needs a server.
        target: Target,
        /// Template such as `{manager}/NetworkProtocol`.
        uri: String,
        /// What to set.
        body: Value,
    },
}

/// One PATCH of attributes.
#[derive(Clone, PartialEq)]
pub struct AttributePatch {
    /// Where it goes.
    pub uri: String,
    /// Attribute values in the registry's form and type.
    pub attributes: BTreeMap<String, Value>,
}

impl fmt::Debug for AttributePatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&String> = self.attributes.keys().collect();
        f.debug_struct("AttributePatch")
            .field("uri", &self.uri)
            .field("attributes", &names)
            .finish()
    }
}

/// An update request.
#[derive(Debug, Clone, PartialEq)]
pub struct UpdateAction {
    /// Which component of which target.
    pub target: Target,
    /// The image.
    pub image: ImageSource,
    /// How it gets in.
    pub method: UpdateMethod,
    /// `Targets`; empty = the property is left out for SimpleUpdate and `[]` for a push.
    pub targets: Vec<String>,
    /// `@Redfish.OperationApplyTime`, where wanted.
    pub apply_time: Option<String>,
    /// What alone of the configuration is kept, in the platform's own words; `None` = everything.
    pub keep: Option<Vec<String>>,
}

/// Where an image is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImageSource {
    /// The BMC fetches it.
    Uri(String),
    /// We send it; hashed before.
    File {
        /// Where it lies.
        path: PathBuf,
        /// Length found when it was hashed, bytes.
        bytes: u64,
        /// What its maker calls it, which some BMCs look at; a copy of ours lies under another name.
        name: String,
    },
    /// The BMC fetches it from us. Whoever sends the request serves the file first, and names its URI instead.
    Served(ServedImage),
}

/// An image that we serve to one BMC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedImage {
    /// Path below which the BMC finds it, without a slash in front; nobody can guess it.
    pub path: String,
    /// Where the bytes lie; hashed before.
    pub file: PathBuf,
    /// Length found when it was hashed, bytes.
    pub bytes: u64,
}

/// Ways to hand over an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UpdateMethod {
    /// `UpdateService.SimpleUpdate`: the BMC pulls.
    SimpleUpdate,
    /// `MultipartHttpPushUri`: we push, with parameters.
    MultipartPush,
    /// `HttpPushUri`: we push the bytes alone.
    HttpPush,
}

impl UpdateMethod {
    /// The word that files, JSON and messages use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SimpleUpdate => "simple-update",
            Self::MultipartPush => "multipart-push",
            Self::HttpPush => "http-push",
        }
    }
}

/// What came of sending an [`Action`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "result")]
pub enum Outcome {
    /// No byte of the request left us.
    NotSent {
        /// Why.
        fault: Fault,
    },
    /// The BMC says, by MessageId or by a 4xx that it states before processing, that it did nothing.
    Refused {
        /// Its words.
        fault: Fault,
        /// Whether it asks to come again.
        later: bool,
        /// When, in seconds, clamped.
        retry_after_secs: Option<u64>,
    },
    /// Accepted.
    Accepted {
        /// How to follow it, where the answer said.
        task: Option<TaskHandle>,
        /// Messages of the answer.
        messages: Vec<BmcMessage>,
        /// Whether these messages ask for a reset.
        reset_required: bool,
    },
    /// Anything else: a cut connection, a time-out, a bare 5xx, a crash of ours.
    Lost {
        /// What was seen.
        fault: Fault,
    },
}

/// How to follow what was accepted. Both handles are kept, and the start time ties them to this task and no later one
/// with the same id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TaskHandle {
    /// The Task resource.
    pub task: Option<String>,
    /// The task monitor.
    pub monitor: Option<String>,
    /// `StartTime`, byte for byte, once seen.
    pub start_time: Option<String>,
}
