//! This room is the daemon's face: HTTP on a Unix socket and, where that is wanted, on a TCP address.
//!
//! It knows only what `daemon::Handle` says, keeps nothing, and lets nobody who reads slowly hold anything but a
//! connection.

mod client;
mod door;
mod error;
mod hall;
mod listen;
mod patient;
mod query;
mod routes;
mod serve;
mod stream;
mod tls;
mod token;
mod words;

pub use client::{Caller, Fate, Followed, Generation, OnBmc, Ordered, Serving, Unheard};
pub use error::Unserved;
pub use listen::{TcpOptions, socket_beside};
pub use routes::{OPENAPI, VERSION, routes};
pub use serve::{Api, ApiOptions, Limits, Listening};
pub use token::Token;
