//! TLS sessions to resume: as many as the fleet has BMCs, because a smaller store forgets each before it is used again.
//!
//! A resumed session shows no certificate, so tickets of a name are dropped when its pin is, and never offered where
//! several BMCs share a name: a ticket says the name, not the port.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Mutex;

use rustls::NamedGroup;
use rustls::client::{
    ClientSessionMemoryCache, ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue,
};
use rustls::pki_types::ServerName;

use super::pace::lock;

/// Fewest BMCs whose sessions are kept.
const BMCS_MIN: usize = 32;

/// The library's size counts tickets, of which it keeps up to so many for each server.
const TICKETS_PER_BMC: usize = 8;

/// The store of one class of clients.
pub(super) struct Tickets {
    kept: ClientSessionMemoryCache,
    ports: Mutex<BTreeMap<String, BTreeSet<u16>>>,
}

impl Tickets {
    /// A store for this many BMCs.
    pub(super) fn new(fleet: usize) -> Self {
        Self {
            kept: ClientSessionMemoryCache::new(fleet.max(BMCS_MIN) * TICKETS_PER_BMC),
            ports: Mutex::new(BTreeMap::new()),
        }
    }

    /// A BMC answers under this name and port.
    pub(super) fn register(&self, host: &str, port: u16) {
        lock(&self.ports)
            .entry(host.to_ascii_lowercase())
            .or_default()
            .insert(port);
    }

    /// Sessions of this name are not resumed: its next connection shows a certificate.
    pub(super) fn forget(&self, host: &str) {
        if let Ok(name) = ServerName::try_from(host.to_owned()) {
            self.kept.remove_tls12_session(&name);
            while self.kept.take_tls13_ticket(&name).is_some() {}
        }
    }

    fn is_shared(&self, name: &ServerName<'_>) -> bool {
        lock(&self.ports)
            .get(name.to_str().as_ref())
            .is_some_and(|ports| ports.len() > 1)
    }
}

impl fmt::Debug for Tickets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tickets")
    }
}

impl ClientSessionStore for Tickets {
    fn set_kx_hint(&self, server_name: ServerName<'static>, group: NamedGroup) {
        self.kept.set_kx_hint(server_name, group);
    }

    fn kx_hint(&self, server_name: &ServerName<'_>) -> Option<NamedGroup> {
        self.kept.kx_hint(server_name)
    }

    fn set_tls12_session(&self, server_name: ServerName<'static>, value: Tls12ClientSessionValue) {
        self.kept.set_tls12_session(server_name, value);
    }

    fn tls12_session(&self, server_name: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        if self.is_shared(server_name) {
            None
        } else {
            self.kept.tls12_session(server_name)
        }
    }

    fn remove_tls12_session(&self, server_name: &ServerName<'static>) {
        self.kept.remove_tls12_session(server_name);
    }

    fn insert_tls13_ticket(
        &self,
        server_name: ServerName<'static>,
        value: Tls13ClientSessionValue,
    ) {
        // One connection at a time needs one ticket: eight of every BMC of a fleet would be megabytes.
        while self.kept.take_tls13_ticket(&server_name).is_some() {}
        self.kept.insert_tls13_ticket(server_name, value);
    }

    fn take_tls13_ticket(
        &self,
        server_name: &ServerName<'static>,
    ) -> Option<Tls13ClientSessionValue> {
        if self.is_shared(server_name) {
            None
        } else {
            self.kept.take_tls13_ticket(server_name)
        }
    }
}
