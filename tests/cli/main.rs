//! The command as a person meets it where BMCs answer, refuse and vanish: the real binary, against live mocks.

#![expect(clippy::unwrap_used, reason = "tests")]

mod computed;
mod documents;
mod facts;
mod forms;
mod handed;
mod import;
mod lab;
mod life;
mod proxy;
mod pulls;
mod refusals;
#[path = "../support/script.rs"]
mod script;
mod secrecy;
mod service;
mod snapshot;
mod stopping;
mod two;
mod uploads;
