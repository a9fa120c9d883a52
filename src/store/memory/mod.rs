//! This room is a store without a disk, for tests.
//!
//! It shares no code with the SQLite store but the rules, so that each checks the other. Nothing in it survives the
//! process.

mod facts;
mod happenings;
mod journal;
mod leases;
mod orders;
mod state;

pub use state::MemoryStore;
