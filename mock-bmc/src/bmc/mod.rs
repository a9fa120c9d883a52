//! This room is one BMC: what it does with requests, and what it does by itself.
//!
//! It deliberately has no I/O and no clock: time and requests are passed in, and what the BMC wants of the world is
//! taken out.

mod account;
mod agenda;
mod answer;
mod asked;
mod auth;
mod change;
mod config;
mod core;
mod etag;
mod fault;
mod foreign;
mod hands;
mod host;
mod job;
mod login;
mod manager;
mod media;
mod read;
mod route;
mod settings;
mod state;
mod task;
#[cfg(test)]
mod tests;
mod update;

pub use config::{BmcConfig, Fetch, Source};
pub use state::{StateView, SystemView, TaskView};

pub use self::core::Bmc;
pub(crate) use self::login::TOKEN;
