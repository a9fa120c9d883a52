//! This room keeps what must outlive the process: journals of runs, leases of BMCs, durable facts about
//! BMCs, what people ordered, and what happened to the fleet outside runs.
//!
//! It deliberately does not know what a record means (the run room does), reads no clock (the caller says what time it
//! is), and starts no task: every call is short and synchronous.

mod error;
mod fact_kind;
mod facts;
mod happenings;
mod journal;
mod lease;
mod location;
mod memory;
mod orders;
mod process;
mod selection;
mod session_row;
mod sqlite;

pub use error::{LeaseError, StoreError};
pub use fact_kind::FactKind;
pub use facts::Facts;
pub use happenings::{HappeningRow, Happenings};
pub use journal::{EventRow, Journal, JournalRow, RunMark, RunRow, StoredRecord};
pub use lease::{HeldBy, Lease, LeaseEpoch, Leases, Owner, Taken};
pub use location::{StateLocation, default_path};
pub use memory::MemoryStore;
pub use orders::Orders;
pub use process::{ProcessLock, this_host};
pub use selection::Selection;
pub use sqlite::SqliteStore;

/// All that a store does; implemented by whatever does its parts.
///
/// SQLite and memory pass the same conformance suite.
pub trait Store: Journal + Leases + Facts + Orders + Happenings {}

impl<T: Journal + Leases + Facts + Orders + Happenings> Store for T {}
