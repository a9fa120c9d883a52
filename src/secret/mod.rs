//! This room reads secrets from where the inventory says they are: the environment, a file, a command.
//!
//! It never shows one: errors name the credential and its source, logs nothing, and keeps nothing between calls.

mod command;
mod error;
mod mark;
mod resolve;

pub use error::SecretError;
pub use mark::credential_mark;
pub use resolve::{Secret, resolve};
