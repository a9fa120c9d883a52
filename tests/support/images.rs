//! redpipe's own image server in a lab without sockets.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use mock_bmc::bmc::Bmc;
use mock_bmc::ledger::Kind;
use redpipe::artifact::{ImageHost, Offer, Offering, Served, Wanted};

use super::memory::Images;

/// Serves to the BMCs of one lab.
pub(crate) struct LabImages {
    pub(crate) images: Images,
    pub(crate) bmcs: BTreeMap<String, Arc<Mutex<Bmc>>>,
}

struct LabOffer {
    uri: String,
    images: Images,
    bmc: Arc<Mutex<Bmc>>,
}

impl ImageHost for LabImages {
    fn offer<'a>(&'a self, wanted: &'a Wanted) -> Offering<'a> {
        let name = wanted.host.trim_end_matches(".lab");
        let offer = LabOffer {
            uri: format!("http://redpipe.lab/{}", wanted.path),
            images: Arc::clone(&self.images),
            bmc: Arc::clone(&self.bmcs[name]),
        };
        let bytes = Bytes::from(std::fs::read(&wanted.file).unwrap());
        self.images.lock().unwrap().insert(offer.uri.clone(), bytes);
        Box::pin(async move { Ok(Box::new(offer) as Box<dyn Offer>) })
    }
}

impl Offer for LabOffer {
    fn uri(&self) -> &str {
        &self.uri
    }

    fn served(&self) -> Served {
        let bmc = self.bmc.lock().unwrap();
        let fetched = bmc.ledger().iter().any(|line| {
            line.kind == Kind::Fetch && line.path.as_deref().is_some_and(|path| path == self.uri)
        });
        Served {
            fetched,
            whole: fetched,
            open: 0,
        }
    }
}

impl Drop for LabOffer {
    fn drop(&mut self) {
        self.images.lock().unwrap().remove(&self.uri);
    }
}
