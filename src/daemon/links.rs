//! Where things are on each BMC, kept from one process to the next.
//!
//! Whether what was kept is still true is the client's to find out; a store that fails here costs a discovery.

use super::engine::Engine;
use crate::model::BmcName;
use crate::redfish::{Client, Links};

impl Engine {
    /// What the last process found, whatever version the BMC ran then.
    pub(super) fn links(&self, bmc: &BmcName) -> Option<Links> {
        let kept = self.store().known_links(bmc);
        let kept = kept.unwrap_or_else(|error| {
            tracing::error!(%bmc, %error, "the links of a BMC could not be read");
            None
        });
        serde_json::from_value(kept?).ok()
    }

    /// Keeps what a client has found, in the place of all that was kept of its BMC.
    pub(super) fn keep_links(&self, bmc: &BmcName, client: &Client) {
        let Some(links) = client.links() else { return };
        if self.links(bmc).as_ref() == Some(&links) {
            return;
        }
        let version = links.bmc_version.clone().unwrap_or_default();
        let kept = serde_json::to_value(&links).ok();
        if let Err(error) = self.store().remember_links(bmc, &version, kept.as_ref()) {
            tracing::error!(%bmc, %error, "the links of a BMC could not be kept");
        }
    }
}
