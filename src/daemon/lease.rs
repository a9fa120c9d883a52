//! Keeping the lease of one BMC alive while it is driven, and knowing when it is not.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;

use crate::model::{BmcName, Fault, FaultKind, Retry};
use crate::redfish::Clock;
use crate::store::{Lease, LeaseEpoch, Owner, Store};

/// How long a lease lasts without a renewal.
pub(super) const LEASE_LIFE: Duration = Duration::from_secs(30);

/// A held lease, renewed by whoever is about to act and by a timer.
#[derive(Clone)]
pub(super) struct LeaseKeeper {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    lease: Arc<Mutex<Lease>>,
}

impl LeaseKeeper {
    /// Takes the lease, or says who holds it.
    pub(super) fn acquire(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        bmc: &BmcName,
        owner: &Owner,
    ) -> Result<Self, Fault> {
        let lease = store
            .acquire_lease(bmc, owner, clock.now(), LEASE_LIFE)
            .map_err(|error| error.fault())?;
        Ok(Self {
            store,
            clock,
            lease: Arc::new(Mutex::new(lease)),
        })
    }

    /// The fencing number that every append carries.
    pub(super) fn epoch(&self) -> LeaseEpoch {
        self.lock().epoch
    }

    /// Whether the lease was taken from an owner that may still have a request under way.
    pub(super) fn taken(&self) -> crate::store::Taken {
        self.lock().taken.clone()
    }

    /// Renews the lease where it is older than half its life; right before bytes leave it must be young.
    pub(super) fn ensure_young(&self) -> Result<(), Fault> {
        let mut lease = self.lock();
        let now = self.clock.now();
        if age(&lease, now) < LEASE_LIFE / 2 {
            return Ok(());
        }
        let renewed = self.store.renew_lease(&lease, now, LEASE_LIFE);
        *lease = renewed.map_err(|error| {
            Fault::new(
                FaultKind::LeaseHeld,
                Retry::Operator,
                "the lease of this BMC is lost",
            )
            .with_cause(error.to_string())
        })?;
        Ok(())
    }

    /// Renews for as long as the keeper is driven; ends with the fault that took the lease away.
    pub(super) async fn keep(&self) -> Fault {
        loop {
            tokio::time::sleep(LEASE_LIFE / 3).await;
            if let Err(fault) = self.ensure_young() {
                return fault;
            }
        }
    }

    /// Gives the lease back.
    pub(super) fn release(&self) {
        if let Err(error) = self.store.release_lease(&self.lock()) {
            tracing::debug!(%error, "the lease was lost before it was given back");
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Lease> {
        self.lease.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn age(lease: &Lease, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(lease.renewed_at)).unwrap_or(LEASE_LIFE)
}
