//! Meaning of a pipeline file: document to checked pipeline, all findings at once.

mod action;
mod context;
mod firmware;
mod hops;
mod image;
mod maintenance;
mod not_yet;
mod options;
mod pipeline;
mod requires;
mod resource;
mod seen;
mod selector;
mod settings;
mod sever;
mod stage;
mod template;
mod version;

pub(crate) use context::{Check, Names};
pub(crate) use firmware::Catalogue;
pub(crate) use not_yet::NotYet;
pub(crate) use pipeline::check_pipeline;
