//! This room talks to one BMC: a polite, safe conversation below, Redfish resources above.
//!
//! It decides nothing about pipelines, keeps nothing durable itself (facts go through [`Memory`]) and never sends a
//! request twice whose first outcome is in doubt.

mod answer;
mod basic;
mod boxes;
mod breaker;
mod call;
mod capability;
mod circumstances;
mod claim;
mod client;
mod climb;
mod clock;
mod commit;
mod conversation;
mod credentials;
mod discover;
mod documents;
mod etag;
mod factory;
mod glance;
mod handle;
mod http;
mod identity;
mod jobs;
mod learned;
mod leave;
mod leftover;
mod licences;
mod line;
mod links;
mod login;
mod logins;
mod managers;
mod memory;
mod messages;
mod observe;
mod pace;
mod patch;
mod quirk;
mod reader;
mod reading;
mod recognize;
mod registry;
mod reset;
mod resource;
mod retry_after;
mod session;
mod settings;
mod shelf;
mod sockets;
mod software;
mod start;
mod systems;
mod tasks;
#[cfg(test)]
mod tests;
mod tls;
mod tls_tickets;
mod transport;
mod trouble;
mod update;
mod upload;
mod verdict;
mod wire;

pub use answer::{Answer, Patched, Sent};
pub use boxes::ServerRef;
pub use client::Client;
pub use clock::Clock;
pub use conversation::{Conversation, Parts};
pub use credentials::{CredentialSource, Login, Reload};
pub use http::{HttpFleet, HttpTransport, SOCKETS_MAX};
pub use line::Guard;
pub use links::{Links, ManagerLinks, RootFacts, SystemLinks, UpdateLinks};
pub use logins::{BmcLogins, LoginEnd, LoginLeave, LoginRecord, LoginRule};
pub use memory::{Memory, PushClaim, SessionNote};
pub use messages::{bmc_message, bmc_messages};
pub use shelf::Shelf;
pub use tls::fingerprint;
pub use transport::{
    ANSWER_BYTES_MAX, BoxFuture, CertProblem, FormPart, PartContent, Progress, Timeouts, Transport,
    WireBody, WireError, WireRequest, WireResponse, X_AUTH_TOKEN,
};
