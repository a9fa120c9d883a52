//! How a BMC is reached: the network, or whatever a test puts in its place.

use std::sync::Arc;

use crate::model::Fault;
use crate::model::inventory::Bmc;
use crate::redfish::{HttpFleet, Memory, SOCKETS_MAX, Transport};

/// Makes the transport of one BMC.
pub trait Connect: Send + Sync {
    /// A transport that belongs to this BMC; nothing is sent yet.
    fn transport(&self, bmc: &Bmc, memory: Arc<dyn Memory>) -> Result<Arc<dyn Transport>, Fault>;
}

/// Real sockets, with clients shared over the fleet.
pub(super) struct Network(HttpFleet);

impl Network {
    /// For this many BMCs.
    pub(super) fn new(fleet: usize) -> Self {
        Self(HttpFleet::new(fleet, SOCKETS_MAX))
    }
}

impl Connect for Network {
    fn transport(&self, bmc: &Bmc, memory: Arc<dyn Memory>) -> Result<Arc<dyn Transport>, Fault> {
        let transport = self
            .0
            .transport(&bmc.address, &bmc.tls, memory)
            .map_err(|fault| *fault)?;
        Ok(Arc::new(transport))
    }
}
