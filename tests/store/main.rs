//! What every store must do, and what the SQLite file must survive.

#![expect(clippy::unwrap_used, reason = "tests")]

mod conformance;
mod facts;
mod files;
mod happenings;
mod kill;
mod leases;
mod model;
mod orders;
mod world;
