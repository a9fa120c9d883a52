//! This file keeps leases: one row per BMC, whose epoch outlives its holders.

use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use super::convert;
use super::database::{Failure, SqliteStore};
use crate::model::id::BmcName;
use crate::store::error::{LeaseError, StoreError};
use crate::store::lease::{self, Holder, Lease, LeaseEpoch, LeaseState, Leases, Owner, Taken};

impl Leases for SqliteStore {
    fn acquire_lease(
        &self,
        bmc: &BmcName,
        owner: &Owner,
        now: Timestamp,
        ttl: Duration,
    ) -> Result<Lease, LeaseError> {
        Ok(self.write("take a lease", |tx| {
            let lease = lease::acquire(stored_lease(tx, bmc)?, bmc, owner, now, ttl)?;
            tx.execute(
                "INSERT OR REPLACE INTO leases (bmc, epoch, host, pid, lock_file, acquired_at, renewed_at, expires_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                params![
                    bmc.as_str(),
                    convert::stored(lease.epoch.0),
                    lease.owner.host,
                    lease.owner.pid,
                    path_text(&lease.owner)?,
                    lease.acquired_at.to_string(),
                    lease.renewed_at.to_string(),
                    lease.expires_at.to_string(),
                ],
            )?;
            Ok(lease)
        })?)
    }

    fn renew_lease(
        &self,
        lease: &Lease,
        now: Timestamp,
        ttl: Duration,
    ) -> Result<Lease, LeaseError> {
        Ok(self.write("renew a lease", |tx| {
            let mut holder =
                lease::still_held(stored_lease(tx, &lease.bmc)?, &lease.bmc, lease.epoch)?;
            holder.renewed_at = now;
            holder.expires_at = lease::after(now, ttl);
            tx.execute(
                "UPDATE leases SET renewed_at = ?2, expires_at = ?3 WHERE bmc = ?1",
                params![
                    lease.bmc.as_str(),
                    holder.renewed_at.to_string(),
                    holder.expires_at.to_string()
                ],
            )?;
            Ok(holder.lease(&lease.bmc, lease.epoch, lease.taken.clone()))
        })?)
    }

    fn release_lease(&self, lease: &Lease) -> Result<(), LeaseError> {
        Ok(self.write("release a lease", |tx| {
            lease::still_held(stored_lease(tx, &lease.bmc)?, &lease.bmc, lease.epoch)?;
            tx.execute(
                "UPDATE leases SET host = NULL, pid = NULL, lock_file = NULL, acquired_at = NULL, renewed_at = NULL,
                 expires_at = NULL WHERE bmc = ?1",
                [lease.bmc.as_str()],
            )?;
            Ok(())
        })?)
    }

    fn lease(&self, bmc: &BmcName) -> Result<Option<Lease>, StoreError> {
        let stored = self.read_one("read a lease", |db| stored_lease(db, bmc))?;
        Ok(stored.and_then(|state| {
            let holder = state.holder?;
            Some(holder.lease(bmc, state.epoch, Taken::Free))
        }))
    }

    fn leases(&self) -> Result<Vec<Lease>, StoreError> {
        Ok(self.read("list leases", |tx| {
            let mut query =
                tx.prepare("SELECT * FROM leases WHERE host IS NOT NULL ORDER BY bmc")?;
            let rows = query.query_map([], |row| {
                Ok((convert::name(row, "bmc")?, lease_state(row)?))
            })?;
            let mut leases = Vec::new();
            for row in rows {
                let (bmc, state) = row?;
                leases.extend(
                    state
                        .holder
                        .map(|holder| holder.lease(&bmc, state.epoch, Taken::Free)),
                );
            }
            Ok(leases)
        })?)
    }
}

/// Refuses a write under a lease that is over.
pub(super) fn check_lease(
    tx: &Transaction<'_>,
    bmc: &BmcName,
    epoch: LeaseEpoch,
) -> Result<(), Failure> {
    lease::still_held(stored_lease(tx, bmc)?, bmc, epoch)?;
    Ok(())
}

fn stored_lease(db: &Connection, bmc: &BmcName) -> rusqlite::Result<Option<LeaseState>> {
    let mut query = db.prepare_cached("SELECT * FROM leases WHERE bmc = ?1")?;
    query.query_row([bmc.as_str()], lease_state).optional()
}

fn lease_state(row: &Row<'_>) -> rusqlite::Result<LeaseState> {
    let epoch = LeaseEpoch(convert::count(row, "epoch")?);
    let Some(host) = row.get("host")? else {
        return Ok(LeaseState {
            epoch,
            holder: None,
        });
    };
    let lock_file: String = row.get("lock_file")?;
    let holder = Holder {
        owner: Owner {
            host,
            pid: row.get("pid")?,
            lock_file: PathBuf::from(lock_file),
        },
        acquired_at: convert::parsed(row, "acquired_at")?,
        renewed_at: convert::parsed(row, "renewed_at")?,
        expires_at: convert::parsed(row, "expires_at")?,
    };
    Ok(LeaseState {
        epoch,
        holder: Some(holder),
    })
}

fn path_text(owner: &Owner) -> Result<&str, StoreError> {
    owner
        .lock_file
        .to_str()
        .ok_or_else(|| StoreError::Location {
            given: owner.lock_file.display().to_string(),
            why: "is not valid UTF-8".to_owned(),
        })
}
