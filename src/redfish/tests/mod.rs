//! Claims about the conversation and its transport, each against a BMC of a few lines or a real TLS server.

#![expect(clippy::unwrap_used, reason = "tests")]

mod ladder;
mod logins;
mod reads;
mod sessions;
mod support;
mod tls;
