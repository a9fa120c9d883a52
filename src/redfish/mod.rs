//! This room talks to one BMC: a polite, safe conversation below, Redfish resources above.
//!
//! It decides nothing about pipelines, keeps nothing durable itself (facts go through [`Memory`]) and never sends a
//! request twice whose first outcome is in doubt.

mod answer;
mod basic;
mod breaker;
mod climb;
mod clock;
mod conversation;
mod credentials;
mod etag;
mod http;
mod leave;
mod leftover;
mod line;
mod login;
mod logins;
mod memory;
mod messages;
mod pace;
mod reading;
mod retry_after;
mod session;
#[cfg(test)]
mod tests;
mod tls;
mod tls_tickets;
mod transport;
mod trouble;
mod upload;

pub use answer::{Answer, Patched, Sent};
pub use clock::Clock;
pub use conversation::{Conversation, Parts};
pub use credentials::{CredentialSource, Login, Reload};
pub use http::{HttpFleet, HttpTransport, SOCKETS_MAX};
pub use logins::{BmcLogins, LoginEnd, LoginLeave, LoginRecord, LoginRule};
pub use memory::{Memory, SessionNote};
pub use messages::{bmc_message, bmc_messages};
pub use tls::fingerprint;
pub use transport::{
    ANSWER_BYTES_MAX, BoxFuture, CertProblem, Progress, Timeouts, Transport, WireBody, WireError,
    WireRequest, WireResponse, X_AUTH_TOKEN,
};
