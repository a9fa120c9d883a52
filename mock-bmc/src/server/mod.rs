//! This room puts a fleet on the network: it listens, speaks HTTP and HTTPS, keeps the clock and fetches images.
//!
//! It deliberately knows nothing of Redfish. What a BMC answers, and when it is away, is decided by the BMC itself; this
//! room only shows it as a network would.

mod address;
mod body;
mod certificate;
mod clock;
mod connection;
mod fetch;
mod host;
mod inventory;
mod ledger_file;
mod listener;
mod running;
mod schedule;
mod wire;

pub use address::{Listen, ListenError};
pub use certificate::CertificateError;
pub use host::BmcHandle;
pub use inventory::{InventoryError, write_inventory};
pub use running::{Endpoint, Handshakes, Running, ServeError, ServeOptions, ServedSystem, serve};
