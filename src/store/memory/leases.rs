//! This file keeps leases in memory.

use std::time::Duration;

use jiff::Timestamp;

use super::state::MemoryStore;
use crate::model::id::BmcName;
use crate::store::error::{LeaseError, StoreError};
use crate::store::lease::{self, Holder, Lease, LeaseState, Leases, Owner, Taken};

impl Leases for MemoryStore {
    fn acquire_lease(
        &self,
        bmc: &BmcName,
        owner: &Owner,
        now: Timestamp,
        ttl: Duration,
    ) -> Result<Lease, LeaseError> {
        let mut state = self.state();
        let lease = lease::acquire(state.leases.get(bmc).cloned(), bmc, owner, now, ttl)?;
        let holder = Holder {
            owner: lease.owner.clone(),
            acquired_at: lease.acquired_at,
            renewed_at: lease.renewed_at,
            expires_at: lease.expires_at,
        };
        state.leases.insert(
            bmc.clone(),
            LeaseState {
                epoch: lease.epoch,
                holder: Some(holder),
            },
        );
        Ok(lease)
    }

    fn renew_lease(
        &self,
        lease: &Lease,
        now: Timestamp,
        ttl: Duration,
    ) -> Result<Lease, LeaseError> {
        let mut state = self.state();
        let mut holder = lease::still_held(
            state.leases.get(&lease.bmc).cloned(),
            &lease.bmc,
            lease.epoch,
        )?;
        holder.renewed_at = now;
        holder.expires_at = lease::after(now, ttl);
        state.leases.insert(
            lease.bmc.clone(),
            LeaseState {
                epoch: lease.epoch,
                holder: Some(holder.clone()),
            },
        );
        Ok(holder.lease(&lease.bmc, lease.epoch, lease.taken.clone()))
    }

    fn release_lease(&self, lease: &Lease) -> Result<(), LeaseError> {
        let mut state = self.state();
        lease::still_held(
            state.leases.get(&lease.bmc).cloned(),
            &lease.bmc,
            lease.epoch,
        )?;
        state.leases.insert(
            lease.bmc.clone(),
            LeaseState {
                epoch: lease.epoch,
                holder: None,
            },
        );
        Ok(())
    }

    fn lease(&self, bmc: &BmcName) -> Result<Option<Lease>, StoreError> {
        let state = self.state();
        Ok(state.leases.get(bmc).and_then(|state| {
            let holder = state.holder.clone()?;
            Some(holder.lease(bmc, state.epoch, Taken::Free))
        }))
    }

    fn leases(&self) -> Result<Vec<Lease>, StoreError> {
        let state = self.state();
        let held = state.leases.iter().filter_map(|(bmc, state)| {
            state
                .holder
                .clone()
                .map(|holder| holder.lease(bmc, state.epoch, Taken::Free))
        });
        Ok(held.collect())
    }
}
