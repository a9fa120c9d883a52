//! This room holds one BMC while it is served: every touch of it passes here.
//!
//! It deliberately does no waiting. After each touch it passes on what the BMC wants of the world: ledger lines to the
//! file, images to the fetcher, its next moment to the timer, its absence to the listener.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::runtime::Handle;
use tokio::sync::watch;

use super::certificate::{CertificateError, Certificates};
use super::clock::Clock;
use super::fetch;
use super::ledger_file::LedgerFile;
use super::schedule::Schedule;
use crate::bmc::Bmc;
use crate::ledger::LedgerLine;
use crate::message::{Reply, Request};
use crate::time::Moment;

/// What all BMCs of a served fleet share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) clock: Clock,
    pub(crate) schedule: Schedule,
    pub(crate) ledger: LedgerFile,
    pub(crate) keep_ledger: bool,
    pub(crate) client: reqwest::Client,
    /// Where downloads run; a touch may come from a thread without a runtime.
    pub(crate) runtime: Handle,
    /// The first failure after which serving on would be a lie, such as a ledger that cannot be written.
    pub(crate) failed: watch::Sender<Option<String>>,
    pub(crate) greeted: Greeted,
}

/// TLS handshakes that were ended well.
#[derive(Debug, Default)]
pub(crate) struct Greeted {
    pub(crate) full: AtomicU64,
    pub(crate) resumed: AtomicU64,
}

/// Whether a BMC can be seen on the network.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Presence {
    pub(crate) listening: bool,
    /// Counts absences, so that a short one is not missed by who looks late.
    pub(crate) outages: u64,
}

/// Waits for the absence of a BMC, from the moment at which it was made.
#[derive(Clone, Debug)]
pub(crate) struct Absence {
    presence: watch::Receiver<Presence>,
    began: u64,
}

impl Absence {
    /// Pending while the BMC is there; ready for ever once it was away, however short that was.
    pub(crate) async fn begun(&mut self) {
        let began = self.began;
        let gone = self
            .presence
            .wait_for(|now| !now.listening || now.outages != began);
        // An error means that the fleet is shut down, which is an absence too.
        drop(gone.await);
    }
}

/// One served BMC.
pub(crate) struct Host {
    index: usize,
    pub(crate) address: SocketAddr,
    pub(crate) presence: watch::Sender<Presence>,
    shared: Arc<Shared>,
    certificates: Option<Certificates>,
    inner: Mutex<Inner>,
}

struct Inner {
    bmc: Bmc,
    /// How many of the BMC's ledger lines are in the file already.
    written: usize,
}

impl Host {
    /// Takes a BMC over and wakes it for the first time.
    pub(crate) fn start(
        index: usize,
        bmc: Bmc,
        address: SocketAddr,
        tls: bool,
        shared: Arc<Shared>,
    ) -> Arc<Self> {
        let certificates = tls.then(|| Certificates::new(bmc.name(), address.ip()));
        let listening = bmc.is_listening(shared.clock.now());
        let (presence, _) = watch::channel(Presence {
            listening,
            outages: 0,
        });
        let inner = Mutex::new(Inner { bmc, written: 0 });
        let host = Arc::new(Self {
            index,
            address,
            presence,
            shared,
            certificates,
            inner,
        });
        host.tick();
        host
    }

    /// Answers one request.
    pub(crate) fn handle(self: &Arc<Self>, request: &Request) -> Reply {
        self.touch(|bmc, now| bmc.handle(now, request))
    }

    /// Notes that the body of a request with this token arrives, until what is returned is dropped.
    pub(crate) fn body_begins(self: &Arc<Self>, token: String) -> Arriving {
        self.touch(|bmc, now| bmc.body_begins(now, &token));
        Arriving {
            host: Arc::clone(self),
            token,
        }
    }

    /// Lets the BMC do what is due by now.
    pub(crate) fn tick(self: &Arc<Self>) {
        self.touch(Bmc::advance);
    }

    /// Whether the BMC can be seen now.
    pub(crate) fn is_present(&self) -> bool {
        self.presence.borrow().listening
    }

