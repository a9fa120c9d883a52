//! This room talks to one BMC: a polite, safe conversation below, Redfish resources above.
//!
//! From below: `transport` moves bytes, `line` sends one request politely, `session` is who we are, `conversation` joins
//! them; `read` looks, `act` changes, and `client` is both for the rest of the program.
//!
//! It decides nothing about pipelines, keeps nothing durable itself (facts go through [`Memory`]) and never sends a
//! request twice whose first outcome is in doubt.

mod act;
mod client;
mod conversation;
mod line;
mod lock;
mod memory;
mod quirk;
mod read;
mod session;
#[cfg(test)]
mod tests;
mod transport;
mod wire;

pub use client::{Client, Shelf};
pub use conversation::{Conversation, Parts};
pub use line::{Answer, Clock, Guard, Patched, Sent, bmc_message, bmc_messages};
pub use memory::{
    BmcLogins, LoginEnd, LoginLeave, LoginRecord, LoginRule, Memory, PushClaim, SessionNote,
};
pub use read::{Links, ManagerLinks, RootFacts, ServerRef, SystemLinks, UpdateLinks};
pub use session::{CredentialSource, Login, Reload};
pub use transport::{
    ANSWER_BYTES_MAX, BoxFuture, CertProblem, FormPart, HttpFleet, HttpTransport, PartContent,
    Progress, SOCKETS_MAX, Timeouts, Transport, WireBody, WireError, WireRequest, WireResponse,
    X_AUTH_TOKEN, fingerprint,
};
