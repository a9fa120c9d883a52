//! How each BMC answers, counted where its bytes leave and come.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::time::Instant;

use crate::model::BmcName;
use crate::redfish::{BoxFuture, Transport, WireError, WireRequest, WireResponse};

/// Classes of requests that went wrong, as the metric names them.
pub(super) const CLASSES: [&str; 5] = ["not-sent", "certificate", "lost", "4xx", "5xx"];

/// Counts of one BMC since the process began.
#[derive(Debug, Default)]
pub(super) struct Meter {
    /// Requests, answered or not.
    pub(super) requests: AtomicU64,
    /// Time for them, all together.
    pub(super) micros: AtomicU64,
    /// By [`CLASSES`].
    pub(super) errors: [AtomicU64; CLASSES.len()],
}

/// The meters of a process, one per BMC that was ever asked.
#[derive(Debug, Clone, Default)]
pub(super) struct Meters(Arc<Mutex<BTreeMap<BmcName, Arc<Meter>>>>);

impl Meters {
    pub(super) fn of(&self, bmc: &BmcName) -> Arc<Meter> {
        let mut meters = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(meters.entry(bmc.clone()).or_default())
    }

    pub(super) fn all(&self) -> BTreeMap<BmcName, Arc<Meter>> {
        let meters = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        meters.clone()
    }
}

/// A transport that is counted.
pub(super) struct Metered {
    pub(super) inner: Arc<dyn Transport>,
    pub(super) meter: Arc<Meter>,
}

impl Transport for Metered {
    fn send(&self, request: WireRequest) -> BoxFuture<'_, Result<WireResponse, WireError>> {
        Box::pin(async move {
            let began = Instant::now();
            let ended = self.inner.send(request).await;
            let micros = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
            self.meter.requests.fetch_add(1, Ordering::Relaxed);
            self.meter.micros.fetch_add(micros, Ordering::Relaxed);
            if let Some(class) = class(&ended) {
                self.meter.errors[class].fetch_add(1, Ordering::Relaxed);
            }
            ended
        })
    }
}

/// Place in [`CLASSES`].
fn class(ended: &Result<WireResponse, WireError>) -> Option<usize> {
    match ended {
        Err(WireError::NotSent(_)) => Some(0),
        Err(WireError::Certificate(_)) => Some(1),
        Err(WireError::Lost(_)) => Some(2),
        Ok(response) if response.status >= 500 => Some(4),
        Ok(response) if response.status >= 400 => Some(3),
        Ok(_) => None,
    }
}