    /// A wait for the next absence after now.
    pub(crate) fn absence(&self) -> Absence {
        let presence = self.presence.subscribe();
        let began = presence.borrow().outages;
        Absence { presence, began }
    }

    /// The clock of the fleet.
    pub(crate) fn clock(&self) -> Clock {
        self.shared.clock
    }

    /// The TLS configuration of now; `None` where plain HTTP is spoken.
    pub(crate) fn tls(&self) -> Result<Option<Arc<rustls::ServerConfig>>, CertificateError> {
        let Some(certificates) = &self.certificates else {
            return Ok(None);
        };
        let generation = {
            let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            inner.bmc.certificate_generation()
        };
        certificates.config(generation).map(Some)
    }

    /// Counts a handshake.
    pub(crate) fn greeted(&self, tls: &rustls::ServerConnection) {
        let of_kind = match tls.handshake_kind() {
            Some(rustls::HandshakeKind::Resumed) => &self.shared.greeted.resumed,
            Some(_) | None => &self.shared.greeted.full,
        };
        of_kind.fetch_add(1, Ordering::Relaxed);
    }

    /// Every touch of the BMC: does it, then passes on what came of it while nobody else can touch it.
    fn touch<T>(self: &Arc<Self>, action: impl FnOnce(&mut Bmc, Moment) -> T) -> T {
        // A panic in an action poisons nothing that the next touch relies on: the BMC is as far as it got.
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.shared.clock.now();
        let result = action(&mut inner.bmc, now);
        self.write_ledger(&mut inner);
        self.start_fetches(&mut inner.bmc);
        self.show_presence(inner.bmc.is_listening(now));
        self.shared.schedule.set(self.index, inner.bmc.due());
        result
    }

    fn write_ledger(&self, inner: &mut Inner) {
        let written = if self.shared.keep_ledger {
            let lines = inner.bmc.ledger();
            let fresh = lines.get(inner.written..).unwrap_or_default();
            let written = self.shared.ledger.write(fresh);
            inner.written = lines.len();
            written
        } else {
            self.shared.ledger.write(&inner.bmc.take_ledger())
        };
        if let Err(error) = written {
            self.fail(format!("cannot write the ledger: {error}"));
        }
    }

    fn start_fetches(self: &Arc<Self>, bmc: &mut Bmc) {
        for wanted in bmc.take_fetches() {
            let host = Arc::clone(self);
            self.shared.runtime.spawn(async move {
                let result = fetch::get(&host.shared.client, &wanted.url).await;
                host.touch(|bmc, now| bmc.fetched(now, wanted.id, result));
            });
        }
    }

    fn show_presence(&self, listening: bool) {
        self.presence.send_if_modified(|presence| {
            let changed = presence.listening != listening;
            presence.listening = listening;
            if changed && !listening {
                presence.outages += 1;
            }
            changed
        });
    }

    /// Reports a failure that ends serving; the first one counts.
    pub(crate) fn fail(&self, message: String) {
        self.shared.failed.send_if_modified(|failed| {
            let first = failed.is_none();
            if first {
                *failed = Some(message);
            }
            first
        });
    }
}

/// The body of a request of a session arrives.
pub(crate) struct Arriving {
    host: Arc<Host>,
    token: String,
}

impl Drop for Arriving {
    fn drop(&mut self) {
        self.host.touch(|bmc, now| bmc.body_ended(now, &self.token));
    }
}

/// Hands on one BMC while it is being served, for tests and demonstrations in the same process.
#[derive(Clone)]
pub struct BmcHandle(pub(crate) Arc<Host>);

impl BmcHandle {
    /// Does something to the BMC as a person beside the box would, or reads its state; what follows from it (ledger
    /// lines, timers, an absence) is passed on at once. Must not be called from within itself.
    pub fn with<T>(&self, action: impl FnOnce(&mut Bmc, Moment) -> T) -> T {
        self.0.touch(action)
    }

    /// All ledger lines so far; empty where [`super::ServeOptions::keep_ledger`] is off.
    pub fn ledger(&self) -> Vec<LedgerLine> {
        self.with(|bmc, _| bmc.ledger().to_vec())
    }
}

impl std::fmt::Debug for BmcHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("BmcHandle").field(&self.0.address).finish()
    }
}
