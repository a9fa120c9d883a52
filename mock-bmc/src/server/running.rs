//! This room starts a fleet on the network, and ends it.
//!
//! It deliberately prints nothing and reads no arguments, so that a demonstration or a test can serve in its own process.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::sleep_until;

use super::address::{Listen, ListenError};
use super::clock::Clock;
use super::host::{BmcHandle, Greeted, Host, Shared};
use super::ledger_file::LedgerFile;
use super::listener::{self, Socket};
use super::schedule::Schedule;
use super::{fetch, inventory};
use crate::fleet::{Fleet, FleetBmc};

/// How a fleet is served.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// Where to listen.
    pub listen: Listen,
    /// HTTPS with a self-signed certificate per BMC instead of HTTP.
    pub tls: bool,
    /// Mock seconds per real second, above zero.
    pub time_scale: f64,
    /// A file that gets each ledger line as it happens.
    pub ledger: Option<PathBuf>,
    /// Keeps all lines in memory for [`BmcHandle::ledger`]; off for a server that runs for days.
    pub keep_ledger: bool,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            listen: Listen::default(),
            tls: false,
            time_scale: 1.0,
            ledger: None,
            keep_ledger: true,
        }
    }
}

/// One served BMC, as its clients see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The BMC's name, such as `mock-1`.
    pub name: String,
    /// Where it answers, without a path: `https://127.0.0.1:8443`.
    pub url: String,
    /// The platform's or the recorded tree's name.
    pub platform: String,
    /// Its systems in the order of their collection.
    pub systems: Vec<ServedSystem>,
}

/// One system behind a served BMC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedSystem {
    /// A name for an inventory, unique over the fleet.
    pub server: String,
    /// The member's id, the last segment of its URI.
    pub id: String,
}

/// How clients began to speak TLS with a fleet.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Handshakes {
    /// Begun from nothing.
    pub full: u64,
    /// Begun where an earlier connection ended.
    pub resumed: u64,
}

/// Why a fleet cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The time scale is not a positive number.
    #[error("found time scale `{0}`, expected a number above 0")]
    TimeScale(f64),
    /// The fleet does not fit the addresses.
    #[error("cannot place the fleet")]
    Listen(#[from] ListenError),
    /// An address cannot be listened on.
    #[error("cannot listen on `{address}`")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// The system's own reason.
        source: io::Error,
    },
    /// The ledger cannot be created.
    #[error("cannot create the ledger `{}`", path.display())]
    Ledger {
        /// The file.
        path: PathBuf,
        /// The system's own reason.
        source: io::Error,
    },
    /// The client that fetches images cannot be made.
    #[error("cannot make the client that fetches images")]
    Client(#[from] reqwest::Error),
}

/// A fleet on the network. Dropping it takes the fleet off; [`Running::shutdown`] also waits until that is done.
#[derive(Debug)]
pub struct Running {
    endpoints: Vec<Endpoint>,
    hosts: Vec<BmcHandle>,
    shared: Arc<Shared>,
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

/// Puts a fleet on the network. When this returns, every BMC answers (but those that are gone by their script).
pub async fn serve(fleet: Fleet, options: ServeOptions) -> Result<Running, ServeError> {
    let shared = Arc::new(share(&options)?);
    let addresses = options.listen.addresses(fleet.bmcs.len())?;
    let (stop, _) = watch::channel(false);
    let mut running = Running {
        endpoints: Vec::new(),
        hosts: Vec::new(),
        shared,
        stop,
        tasks: JoinSet::new(),
    };
    for (bmc, address) in fleet.bmcs.into_iter().zip(addresses) {
        running.add(bmc, address, options.tls)?;
    }
    running.start_timer();
    Ok(running)
}

fn share(options: &ServeOptions) -> Result<Shared, ServeError> {
    if !(options.time_scale.is_finite() && options.time_scale > 0.0) {
        return Err(ServeError::TimeScale(options.time_scale));
    }
    let ledger =
        LedgerFile::create(options.ledger.as_deref()).map_err(|source| ServeError::Ledger {
            path: options.ledger.clone().unwrap_or_default(),
            source,
        })?;
    Ok(Shared {
        ledger,
        keep_ledger: options.keep_ledger,
        client: fetch::client()?,
        clock: Clock::start(options.time_scale),
        schedule: Schedule::default(),
        runtime: Handle::current(),
        failed: watch::channel(None).0,
        greeted: Greeted::default(),
    })
}

impl Running {
    fn add(
        &mut self,
        FleetBmc { bmc, platform }: FleetBmc,
        address: SocketAddr,
        tls: bool,
    ) -> Result<(), ServeError> {
        let socket =
            Socket::bind(address).map_err(|source| ServeError::Bind { address, source })?;
        let scheme = if tls { "https" } else { "http" };
        self.endpoints.push(Endpoint {
            name: bmc.name().to_owned(),
            url: format!("{scheme}://{}", socket.address),
            platform,
            systems: inventory::systems(&bmc),
        });
        let shared = Arc::clone(&self.shared);
        let host = Host::start(self.hosts.len(), bmc, socket.address, tls, shared);
        self.tasks.spawn(listener::run(
            Arc::clone(&host),
            socket,
            self.stop.subscribe(),
        ));
        self.hosts.push(BmcHandle(host));
        Ok(())
    }

    /// One timer for all BMCs: wakes each when it is due.
    fn start_timer(&mut self) {
        let shared = Arc::clone(&self.shared);
        let hosts = self.hosts.clone();
        let mut stop = self.stop.subscribe();
        self.tasks.spawn(async move {
            tokio::select! {
                () = wake(&shared, &hosts) => {}
                _ = stop.wait_for(|stop| *stop) => {}
            }
        });
    }

    /// The BMCs in their order.
    pub fn endpoints(&self) -> &[Endpoint] {
        &self.endpoints
    }

    /// A hand on one BMC, by its name.
    pub fn bmc(&self, name: &str) -> Option<BmcHandle> {
        let index = self
            .endpoints
            .iter()
            .position(|endpoint| endpoint.name == name)?;
        self.hosts.get(index).cloned()
    }

    /// TLS handshakes with the whole fleet so far.
    pub fn handshakes(&self) -> Handshakes {
        let Greeted { full, resumed } = &self.shared.greeted;
        Handshakes {
            full: full.load(Ordering::Relaxed),
            resumed: resumed.load(Ordering::Relaxed),
        }
    }

    /// Waits for a failure after which serving on would be a lie; pending for ever while all is well.
    pub async fn failed(&self) -> String {
        let mut failed = self.shared.failed.subscribe();
        match failed.wait_for(Option::is_some).await {
            Ok(message) => message.clone().unwrap_or_default(),
            Err(_) => std::future::pending().await,
        }
    }

    /// Takes the fleet off the network: nothing listens, no connection is open and no task runs when this returns.
    pub async fn shutdown(mut self) {
        self.stop.send_replace(true);
        while let Some(ended) = self.tasks.join_next().await {
            drop(ended);
        }
    }
}

async fn wake(shared: &Shared, hosts: &[BmcHandle]) {
    loop {
        match shared.schedule.next() {
            None => shared.schedule.changed.notified().await,
            Some(moment) => {
                tokio::select! {
                    () = sleep_until(shared.clock.instant_of(moment)) => {}
                    () = shared.schedule.changed.notified() => {}
                }
            }
        }
        for index in shared.schedule.take_due(shared.clock.now()) {
            if let Some(BmcHandle(host)) = hosts.get(index) {
                host.tick();
            }
        }
        // A BMC that is always due must not keep every other task from running.
        tokio::task::yield_now().await;
    }
}
