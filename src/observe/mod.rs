//! This room turns figures into what Prometheus reads: one registry of our own, no global one.
//!
//! It knows no runs and no BMCs; the daemon room says what the figures are.

mod exposition;

pub use exposition::{Family, Kind, Metrics, Sample, Samples};
