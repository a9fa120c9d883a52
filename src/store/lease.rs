//! This file says who may drive a BMC, and when another may take it over.
//!
//! The rule is a pure function here; stores only make it atomic. It does not guard the moment before bytes leave: the
//! driver compares the lease's age with a clock that counts suspension.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::error::{LeaseError, StoreError};
use super::process;
use crate::model::id::BmcName;

/// Which process holds something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// The running kernel it lives on; see [`super::this_host`].
    pub host: String,
    /// For people. Never evidence of life: numbers are reused.
    pub pid: u32,
    /// The file whose kernel lock it keeps for life.
    pub lock_file: PathBuf,
}

impl Owner {
    /// Whether this owner is known to be dead, as seen by another process: same kernel, and its lock is free.
    ///
    /// A lock file that is missing or cannot be opened proves nothing.
    pub fn is_dead(&self, seen_by: &Owner) -> bool {
        self.host == seen_by.host && process::lock_is_free(&self.lock_file)
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} on host `{}`", self.pid, self.host)
    }
}

/// Fencing number of a lease: grows with every owner a BMC gets, and never repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LeaseEpoch(pub u64);

impl fmt::Display for LeaseEpoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The right to drive one BMC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// Which BMC.
    pub bmc: BmcName,
    /// Fencing number; every append carries it.
    pub epoch: LeaseEpoch,
    /// Who holds it.
    pub owner: Owner,
    /// When this owner got it.
    pub acquired_at: Timestamp,
    /// When it was last acquired or renewed.
    pub renewed_at: Timestamp,
    /// When anybody may take it.
    pub expires_at: Timestamp,
    /// Whether it was taken from somebody, known on acquiring only. A taker waits a lease's life and a request's
    /// time-out before its first probe, because the other's last request may still be under way.
    pub taken: Taken,
}

/// How an owner came by its lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Taken {
    /// Nobody held it.
    Free,
    /// From a process of this host that is dead.
    FromDead(Owner),
    /// From an owner whose lease ran out; it may live.
    FromExpired(Owner),
}

/// Who is in the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldBy {
    /// The owner.
    pub owner: Owner,
    /// Since when.
    pub acquired_at: Timestamp,
    /// Until when, unless it is renewed.
    pub expires_at: Timestamp,
}

impl fmt::Display for HeldBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, since {}", self.owner, self.acquired_at)
    }
}

/// Leases per BMC.
pub trait Leases: Send + Sync {
    /// Takes the lease of a BMC, or says who holds it.
    ///
    /// A lease of a dead process of this host is taken at once, any other when it has run out. One process gets a lease
    /// once: asking again without a release is refused like anybody else's asking.
    fn acquire_lease(
        &self,
        bmc: &BmcName,
        owner: &Owner,
        now: Timestamp,
        ttl: Duration,
    ) -> Result<Lease, LeaseError>;

    /// Lengthens a lease from now on. A lease that ran out and that nobody took is renewed too.
    fn renew_lease(
        &self,
        lease: &Lease,
        now: Timestamp,
        ttl: Duration,
    ) -> Result<Lease, LeaseError>;

    /// Gives a lease back. Giving back what is already lost is an error that may be ignored.
    fn release_lease(&self, lease: &Lease) -> Result<(), LeaseError>;

    /// The lease of a BMC, where somebody holds it, whether or not it has run out.
    fn lease(&self, bmc: &BmcName) -> Result<Option<Lease>, StoreError>;

    /// Every lease that somebody holds, whether or not it has run out.
    fn leases(&self) -> Result<Vec<Lease>, StoreError>;
}

/// What is stored of a BMC's lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LeaseState {
    pub(super) epoch: LeaseEpoch,
    pub(super) holder: Option<Holder>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Holder {
    pub(super) owner: Owner,
    pub(super) acquired_at: Timestamp,
    pub(super) renewed_at: Timestamp,
    pub(super) expires_at: Timestamp,
}

impl Holder {
    pub(super) fn lease(self, bmc: &BmcName, epoch: LeaseEpoch, taken: Taken) -> Lease {
        Lease {
            bmc: bmc.clone(),
            epoch,
            owner: self.owner,
            acquired_at: self.acquired_at,
            renewed_at: self.renewed_at,
            expires_at: self.expires_at,
            taken,
        }
    }
}

/// Decides who gets the lease.
pub(super) fn acquire(
    state: Option<LeaseState>,
    bmc: &BmcName,
    owner: &Owner,
    now: Timestamp,
    ttl: Duration,
) -> Result<Lease, LeaseError> {
    let (last, holder) = state.map_or((LeaseEpoch(0), None), |s| (s.epoch, s.holder));
    let taken = match holder {
        None => Taken::Free,
        Some(held) if held.owner != *owner && held.owner.is_dead(owner) => {
            Taken::FromDead(held.owner)
        }
        Some(held) if held.expires_at <= now => Taken::FromExpired(held.owner),
        Some(held) => {
            let held = HeldBy {
                owner: held.owner,
                acquired_at: held.acquired_at,
                expires_at: held.expires_at,
            };
            return Err(LeaseError::HeldBy {
                bmc: bmc.clone(),
                held: Box::new(held),
            });
        }
    };
    let epoch = LeaseEpoch(last.0.saturating_add(1));
    let holder = Holder {
        owner: owner.clone(),
        acquired_at: now,
        renewed_at: now,
        expires_at: after(now, ttl),
    };
    Ok(holder.lease(bmc, epoch, taken))
}

/// The stored lease, if it is still the one that the caller holds.
pub(super) fn still_held(
    state: Option<LeaseState>,
    bmc: &BmcName,
    epoch: LeaseEpoch,
) -> Result<Holder, LeaseError> {
    state
        .filter(|s| s.epoch == epoch)
        .and_then(|s| s.holder)
        .ok_or_else(|| LeaseError::Lost {
            bmc: bmc.clone(),
            epoch: epoch.0,
        })
}

pub(super) fn after(now: Timestamp, span: Duration) -> Timestamp {
    now.checked_add(span).unwrap_or(Timestamp::MAX)
}
