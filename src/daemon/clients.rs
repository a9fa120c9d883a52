//! One client per BMC, for a process that observes a BMC between the runs that drive it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::model::BmcName;
use crate::model::inventory::Bmc;
use crate::redfish::Client;

/// Clients by BMC, each with its BMC as it was when the client was made.
#[derive(Default)]
pub(super) struct KeptClients(Mutex<Kept>);

type Kept = BTreeMap<BmcName, (Arc<Bmc>, Arc<Client>)>;

impl KeptClients {
    pub(super) fn get(&self, bmc: &Arc<Bmc>) -> Option<Arc<Client>> {
        let kept = self.lock();
        let (before, client) = kept.get(&bmc.name)?;
        is_alike(before, bmc).then(|| Arc::clone(client))
    }

    pub(super) fn keep(&self, bmc: &Arc<Bmc>, client: &Arc<Client>) {
        let kept = (Arc::clone(bmc), Arc::clone(client));
        self.lock().insert(bmc.name.clone(), kept);
    }

    /// Gives up all but those of a list that is still as it was.
    pub(super) fn forget(&self, but: &[Arc<Bmc>]) -> Vec<Arc<Client>> {
        let mut kept = self.lock();
        let mut before = std::mem::take(&mut *kept);
        for bmc in but {
            let is_same = before
                .get(&bmc.name)
                .is_some_and(|(before, _)| is_alike(before, bmc));
            if let (true, Some(same)) = (is_same, before.remove(&bmc.name)) {
                kept.insert(bmc.name.clone(), same);
            }
        }
        before.into_values().map(|(_, client)| client).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        // Every change under this lock is whole by itself.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether two are alike in all that a client is made from.
fn is_alike(before: &Arc<Bmc>, now: &Arc<Bmc>) -> bool {
    Arc::ptr_eq(before, now) || likeness_of(before) == likeness_of(now)
}

/// All that a client is made from. Secrets are named there, not held.
fn likeness_of(bmc: &Bmc) -> String {
    format!(
        "{:?} {:?} {:?} {:?} {:?} {:?} {:?}",
        bmc.address, bmc.credentials, bmc.tls, bmc.auth, bmc.pace, bmc.platform, bmc.servers
    )
}
