//! Figures, and the text that tells them.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::family::Family as Labelled;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// What a figure does over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Goes up and down.
    Gauge,
    /// Only grows, from the start of the process.
    Counter,
}

/// One figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Names and values.
    pub labels: Vec<(&'static str, String)>,
    /// The figure.
    pub value: f64,
}

/// All figures of one name.
#[derive(Debug, Clone, PartialEq)]
pub struct Family {
    /// Without the `_total` that counters get.
    pub name: &'static str,
    /// What it means, without a full stop.
    pub help: &'static str,
    /// What it does over time.
    pub kind: Kind,
    /// The figures.
    pub samples: Vec<Sample>,
}

/// Upper ends of durations in seconds: a setting, a reset, a POST, a flash, a flash that nobody believes in any more.
const DURATIONS: [f64; 10] = [
    1.0, 5.0, 15.0, 60.0, 180.0, 300.0, 600.0, 1200.0, 2400.0, 7200.0,
];

type Labels = Vec<(&'static str, String)>;
type Durations = Labelled<Labels, Histogram, fn() -> Histogram>;

/// The registry of a process.
pub struct Metrics {
    registry: Registry,
    durations: Durations,
    latest: Arc<Latest>,
}

/// What is asked for at each scrape.
#[derive(Debug, Default)]
struct Latest(Mutex<Vec<Family>>);

impl Metrics {
    /// Nothing was counted yet.
    pub fn new() -> Self {
        let durations: Durations = Labelled::new_with_constructor(|| Histogram::new(DURATIONS));
        let latest = Arc::new(Latest::default());
        let mut registry = Registry::default();
        let help = "From the beginning of a stage on a target to its end, by kind of stage";
        registry.register("redpipe_stage_duration_seconds", help, durations.clone());
        registry.register_collector(Box::new(Arc::clone(&latest)));
        Self {
            registry,
            durations,
            latest,
        }
    }

    /// A stage of a kind ended on a target after so long.
    pub fn stage_ended(&self, kind: &str, end: &str, seconds: f64) {
        let labels = vec![("kind", kind.to_owned()), ("end", end.to_owned())];
        self.durations.get_or_create(&labels).observe(seconds);
    }

    /// The text of a scrape, with the figures as they are now.
    pub fn exposition(&self, families: Vec<Family>) -> Result<String, fmt::Error> {
        *self.latest.0.lock().unwrap_or_else(PoisonError::into_inner) = families;
        let mut text = String::new();
        text::encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Collector for Latest {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let families = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for family in families.iter() {
            let kind = match family.kind {
                Kind::Gauge => MetricType::Gauge,
                Kind::Counter => MetricType::Counter,
            };
            let mut metric = encoder.encode_descriptor(family.name, family.help, None, kind)?;
            for sample in &family.samples {
                let one = metric.encode_family(&sample.labels)?;
                match family.kind {
                    Kind::Gauge => ConstGauge::new(sample.value).encode(one)?,
                    Kind::Counter => ConstCounter::new(sample.value).encode(one)?,
                }
            }
        }
        Ok(())
    }
}
