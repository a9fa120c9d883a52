//! TLS sessions to resume: one of each BMC, because a store that forgets some forgets each before it is used again.
//!
//! A resumed session shows no certificate, so tickets of a name are dropped when its pin is, and never offered where
//! several BMCs share a name: a ticket says the name, not the port. The library's own store takes kilobytes for a name.

use std::collections::HashMap;
use std::fmt;
use std::sync::Mutex;

use rustls::NamedGroup;
use rustls::client::{ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls::pki_types::ServerName;

use crate::redfish::lock::lock;

/// Names that nobody uses are kept up to so many, however small the fleet.
const UNUSED_MIN: usize = 32;

/// The store of one class of clients.
pub(super) struct Tickets {
    names: Mutex<Names>,
    unused_max: usize,
}

#[derive(Default)]
struct Names {
    by_name: HashMap<ServerName<'static>, Kept>,
    /// Those of which that nobody uses now.
    unused: usize,
}

/// What is kept of one name.
#[derive(Default)]
struct Kept {
    /// Transports to it that live.
    users: u32,
    port: u16,
    /// Another port leads to another BMC.
    is_shared: bool,
    group: Option<NamedGroup>,
    tls12: Option<Box<Tls12ClientSessionValue>>,
    /// One connection at a time needs one ticket, however many a BMC gives.
    tls13: Option<Box<Tls13ClientSessionValue>>,
}

impl Tickets {
    /// A store for this many BMCs.
    pub(super) fn new(fleet: usize) -> Self {
        Self {
            names: Mutex::default(),
            unused_max: fleet.max(UNUSED_MIN),
        }
    }

    /// A BMC answers under this name and port.
    pub(super) fn register(&self, host: &str, port: u16) {
        let Some(name) = name_of(host) else { return };
        let mut names = lock(&self.names);
        let Names { by_name, unused } = &mut *names;
        if let Some(kept) = by_name.get_mut(&name) {
            *unused -= usize::from(kept.users == 0);
            kept.users += 1;
            kept.is_shared |= kept.port != port;
        } else {
            let kept = Kept {
                users: 1,
                port,
                ..Kept::default()
            };
            by_name.insert(name, kept);
        }
    }

    /// Who registered a name needs it no more. What is known of it is kept a while: the next transport may come soon.
    pub(super) fn release(&self, host: &str) {
        let Some(name) = name_of(host) else { return };
        let mut names = lock(&self.names);
        let Names { by_name, unused } = &mut *names;
        let Some(kept) = by_name.get_mut(&name) else {
            return;
        };
        kept.users -= 1;
        *unused += usize::from(kept.users == 0);
        if *unused > self.unused_max {
            by_name.retain(|_, kept| kept.users > 0);
            *unused = 0;
        }
    }

    /// Sessions of this name are not resumed: its next connection shows a certificate.
    pub(super) fn forget(&self, host: &str) {
        if let Some(name) = name_of(host) {
            self.of(&name, |kept| {
                kept.tls12 = None;
                kept.tls13 = None;
            });
        }
    }

    fn of<T>(&self, name: &ServerName<'_>, change: impl FnOnce(&mut Kept) -> T) -> Option<T> {
        // The lookup wants the name as it is kept, which for an address is a copy of a few bytes.
        let mut names = lock(&self.names);
        names.by_name.get_mut(&name.to_owned()).map(change)
    }
}

/// A host of an address as connections name it.
fn name_of(host: &str) -> Option<ServerName<'static>> {
    ServerName::try_from(host.to_ascii_lowercase()).ok()
}

impl fmt::Debug for Tickets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tickets")
    }
}

impl ClientSessionStore for Tickets {
    fn set_kx_hint(&self, server_name: ServerName<'static>, group: NamedGroup) {
        self.of(&server_name, |kept| kept.group = Some(group));
    }

    fn kx_hint(&self, server_name: &ServerName<'_>) -> Option<NamedGroup> {
        self.of(server_name, |kept| kept.group)?
    }

    fn set_tls12_session(&self, server_name: ServerName<'static>, value: Tls12ClientSessionValue) {
        self.of(&server_name, |kept| kept.tls12 = Some(Box::new(value)));
    }

    fn tls12_session(&self, server_name: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        self.of(server_name, |kept| {
            let session = kept.tls12.as_deref().filter(|_| !kept.is_shared);
            session.cloned()
        })?
    }

    fn remove_tls12_session(&self, server_name: &ServerName<'static>) {
        self.of(server_name, |kept| kept.tls12 = None);
    }

    fn insert_tls13_ticket(
        &self,
        server_name: ServerName<'static>,
        value: Tls13ClientSessionValue,
    ) {
        self.of(&server_name, |kept| kept.tls13 = Some(Box::new(value)));
    }

    fn take_tls13_ticket(
        &self,
        server_name: &ServerName<'static>,
    ) -> Option<Tls13ClientSessionValue> {
        self.of(server_name, |kept| {
            let ticket = kept.tls13.take().filter(|_| !kept.is_shared);
            ticket.map(|ticket| *ticket)
        })?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(host: &str) -> ServerName<'static> {
        name_of(host).expect("the name of a host")
    }

    fn known(tickets: &Tickets, host: &str) -> bool {
        tickets.kx_hint(&name(host)).is_some()
    }

    #[test]
    fn a_name_is_kept_while_it_is_used_and_only_so_many_are_that_nobody_uses() {
        let tickets = Tickets::new(0);
        let host = |place: usize| format!("bmc{place}.lab");
        let group = NamedGroup::X25519;
        for place in 0..=UNUSED_MIN {
            tickets.register(&host(place), 443);
            tickets.set_kx_hint(name(&host(place)), group);
        }
        tickets.register("in-use.lab", 443);
        tickets.set_kx_hint(name("in-use.lab"), group);
        for place in 0..UNUSED_MIN {
            tickets.release(&host(place));
        }
        assert!(known(&tickets, &host(0)));
        tickets.register(&host(0), 443);
        tickets.release(&host(UNUSED_MIN));
        assert!(known(&tickets, &host(1)));
        tickets.release(&host(0));
        assert!(!known(&tickets, &host(0)) && !known(&tickets, &host(1)));
        assert!(known(&tickets, "in-use.lab"));
    }

    #[test]
    fn an_address_is_one_name_in_whatever_form_it_is_written() {
        let tickets = Tickets::new(0);
        tickets.register("fe80::0:1", 443);
        tickets.set_kx_hint(name("FE80::1"), NamedGroup::X25519);
        assert!(known(&tickets, "fe80::0:1"));
    }
}
