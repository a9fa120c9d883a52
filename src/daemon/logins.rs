//! Logins that a killed process had sent and never saw the end of.

use super::engine::Engine;
use crate::model::{BmcName, Fault};
use crate::redfish::LoginRecord;
use crate::store::StoreError;

impl Engine {
    /// Forgets the logins of a dead process on this BMC: nobody will ever write down how they ended, and whoever waited
    /// for that would wait for nothing. Refusals that were written down stay.
    pub(super) fn abandon_logins(&self, bmc: &BmcName) -> Result<(), Fault> {
        let store = self.store();
        let abandon = || {
            for mark in store.login_marks()? {
                store.update_logins(&mark, &mut |old| {
                    let Some(Ok(mut record)) =
                        old.clone().map(serde_json::from_value::<LoginRecord>)
                    else {
                        return old;
                    };
                    record.abandon(bmc.as_str());
                    serde_json::to_value(record).ok()
                })?;
            }
            Ok(())
        };
        abandon().map_err(|error: StoreError| error.fault())
    }
}
