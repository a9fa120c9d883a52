//! The daemon's API as a client meets it: a real server on a loopback port and on a socket, over a state that the real
//! engine wrote.

#![expect(clippy::unwrap_used, reason = "tests")]

#[path = "../support/mod.rs"]
mod support;

mod bounds;
mod doors;
mod events;
mod lab;
mod openapi;
mod reads;
mod schema;
mod socket;
mod words;
