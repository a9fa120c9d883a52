//! This room puts the others together: it owns the tasks, reads the clock, and drives every run from look to look.
//!
//! It decides nothing about hardware (the run room does) and prints nothing (the command line does).

pub mod board;
mod clients;
mod connect;
mod contact;
mod desk;
mod driver;
mod engine;
pub mod fleet;
mod folds;
mod golden;
mod handle;
pub mod history;
mod hooks;
mod journal;
mod last_seen;
mod lease;
mod line;
mod links;
mod logins;
mod memory;
mod meter;
mod metrics;
mod observation;
mod open;
pub mod orders;
mod prepare;
mod replay;
mod rollout;
mod scheduler;
mod secrets;
pub mod service;
mod stop;
pub mod story;
pub mod summary;
mod survey;
pub mod trust;
pub mod verbs;

pub use board::Board;
pub use connect::Connect;
pub use contact::{Heard, hear, unheard};
pub use desk::{Errand, Known, Progress};
pub use driver::RunEnd;
pub use engine::{Engine, EngineParts};
pub use fleet::Fleet;
pub use golden::{GoldenServer, read_golden};
pub use handle::{Handle, Readiness};
pub use observation::{BmcDrift, DriftDocument, DriftLine, drift};
pub use open::{
    ImageFaults, OpenOptions, check_image_files, open, prepare_images, read_given, state_path,
};
pub use prepare::{Assignment, KnownFacts, Selected, assign, assign_run, select};
pub use replay::Replay;
pub use scheduler::{ApplyOptions, ApplyReport, apply};
pub use secrets::{Env, Secrets};
pub use stop::Stop;
pub use survey::{Awaited, Checked, Planned, check, plan};
