//! This room is one BMC.
//!
//! It deliberately has no I/O and no clock: time and requests are passed in, and what the BMC wants of the world is
//! taken out.

use bytes::Bytes;

use crate::ledger::LedgerLine;
use crate::message::{Reply, Request, Response};
use crate::script::Script;
use crate::time::Moment;
use crate::tree::Tree;

/// What a BMC is a copy of.
#[derive(Clone, Debug)]
pub enum Source {
    /// A built-in platform, by its name.
    Platform(String),
    /// A recorded tree.
    Tree(Tree),
}

/// What a BMC is when it is switched on.
#[derive(Clone, Debug)]
pub struct BmcConfig {
    /// Its name in the fleet.
    pub name: String,
    /// What it is a copy of.
    pub source: Source,
    /// Systems behind it; for platforms.
    pub systems: usize,
    /// The account's name.
    pub user: String,
    /// The account's password.
    pub password: String,
    /// How it deviates.
    pub script: Script,
    /// What its UUIDs and serial numbers are derived from, together with its name.
    pub uuid_seed: u64,
    /// The wall time at mock time zero.
    pub epoch: jiff::Timestamp,
}

/// An image that a BMC wants to pull.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetch {
    /// Names the fetch to [`Bmc::fetched`].
    pub id: u64,
    /// Where the image is.
    pub url: String,
}

/// What a BMC is now, for tests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StateView {
    /// Its systems, in the order of their collection.
    pub systems: Vec<SystemView>,
}

/// What one system is now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SystemView {
    /// The member's id.
    pub id: String,
}

/// One BMC.
#[derive(Debug)]
pub struct Bmc {
    config: BmcConfig,
    ledger: Vec<LedgerLine>,
}

impl Bmc {
    /// Switches a BMC on.
    pub fn new(config: BmcConfig, _now: Moment) -> Self {
        let ledger = Vec::new();
        Self { config, ledger }
    }

    /// Answers one request, after what was due by now.
    pub fn handle(&mut self, now: Moment, _request: &Request) -> Reply {
        self.advance(now);
        Reply::Answer(Response {
            status: http::StatusCode::SERVICE_UNAVAILABLE,
            headers: http::HeaderMap::new(),
            body: Bytes::new(),
        })
    }

    /// Does what is due by now.
    pub fn advance(&mut self, _now: Moment) {}

    /// When something is due next.
    pub fn due(&self) -> Option<Moment> {
        None
    }

    /// Takes the images that the BMC wants to pull.
    pub fn take_fetches(&mut self) -> Vec<Fetch> {
        Vec::new()
    }

    /// The result of a pull: the image, or why there is none.
    pub fn fetched(&mut self, _now: Moment, _id: u64, _result: Result<Bytes, String>) {}

    /// Whether anybody listens at its address.
    pub fn is_listening(&self, _now: Moment) -> bool {
        true
    }

    /// Counts replacements of its TLS certificate.
    pub fn certificate_generation(&self) -> u32 {
        0
    }

    /// Everything that happened, but what was taken.
    pub fn ledger(&self) -> &[LedgerLine] {
        &self.ledger
    }

    /// Takes the ledger's lines out.
    pub fn take_ledger(&mut self) -> Vec<LedgerLine> {
        std::mem::take(&mut self.ledger)
    }

    /// Its name in the fleet.
    pub fn name(&self) -> &str {
        &self.config.name
    }

    /// What it is now.
    pub fn state(&self) -> StateView {
        StateView::default()
    }
}
