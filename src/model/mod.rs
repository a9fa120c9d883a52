//! This room holds the nouns that every other room shares: names, settings, faults, what a BMC can do, what one look
//! at it found, what may be asked of it, and what people order.
//!
//! It decides nothing, reads no clock and does no I/O.

pub mod action;
pub mod capability;
pub mod circumstances;
pub mod component;
pub mod facts;
pub mod fault;
pub mod id;
pub mod inventory;
pub mod look;
pub mod one_copy;
pub mod order;
mod secret_name;
pub mod setting;
pub mod version;

pub use action::{Action, IntentId, Outcome, TaskHandle, UpdateMethod};
pub use capability::Capability;
pub use circumstances::Circumstances;
pub use component::Component;
pub use facts::{Facts, Label};
pub use fault::{BmcMessage, Fault, FaultKind, Retry};
pub use id::{BmcName, PipelineName, RunKey, ServerName, StageName, Target};
pub use inventory::{Bmc, Inventory, Server};
pub use look::{Look, LookRequest, Seen};
pub use order::{About, Order, Verb};
pub use secret_name::is_secret;
pub use setting::{SettingChange, SettingsView};
pub use version::FirmwareVersion;
