//! This room keeps the store in one SQLite file.
//!
//! It makes no decisions of its own: who gets a lease and which record may follow are rules of the room above.

mod anchor;
mod convert;
mod database;
mod facts;
mod happenings;
mod journal;
mod leases;
mod migrate;
mod orders;

pub use database::SqliteStore;
