//! One client per BMC, for a process that observes a BMC between the runs that drive it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::model::BmcName;
use crate::model::inventory::Bmc;
use crate::redfish::Client;

/// Clients by BMC, each with what its BMC was like when it was made.
#[derive(Default)]
pub(super) struct KeptClients(Mutex<BTreeMap<BmcName, (String, Arc<Client>)>>);

impl KeptClients {
    pub(super) fn get(&self, bmc: &Bmc) -> Option<Arc<Client>> {
        let kept = self.lock();
        let (likeness, client) = kept.get(&bmc.name)?;
        (*likeness == likeness_of(bmc)).then(|| Arc::clone(client))
    }

    pub(super) fn keep(&self, bmc: &Bmc, client: &Arc<Client>) {
        let kept = (likeness_of(bmc), Arc::clone(client));
        self.lock().insert(bmc.name.clone(), kept);
    }

    /// Gives up all but those of a list that is still as it was.
    pub(super) fn forget(&self, but: &[Bmc]) -> Vec<Arc<Client>> {
        let mut kept = self.lock();
        let mut before = std::mem::take(&mut *kept);
        for bmc in but {
            let is_same = before
                .get(&bmc.name)
                .is_some_and(|(likeness, _)| *likeness == likeness_of(bmc));
            if let (true, Some(same)) = (is_same, before.remove(&bmc.name)) {
                kept.insert(bmc.name.clone(), same);
            }
        }
        before.into_values().map(|(_, client)| client).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<BmcName, (String, Arc<Client>)>> {
        // Every change under this lock is whole by itself.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All that a client is made from. Secrets are named there, not held.
fn likeness_of(bmc: &Bmc) -> String {
    format!(
        "{:?} {:?} {:?} {:?} {:?} {:?} {:?}",
        bmc.address, bmc.credentials, bmc.tls, bmc.auth, bmc.pace, bmc.platform, bmc.servers
    )
}
